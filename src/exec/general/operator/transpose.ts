// transpose: one row for each column, with a column for each row that has it.
import type { Path } from '../../../value/path.ts';
import { comparePaths } from '../../../value/path.ts';
import { flatten, RowBuilder, Scalar } from '../../../value/value.ts';
import { TableRow } from '../row.ts';
import type { RowSource } from './source.ts';

export function compileTranspose(input: RowSource): RowSource {
  return function* () {
    const rows = new Map<string, { name: Path; builder: RowBuilder }>();
    for (const row of input()) {
      flatten(row.row, [], (path, atom, ts) => {
        const key = path.toString();
        let column = rows.get(key);
        if (column === undefined) {
          column = { name: path, builder: new RowBuilder() };
          rows.set(key, column);
        }
        column.builder.addPath(row.name, new Scalar(atom, ts));
      });
    }
    const columns = [...rows.values()].sort((a, b) => comparePaths(a.name, b.name));
    for (const { name, builder } of columns) yield new TableRow(name, builder.build());
  };
}
