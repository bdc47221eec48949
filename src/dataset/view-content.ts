// Views hold what they were bound to: their rows are taken over once, when they are created.
import type { RelationRow } from '../plan/namespace.ts';
import { NO_REMOTE } from '../remote/remote-access.ts';
import { every } from '../util/every.ts';
import { SparseBuilder } from '../value/column/sparse-builder.ts';
import type { DatasetContent, ViewContext } from './dataset-type.ts';
import { cellsOfRow, type RecordedRow } from './recorded-row.ts';
import { openSparseWriter } from './sparse-writer.ts';

/** Rows and cells recorded between two looks at the cancel flag. */
const CELLS_PER_CHECK = 4096;

/** @param rows one that comes several times is one row with all the cells */
export function viewContent(
  context: ViewContext,
  rows: Iterable<RecordedRow>,
  state: unknown,
): DatasetContent {
  const writer = openSparseWriter({
    ...context,
    previous: undefined,
    remote: NO_REMOTE,
    isFirst: true,
  });
  let left = 0;
  for (const { name, cells } of rows) {
    // A wide row is recorded in parts.
    for (let from = 0; from === 0 || from < cells.length; from += CELLS_PER_CHECK) {
      const part = cells.slice(from, from + CELLS_PER_CHECK);
      left -= part.length + 1;
      if (left <= 0) {
        context.checkCancelled();
        left = CELLS_PER_CHECK;
      }
      writer.add({ name, cells: part });
    }
  }
  return { snapshot: writer.finish(state), state };
}

/** As `viewContent`, of rows of which each is one of its own: several may have the same name. */
export function ownRowsContent(
  { arenas, checkCancelled }: Pick<ViewContext, 'arenas' | 'checkCancelled'>,
  rows: Iterable<RecordedRow>,
): DatasetContent {
  const builder = new SparseBuilder(arenas);
  const look = every(CELLS_PER_CHECK, checkCancelled);
  for (const { name, cells } of rows) {
    look();
    builder.beginOwnRow(name);
    for (const [column, atom, ts] of cells) {
      look();
      builder.addCell(builder.columnId(column), atom, ts);
    }
  }
  return { snapshot: builder.seal(checkCancelled), state: null };
}

/** Rows of a relation in the form in which rows are recorded, nested values flattened. */
export function* recordedRows(rows: Iterable<RelationRow>): Iterable<RecordedRow> {
  for (const { name, row } of rows) yield { name, cells: cellsOfRow(row) };
}
