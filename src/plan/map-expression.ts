// Rewriting bound expressions from the leaves up.
import type { BoundExpression, ProjectItem, SortKey } from './expression.ts';

type Rewrite = (expression: BoundExpression) => BoundExpression;

/** A copy whose every sub-expression was replaced by `rewrite` of its own rewritten copy. */
export function mapExpression(expression: BoundExpression, rewrite: Rewrite): BoundExpression {
  return rewrite(mapChildren(expression, (child) => mapExpression(child, rewrite)));
}

/** A copy whose direct children were replaced. */
export function mapChildren(expression: BoundExpression, map: Rewrite): BoundExpression {
  const maybe = (child: BoundExpression | undefined) => (child === undefined ? child : map(child));
  switch (expression.kind) {
    case 'constant':
    case 'column':
    case 'member':
    case 'parameter':
    case 'value-timestamp':
    case 'scope-call':
    case 'group-key':
    case 'aggregate-result':
    case 'outer':
    case 'window-result':
    case 'grouping':
      return expression;
    case 'subquery':
      return {
        ...expression,
        args: expression.args.map(map),
        operands: expression.operands.map(map),
      };
    case 'output-column':
      return { ...expression, otherwise: map(expression.otherwise) };
    case 'call':
      return { ...expression, args: expression.args.map(map) };
    case 'user-call':
      return { ...expression, arg: maybe(expression.arg) };
    case 'row-function':
      return { ...expression, arg: maybe(expression.arg) };
    case 'column-function':
      return { ...expression, arg: maybe(expression.arg) };
    case 'group-key-element':
      return { ...expression, arg: map(expression.arg) };
    case 'try':
      return {
        ...expression,
        operand: map(expression.operand),
        otherwise: maybe(expression.otherwise),
      };
    case 'extract':
      return { ...expression, operand: map(expression.operand), index: map(expression.index) };
    case 'row':
      return { ...expression, items: expression.items.map((item) => mapItem(item, map)) };
    case 'embedding':
      return { ...expression, elements: expression.elements.map(map) };
    case 'unary':
      return { ...expression, operand: map(expression.operand) };
    case 'path-operand':
      return { ...expression, operand: map(expression.operand) };
    case 'is':
      return { ...expression, operand: map(expression.operand) };
    case 'cast':
      return { ...expression, operand: map(expression.operand) };
    case 'in-query':
      return { ...expression, operand: map(expression.operand) };
    case 'arithmetic':
      return { ...expression, left: map(expression.left), right: map(expression.right) };
    case 'comparison':
      return { ...expression, left: map(expression.left), right: map(expression.right) };
    case 'set-timestamp':
      return { ...expression, operand: map(expression.operand), time: map(expression.time) };
    case 'and':
      return { ...expression, operands: expression.operands.map(map) };
    case 'or':
      return { ...expression, operands: expression.operands.map(map) };
    case 'between':
      return {
        ...expression,
        operand: map(expression.operand),
        low: map(expression.low),
        high: map(expression.high),
      };
    case 'in-list':
      return {
        ...expression,
        operand: map(expression.operand),
        choices: expression.choices.map(map),
      };
    case 'in-members':
      return { ...expression, operand: map(expression.operand), row: map(expression.row) };
    case 'like':
      return { ...expression, operand: map(expression.operand), pattern: map(expression.pattern) };
    case 'case':
      return {
        ...expression,
        operand: maybe(expression.operand),
        branches: expression.branches.map(({ when, result }) => ({
          when: map(when),
          result: map(result),
        })),
        otherwise: maybe(expression.otherwise),
      };
  }
}

export function mapItem(item: ProjectItem, map: Rewrite): ProjectItem {
  switch (item.kind) {
    case 'named':
    case 'spread':
      return { ...item, expression: map(item.expression) };
    case 'wildcard':
      return item;
    case 'column-expression':
      return {
        ...item,
        select: map(item.select),
        as: map(item.as),
        where: item.where === undefined ? undefined : map(item.where),
        orderBy: item.orderBy.map((key) => mapSortKey(key, map)),
      };
  }
}

export function mapSortKey(key: SortKey, map: Rewrite): SortKey {
  return { ...key, expression: map(key.expression) };
}
