// A run of a procedure that computes.

import { queryTextOf } from '../../../dataset/parameter.ts';
import { prepareQuery } from '../../../exec/query.ts';
import type { Task } from '../../../exec/task.ts';
import type { QueryWarning } from '../../../plan/warning.ts';
import type { ProcedureContext, RunEffects } from '../../../procedure/procedure-type.ts';
import { assert } from '../../../util/assert.ts';
import { ArenaLease } from '../../../value/column/arena-set.ts';
import { snapshotSpans } from '../../../value/column/snapshot-memory.ts';
import { openOutput } from '../../entity/output-dataset.ts';
import { StepProgress } from '../../run/step-progress.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { HostRequest } from '../host-call.ts';
import type { WorkerContext } from '../worker-context.ts';

interface CollectedEffects extends RunEffects {
  readonly datasets: RunEffects['datasets'][number][];
  readonly functions: RunEffects['functions'][number][];
}

export async function procedureTask(
  { type: name, params, run, ...about }: EngineTasks['procedure']['args'],
  task: Task,
  context: WorkerContext,
): Promise<EngineTasks['procedure']['result']> {
  const type = context.types.procedureType(name);
  assert(type.execution === 'worker', `procedure ${name} computes`);
  const arenas = new ArenaLease(context.arenas);
  const effects: CollectedEffects = { datasets: [], functions: [] };
  const madeIds: string[] = [];
  const outputs: (() => void)[] = [];
  const log = (message: string): void => {
    task.callHost({ kind: 'log', run, message } satisfies HostRequest);
  };
  try {
    const warnings = new Map<string, QueryWarning>();
    const procedureContext = makeContext(task, context, {
      arenas,
      effects,
      warnings,
      madeIds,
      outputs,
      about,
      log,
    });
    const outcome = await type.run(procedureContext, params);
    for (const { content } of effects.datasets) arenas.keep(snapshotSpans(content.snapshot));
    return {
      ...outcome,
      ...withMadeIds(outcome.result, madeIds),
      ...withWarnings(outcome.details, [...warnings.values()]),
      effects,
    };
  } catch (thrown) {
    for (const abandon of outputs) abandon();
    throw thrown;
  } finally {
    arenas.release();
  }
}

/** Datasets that nobody gave an id are named by the result, or nobody would find them. */
function withMadeIds(result: unknown, [id]: readonly string[]): { readonly result?: unknown } {
  return id === undefined
    ? {}
    : { result: { ...(result as object | undefined), outputDataset: id } };
}

/** What is probably wrong with the queries of a run stands beside its details. */
function withWarnings(
  details: unknown,
  warnings: readonly QueryWarning[],
): { readonly details?: unknown } {
  if (warnings.length === 0) return {};
  const isPlain = typeof details === 'object' && !Array.isArray(details);
  return isPlain || details === undefined ? { details: { ...details, warnings } } : {};
}

interface RunTaskContext {
  readonly arenas: ArenaLease;
  /** of the queries that ran, each once */
  readonly warnings: Map<string, QueryWarning>;
  readonly effects: CollectedEffects;
  /** ids that outputs without one were given */
  readonly madeIds: string[];
  /** what outputs have to do when the run fails */
  readonly outputs: (() => void)[];
  /** whose run it is, and when it was started */
  readonly about: Pick<ProcedureContext, 'procedureId' | 'runId' | 'startedAt'>;
  log(message: string): void;
}

function makeContext(
  task: Task,
  { types, mirror, callScope, executor, files, scratch, remote }: WorkerContext,
  { arenas, effects, warnings, madeIds, outputs, about, log }: RunTaskContext,
): ProcedureContext {
  return {
    namespace: mirror,
    files,
    scratch,
    remote,
    arenas,
    parallel: task.parallel,
    scope: callScope,
    ...about,
    checkCancelled: () => task.checkCancelled(),
    query(query, rewrite, options) {
      const prepared = prepareQuery(queryTextOf(query), {
        namespace: mirror,
        scope: callScope,
        executor,
        rewrite,
        ...options,
      });
      for (const warning of prepared.warnings) warnings.set(JSON.stringify(warning), warning);
      return prepared;
    },
    steps: (steps, options) =>
      new StepProgress(steps, options?.topLevel === true, (document) => task.progress(document)),
    output: (spec, defaultType, options = {}) =>
      openOutput(spec, defaultType, options, {
        types,
        arenas,
        remote,
        checkCancelled: () => task.checkCancelled(),
        onOpen: (abandon) => outputs.push(abandon),
        onCommit: (effect) => {
          effects.datasets.push(effect);
          const isNamed = typeof spec === 'string' || spec?.id !== undefined;
          if (!isNamed) madeIds.push(effect.id);
        },
      }),
    outputFunction: (config) => effects.functions.push(config),
    log,
    callHost: (request) => task.callHost(request),
  };
}
