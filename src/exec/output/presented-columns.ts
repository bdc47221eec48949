// The columns of rows that lie in columns, as a format shows them.
import type { RelationRow } from '../../plan/namespace.ts';
import { ColumnRows, nullReader, ROWS_PER_LOOK, type RowColumn } from '../column-rows.ts';
import { columnComparer, type OutputOptions } from './options.ts';

/**
 * Whether the columns of rows tell all that a format shows. When there are no rows, optional columns
 * do not occur, and only the select list says what to show.
 */
export function liesInColumns(rows: Iterable<RelationRow>): rows is ColumnRows {
  if (!(rows instanceof ColumnRows)) return false;
  return rows.rowCount > 0 || rows.columns.every(({ isOptional }) => isOptional !== true);
}

/**
 * The columns that occur in the order that is asked for; without one, in that in which rows bring
 * them, and without rows there are none to show.
 */
export function presentedColumns(rows: ColumnRows, options: OutputOptions): readonly RowColumn[] {
  const { order, sortColumns } = options;
  if (rows.rowCount === 0 && order === undefined) return [];
  if (order !== undefined || sortColumns) return orderedColumns(rows, options);
  const met: { readonly column: RowColumn; readonly first: number }[] = [];
  for (const column of rows.columns) {
    const first = firstRowOf(column, rows);
    if (first !== undefined) met.push({ column, first });
  }
  return met.sort((a, b) => a.first - b.first).map(({ column }) => column);
}

/** The columns that occur in the order in which those of a row are shown. */
export function orderedColumns(rows: ColumnRows, options: OutputOptions): readonly RowColumn[] {
  const columns = rows.columns.filter(
    (column) => column.occurs ?? firstRowOf(column, rows) !== undefined,
  );
  const compare = columnComparer(options);
  if (compare === undefined) return columns;
  return columns.sort((a, b) => compare(a.path.elements, b.path.elements));
}

/** The first row that has a column; undefined when none has. */
function firstRowOf({ values, isOptional }: RowColumn, rows: ColumnRows): number | undefined {
  if (isOptional !== true) return 0;
  const isNull = nullReader(values);
  for (let index = 0; index < rows.rowCount; index++) {
    if (index % ROWS_PER_LOOK === 0) rows.look();
    if (!isNull(index)) return index;
  }
  return undefined;
}
