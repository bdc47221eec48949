// The columns of rows that lie in columns, as a format shows them.
import type { ColumnRows, RowColumn } from '../column-rows.ts';
import { columnComparer, type OutputOptions } from './options.ts';

/** In the order that is asked for; without one, and without rows, there are none to show. */
export function presentedColumns(rows: ColumnRows, options: OutputOptions): readonly RowColumn[] {
  if (rows.rowCount === 0 && options.order === undefined) return [];
  const compare = columnComparer(options);
  if (compare === undefined) return rows.columns;
  return [...rows.columns].sort((a, b) => compare(a.path.elements, b.path.elements));
}
