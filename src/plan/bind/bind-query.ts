// SELECT: its clauses become plan nodes in the order in which they are evaluated.
import { equalNodes } from '../../sql/equal.ts';
import type { Expression, OrderKey, Query, QueryNode, SelectItem, Span } from '../../sql/node.ts';
import { unreachable } from '../../sql/node.ts';
import { someExpression } from '../children.ts';
import type { ColumnOrder } from '../column-order.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, ProjectItem, SortKey } from '../expression.ts';
import { isConstant } from '../fold.ts';
import { orderOfItems } from '../item-order.ts';
import type { PlanNode } from '../plan.ts';
import { AliasScope, aliasedExpression } from '../scope/alias-scope.ts';
import {
  containsAggregate,
  containsWindow,
  GroupScope,
  isAggregateCall,
  isFixed,
} from '../scope/group-scope.ts';
import { OrderScope } from '../scope/order-scope.ts';
import { NO_TABLE_SCOPE } from '../scope/scope.ts';
import { WhenScope } from '../scope/when-scope.ts';
import { WindowScope } from '../scope/window-scope.ts';
import { rowTypeOf } from '../type/row-type.ts';
import { type BoundTable, bindTable, scopeOf } from './bind-from.ts';
import { bindItems, withoutConstants } from './bind-item.ts';
import { bindDistinct, bindSetQuery, bindValues } from './bind-set.ts';
import { limited } from './bind-tail.ts';
import { withCommonTables } from './bind-with.ts';
import type { BindContext, BoundQuery, Scope } from './context.ts';

export function bindQueryNode(query: QueryNode, context: BindContext): BoundQuery {
  const inside = query.with === undefined ? context : withCommonTables(query.with, context);
  switch (query.kind) {
    case 'query':
      return query.distinct === true
        ? bindDistinct(query, (inner) => bindSelect(inner, inside), inside)
        : bindSelect(query, inside);
    case 'set-query':
      return bindSetQuery(query, inside);
    case 'values-query':
      return bindValues(query, inside);
    default:
      return unreachable(query);
  }
}

function bindSelect(query: Query, context: BindContext): BoundQuery {
  if (query.from === undefined) return bindWithoutTable(query, context);
  const table = bindTable(query.from, context);
  const scope = scopeOf(table);
  const source = bindSource(query, table, scope, context);
  if (!isGrouped(query, context)) return bindSelection(query, source, scope, undefined, context);
  const groupBy = groupKeysOf(query, scope, context);
  const explicit = query.groupBy.length > 0 || groupBy.length > 0;
  const group = new GroupScope(scope, groupBy, explicit, context);
  return bindSelection(query, source, group, group, context);
}

function bindWithoutTable(query: Query, context: BindContext): BoundQuery {
  const refuse = (clause: string, span: Span) =>
    bindingError(context.text, span, `${clause} usage requires a FROM statement`);
  if (query.groupBy[0] !== undefined) throw refuse('GROUP BY', query.groupBy[0]);
  if (query.having !== undefined) throw refuse('HAVING', query.having);
  for (const item of query.select) {
    if (item.kind === 'wildcard') bindItems([item], 'item', NO_TABLE_SCOPE, context);
  }
  const row: PlanNode = { kind: 'single-row' };
  const source = filtered(row, query.where, NO_TABLE_SCOPE, context);
  return bindSelection(query, source, NO_TABLE_SCOPE, undefined, context);
}

/** FROM, WHERE and WHEN. */
function bindSource(query: Query, table: BoundTable, scope: Scope, context: BindContext): PlanNode {
  const node = filtered(table.node, query.where, new AliasScope(scope, query.select), context);
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
  if (query.groupBy.length > 0 || query.groupByAll === true) return true;
  if (query.groupingSets !== undefined) return true;
  if (query.having !== undefined) {
    const message = 'HAVING expression requires a GROUP BY expression';
    throw bindingError(context.text, query.having, message);
  }
  return query.select.some((item) => itemContainsAggregate(item, context));
}

function itemContainsAggregate(item: SelectItem, context: BindContext): boolean {
  return item.kind === 'named-expression' && containsAggregate(item.expression, context);
}

/** The keys of GROUP BY, with positions and aliases replaced by what they stand for. */
function groupKeysOf(query: Query, scope: Scope, context: BindContext): readonly Expression[] {
  const { select } = query;
  const isPlain = (expression: Expression) =>
    !containsAggregate(expression, context) && !containsWindow(expression);
  if (query.groupByAll === true) {
    // A fixed value tells no groups apart, and over no rows aggregates beside it have their row.
    const isKey = select.some((item) => itemContainsAggregate(item, context))
      ? (expression: Expression) => isPlain(expression) && !isFixed(expression, context)
      : isPlain;
    return select.flatMap((item) => {
      if (item.kind === 'named-expression') return isKey(item.expression) ? item.expression : [];
      const message = 'GROUP BY ALL cannot be used with a wildcard: name the columns';
      throw bindingError(context.text, item, message);
    });
  }
  return query.groupBy.map((key) => {
    const item = itemAt(key, select);
    if (item?.kind === 'named-expression' && isPlain(item.expression)) return item.expression;
    if (key.kind !== 'column' || scope.find?.(key, context) !== undefined) return key;
    const aliased = aliasedExpression(key, select);
    return aliased === undefined || !isPlain(aliased) ? key : aliased;
  });
}

/** The item that a number stands for. */
function itemAt(key: Expression, select: readonly SelectItem[]): SelectItem | undefined {
  if (key.kind !== 'literal' || typeof key.value !== 'number') return undefined;
  return select[key.value - 1];
}

/** HAVING, SELECT, NAMED, windows, QUALIFY, ORDER BY, DISTINCT ON, OFFSET and LIMIT. */
function bindSelection(
  query: Query,
  source: PlanNode,
  scope: Scope,
  group: GroupScope | undefined,
  context: BindContext,
): BoundQuery {
  const windows = new WindowScope(scope, query.windows ?? []);
  const items = query.select.flatMap((item) => {
    if (group !== undefined) group.surface = itemText(item, context);
    return bindItems([item], 'item', windows, context);
  });
  const rowType = rowTypeOf(items);
  const order = orderOfItems(items, scope.order, context);
  const name = query.named === undefined ? undefined : context.bind(query.named, windows);
  const having = bindHaving(query, scope, context);
  const qualify =
    query.qualify === undefined
      ? undefined
      : context.bind(query.qualify, new AliasScope(windows, query.select));
  const sorting = bindOrder(query, items, order, windows, group, context);
  // The lists of aggregates and window functions grew while the clauses above were bound.
  let node = group === undefined ? source : groupNode(query, source, group);
  if (having !== undefined) node = { kind: 'filter', input: node, condition: having };
  if (windows.calls.length > 0) node = { kind: 'window', input: node, calls: windows.calls };
  if (qualify !== undefined) node = { kind: 'filter', input: node, condition: qualify };
  const project = (input: PlanNode): PlanNode => ({
    kind: 'project',
    input,
    items,
    name,
    keepsInput: sorting.late,
  });
  if (sorting.late) node = project(node);
  if (sorting.keys.length > 0) {
    node = {
      kind: 'sort',
      input: node,
      keys: sorting.keys,
      late: sorting.late,
      ties: group === undefined ? 'row-hash' : 'input-order',
      keep: undefined,
    };
  }
  if (sorting.distinctOn.length > 0) {
    node = {
      kind: 'distinct-on',
      input: node,
      expressions: sorting.distinctOn,
      late: sorting.late,
      sorted: query.orderBy.length > 0,
    };
  }
  node = limited(query, node, context);
  return { node: sorting.late ? node : project(node), rowType, order };
}

function groupNode(query: Query, input: PlanNode, group: GroupScope): PlanNode {
  const { keys, aggregates } = group;
  if (query.groupingSets !== undefined) {
    return { kind: 'grouping-sets', input, keys, aggregates, sets: query.groupingSets };
  }
  const explicit = query.groupBy.length > 0 || (query.groupByAll === true && keys.length > 0);
  return { kind: 'aggregate', input, keys, aggregates, explicit };
}

function bindHaving(query: Query, scope: Scope, context: BindContext): BoundExpression | undefined {
  const { having } = query;
  if (having === undefined) return undefined;
  if (!isBooleanExpression(having, query.select, context)) {
    throw bindingError(context.text, having, 'HAVING must be a boolean expression');
  }
  return context.bind(having, new AliasScope(scope, query.select));
}

function isBooleanExpression(
  node: Expression,
  items: readonly SelectItem[],
  context: BindContext,
): boolean {
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
    case 'exists':
    case 'quantified':
    case 'distinct-from':
      return true;
    case 'column': {
      const aliased = aliasedExpression(node, items);
      return aliased !== undefined && isBooleanExpression(aliased, [], context);
    }
    case 'binary':
      return /^(=|!=|<|<=|>|>=)$/.test(node.operator);
    case 'unary':
      return node.operator === 'not';
    case 'cast':
      return node.type === 'boolean';
    case 'case': {
      const results = node.branches.map(({ result }) => result);
      return [...results, ...(node.otherwise === undefined ? [] : [node.otherwise])].every(
        (result) => isNull(result) || isBooleanExpression(result, items, context),
      );
    }
    case 'call':
      return !isAggregateCall(node, context) || BOOLEAN_AGGREGATES.has(node.name.toLowerCase());
    case 'scalar-query':
      return true;
    case 'literal':
      return node.value === 0 || node.value === 1;
    default:
      return false;
  }
}

const BOOLEAN_AGGREGATES: ReadonlySet<string> = new Set(['bool_and', 'bool_or']);

const isNull = (node: Expression) => node.kind === 'literal' && node.value === null;

interface BoundOrder {
  readonly keys: readonly SortKey[];
  readonly distinctOn: readonly BoundExpression[];
  /** some key needs the finished output row */
  readonly late: boolean;
}

function bindOrder(
  query: Query,
  items: readonly ProjectItem[],
  order: ColumnOrder,
  scope: Scope,
  group: GroupScope | undefined,
  context: BindContext,
): BoundOrder {
  refuseOtherDistinct(query, context);
  const orderScope = new OrderScope(items, scope, group !== undefined);
  const bindKey = (node: Expression): BoundExpression => {
    if (group !== undefined) group.surface = context.text.slice(node.start, node.end);
    const item = itemAt(node, query.select);
    const plain = query.select.every((each) => each.kind === 'named-expression');
    if (plain && item?.kind === 'named-expression') return context.bind(item.expression, scope);
    const path = positionPath(node, order);
    if (plain || path === undefined) return context.bind(node, orderScope);
    return orderScope.output(path, node);
  };
  const keys = query.orderBy.map((key) => {
    if (group === undefined && containsAggregate(key.expression, context)) {
      throw aggregateOutsideSelect('ORDER BY', key.expression, context);
    }
    return sortKey(key, bindKey(key.expression));
  });
  const { orderByAll } = query;
  if (orderByAll !== undefined) {
    const span = { start: query.start, end: query.end };
    for (const item of items) {
      const expressions =
        item.kind === 'named'
          ? [item.expression]
          : orderOfItems([item], scope.order, context).paths.map((path) =>
              orderScope.output(path, span),
            );
      keys.push(...expressions.map((expression) => ({ expression, ...orderByAll })));
    }
  }
  if (group === undefined && query.named !== undefined && containsAggregate(query.named, context)) {
    throw aggregateOutsideSelect('NAMED', query.named, context);
  }
  const distinctOn = query.distinctOn.map(bindKey).filter((part) => !isConstant(part));
  return { keys: withoutConstants(keys), distinctOn, late: orderScope.readsOutput };
}

function sortKey(key: OrderKey, expression: BoundExpression): SortKey {
  const { descending, nulls } = key;
  return nulls === undefined ? { expression, descending } : { expression, descending, nulls };
}

/** The column that a number stands for where wildcards are among the items. */
function positionPath(node: Expression, order: ColumnOrder): readonly string[] | undefined {
  if (node.kind !== 'literal' || typeof node.value !== 'number') return undefined;
  return order.rest === undefined ? order.paths[node.value - 1] : undefined;
}

function aggregateOutsideSelect(clause: string, span: Span, context: BindContext): Error {
  return bindingError(
    context.text,
    span,
    `an aggregate in ${clause} requires GROUP BY or an aggregate in the select list`,
  );
}

/** DISTINCT ON takes the first row of each value: with ORDER BY, equal values must stand together. */
function refuseOtherDistinct(query: Query, context: BindContext): void {
  if (query.orderBy.length === 0) return;
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
