// COLUMN EXPR: a small query over the columns of each row.
//
// What WHERE and AS say of a column is the same in every row unless they look at its value, so the
// answer is remembered by column. ORDER BY, OFFSET and LIMIT choose among all columns of the input,
// which are listed once; without them a column is only looked at when some row has it, so that
// rows of a very wide dataset cost what their cells cost.
import type { ColumnProjectItem } from '../../plan/expression.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import {
  compareValues,
  EMPTY_ROW,
  flatten,
  type Row,
  type RowBuilder,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { asRow } from './call/lookup.ts';
import { keyOf } from './column-key.ts';
import type { Compiler } from './compiler.ts';
import { type ColumnCursor, type Evaluator, Frame, type Points } from './frame.ts';
import { pathOfValue } from './path-of-value.ts';

export type ColumnExpressionFill = (frame: Frame, into: RowBuilder) => void;

/** The output path of a column, or undefined when it is not selected. */
type Choice = Path | undefined;

export function compileColumnExpression(
  item: ColumnProjectItem,
  compiler: Compiler,
): ColumnExpressionFill {
  const select = compiler.points(item.select);
  const choose = item.dependsOnValue
    ? compileChoice(item, compiler)
    : rememberChoices(item, compiler);
  return (frame, into) => {
    const input = item.source === 'input' ? frame.row : (asRow(frame.members) as Row);
    const outside = frame.column;
    try {
      for (const column of item.structured ? topColumns(input) : flatColumns(input)) {
        frame.column = column;
        const path = choose(frame);
        if (path === undefined) continue;
        const points = select(frame);
        for (const value of Array.isArray(points) ? points : [points as Value]) {
          into.addPath(path, value);
        }
      }
    } finally {
      frame.column = outside;
    }
  };
}

type Chooser = (frame: Frame) => Choice;

/** WHERE and AS for the column that the frame is at. */
function compileChoice(item: ColumnProjectItem, compiler: Compiler): Chooser {
  const as = compiler.evaluator(item.as);
  const where = item.where === undefined ? undefined : compiler.predicate(item.where);
  const window = compileWindow(item, compiler);
  return (frame) => {
    if (window !== undefined && !window().has(keyOf(frame.column.path))) return undefined;
    if (where !== undefined && !where(frame)) return undefined;
    return outputPath(as(frame));
  };
}

function outputPath(value: Value): Path {
  const path = pathOfValue(value);
  if (path === undefined || path.length === 0) {
    throw failure('SQL_EXECUTION', 'Cannot have a NULL column name');
  }
  return path;
}

function rememberChoices(item: ColumnProjectItem, compiler: Compiler): Chooser {
  const choose = compileChoice(item, compiler);
  const known = new Map<string, { path: Choice }>();
  let run = compiler.runtime.run;
  return (frame) => {
    if (run !== compiler.runtime.run) {
      known.clear();
      run = compiler.runtime.run;
    }
    const key = keyOf(frame.column.path);
    let choice = known.get(key);
    if (choice === undefined) {
      choice = { path: choose(frame) };
      known.set(key, choice);
    }
    return choice.path;
  };
}

/**
 * The columns that OFFSET and LIMIT keep; undefined when there is no window. A WHERE that looks at
 * values is left to each row, so the window then counts all columns.
 */
function compileWindow(
  item: ColumnProjectItem,
  compiler: Compiler,
): (() => ReadonlySet<string>) | undefined {
  if (item.offset === 0 && item.limit === undefined) return undefined;
  const keys = item.orderBy.map((key) => ({
    evaluate: compiler.evaluator(key.expression),
    sign: key.descending ? -1 : 1,
  }));
  const where =
    item.where === undefined || item.dependsOnValue ? undefined : compiler.predicate(item.where);
  let kept: ReadonlySet<string> | undefined;
  let run = -1;
  const list = (): ReadonlySet<string> => {
    const frame = new Frame();
    const at = (path: Path): Frame => {
      frame.column = { path, value: EMPTY_ROW, structured: item.structured };
      return frame;
    };
    const columns = compiler
      .inputColumns(item.structured)
      .filter(({ path }) => where === undefined || where(at(path)))
      .map(({ path }) => ({ path, keys: evaluateKeys(keys, at(path)) }));
    columns.sort((a, b) => compareKeys(a.keys, b.keys, keys));
    const end = item.limit === undefined ? undefined : item.offset + item.limit;
    return new Set(columns.slice(item.offset, end).map(({ path }) => keyOf(path)));
  };
  return () => {
    if (kept === undefined || run !== compiler.runtime.run) {
      kept = list();
      run = compiler.runtime.run;
    }
    return kept;
  };
}

interface ColumnKey {
  readonly evaluate: Evaluator;
  readonly sign: number;
}

function evaluateKeys(keys: readonly ColumnKey[], frame: Frame): Value[] {
  return keys.map((key) => key.evaluate(frame));
}

/** Ties stay in natural order, in which the columns are listed. */
function compareKeys(a: readonly Value[], b: readonly Value[], keys: readonly ColumnKey[]): number {
  for (let i = 0; i < keys.length; i++) {
    const order = compareValues(a[i] as Value, b[i] as Value);
    if (order !== 0) return order * (keys[i] as ColumnKey).sign;
  }
  return 0;
}

/** The atoms of a row by column, points of one column together. */
function flatColumns(row: Row): ColumnCursor[] {
  const columns: ColumnCursor[] = [];
  let path: Path | undefined;
  let points: Value[] = [];
  const finish = () => {
    if (path !== undefined) columns.push({ path, value: onePoint(points), structured: false });
  };
  flatten(row, [], (next, atom, ts) => {
    if (path === undefined || !path.equals(next)) {
      finish();
      path = next;
      points = [];
    }
    points.push(new Scalar(atom, ts));
  });
  finish();
  return columns;
}

function topColumns(row: Row): ColumnCursor[] {
  const columns: ColumnCursor[] = [];
  for (let i = 0; i < row.length; ) {
    const name = row.names[i] as string;
    let end = i + 1;
    while (end < row.length && row.names[end] === name) end++;
    columns.push({
      path: new Path([name]),
      value: onePoint(row.values.slice(i, end)),
      structured: true,
    });
    i = end;
  }
  return columns;
}

function onePoint(points: readonly Value[]): Points {
  return points.length === 1 ? (points[0] as Value) : points;
}
