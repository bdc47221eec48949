// Functions as objects in the process of the service.
import type { Caller } from '../../client/caller.ts';
import { Collection } from '../../client/entity.ts';
import { type FunctionInput, FunctionObject } from '../../client/function.ts';
import { failure } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { Service } from '../service.ts';
import { MAIN_THREAD_CONTEXT } from './engine.ts';
import { applyFunction } from './task/function.ts';

export class LocalFunction<Input = FunctionInput, Output = unknown> extends FunctionObject<
  Input,
  Output
> {
  readonly #service: Service;

  constructor(id: string, caller: Caller, service: Service) {
    super(id, caller);
    this.#service = service;
  }

  /**
   * Applies a prepared function at once. @returns plain JSON of the output
   * @throws INVALID_PARAMETER for a function that reads data; use `apply` for those
   */
  callJson<Result = Output>(input: Input): Result {
    const id = this.id();
    if (!this.#service.functions.get(id).isLight) {
      throw failure(
        'INVALID_PARAMETER',
        `function '${id}' cannot be called synchronously: it is not prepared, or reads data`,
      );
    }
    const compiled = this.#service.engine.mirror.compiledFunction(id);
    const call = { input, keepValues: [], format: 'json' } as const;
    return parseJson(applyFunction(compiled, call, MAIN_THREAD_CONTEXT)) as Result;
  }
}

export class LocalFunctionCollection extends Collection<LocalFunction> {
  constructor(caller: Caller, service: Service) {
    super('functions', caller, (id) => new LocalFunction(id, caller, service));
  }

  override get<Input = FunctionInput, Output = unknown>(id: string): LocalFunction<Input, Output> {
    return super.get(id) as LocalFunction<Input, Output>;
  }
}
