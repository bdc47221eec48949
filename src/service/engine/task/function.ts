// Binding and applying functions.

import type { Task } from '../../../exec/task.ts';
import {
  compatOutput,
  datedOutput,
  inputRowFromJson,
  plainOutput,
} from '../../../function/function-json.ts';
import type { CompiledFunction } from '../../../function/function-type.ts';
import { LineApplier } from '../../../function/line-applier.ts';
import type { CallContext } from '../../../plan/function.ts';
import { assert } from '../../../util/assert.ts';
import { ArenaLease } from '../../../value/column/arena-set.ts';
import { valueFromWire } from '../../../value/wire-value.ts';
import { APPLICATION_PARAMETERS, applicationOf } from '../../route/call-parameters.ts';
import { bindBody } from '../../route/parameter-binding.ts';
import { bytesBody } from '../../route/request-body.ts';
import type { Application, EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

export async function bindTask(
  { type: name, params, artifact: known }: EngineTasks['bind']['args'],
  task: Task,
  { types, mirror, arenas, files }: WorkerContext,
): Promise<EngineTasks['bind']['result']> {
  const type = types.functionType(name);
  const scope = new ArenaLease(arenas);
  try {
    const loaded =
      known === undefined
        ? await type.load?.(params, {
            files,
            arenas: scope,
            checkCancelled: () => task.checkCancelled(),
          })
        : known;
    const { result: compiled, met } = mirror.meeting(() =>
      type.compile(params, mirror.functionScope(), loaded?.data),
    );
    scope.keep(loaded?.spans ?? []);
    return {
      interface: { input: compiled.input, output: compiled.output, isLight: compiled.isLight },
      artifact: loaded,
      met,
    };
  } finally {
    scope.release();
  }
}

/** One object for all calls, so that binding reads its schemas once. */
const APPLICATION = { hybrid: APPLICATION_PARAMETERS };

export function applyTask(
  { function: id, ...given }: EngineTasks['apply']['args'],
  task: Task,
  { mirror, callScope }: WorkerContext,
): undefined {
  const compiled = mirror.compiledFunction(id);
  const application =
    'body' in given
      ? applicationOf(
          bindBody(
            APPLICATION,
            given,
            bytesBody(given.body).json(() => task.checkCancelled()),
          ),
        )
      : given;
  const text = applyFunction(compiled, application, callScope);
  task.emit(new TextEncoder().encode(text));
}

/** How long lines are answered before what is ready is handed on, in milliseconds. */
const EMIT_INTERVAL_MS = 50;

export function linesTask(
  { function: id, lines, firstLine, ts }: EngineTasks['lines']['args'],
  task: Task,
  { mirror, callScope }: WorkerContext,
): EngineTasks['lines']['result'] {
  const options = { scope: callScope, ts, firstLine };
  const applier = new LineApplier(mirror.compiledFunction(id), lines, options);
  while (!applier.isDone) {
    task.checkCancelled();
    for (const chunk of applier.run(performance.now() + EMIT_INTERVAL_MS)) task.emit(chunk);
  }
  return { hasFailed: applier.hasFailed };
}

export function detailsTask(
  { function: id }: EngineTasks['details']['args'],
  _task: Task,
  { mirror }: WorkerContext,
): unknown {
  return mirror.compiledFunction(id).details?.() ?? null;
}

export async function functionRouteTask(
  { function: id, route, body }: EngineTasks['functionRoute']['args'],
  _task: Task,
  { types, mirror, files }: WorkerContext,
): Promise<EngineTasks['functionRoute']['result']> {
  const { type, artifact } = mirror.functionDefinition(id);
  const declared = types.functionType(type).routes?.[route];
  assert(declared !== undefined, 'the route was found before the task was asked for');
  return declared.answer(artifact, body as Readonly<Record<string, unknown>>, { files });
}

/** The JSON text that answers one application. @throws what the function throws */
export function applyFunction(
  compiled: CompiledFunction,
  application: Application,
  scope: CallContext,
): string {
  const plain = applyPlain(compiled, application);
  if (plain !== undefined) return plain;
  const { input, typedInput, keepValues, format } = application;
  const row = typedInput === undefined ? inputRowFromJson(input) : valueFromWire(typedInput);
  const output = compiled.apply(row, scope);
  if (format === 'dated') return datedOutput(output);
  return format === 'compat' ? compatOutput(output, keepValues) : plainOutput(output, keepValues);
}

/** Atoms and objects of atoms look alike in both formats; undefined: only the general way can tell. */
function applyPlain(
  { plainCalls }: CompiledFunction,
  { input, keepValues, format }: Application,
): string | undefined {
  if (plainCalls?.plain === undefined || keepValues.length > 0 || format === 'dated') return;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const text = plainCalls.plain(input);
  return format === 'json' || text === undefined ? text : `{"output":${text}}`;
}
