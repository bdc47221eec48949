// merge: the cells of several inputs united by row name, rows in the order of first appearance.
import { mergeRows } from '../../../value/value.ts';
import { type ExecRow, TableRow } from '../row.ts';
import type { RowSource } from './source.ts';

export function compileMerge(inputs: readonly RowSource[]): RowSource {
  return function* () {
    const rows = new Map<string, ExecRow>();
    for (const input of inputs) {
      for (const row of input()) {
        const key = row.name.toString();
        const known = rows.get(key);
        rows.set(
          key,
          known === undefined ? row : new TableRow(row.name, mergeRows(known.row, row.row)),
        );
      }
    }
    yield* rows.values();
  };
}
