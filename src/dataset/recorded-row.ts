// Rows on their way into a dataset: a name and its data points.

import type { RecordedCell } from '../value/column/table-builder.ts';
import type { Path } from '../value/path.ts';
import { flatten, type Row } from '../value/value.ts';

export type { RecordedCell } from '../value/column/table-builder.ts';

export interface RecordedRow {
  readonly name: Path;
  readonly cells: readonly RecordedCell[];
}

/** The data points of a row value, nested rows and embeddings flattened. */
export function cellsOfRow(row: Row): RecordedCell[] {
  const cells: RecordedCell[] = [];
  flatten(row, [], (column, atom, ts) => cells.push([column, atom, ts]));
  return cells;
}
