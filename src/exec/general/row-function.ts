// rowName() and its kin, and the functions of the column that COLUMN EXPR looks at.
import type {
  BoundExpression,
  ColumnFunctionExpression,
  RowFunctionExpression,
} from '../../plan/expression.ts';
import { failure } from '../../util/error.ts';
import { normalizeInteger } from '../../value/atom.ts';
import type { Path } from '../../value/path.ts';
import { hashPath } from '../../value/path-hash.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { constant, effectiveTs, NULL_VALUE, Row, Scalar, type Value } from '../../value/value.ts';
import { latestOfPoints } from './call/lookup.ts';
import { keyOf } from './column-key.ts';
import type { Compiler } from './compiler.ts';
import type { Evaluator, Frame } from './frame.ts';
import { type ExecRow, sideOf } from './row.ts';

/** What a row function says of the row that its side contributed; `''` and null without one. */
export function compileRowFunction(
  expression: RowFunctionExpression,
  compiler: Compiler,
): Evaluator {
  const { side } = expression;
  const find: (frame: Frame) => ExecRow | undefined =
    side.length === 0 ? (frame) => frame.current : (frame) => sideOf(frame.current, side);
  switch (expression.function) {
    case 'rowName':
      return (frame) => constant(find(frame)?.name.toString() ?? '');
    case 'rowPath':
      return (frame) => constant(find(frame)?.name ?? '');
    case 'rowHash':
      return (frame) => {
        const row = find(frame);
        return row === undefined ? NULL_VALUE : hashOf(row.name);
      };
    case 'rowPathElement': {
      const index = elementIndex(expression.arg, compiler);
      return (frame) => elementOf(find(frame)?.name, index(frame));
    }
    case 'columnCount':
      return (frame) => columnCountOf(side.length === 0 ? frame.row : find(frame)?.row);
  }
}

export function compileColumnFunction(
  expression: ColumnFunctionExpression,
  compiler: Compiler,
): Evaluator {
  switch (expression.function) {
    case 'columnName':
      return (frame) => constant(frame.column.path.toString());
    case 'columnPath':
      return (frame) => constant(frame.column.path);
    case 'columnHash':
      return (frame) => hashOf(frame.column.path);
    case 'columnPathLength':
      return (frame) => constant(frame.column.path.length);
    case 'columnPathElement': {
      const index = elementIndex(expression.arg, compiler);
      return (frame) => elementOf(frame.column.path, index(frame));
    }
    case 'value':
      return (frame) => latestOfPoints(frame.column.value);
    case 'rowCount':
      return compileRowCount(compiler);
  }
}

/** How many rows of the input have the column; the columns are listed once a run. */
function compileRowCount(compiler: Compiler): Evaluator {
  const { runtime } = compiler;
  const counts = { flat: new Map<string, number>(), structured: new Map<string, number>() };
  const runs = { flat: -1, structured: -1 };
  return (frame) => {
    const part = frame.column.structured ? 'structured' : 'flat';
    if (runs[part] !== runtime.run) {
      const columns = compiler.inputColumns(frame.column.structured);
      counts[part] = new Map(columns.map((column) => [keyOf(column.path), column.rowCount]));
      runs[part] = runtime.run;
    }
    return constant(counts[part].get(keyOf(frame.column.path)) ?? 0);
  };
}

function hashOf(path: Path): Value {
  return constant(normalizeInteger(hashPath(path)));
}

function elementIndex(
  arg: BoundExpression | undefined,
  compiler: Compiler,
): (frame: Frame) => number {
  if (arg === undefined) throw new Error('an element function has an index');
  const evaluate = compiler.evaluator(arg);
  return (frame) => {
    const value = evaluate(frame);
    const atom = value instanceof Scalar ? value.atom : undefined;
    if (typeof atom === 'number' && Number.isInteger(atom)) return atom;
    if (atom === null) return Number.NaN;
    throw failure('SQL_EXECUTION', 'the index of a path element is not an integer');
  };
}

/** Negative indexes count from the end; out of range is null. */
function elementOf(path: Path | undefined, index: number): Value {
  const element = path?.elements[index < 0 ? path.length + index : index];
  return element === undefined ? NULL_VALUE : constant(element);
}

/** Distinct columns with a point, and the latest timestamp among them. */
function columnCountOf(row: Row | undefined): Value {
  if (row === undefined) return constant(0);
  const count = countColumns(row);
  return new Scalar(count, count === 0 ? MINUS_INFINITY : effectiveTs(row));
}

function countColumns(value: Value): number {
  if (value instanceof Scalar) return 1;
  if (!(value instanceof Row)) return value.atoms.length;
  let count = 0;
  for (let i = 0; i < value.length; i++) {
    const member = value.values[i] as Value;
    const repeated =
      member instanceof Scalar &&
      value.names[i] === value.names[i - 1] &&
      value.values[i - 1] instanceof Scalar;
    if (!repeated) count += countColumns(member);
  }
  return count;
}
