// transpose: one row for each column, with a column for each row that has it.
import type { TransposeNode } from '../../../plan/plan.ts';
import type { Path } from '../../../value/path.ts';
import { comparePaths } from '../../../value/path.ts';
import { flatten, RowBuilder, Scalar } from '../../../value/value.ts';
import type { Runtime } from '../compiler.ts';
import { TableRow } from '../row.ts';
import { type RowSource, withCancellation } from './source.ts';

export function compileTranspose(
  node: TransposeNode,
  input: RowSource,
  runtime: Runtime,
): RowSource {
  const { input: below } = node;
  const gathered = gatherColumns(input);
  if (below.kind !== 'scan' || below.lookup !== undefined || below.columns !== 'all') {
    return gathered;
  }
  return () => {
    const dataset = runtime.namespace.dataset(below.dataset);
    const rows = dataset.transposedRows?.(() => runtime.scope.checkCancelled());
    return rows === undefined ? gathered() : withCancellation(rows, runtime);
  };
}

function gatherColumns(input: RowSource): RowSource {
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
