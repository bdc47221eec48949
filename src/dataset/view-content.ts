// Views hold what they were bound to: their rows are taken over once, when they are created.
import type { RelationRow } from '../plan/catalog.ts';
import type { DatasetContent, ViewContext } from './dataset-type.ts';
import { cellsOfRow } from './recorded-row.ts';
import { openSparseWriter } from './sparse-writer.ts';

/** Rows checked between two looks at the cancel flag. */
const ROWS_PER_CHECK = 1024;

export function viewContent(
  context: ViewContext,
  rows: Iterable<RelationRow>,
  state: unknown,
): DatasetContent {
  const writer = openSparseWriter({ ...context, previous: undefined });
  let rowCount = 0;
  for (const { name, row } of rows) {
    if (rowCount++ % ROWS_PER_CHECK === 0) context.checkCancelled();
    writer.add({ name, cells: cellsOfRow(row) });
  }
  return { snapshot: writer.finish(state), state };
}
