// The order of the columns that a select list makes.

import { Path } from '../value/path.ts';
import { compareValues, constant, Scalar, type Value } from '../value/value.ts';
import type { BindContext } from './bind/context.ts';
import {
  type ColumnOrder,
  concatOrders,
  isClosed,
  OPEN_ORDER,
  orderOfValue,
} from './column-order.ts';
import type { BoundExpression, ColumnProjectItem, ProjectItem } from './expression.ts';
import { mapExpression } from './map-expression.ts';
import { renamedPath, type WildcardPattern } from './pattern.ts';
import { typeOfValue } from './type/value-type.ts';

/** @param input the order of the columns that wildcards run over; undefined: open */
export function orderOfItems(
  items: readonly ProjectItem[],
  input: ColumnOrder | undefined,
  context: BindContext,
): ColumnOrder {
  return concatOrders(items.map((item) => orderOfItem(item, input ?? OPEN_ORDER, context)));
}

function orderOfItem(item: ProjectItem, input: ColumnOrder, context: BindContext): ColumnOrder {
  switch (item.kind) {
    case 'named':
      return orderOfValue(item.path, item.expression.type);
    case 'spread': {
      const { type } = item.expression;
      if (type.kind !== 'row' || type.open) return OPEN_ORDER;
      return concatOrders(type.members.map(({ name, type: inner }) => orderOfValue([name], inner)));
    }
    case 'wildcard':
      return item.source === 'input' ? orderOfWildcard(item.pattern, input) : OPEN_ORDER;
    case 'column-expression':
      return item.source === 'input' ? orderOfColumns(item, input, context) : OPEN_ORDER;
  }
}

function orderOfWildcard(pattern: WildcardPattern, input: ColumnOrder): ColumnOrder {
  const paths: (readonly string[])[] = [];
  let rest: number | undefined;
  input.paths.forEach((path, index) => {
    if (input.rest === index) rest ??= paths.length;
    const renamed = renamedPath(pattern, path);
    if (renamed === 'below') rest ??= paths.length;
    else if (renamed !== undefined) paths.push(renamed);
  });
  if (input.rest === input.paths.length) rest ??= paths.length;
  return { paths, rest };
}

/** COLUMN EXPR over known columns: natural order, or that of its ORDER BY. */
function orderOfColumns(
  item: ColumnProjectItem,
  input: ColumnOrder,
  context: BindContext,
): ColumnOrder {
  if (!isClosed(input) || item.orderBy.length === 0) return OPEN_ORDER;
  const known = input.paths.map((path) => {
    const evaluate = (expression: BoundExpression): Value | undefined =>
      evaluateFor(path, expression, context);
    const keys = item.orderBy.map((key) => evaluate(key.expression));
    return { path, keys, name: outputPath(evaluate(item.as)) };
  });
  if (known.some(({ keys, name }) => name === undefined || keys.includes(undefined))) {
    return OPEN_ORDER;
  }
  const sorted = [...known].sort((a, b) => {
    for (const [index, key] of item.orderBy.entries()) {
      const order = compareValues(a.keys[index] as Value, b.keys[index] as Value);
      if (order !== 0) return key.descending ? -order : order;
    }
    return 0;
  });
  // A column that WHERE leaves out does no harm here; others that there are go to the end.
  return { paths: sorted.map(({ name }) => name as readonly string[]), rest: sorted.length };
}

function evaluateFor(
  path: readonly string[],
  expression: BoundExpression,
  context: BindContext,
): Value | undefined {
  const column = new Path(path);
  let known = true;
  const replaced = mapExpression(expression, (part) => {
    if (part.kind !== 'column-function') return part;
    const { start, end } = part;
    const value = columnValue(part.function, column);
    known &&= value !== undefined;
    if (value === undefined) return part;
    return { kind: 'constant', value, type: typeOfValue(value), start, end };
  });
  if (!known) return undefined;
  try {
    return context.evaluate(replaced);
  } catch {
    return undefined;
  }
}

function columnValue(name: string, path: Path): Value | undefined {
  switch (name) {
    case 'columnName':
      return constant(path.toString());
    case 'columnPath':
      return constant(path);
    case 'columnPathLength':
      return constant(path.length);
    default:
      return undefined;
  }
}

function outputPath(value: Value | undefined): readonly string[] | undefined {
  if (!(value instanceof Scalar)) return undefined;
  if (value.atom instanceof Path) return value.atom.elements;
  return typeof value.atom === 'string' ? [value.atom] : undefined;
}
