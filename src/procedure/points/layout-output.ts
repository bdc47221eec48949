// What layouts record: the position of each row.
import type { OutputDatasetSpec } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import type { PointRows } from './point-rows.ts';

/** x; x, y; x, y, z; and dim0000, dim0001, … for four dimensions and more. */
export function layoutColumns(dimension: number): Path[] {
  const names =
    dimension <= 3
      ? ['x', 'y', 'z'].slice(0, dimension)
      : Array.from({ length: dimension }, (_, j) => `dim${String(j).padStart(4, '0')}`);
  return names.map((name) => Path.of(name));
}

/** One row for each row of the input. @param ts of its cells, in seconds */
export function recordLayout(
  context: ProcedureContext,
  spec: OutputDatasetSpec,
  rows: PointRows,
  positions: Float64Array,
  ts: number,
): void {
  const output = context.output(spec, 'embedding');
  const { rowCount } = rows.points;
  const columns = layoutColumns(positions.length / rowCount);
  for (let row = 0; row < rowCount; row++) {
    const start = row * columns.length;
    const cells = columns.map((column, j) => [column, positions[start + j] as number, ts] as const);
    output.record({ name: rows.nameAt(row), cells });
  }
  output.commit();
}

/** The points row by row, as model files keep them. */
export function pointsByRow(columns: readonly Float64Array[], rowCount: number): Float64Array {
  const all = new Float64Array(rowCount * columns.length);
  for (const [j, column] of columns.entries()) {
    for (let row = 0; row < rowCount; row++) all[row * columns.length + j] = column[row] as number;
  }
  return all;
}
