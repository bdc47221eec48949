// The card of the model that a function is made of, with how it did in its last test.
import { classifierExperiment } from '../../procedure/classifier/classifier-experiment.ts';
import { classifierTest } from '../../procedure/classifier/classifier-test.ts';
import { failure } from '../../util/error.ts';
import { parseTimestamp } from '../../value/timestamp.ts';
import type { Run } from '../run/run.ts';
import type { FunctionEntity } from './function-entity.ts';
import type { ProcedureEntity } from './procedure-entity.ts';

/** @throws ENTITY_NOT_FOUND for a function that is no model, or one trained before there were cards */
export function functionCard(
  { id, card }: FunctionEntity,
  procedures: Iterable<ProcedureEntity>,
): Record<string, unknown> {
  if (card === undefined) {
    throw failure('ENTITY_NOT_FOUND', { form: 'card', id }, { kind: 'function', id });
  }
  const createdAt = typeof card.createdAt === 'string' ? parseTimestamp(card.createdAt) : null;
  return { ...card, metrics: lastMetrics(id, procedures, createdAt ?? Number.NEGATIVE_INFINITY) };
}

/** What the last test of a function has found; null when there was none since it was trained. */
function lastMetrics(id: string, procedures: Iterable<ProcedureEntity>, since: number): unknown {
  let latest = since;
  let metrics: unknown = null;
  for (const procedure of procedures) {
    const read = READERS[procedure.procedureType.name];
    if (read === undefined) continue;
    for (const run of procedure.runs()) {
      if (run.state !== 'finished' || run.endedAt === undefined || run.endedAt < latest) continue;
      const found = read(run, id);
      if (found === undefined) continue;
      latest = run.endedAt;
      metrics = found;
    }
  }
  return metrics;
}

/** By procedure type: what a run says of a function. */
const READERS: Readonly<Record<string, (run: Run, id: string) => unknown>> = {
  [classifierTest.name](run, id) {
    const { testedFunction } = (run.details ?? {}) as { readonly testedFunction?: unknown };
    return testedFunction === id ? run.outcome.result : undefined;
  },
  [classifierExperiment.name](run, id) {
    const { folds = [] } = (run.outcome.result ?? {}) as {
      readonly folds?: readonly { readonly functionName: string; readonly resultsTest: unknown }[];
    };
    return folds.find(({ functionName }) => functionName === id)?.resultsTest;
  },
};
