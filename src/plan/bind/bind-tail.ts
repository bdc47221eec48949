// ORDER BY, OFFSET and LIMIT of queries that have no select list of their own, and LIMIT of all.
import type { Expression, QueryFrame } from '../../sql/node.ts';
import { constant } from '../../value/value.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, SortKey } from '../expression.ts';
import { isConstant } from '../fold.ts';
import type { PlanNode } from '../plan.ts';
import { NO_TABLE_SCOPE } from '../scope/scope.ts';
import { TableColumns } from '../scope/table-columns.ts';
import { TableScope } from '../scope/table-scope.ts';
import { ANY_TYPE, typeAtPath } from '../type/type.ts';
import type { BindContext, BoundQuery } from './context.ts';

/**
 * The rows of a query in the order and within the limits of its tail, whose names are its columns.
 * @param columnOf the column that an expression stands for, such as an item of a select list
 */
export function withTail(
  query: QueryFrame,
  bound: BoundQuery,
  context: BindContext,
  columnOf: (node: Expression) => readonly string[] | undefined = () => undefined,
): BoundQuery {
  const { order, rowType } = bound;
  const scope = new TableScope(undefined, rowType, new TableColumns(order));
  const column = (path: readonly string[], { start, end }: Expression | QueryFrame) =>
    ({
      kind: 'column',
      path,
      type: typeAtPath(rowType, path) ?? ANY_TYPE,
      start,
      end,
    }) as BoundExpression;
  const keys: SortKey[] = query.orderBy.map((key) => {
    const { expression: node, descending, nulls } = key;
    const position = node.kind === 'literal' ? order.paths[Number(node.value) - 1] : undefined;
    const path = position ?? columnOf(node);
    const expression = path === undefined ? context.bind(node, scope) : column(path, node);
    return { expression, descending, nulls };
  });
  const { orderByAll } = query;
  if (orderByAll !== undefined) {
    const { descending } = orderByAll;
    for (const path of order.paths) keys.push({ expression: column(path, query), descending });
  }
  const wanted = keys.filter((key) => !isConstant(key.expression));
  const sorted: PlanNode =
    wanted.length === 0
      ? bound.node
      : {
          kind: 'sort',
          input: bound.node,
          keys: wanted,
          late: false,
          ties: 'input-order',
          keep: undefined,
        };
  return { ...bound, node: limited(query, sorted, context) };
}

/** OFFSET and LIMIT: numbers where they are constant. */
export function limited(query: QueryFrame, input: PlanNode, context: BindContext): PlanNode {
  if (query.offset === undefined && query.limit === undefined) return input;
  const offset = bindCount(query.offset, 'OFFSET', context);
  const limit = bindCount(query.limit, 'LIMIT', context);
  if (typeof offset !== 'object' && typeof limit !== 'object') {
    return { kind: 'limit', input, offset: offset ?? 0, limit };
  }
  return {
    kind: 'limit-by',
    input,
    offset: asExpression(offset, query.offset),
    limit: asExpression(limit, query.limit),
  };
}

function bindCount(
  node: Expression | undefined,
  clause: string,
  context: BindContext,
): number | BoundExpression | undefined {
  if (node === undefined) return undefined;
  // Counts of queries that are given as an object stand in no text.
  if (node.kind === 'literal' && typeof node.value === 'number' && node.value >= 0) {
    if (Number.isInteger(node.value)) return node.value;
  }
  const bound = context.bind(node, NO_TABLE_SCOPE);
  if (!isConstant(bound)) return bound;
  const atom = 'atom' in bound.value ? bound.value.atom : undefined;
  const count = typeof atom === 'bigint' ? Number(atom) : atom;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count;
  throw bindingError(context.text, node, `${clause} takes an unsigned integer`);
}

function asExpression(
  count: number | BoundExpression | undefined,
  node: Expression | undefined,
): BoundExpression | undefined {
  if (typeof count !== 'number') return count;
  const { start, end } = node as Expression;
  return { kind: 'constant', value: constant(count), type: ANY_TYPE, start, end };
}
