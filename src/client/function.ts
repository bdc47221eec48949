// Functions as objects.
import { type ErrorBody, RowanError } from '../util/error.ts';
import type { CallOptions } from './call-limit.ts';
import type { Caller } from './caller.ts';
import { Collection, Entity } from './entity.ts';
import { decodeLines, encodeLines, type Source, type SourceFailure } from './json-lines.ts';
import { isErrorBody } from './reply.ts';

export interface ApplyOptions extends CallOptions {
  /** outputs wanted, in this order; default all */
  readonly keepValues?: readonly string[] | undefined;
}

/** The names of inputs are those of the function; what it does not know is ignored. */
export type FunctionInput = Readonly<Record<string, unknown>>;

const NDJSON = { 'content-type': 'application/x-ndjson' };

/** A function by its id: applied to one input, to many, or to a stream of them. */
export class FunctionObject<Input = FunctionInput, Output = unknown> extends Entity {
  constructor(id: string, caller: Caller) {
    super('functions', id, caller);
  }

  /** @returns plain JSON of the output */
  apply<Result = Output>(input: Input, { keepValues, ...options }: ApplyOptions = {}) {
    const body = {
      input,
      outputFormat: 'json',
      ...(keepValues === undefined ? {} : { keepValues }),
    };
    return this.request<Result>('POST', '/application', { ...options, body });
  }

  /** @returns each output in full: rows as names with values and timestamps */
  async call(input: Input, options: CallOptions = {}): Promise<unknown> {
    const call = { ...options, body: { input } };
    return (await this.request<{ output: unknown }>('POST', '/application', call)).output;
  }

  /** Applies it to each element of an array, or to each value of an object. */
  batch<Result = Output>(inputs: readonly unknown[], options?: CallOptions): Promise<Result[]>;
  batch<Result = Output>(
    inputs: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Record<string, Result>>;
  batch(input: unknown, options: CallOptions = {}): Promise<unknown> {
    return this.request('POST', '/batch', { ...options, body: { input } });
  }

  /**
   * Applies it to inputs while they come, in their order. Inputs are taken as outputs are; who
   * stops reading stops the source.
   * @throws the failure of the first input that fails, with `extra.line` counting from 1
   */
  async *stream<Result = Output>(
    inputs: Source<unknown>,
    options: CallOptions = {},
  ): AsyncGenerator<Result, void, undefined> {
    const failure: SourceFailure = {};
    const blocks = encodeLines(inputs, failure);
    try {
      for await (const outputs of this.#outputs(blocks, options)) {
        for (const output of outputs) {
          if (isErrorLine(output)) throw RowanError.fromBody(output);
          yield output as Result;
        }
      }
    } catch (thrown) {
      throw failure.error === undefined ? thrown : failure.error.thrown;
    }
  }

  /** Outputs in the order of the inputs, over one request or as many as the transport needs. */
  async *#outputs(
    blocks: AsyncIterable<Uint8Array>,
    options: CallOptions,
  ): AsyncGenerator<unknown[], void, undefined> {
    const call = { ...options, headers: NDJSON };
    const ask = (body: unknown) =>
      decodeLines(this.caller.stream('POST', this.path('/stream'), { ...call, body }));
    if (this.caller.streamsBodies) {
      yield* ask(blocks);
      return;
    }
    let lineCount = 0;
    for await (const block of blocks) {
      const linesBefore = lineCount;
      for await (const outputs of ask(block)) {
        lineCount += outputs.length;
        yield outputs.map((output) =>
          isErrorLine(output) ? { ...output, line: output.line + linesBefore } : output,
        );
      }
    }
  }

  /** What it takes and gives. */
  info(): Promise<unknown> {
    return this.request('GET', '/info');
  }

  /** Its internals, for instance a model. */
  details(): Promise<unknown> {
    return this.request('GET', '/details');
  }
}

/** The functions of a service, with the types of input and output that the caller names. */
export class FunctionCollection extends Collection<FunctionObject> {
  constructor(caller: Caller) {
    super('functions', caller, (id) => new FunctionObject(id, caller));
  }

  override get<Input = FunctionInput, Output = unknown>(id: string): FunctionObject<Input, Output> {
    return super.get(id) as FunctionObject<Input, Output>;
  }
}

function isErrorLine(json: unknown): json is ErrorBody & { readonly line: number } {
  return isErrorBody(json) && typeof (json as { line?: unknown }).line === 'number';
}
