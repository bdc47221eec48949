// VALUES: rows of expressions without columns.
import type { ValuesNode } from '../../../plan/plan.ts';
import { Path } from '../../../value/path.ts';
import { sortedRow } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { TableRow } from '../row.ts';
import type { RowSource } from './source.ts';

export function compileValues(node: ValuesNode, compiler: Compiler): RowSource {
  const rows = node.rows.map((row) => row.map((value) => compiler.evaluator(value)));
  return function* () {
    const frame = new Frame();
    for (const [index, row] of rows.entries()) {
      const values = row.map((evaluate) => evaluate(frame));
      yield new TableRow(new Path([String(index)]), sortedRow(node.columns, values));
    }
  };
}
