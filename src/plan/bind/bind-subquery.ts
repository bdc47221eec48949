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
import type { PlanNode } from '../plan.ts';
import { BOOLEAN_TYPE } from '../type/operator-type.ts';
import { ANY_TYPE, typeAtPath } from '../type/type.ts';
import type { BindContext, BoundSubquery, Scope } from './context.ts';
import { asTimestamp, timestampSides } from './timestamp-sides.ts';

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
    const operands = comparable([context.bind(node.operand, scope)], bound, columns, context);
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
  const plain = elements.map((element) => context.bind(element, scope));
  const bound = context.bindSubquery(node.query, scope);
  const columns = columnsOf(bound, plain.length, node, context);
  const operands = comparable(plain, bound, columns, context);
  return { ...subqueryOf(bound, node, columns), mode, operands, operator };
}

/**
 * The operands as they are compared with the columns of a sub-select. Columns of strings beside
 * timestamps become timestamps in the sub-select, so joins and tables of keys compare one type.
 */
export function comparable(
  operands: readonly BoundExpression[],
  { node, rowType, subquery }: BoundSubquery,
  columns: readonly (readonly string[])[],
  context: BindContext,
): readonly BoundExpression[] {
  const items = new Map<readonly string[], BoundExpression>();
  const compared = operands.map((operand, index) => {
    const path = columns[index] as readonly string[];
    const { start, end } = operand;
    const type = typeAtPath(rowType, path) ?? ANY_TYPE;
    const column: BoundExpression = { kind: 'column', path, type, start, end };
    const { left, right } = timestampSides(operand, column, context);
    if (right !== column) items.set(path, right);
    return left;
  });
  if (items.size > 0) context.replaceSubquery(subquery, withItems(node, columns, items, context));
  return compared;
}

/** The rows of a sub-select with some of its columns as other expressions about them. */
function withItems(
  node: PlanNode,
  columns: readonly (readonly string[])[],
  items: ReadonlyMap<readonly string[], BoundExpression>,
  context: BindContext,
): PlanNode {
  // In a select list of expressions they take the places of the items: no list lies above another.
  if (node.kind === 'project' && node.items.every((item) => item.kind === 'named')) {
    const changed = new Set([...items.keys()].map((path) => JSON.stringify(path)));
    return {
      ...node,
      items: node.items.map((item) =>
        item.kind === 'named' && changed.has(JSON.stringify(item.path))
          ? { ...item, expression: asTimestamp(item.expression, context) }
          : item,
      ),
    };
  }
  return {
    kind: 'project',
    input: node,
    items: columns.map((path) => {
      const found = items.get(path);
      const { start, end } = found ?? NOWHERE;
      const column = { kind: 'column', path, type: ANY_TYPE, start, end } as const;
      return { kind: 'named', path, expression: found ?? column, start, end };
    }),
    name: undefined,
    keepsInput: false,
  };
}

/** Columns that are only handed on raise no errors, so they have no place. */
const NOWHERE: Span = { start: 0, end: 0 };

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
