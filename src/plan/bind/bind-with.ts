// WITH: named queries that several places may read.
import type { CommonTable, WithClause } from '../../sql/node.ts';
import { type ColumnOrder, isClosed } from '../column-order.ts';
import { bindingError } from '../error.ts';
import type { PlanNode } from '../plan.ts';
import { TableColumns } from '../scope/table-columns.ts';
import { rowTypeOf } from '../type/row-type.ts';
import { ANY_TYPE, typeAtPath, type ValueType } from '../type/type.ts';
import { withUniqueNames } from '../unique-names.ts';
import { renameColumns } from './bind-naming.ts';
import type {
  BindContext,
  BoundQuery,
  CommonRows,
  CommonTableSource,
  CommonTables,
} from './context.ts';

export function withCommonTables(clause: WithClause, context: BindContext): BindContext {
  let inner = context;
  for (const table of clause.tables) {
    const source = clause.recursive
      ? recursiveSource(table, inner)
      : sharedSource(table, inner, (at) => at.bindQuery(withUniqueNames(table.query)));
    inner = inner.withTables(addTable(table.name, source, inner.commonTables));
  }
  return inner;
}

function addTable(
  name: string,
  source: CommonTableSource,
  outside: CommonTables | undefined,
): CommonTables {
  return {
    find: (wanted) => (wanted === name ? source : outside?.find(wanted)),
    names: () => [name, ...(outside?.names() ?? [])],
  };
}

/** A query that is bound when it is first read, and whose rows all readers share. */
function sharedSource(
  table: CommonTable,
  context: BindContext,
  bind: (context: BindContext) => BoundQuery,
): CommonTableSource {
  let shared: { subquery: number; bound: BoundQuery } | undefined;
  return () => {
    if (shared === undefined) {
      const argCount = context.outer?.args.length ?? 0;
      const subquery = context.addSubquery({ kind: 'single-row' });
      const bound = named(table, bind(context), context);
      // What reads the row of a query around it differs from row to row.
      const reads = (context.outer?.args.length ?? 0) > argCount;
      if (reads || table.materialized === false) return tableOf(bound.node, bound);
      context.replaceSubquery(subquery, bound.node);
      shared = { subquery, bound };
    }
    return tableOf({ kind: 'shared', subquery: shared.subquery }, shared.bound);
  };
}

function named(table: CommonTable, bound: BoundQuery, context: BindContext): BoundQuery {
  const { columnNames } = table;
  return columnNames === undefined ? bound : renameColumns(bound, columnNames, table, context);
}

function tableOf(node: PlanNode, { rowType, order }: BoundQuery): CommonRows {
  return { node, rowType, columns: new TableColumns(order) };
}

/** A table that may read itself: `base UNION [ALL] step`. */
function recursiveSource(table: CommonTable, context: BindContext): CommonTableSource {
  const { query } = table;
  const union = query.kind === 'set-query' && query.operator === 'union' ? query : undefined;
  if (union === undefined || !readsTable(table)) {
    return sharedSource(table, context, (at) => at.bindQuery(withUniqueNames(query)));
  }
  if (union.orderBy.length > 0 || union.limit !== undefined || union.offset !== undefined) {
    const message = `the recursive query '${table.name}' takes no ORDER BY, LIMIT or OFFSET: put them on the query that reads it`;
    throw bindingError(context.text, table, message);
  }
  return sharedSource({ ...table, columnNames: undefined }, context, (at) => {
    const base = named(table, at.bindQuery(withUniqueNames(union.left)), at);
    if (!isClosed(base.order)) {
      const message = `the columns of the recursive query '${table.name}' must be known: name them in the select list`;
      throw bindingError(at.text, union.left, message);
    }
    const number = at.addSubquery({ kind: 'single-row' });
    const rowType = widened(base.rowType);
    const self: CommonTableSource = () =>
      tableOf({ kind: 'recursive-table', table: number }, { ...base, rowType });
    const inside = at.withTables(addTable(table.name, self, at.commonTables));
    const step = alignColumns(
      inside.bindQuery(withUniqueNames(union.right)),
      base.order,
      union.right,
      at,
    );
    const node: PlanNode = {
      kind: 'recursive',
      table: number,
      base: base.node,
      step: step.node,
      all: union.all,
    };
    return { node, rowType, order: base.order };
  });
}

/** Whether the text of the query may mention its own name. */
function readsTable(table: CommonTable): boolean {
  return table.query.text.slice(table.query.start, table.query.end).includes(table.name);
}

/** The step may give values of other types than the base. */
function widened(type: ValueType): ValueType {
  if (type.kind !== 'row') return type;
  return { ...type, members: type.members.map(({ name }) => ({ name, type: ANY_TYPE })) };
}

/** A query whose columns are those of `order`, matched by position. */
export function alignColumns(
  query: BoundQuery,
  order: ColumnOrder,
  span: { readonly start: number; readonly end: number },
  context: BindContext,
): BoundQuery {
  const { paths } = query.order;
  if (!isClosed(query.order)) {
    const message =
      'the columns of this query are not known, so they cannot be matched by position: name them, or use UNION BY NAME';
    throw bindingError(context.text, span, message);
  }
  if (paths.length !== order.paths.length) {
    const message = `each side must have the same number of columns: this has ${countOf(paths.length)}, the first has ${order.paths.length}`;
    throw bindingError(context.text, span, message);
  }
  const same = paths.every((path, i) => path.join('\0') === order.paths[i]?.join('\0'));
  if (same) return query;
  const { start, end } = span;
  const items = paths.map((path, i) => ({
    kind: 'named' as const,
    path: order.paths[i] as readonly string[],
    expression: {
      kind: 'column' as const,
      path,
      type: typeAtPath(query.rowType, path) ?? ANY_TYPE,
      start,
      end,
    },
    start,
    end,
  }));
  const node: PlanNode = {
    kind: 'project',
    input: query.node,
    items,
    name: undefined,
    keepsInput: false,
  };
  return { node, rowType: rowTypeOf(items), order };
}

function countOf(count: number): string {
  return count === 1 ? '1 column' : `${count} columns`;
}
