// Rows that were made one by one, as columns a few at a time.
import { assert } from '../../util/assert.ts';
import type { Atom } from '../../value/atom.ts';
import { compareElements } from '../../value/natural-order.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Scalar } from '../../value/value.ts';
import { ColumnRows } from '../column-rows.ts';
import type { ExecRow } from '../general/row.ts';

const PIECE_ROW_COUNT = 256;

/**
 * @param rows of the same columns, all atoms
 * @param from the first row that is wanted
 * @param names of the columns, for a piece without rows when there are none
 */
export function* rowsInPieces(
  rows: Iterable<ExecRow>,
  from: number,
  names: readonly string[],
): Iterable<ColumnRows> {
  let number = 0;
  let piece: ExecRow[] = [];
  for (const row of rows) {
    if (number++ < from) continue;
    piece.push(row);
    if (piece.length < PIECE_ROW_COUNT) continue;
    yield columnsOf(piece, names);
    piece = [];
  }
  if (piece.length > 0 || number === 0) yield columnsOf(piece, names);
}

function columnsOf(rows: readonly ExecRow[], names: readonly string[]): ColumnRows {
  const cells = new Map<string, { readonly atoms: Atom[]; readonly times: number[] }>();
  for (const name of names) cells.set(name, { atoms: [], times: [] });
  rows.forEach(({ row }, index) => {
    row.names.forEach((name, i) => {
      const value = row.values[i];
      assert(value instanceof Scalar, 'the types of these columns are those of atoms');
      let column = cells.get(name);
      if (column === undefined) {
        column = { atoms: [], times: [] };
        cells.set(name, column);
      }
      column.atoms[index] = value.atom;
      column.times[index] = value.ts;
    });
  });
  const columns = [...cells].map(([name, { atoms, times }]) => ({
    name,
    values: { kind: 'atoms' as const, atomAt: (index: number) => atoms[index] ?? null },
    tsAt: (index: number) => times[index] ?? MINUS_INFINITY,
  }));
  columns.sort((a, b) => compareElements(a.name, b.name));
  return new ColumnRows(rows.length, columns, (index) => (rows[index] as ExecRow).name);
}
