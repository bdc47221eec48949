// What clusterings record: the cluster of each row, and the clusters themselves.
import type { OutputDatasetSpec } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import type { PointRows } from './point-rows.ts';

/** One row for each row of the input, with its cluster's number. */
export function recordClusters(
  context: ProcedureContext,
  spec: OutputDatasetSpec,
  rows: PointRows,
  labels: Int32Array,
): void {
  const output = context.output(spec, 'embedding');
  const column = Path.of('cluster');
  for (const [row, label] of labels.entries()) {
    output.record({ name: rows.nameAt(row), cells: [[column, label, context.startedAt]] });
  }
  output.commit();
}

/** Rows named 0, 1, … of the same columns. */
export function recordNumberedRows(
  context: ProcedureContext,
  spec: OutputDatasetSpec,
  columns: readonly Path[],
  rows: Iterable<ArrayLike<number>>,
): void {
  const output = context.output(spec, 'embedding');
  let index = 0;
  for (const values of rows) {
    const name = Path.of(String(index++));
    const cells = columns.map(
      (column, j) => [column, values[j] as number, context.startedAt] as const,
    );
    output.record({ name, cells });
  }
  output.commit();
}
