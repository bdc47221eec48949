// The select list and NAMED.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { ProjectNode } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import type { Path } from '../../../value/path.ts';
import { Embedding, Row, Scalar, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { Frame } from '../frame.ts';
import { LookAhead } from '../look-ahead.ts';
import { compileRow } from '../make-row.ts';
import { pathOfValue } from '../path-of-value.ts';
import { type ExecRow, ProjectedRow, TableRow } from '../row.ts';
import type { RowSource } from './source.ts';

export function compileProject(node: ProjectNode, input: RowSource, compiler: Compiler): RowSource {
  const lookAhead = LookAhead.ofItems(node.items, node.name === undefined ? [] : [node.name]);
  const ahead = compiler.lookingAhead(lookAhead);
  const makeRow = compileRow(node.items, ahead);
  const makeName = node.name === undefined ? undefined : compileName(node.name, ahead);
  const rows = lookAhead.over(input);
  const make = node.keepsInput
    ? (name: Path, row: Row, from: ExecRow) => new ProjectedRow(name, row, from)
    : (name: Path, row: Row) => new TableRow(name, row);
  return function* () {
    const frame = new Frame();
    for (const row of rows()) {
      frame.at(row);
      const columns = makeRow(frame);
      yield make(makeName === undefined ? row.name : makeName(frame), columns, row);
    }
  };
}

function compileName(name: BoundExpression, compiler: Compiler): (frame: Frame) => Path {
  const evaluate = compiler.evaluator(name);
  return placeErrors((frame) => nameOfValue(evaluate(frame)), name, compiler.runtime.text);
}

/** The row name that a value stands for. @throws SQL_EXECUTION when it is null or a row */
export function nameOfValue(value: Value): Path {
  const path = pathOfValue(value);
  if (path !== undefined && path.length > 0) return path;
  throw failure('SQL_EXECUTION', describeBadName(value));
}

function describeBadName(value: Value): string {
  if (value instanceof Scalar || isEmptyVector(value))
    return "Can't create a row with a null name.";
  const what = value instanceof Row ? 'a row' : 'an embedding that is no vector of atoms';
  return `Unable to create a row name from ${what}. Row names must be either a simple atom, or a Path atom, or an array of atoms.`;
}

function isEmptyVector(value: Row | Embedding): boolean {
  return value instanceof Embedding && value.length === 0;
}
