// What a run of an import answers.
import type { OutputDatasetSpec } from '../../schema/declare.ts';
import type { OutputDataset, ProcedureResult } from '../procedure-type.ts';

/** Counts, and the id of the dataset that was made where the caller gave none. */
export function importResult(
  output: OutputDataset,
  spec: OutputDatasetSpec,
  counts: Readonly<Record<string, number>> = {},
): ProcedureResult {
  const named = typeof spec === 'string' ? spec : spec?.id;
  const result = named === undefined ? { ...counts, outputDataset: output.id } : counts;
  return Object.keys(result).length === 0 ? {} : { result };
}
