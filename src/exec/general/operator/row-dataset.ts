// row_dataset and atom_dataset: the members or atoms of a value as rows.
import type { RowDatasetNode } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import { Path } from '../../../value/path.ts';
import {
  cellsOf,
  constant,
  type Embedding,
  NULL_VALUE,
  Row,
  Scalar,
  type Value,
} from '../../../value/value.ts';
import { asRow } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { Frame } from '../frame.ts';
import { TableRow } from '../row.ts';
import type { RowSource } from './source.ts';

const NAMES = ['column', 'value'];

export function compileRowDataset(node: RowDatasetNode, compiler: Compiler): RowSource {
  const evaluate = compiler.evaluator(node.expression);
  const name = node.flat ? 'atom_dataset' : 'row_dataset';
  const evaluateMembers = (): Row | Embedding => {
    const value = evaluate(new Frame());
    if (!(value instanceof Scalar)) return value;
    const message = `Argument to ${name} must be a row, not a scalar or NULL`;
    throw failure('SQL_EXECUTION', message);
  };
  const placed = placeErrors(evaluateMembers, node.expression, compiler.runtime.text);
  return function* () {
    const value = placed();
    let index = 0;
    for (const [column, member] of node.flat ? atomsOf(value) : membersOf(value)) {
      yield new TableRow(new Path([String(index++)]), new Row(NAMES, [constant(column), member]));
    }
  };
}

/** A member that is an empty row would vanish; it is shown as null. */
function membersOf(value: Value): [Path, Value][] {
  const row = asRow(value) as Row;
  return row.names.map((name, index) => {
    const member = row.values[index] as Value;
    const empty = member instanceof Row && member.length === 0;
    return [new Path([name]), empty ? NULL_VALUE : member];
  });
}

function atomsOf(value: Value): [Path, Value][] {
  return cellsOf(value).map(({ path, atom, ts }) => [path, new Scalar(atom, ts)]);
}
