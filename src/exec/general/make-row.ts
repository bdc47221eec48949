// Select lists and row literals: items in, one row out.
import type { NamedProjectItem, ProjectItem } from '../../plan/expression.ts';
import { isWholeRow } from '../../plan/pattern.ts';
import { failure } from '../../util/error.ts';
import { compareElements } from '../../value/natural-order.ts';
import { Path } from '../../value/path.ts';
import { Row, RowBuilder, type Value } from '../../value/value.ts';
import { asRow } from './call/lookup.ts';
import { compileColumnExpression } from './column-expression.ts';
import type { Compiler } from './compiler.ts';
import { placeErrors } from './error-place.ts';
import type { Frame, Points } from './frame.ts';
import { compileWildcard } from './wildcard.ts';

export type RowMaker = (frame: Frame) => Row;

export function compileRow(items: readonly ProjectItem[], compiler: Compiler): RowMaker {
  const [only] = items;
  if (items.length === 1 && only?.kind === 'wildcard' && isWholeRow(only.pattern)) {
    return only.source === 'input' ? (frame) => frame.row : membersOf;
  }
  if (items.every(isPlainItem) && haveDistinctNames(items)) return compileFixedRow(items, compiler);
  const fills = items.map((item) => compileItem(item, compiler));
  return (frame) => {
    const builder = new RowBuilder();
    for (const fill of fills) fill(frame, builder);
    return builder.build();
  };
}

function membersOf(frame: Frame): Row {
  return asRow(frame.members) as Row;
}

function isPlainItem(item: ProjectItem): item is NamedProjectItem {
  return item.kind === 'named' && item.path.length === 1;
}

function haveDistinctNames(items: readonly NamedProjectItem[]): boolean {
  return new Set(items.map((item) => item.path[0])).size === items.length;
}

/** All names are known: the sorted names are shared by all rows that have one point a cell. */
function compileFixedRow(items: readonly NamedProjectItem[], compiler: Compiler): RowMaker {
  const sorted = [...items].sort((a, b) => compareElements(nameOf(a), nameOf(b)));
  const names = sorted.map(nameOf);
  const evaluators = sorted.map((item) => compiler.points(item.expression));
  const count = evaluators.length;
  return (frame) => {
    const cells = new Array<Points>(count);
    let several = false;
    for (let i = 0; i < count; i++) {
      const points = (evaluators[i] as (typeof evaluators)[number])(frame);
      several ||= Array.isArray(points);
      cells[i] = points;
    }
    return several ? spreadPoints(names, cells) : new Row(names, cells as Value[]);
  };
}

function nameOf(item: NamedProjectItem): string {
  return item.path[0] as string;
}

function spreadPoints(names: readonly string[], cells: readonly Points[]): Row {
  const outNames: string[] = [];
  const values: Value[] = [];
  cells.forEach((points, index) => {
    for (const value of Array.isArray(points) ? points : [points as Value]) {
      outNames.push(names[index] as string);
      values.push(value);
    }
  });
  return new Row(outNames, values);
}

/** Adds the columns of one item. */
type ItemFill = (frame: Frame, into: RowBuilder) => void;

function compileItem(item: ProjectItem, compiler: Compiler): ItemFill {
  switch (item.kind) {
    case 'named': {
      const evaluate = compiler.points(item.expression);
      const path = new Path(item.path);
      return (frame, into) => addPoints(path, evaluate(frame), into);
    }
    case 'spread': {
      const evaluate = compiler.evaluator(item.expression);
      const spread: ItemFill = (frame, into) => {
        const row = asRow(evaluate(frame));
        if (row === undefined) {
          throw failure('SQL_EXECUTION', 'Expression with AS * must return a row');
        }
        for (let i = 0; i < row.length; i++) {
          into.add(row.names[i] as string, row.values[i] as Value);
        }
      };
      return placeErrors(spread, item, compiler.runtime.text);
    }
    case 'wildcard': {
      const copy = compileWildcard(item.pattern);
      return item.source === 'input'
        ? (frame, into) => copy(frame.row, into)
        : (frame, into) => copy(membersOf(frame), into);
    }
    case 'column-expression':
      return placeErrors(compileColumnExpression(item, compiler), item, compiler.runtime.text);
  }
}

export function addPoints(path: Path, points: Points, into: RowBuilder): void {
  if (!Array.isArray(points)) {
    into.addPath(path, points as Value);
    return;
  }
  for (const value of points as readonly Value[]) into.addPath(path, value);
}
