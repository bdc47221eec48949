// Sub-selects as values: scalar ones, EXISTS, ANY and ALL, IN with what it may compare.
import type {
  ComparisonOperator,
  ExistsNode,
  Expression,
  InListNode,
  InQueryNode,
  QuantifiedNode,
  ScalarQueryNode,
  Span,
  TupleNode,
} from '../../sql/node.ts';
import { isClosed } from '../column-order.ts';
import { conjunctionOf } from '../conjunction.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, SubqueryExpression } from '../expression.ts';
import { BOOLEAN_TYPE } from '../type/operator-type.ts';
import { ANY_TYPE, typeAtPath } from '../type/type.ts';
import type { BindContext, BoundSubquery, Scope } from './context.ts';

export function bindScalarQuery(
  node: ScalarQueryNode,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const bound = context.bindSubquery(node.query, scope);
  const columns = columnsOf(bound, 1, node, context);
  const [path = []] = columns;
  return {
    ...subqueryOf(bound, node, columns),
    mode: 'scalar',
    type: typeAtPath(bound.rowType, path) ?? ANY_TYPE,
  };
}

export function bindExists(node: ExistsNode, scope: Scope, context: BindContext): BoundExpression {
  const bound = context.bindSubquery(node.query, scope);
  return { ...subqueryOf(bound, node, []), mode: 'exists' };
}

export function bindQuantified(
  node: QuantifiedNode,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const { operator, quantifier } = node;
  return bindComparison(node, node.operand, operator, quantifier, scope, context);
}

/** IN whose sub-select has several columns, or reads the row of the query around it. */
export function bindInQuery(
  node: InQueryNode,
  bindSimple: (bound: BoundSubquery) => BoundExpression,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  if (node.operand.kind !== 'tuple') {
    const bound = context.bindSubquery(node.query, scope);
    if (bound.args.length === 0) return bindSimple(bound);
    const columns = columnsOf(bound, 1, node, context);
    const operands = [context.bind(node.operand, scope)];
    return negate({ ...subqueryOf(bound, node, columns), mode: 'any', operands }, node.negated);
  }
  return negate(bindComparison(node, node.operand, '=', 'any', scope, context), node.negated);
}

function bindComparison(
  node: InQueryNode | QuantifiedNode,
  operand: Expression,
  operator: ComparisonOperator,
  mode: 'any' | 'all',
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const elements = operand.kind === 'tuple' ? operand.elements : [operand];
  if (elements.length > 1 && operator !== '=' && operator !== '!=') {
    const message = `lists in parentheses are compared with = and != only, not with ${operator}`;
    throw bindingError(context.text, node, message);
  }
  const operands = elements.map((element) => context.bind(element, scope));
  const bound = context.bindSubquery(node.query, scope);
  const columns = columnsOf(bound, operands.length, node, context);
  return { ...subqueryOf(bound, node, columns), mode, operands, operator };
}

function subqueryOf(
  bound: BoundSubquery,
  { start, end }: Span,
  columns: readonly (readonly string[])[],
): SubqueryExpression {
  return {
    kind: 'subquery',
    mode: 'exists',
    subquery: bound.subquery,
    args: bound.args,
    operands: [],
    operator: '=',
    columns,
    lookup: undefined,
    type: BOOLEAN_TYPE,
    start,
    end,
  };
}

function columnsOf(
  bound: BoundSubquery,
  count: number,
  node: Span,
  context: BindContext,
): readonly (readonly string[])[] {
  const { order } = bound;
  if (isClosed(order) && order.paths.length === count) return order.paths;
  const wanted = count === 1 ? 'one column' : `${count} columns`;
  const got = isClosed(order) ? `this has ${order.paths.length}` : 'those of this are not known';
  const message = `a sub-query that stands for a value must have ${wanted}, ${got}`;
  throw bindingError(context.text, node, message);
}

export function negate(expression: BoundExpression, negated: boolean): BoundExpression {
  if (!negated) return expression;
  const { start, end } = expression;
  return { kind: 'unary', operator: 'not', operand: expression, type: BOOLEAN_TYPE, start, end };
}

/** `(a, b) IN ((1, 2), (3, 4))`: one list equals another when all their elements do. */
export function bindTupleInList(
  node: InListNode,
  operand: TupleNode,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const { start, end } = node;
  const operands = node.choices.map((choice) => {
    if (choice.kind === 'tuple') return bindTupleEquality(operand, choice, scope, context);
    const message = `expected a list of ${operand.elements.length} values in parentheses`;
    throw bindingError(context.text, choice, message);
  });
  const [only] = operands;
  const any: BoundExpression =
    only !== undefined && operands.length === 1
      ? only
      : { kind: 'or', operands, type: BOOLEAN_TYPE, start, end };
  return negate(any, node.negated);
}

export function bindTupleEquality(
  left: TupleNode,
  right: TupleNode,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  if (left.elements.length !== right.elements.length) {
    const message = `lists of ${left.elements.length} and ${right.elements.length} values are never equal`;
    throw bindingError(context.text, right, message);
  }
  const parts = left.elements.map((element, index) =>
    context.bind(
      {
        kind: 'binary',
        operator: '=',
        left: element,
        right: right.elements[index] as Expression,
        start: element.start,
        end: element.end,
      },
      scope,
    ),
  );
  return conjunctionOf(parts) as BoundExpression;
}
