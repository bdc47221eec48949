// A query: its clauses become plan nodes in the order in which they are evaluated.
import { equalNodes } from '../sql/equal.ts';
import type { Expression, Query, SelectItem, Span } from '../sql/node.ts';
import { type BoundTable, bindTable, scopeOf } from './bind-from.ts';
import { bindItem, withoutConstants } from './bind-item.ts';
import { someExpression } from './children.ts';
import type { BindContext, BoundQuery, Scope } from './context.ts';
import { bindingError } from './error.ts';
import type { BoundExpression, ProjectItem, SortKey } from './expression.ts';
import { isConstant } from './fold.ts';
import { containsAggregate, GroupScope } from './group-scope.ts';
import { OrderScope } from './order-scope.ts';
import type { PlanNode } from './plan.ts';
import { rowTypeOf } from './row-type.ts';
import { NO_TABLE_SCOPE } from './scope.ts';
import { WhenScope } from './when-scope.ts';

export function bindQueryNode(query: Query, context: BindContext): BoundQuery {
  if (query.from === undefined) return bindWithoutTable(query, context);
  const table = bindTable(query.from, context);
  const scope = scopeOf(table);
  const source = bindSource(query, table, scope, context);
  return isGrouped(query, context)
    ? bindGrouped(query, source, scope, context)
    : bindSelection(query, source, scope, undefined, context);
}

function bindWithoutTable(query: Query, context: BindContext): BoundQuery {
  const refuse = (clause: string, span: Span) =>
    bindingError(context.text, span, `${clause} usage requires a FROM statement`);
  if (query.groupBy[0] !== undefined) throw refuse('GROUP BY', query.groupBy[0]);
  if (query.having !== undefined) throw refuse('HAVING', query.having);
  for (const item of query.select) {
    if (item.kind === 'wildcard') bindItem(item, 'item', NO_TABLE_SCOPE, context);
  }
  const row: PlanNode = { kind: 'single-row' };
  const source = filtered(row, query.where, NO_TABLE_SCOPE, context);
  return bindSelection(query, source, NO_TABLE_SCOPE, undefined, context);
}

/** FROM, WHERE and WHEN. */
function bindSource(query: Query, table: BoundTable, scope: Scope, context: BindContext): PlanNode {
  const node = filtered(table.node, query.where, scope, context);
  if (query.when === undefined) return node;
  const condition = context.bind(query.when, new WhenScope(scope));
  const perPoint = someExpression(condition, (part) => part.kind === 'value-timestamp');
  return { kind: 'when', input: node, condition, perPoint };
}

function filtered(
  input: PlanNode,
  where: Expression | undefined,
  scope: Scope,
  context: BindContext,
): PlanNode {
  if (where === undefined) return input;
  return { kind: 'filter', input, condition: context.bind(where, scope) };
}

function isGrouped(query: Query, context: BindContext): boolean {
  if (query.groupBy.length > 0) return true;
  if (query.having !== undefined) {
    const message = 'HAVING expression requires a GROUP BY expression';
    throw bindingError(context.text, query.having, message);
  }
  return query.select.some((item) => itemContainsAggregate(item, context));
}

function itemContainsAggregate(item: SelectItem, context: BindContext): boolean {
  return item.kind === 'named-expression' && containsAggregate(item.expression, context);
}

function bindGrouped(
  query: Query,
  source: PlanNode,
  scope: Scope,
  context: BindContext,
): BoundQuery {
  const group = new GroupScope(scope, query.groupBy, context);
  // The list of aggregates grows while the clauses above are bound: the node is made afterwards.
  const bound = bindSelection(query, GROUPS_PLACEHOLDER, group, group, context);
  const groups: PlanNode = {
    kind: 'aggregate',
    input: source,
    keys: group.keys,
    aggregates: group.aggregates,
    explicit: query.groupBy.length > 0,
  };
  return { node: replaceLeaf(bound.node, groups), rowType: bound.rowType };
}

const GROUPS_PLACEHOLDER: PlanNode = { kind: 'single-row' };

/** Puts the aggregate below the single-input nodes that were made before it. */
function replaceLeaf(node: PlanNode, leaf: PlanNode): PlanNode {
  if (node === GROUPS_PLACEHOLDER) return leaf;
  if (!('input' in node)) throw new Error(`a ${node.kind} node has no single input`);
  return { ...node, input: replaceLeaf(node.input, leaf) };
}

/** HAVING, SELECT, NAMED, ORDER BY, DISTINCT ON, OFFSET and LIMIT. */
function bindSelection(
  query: Query,
  source: PlanNode,
  scope: Scope,
  group: GroupScope | undefined,
  context: BindContext,
): BoundQuery {
  const items = query.select.map((item) => {
    if (group !== undefined) group.surface = itemText(item, context);
    return bindItem(item, 'item', scope, context);
  });
  const rowType = rowTypeOf(items);
  const name = query.named === undefined ? undefined : context.bind(query.named, scope);
  let node = bindHaving(query, source, scope, context);
  const order = bindOrder(query, items, scope, group, context);
  const project = (input: PlanNode): PlanNode => ({
    kind: 'project',
    input,
    items,
    name,
    keepsInput: order.late,
  });
  if (order.late) node = project(node);
  if (order.keys.length > 0) {
    node = {
      kind: 'sort',
      input: node,
      keys: order.keys,
      late: order.late,
      ties: group === undefined ? 'row-hash' : 'input-order',
      keep: undefined,
    };
  }
  if (order.distinctOn.length > 0) {
    node = { kind: 'distinct-on', input: node, expressions: order.distinctOn, late: order.late };
  }
  if (query.offset !== undefined || query.limit !== undefined) {
    node = { kind: 'limit', input: node, offset: query.offset ?? 0, limit: query.limit };
  }
  return { node: order.late ? node : project(node), rowType };
}

function bindHaving(query: Query, source: PlanNode, scope: Scope, context: BindContext): PlanNode {
  if (query.having === undefined) return source;
  if (!isBooleanExpression(query.having)) {
    throw bindingError(context.text, query.having, 'HAVING must be a boolean expression');
  }
  return filtered(source, query.having, scope, context);
}

function isBooleanExpression(node: Expression): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'between':
    case 'in-list':
    case 'in-query':
    case 'in-keys':
    case 'in-values':
    case 'like':
    case 'is':
      return true;
    case 'binary':
      return /^(=|!=|<|<=|>|>=)$/.test(node.operator);
    case 'unary':
      return node.operator === 'not';
    case 'cast':
      return node.type === 'boolean';
    case 'literal':
      return node.value === 0 || node.value === 1;
    default:
      return false;
  }
}

interface BoundOrder {
  readonly keys: readonly SortKey[];
  readonly distinctOn: readonly BoundExpression[];
  /** some key needs the finished output row */
  readonly late: boolean;
}

function bindOrder(
  query: Query,
  items: readonly ProjectItem[],
  scope: Scope,
  group: GroupScope | undefined,
  context: BindContext,
): BoundOrder {
  refuseDistinctWithoutOrder(query, context);
  const orderScope = new OrderScope(items, scope, group !== undefined);
  const bindKey = (node: Expression) => {
    if (group !== undefined) group.surface = context.text.slice(node.start, node.end);
    return context.bind(node, orderScope);
  };
  const keys = query.orderBy.map((key) => {
    if (group === undefined && containsAggregate(key.expression, context)) {
      throw aggregateOutsideSelect('ORDER BY', key.expression, context);
    }
    return { expression: bindKey(key.expression), descending: key.descending };
  });
  if (group === undefined && query.named !== undefined && containsAggregate(query.named, context)) {
    throw aggregateOutsideSelect('NAMED', query.named, context);
  }
  const distinctOn = query.distinctOn.map(bindKey).filter((part) => !isConstant(part));
  return { keys: withoutConstants(keys), distinctOn, late: orderScope.readsOutput };
}

function aggregateOutsideSelect(clause: string, span: Span, context: BindContext): Error {
  return bindingError(
    context.text,
    span,
    `an aggregate in ${clause} requires GROUP BY or an aggregate in the select list`,
  );
}

function refuseDistinctWithoutOrder(query: Query, context: BindContext): void {
  query.distinctOn.forEach((expression, index) => {
    const key = query.orderBy[index];
    if (key === undefined) {
      const message = 'DISTINCT ON expression cannot have more clauses than ORDER BY expression';
      throw bindingError(context.text, expression, message);
    }
    if (!equalNodes(expression, key.expression)) {
      const message = 'DISTINCT ON expression must match leftmost(s) ORDER BY clause(s)';
      throw bindingError(context.text, expression, message);
    }
  });
}

function itemText(item: SelectItem, context: BindContext): string {
  if (item.kind === 'named-expression') return item.surface;
  return context.text.slice(item.start, item.end);
}
