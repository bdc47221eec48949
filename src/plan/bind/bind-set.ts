// Queries that are made of other queries' rows: DISTINCT, set operations, VALUES.
import { equalNodes } from '../../sql/equal.ts';
import { outputName, type Query, type SetQuery, type ValuesQuery } from '../../sql/node.ts';
import { concatOrders, isClosed } from '../column-order.ts';
import { bindingError } from '../error.ts';
import type { ProjectItem } from '../expression.ts';
import type { PlanNode } from '../plan.ts';
import { NO_TABLE_SCOPE } from '../scope/scope.ts';
import { rowTypeOf } from '../type/row-type.ts';
import {
  ANY_TYPE,
  atomType,
  commonType,
  OPEN_ROW_TYPE,
  typeAtPath,
  type ValueType,
} from '../type/type.ts';
import { withUniqueNames } from '../unique-names.ts';
import { withTail } from './bind-tail.ts';
import { alignColumns } from './bind-with.ts';
import type { BindContext, BoundQuery } from './context.ts';

/** SELECT DISTINCT: the groups of the rows that the query has without it. */
export function bindDistinct(
  query: Query,
  bindInner: (query: Query) => BoundQuery,
  context: BindContext,
): BoundQuery {
  if (query.named !== undefined) {
    const message = 'rows of SELECT DISTINCT are named by their values: leave out NAMED';
    throw bindingError(context.text, query.named, message);
  }
  const { orderBy: _orderBy, orderByAll: _orderByAll, ...rest } = query;
  const plain = { orderBy: [], limit: undefined, offset: undefined, distinct: false };
  const inner = bindInner(withUniqueNames({ ...rest, ...plain }) as Query);
  const columnOf = (node: Query['select'][number] | Query['orderBy'][number]['expression']) => {
    const item = query.select.find(
      (each) => each.kind === 'named-expression' && equalNodes(each.expression, node),
    );
    if (item?.kind !== 'named-expression') return undefined;
    const path = outputName(item);
    return path === '*' ? undefined : path;
  };
  return withTail(query, distinctRows(inner, query), context, columnOf);
}

/** A group for each distinct row. */
function distinctRows(
  query: BoundQuery,
  { start, end }: { readonly start: number; readonly end: number },
): BoundQuery {
  const { order, rowType } = query;
  if (!isClosed(order)) {
    return { ...query, node: { kind: 'distinct', input: query.node, columns: undefined } };
  }
  const types = order.paths.map((path) => typeAtPath(rowType, path) ?? ANY_TYPE);
  const keys = order.paths.map((path, i) => {
    const type = types[i] as ValueType;
    return { kind: 'column' as const, path, type, start, end };
  });
  const groups: PlanNode = {
    kind: 'aggregate',
    input: query.node,
    keys,
    aggregates: [],
    explicit: true,
  };
  const items = order.paths.map((path, index): ProjectItem => {
    const type = types[index] as ValueType;
    const expression = { kind: 'group-key' as const, index, type, start, end };
    return { kind: 'named', path, expression, start, end };
  });
  const node: PlanNode = {
    kind: 'project',
    input: groups,
    items,
    name: undefined,
    keepsInput: false,
  };
  return { node, rowType, order };
}

export function bindSetQuery(query: SetQuery, context: BindContext): BoundQuery {
  const left = context.bindQuery(withUniqueNames(query.left));
  const right = context.bindQuery(withUniqueNames(query.right));
  const combined = query.byName
    ? combineByName(left, right)
    : combineByPosition(query, left, right, context);
  const { operator, all } = query;
  const columns = isClosed(combined.order) ? combined.order.paths : undefined;
  const node: PlanNode = {
    kind: 'set-operation',
    operator,
    all,
    left: combined.left,
    right: combined.right,
    columns,
  };
  return withTail(query, { node, rowType: combined.rowType, order: combined.order }, context);
}

type Combined = Omit<BoundQuery, 'node'> & { readonly left: PlanNode; readonly right: PlanNode };

function combineByPosition(
  query: SetQuery,
  left: BoundQuery,
  right: BoundQuery,
  context: BindContext,
): Combined {
  const first = alignColumns(left, left.order, query.left, context);
  const second = alignColumns(right, first.order, query.right, context);
  const items = first.order.paths.map((path): ProjectItem => {
    const types = [first, second].map(({ rowType }) => typeAtPath(rowType, path) ?? ANY_TYPE);
    const type = commonType(types[0] as ValueType, types[1] as ValueType);
    const { start, end } = query;
    return {
      kind: 'named',
      path,
      expression: { kind: 'column', path, type, start, end },
      start,
      end,
    };
  });
  const { order } = first;
  return { left: first.node, right: second.node, rowType: rowTypeOf(items), order };
}

function combineByName(left: BoundQuery, right: BoundQuery): Combined {
  const order = concatOrders([left.order, right.order]);
  return { left: left.node, right: right.node, rowType: OPEN_ROW_TYPE, order };
}

export function bindValues(query: ValuesQuery, context: BindContext): BoundQuery {
  const [first = []] = query.rows;
  const rows = query.rows.map((row) => {
    if (row.length !== first.length) {
      const message = `the rows of VALUES must have the same number of columns: this has ${row.length}, the first has ${first.length}`;
      throw bindingError(context.text, row[0] ?? query, message);
    }
    return row.map((value) => context.bind(value, NO_TABLE_SCOPE));
  });
  const columns = first.map((_, index) => `col${index}`);
  const members = columns.map((name, index) => ({
    name,
    type: rows.reduce<ValueType>(
      (type, row) => commonType(type, row[index]?.type ?? ANY_TYPE),
      atomType('null'),
    ),
  }));
  return withTail(
    query,
    {
      node: { kind: 'values', columns, rows },
      rowType: { kind: 'row', members, open: false },
      order: { paths: columns.map((name) => [name]), rest: undefined },
    },
    context,
  );
}
