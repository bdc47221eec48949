// Parts of plans that ClickHouse takes over.

import { someExpression } from '../../plan/children.ts';
import { cannotFail, conjunctionOf, conjunctsOf } from '../../plan/conjunction.ts';
import type { BoundExpression, NamedProjectItem } from '../../plan/expression.ts';
import { mapChildren } from '../../plan/map-expression.ts';
import type { AggregateNode, AskNode, FilterNode, PlanNode, ProjectNode } from '../../plan/plan.ts';
import type { Span } from '../../sql/node.ts';
import { lowerAggregate } from './clickhouse-aggregate.ts';
import {
  type Asked,
  askedOf,
  asking,
  asSource,
  columnKey,
  isPlain,
  loweringOf,
  type PushedTable,
} from './clickhouse-asked.ts';
import { lower } from './clickhouse-expression.ts';
import {
  ANY_ATOM,
  columnOf,
  type GroupsBelow,
  groupColumns,
  groupsBelow,
  keyName,
  valueName,
  withGroups,
} from './clickhouse-group.ts';
import {
  type ConditionPlace,
  joinedRows,
  plainRows,
  pushJoin,
  type SideRows,
  type Sides,
} from './clickhouse-join.ts';
import { lowerModelOutputs } from './clickhouse-model.ts';
import { canonical, holds, type Lowering, type Sql, truthOf } from './clickhouse-sql.ts';
import { quoteName } from './clickhouse-text.ts';
import { pushLimit, pushSort } from './clickhouse-top.ts';

/**
 * The same rows from a plan in which the server does more; undefined: it cannot. Sorts, limits and
 * aggregations stay, over the fewer rows that come.
 */
export function pushPart(node: PlanNode, table: PushedTable): PlanNode | undefined {
  switch (node.kind) {
    case 'filter':
      if (node.input.kind === 'ask') return pushFilter(node, node.input, table);
      return node.input.kind === 'project'
        ? pushFilterOfItems(node, node.input, table)
        : pushHaving(node, table);
    case 'aggregate':
      return pushAggregate(node, table);
    case 'project': {
      const below = rowsBelow(node.input, table);
      return below && pushProject(node, below, table);
    }
    case 'sort':
      return pushSort(node, table);
    case 'limit':
      return pushLimit(node);
    case 'join':
      return pushJoin(node, table, SIDES);
    default:
      return undefined;
  }
}

function pushFilter(node: FilterNode, ask: AskNode, table: PushedTable): PlanNode | undefined {
  if (!isPlain(ask)) return undefined;
  const to = loweringOf(ask, table);
  const pushed: string[] = [];
  const rest: BoundExpression[] = [];
  for (const part of conjunctsOf(node.condition)) {
    const value = lower(part, to);
    const test = value && truthOf(value);
    if (test === undefined) rest.push(part);
    else pushed.push(holds(test));
  }
  if (pushed.length === 0) return undefined;
  // A part that fails for a row fails the query, also for a row that another part leaves out.
  if (!rest.every(cannotFail)) return undefined;
  if (!table.namesRows && rest.some(readsName)) return undefined;
  const input = asking(ask, { where: [...askedOf(ask).where, ...pushed], texts: to.texts.all });
  const condition = conjunctionOf(rest);
  return condition === undefined ? input : { ...node, input, condition };
}

/** A condition on a select list, as on a sub-select. */
function pushFilterOfItems(
  node: FilterNode,
  list: ProjectNode,
  table: PushedTable,
): PlanNode | undefined {
  const { input: ask } = list;
  if (ask.kind !== 'ask') return undefined;
  const { groups, limit, where } = askedOf(ask);
  if (groups !== undefined || limit !== undefined) return undefined;
  const to = withComputed(ask, table);
  const pushed: string[] = [];
  const rest: BoundExpression[] = [];
  for (const part of conjunctsOf(node.condition)) {
    const read = overItems(part, list);
    const value = read && lower(read, to);
    const test = value && truthOf(value);
    if (test === undefined) rest.push(part);
    else pushed.push(holds(test));
  }
  // What the list computes of rows that are left out may fail too.
  const isSafe = list.items.every((item) => item.kind === 'named' && cannotFail(item.expression));
  if (pushed.length === 0 || !isSafe || !rest.every(cannotFail)) return undefined;
  if (!table.namesRows && rest.some(readsName)) return undefined;
  const input = asking(ask, { where: [...where, ...pushed], texts: to.texts.all });
  const condition = conjunctionOf(rest);
  const filtered = { ...list, input };
  return condition === undefined ? filtered : { ...node, input: filtered, condition };
}

function readsName(expression: BoundExpression): boolean {
  return someExpression(expression, (part) => part.kind === 'row-function');
}

/** Rows as operators above them see them, before groups and limits. */
interface RowsBelow {
  readonly ask: AskNode;
  readonly to: Lowering;
  /** what a column is in the rows that are asked for */
  columnAt(path: readonly string[]): BoundExpression | undefined;
}

function rowsBelow(node: PlanNode, table: PushedTable): RowsBelow | undefined {
  if (table.hasTimestamps) return undefined;
  if (node.kind === 'ask') {
    if (!isPlain(node)) return undefined;
    return { ask: node, to: loweringOf(node, table), columnAt: () => undefined };
  }
  if (node.kind !== 'project' || node.input.kind !== 'ask') return undefined;
  return selectedBelow(node, node.input, table);
}

/** Rows of a select list: what it computes has a name, so that it is computed once. */
function selectedBelow(
  { items, keepsInput, name }: ProjectNode,
  ask: AskNode,
  table: PushedTable,
): RowsBelow | undefined {
  const { computed, groups, limit, named } = askedOf(ask);
  if (groups !== undefined || limit !== undefined || keepsInput || name !== undefined)
    return undefined;
  const aliases = new Map(
    Object.entries(computed).map(([alias, sql]) => [alias, aliasOf(alias, sql)] as const),
  );
  const base = loweringOf(ask, table);
  const inner: Lowering = {
    ...base,
    expressions: new Map([...(base.expressions ?? []), ...aliases]),
  };
  const expressions = itemColumns(items, (expression) => lower(expression, inner));
  if (expressions === undefined) return undefined;
  const columns = new Map<string, BoundExpression>();
  for (const item of items) {
    if (item.kind === 'named') columns.set(columnKey(item.path), item.expression);
  }
  const all = { ...named };
  for (const [alias, { text }] of Object.entries(computed)) all[alias] = text;
  return {
    ask: asking(ask, { named: all, computed: {}, texts: inner.texts.all }),
    to: { columns: new Map(), expressions, texts: inner.texts },
    columnAt: (path) => columns.get(columnKey(path)),
  };
}

function aliasOf(name: string, { yes: _yes, no: _no, ...sql }: Sql): Sql {
  return { ...sql, text: quoteName(name) };
}

/** Groups of the rows of a table or of pairs, or of a select list over them, as DISTINCT has it. */
function pushAggregate(node: AggregateNode, table: PushedTable): PlanNode | undefined {
  const pairs = pairsBelow(node.input, table);
  if (pairs !== undefined) return pushAggregate({ ...node, input: pairs }, table);
  const { input } = node;
  const list = input.kind === 'project' ? input : undefined;
  const ask = list === undefined ? input : list.input;
  if (ask.kind !== 'ask' || table.hasTimestamps) return undefined;
  const { groups, limit } = askedOf(ask);
  if (groups !== undefined || limit !== undefined) return undefined;
  if (node.explicit && node.keys.length === 0) return undefined;
  // Keys alone read what is computed once.
  const isPlainKeys = list !== undefined && node.aggregates.length === 0;
  const selected = isPlainKeys ? undefined : rowsBelow(input, table);
  if (list === undefined || selected !== undefined) {
    return selected && groupsOf(node, node, selected.ask, selected.to);
  }
  const listed = groupsOverItems(node, list);
  if (listed === undefined) return undefined;
  return groupsOf(node, listed, ask, withComputed(ask, table));
}

/** Below a select list, whose wildcards are not the columns of the table. */
function withComputed(ask: AskNode, table: PushedTable): Lowering {
  const to = loweringOf(ask, table);
  const computed = Object.entries(askedOf(ask).computed);
  return { ...to, expressions: new Map([...(to.expressions ?? []), ...computed]) };
}

/**
 * A part of a plan over a join as one over pairs that the servers make, as names and order of rows
 * matter no more; undefined: there is no join, or they cannot make them.
 */
function pairsBelow(node: PlanNode, table: PushedTable): PlanNode | undefined {
  switch (node.kind) {
    case 'join':
      return joinedRows(node, table, SIDES);
    case 'rejoin':
      return pairsBelow(node.input, table);
    case 'project': {
      const input = pairsBelow(node.input, table);
      return input && { ...node, input };
    }
    case 'filter': {
      const input = pairsBelow(node.input, table);
      const pushed =
        input?.kind === 'ask' ? pushFilter({ ...node, input }, input, table) : undefined;
      return pushed?.kind === 'ask' ? pushed : undefined;
    }
    default:
      return undefined;
  }
}

const SIDES: Sides = { rows: rowsOfSide, place: placeBelow };

/** The rows of one side of a join, where the servers have all of them. */
function rowsOfSide(node: PlanNode, table: PushedTable): SideRows | undefined {
  if (node.kind === 'ask') return plainRows(node, table);
  const pairs = pairsBelow(node, table);
  if (pairs !== undefined) return rowsOfSide(pairs, table);
  if (node.kind === 'filter') return filteredRows(node, rowsOfSide(node.input, table));
  if (node.kind !== 'project') return undefined;
  const { input } = node;
  const below = groupsBelow(input);
  if (below !== undefined) return groupRows(node, below, table);
  if (input.kind !== 'ask') return itemRows(node, rowsOfSide(input, table));
  const selected = selectedBelow(node, input, table);
  const columns = selected?.to.expressions;
  return selected && columns && { ask: selected.ask, to: selected.to, columns };
}

function filteredRows({ condition }: FilterNode, rows: SideRows | undefined): SideRows | undefined {
  if (rows === undefined) return undefined;
  const over: Lowering = { ...rows.to, columns: new Map(), expressions: rows.columns };
  const value = lower(condition, over);
  const test = value && truthOf(value);
  if (test === undefined) return undefined;
  const where = [...askedOf(rows.ask).where, holds(test)];
  return { ...rows, ask: asking(rows.ask, { where, texts: over.texts.all }) };
}

/** A select list over rows. */
function itemRows(
  { items, keepsInput }: ProjectNode,
  rows: SideRows | undefined,
): SideRows | undefined {
  if (rows === undefined || keepsInput) return undefined;
  const over: Lowering = { ...rows.to, columns: new Map(), expressions: rows.columns };
  const columns = itemColumns(items, (expression) => lower(expression, over));
  return columns && { ask: rows.ask, to: { ...over, expressions: columns }, columns };
}

/** The columns of a select list; undefined: one has no SQL, or shares its name with another one. */
function itemColumns(
  items: ProjectNode['items'],
  sqlOf: (expression: BoundExpression) => Sql | undefined,
): ReadonlyMap<string, Sql> | undefined {
  const columns = new Map<string, Sql>();
  for (const item of items) {
    const key = item.kind === 'named' ? columnKey(item.path) : undefined;
    const sql = item.kind === 'named' ? sqlOf(item.expression) : undefined;
    if (key === undefined || sql === undefined || columns.has(key)) return undefined;
    columns.set(key, sql);
  }
  // `a` beside `a.b` is a row and an atom.
  const isRow = (key: string) => [...columns.keys()].some((other) => other.startsWith(`${key}.`));
  return [...columns.keys()].some(isRow) ? undefined : columns;
}

/** Groups as the rows of a SELECT. */
function groupRows(
  { items, keepsInput }: ProjectNode,
  { groups, ask }: GroupsBelow,
  table: PushedTable,
): SideRows | undefined {
  // Without keys there is a row where there are none to group.
  if (keepsInput || groups.keys.length === 0) return undefined;
  const to = withGroups(loweringOf(ask, table), ask);
  const columns = itemColumns(items, (expression) => lower(groupColumns(expression), to));
  if (columns === undefined) return undefined;
  const source = asSource(asking(ask, { texts: to.texts.all }), table, columns);
  return plainRows(source, table);
}

/** Where rows that a join above has no partner for are left out. */
export function placeBelow(node: PlanNode, table: PushedTable): ConditionPlace | undefined {
  switch (node.kind) {
    case 'ask': {
      if (!isPlain(node)) return undefined;
      const to = loweringOf(node, table);
      return { ask: node, to, read: (expression) => expression, rebuild: (ask) => ask };
    }
    case 'filter': {
      const below = placeBelow(node.input, table);
      if (below === undefined || !conjunctsOf(node.condition).every(cannotFail)) return undefined;
      return { ...below, rebuild: (ask) => ({ ...node, input: below.rebuild(ask) }) };
    }
    case 'project': {
      const { input: ask, items } = node;
      if (ask.kind !== 'ask') return undefined;
      const { groups, limit } = askedOf(ask);
      if (groups !== undefined || limit !== undefined) return undefined;
      if (!items.every((item) => item.kind === 'named' && cannotFail(item.expression)))
        return undefined;
      return {
        ask,
        to: withComputed(ask, table),
        read: (expression) => overItems(expression, node),
        rebuild: (input) => ({ ...node, input }),
      };
    }
    default:
      return undefined;
  }
}

function groupsOf(
  node: AggregateNode,
  listed: Pick<AggregateNode, 'keys' | 'aggregates'>,
  ask: AskNode,
  to: Lowering,
): PlanNode | undefined {
  const computed: Record<string, Sql> = {};
  const keys: string[] = [];
  for (const [index, key] of listed.keys.entries()) {
    const sql = lower(key, to);
    if (sql === undefined || sql.isInexact === true) return undefined;
    const text = canonical(sql);
    // New servers take a number for the place of a column.
    keys.push(/^[(-]*\d+\)*$/.test(text) ? `materialize(${text})` : text);
    computed[keyName(index)] = { ...sql, text };
  }
  const aggregates = [];
  for (const [index, call] of listed.aggregates.entries()) {
    const sql = lowerAggregate(call, to);
    if (sql === undefined) return undefined;
    computed[valueName(index)] = sql.value;
    const arg = columnOf(valueName(index), call);
    aggregates.push({ ...call, name: sql.again, args: [arg], modifiers: undefined });
  }
  return {
    ...node,
    keys: node.keys.map((key, index) => columnOf(keyName(index), key)),
    aggregates,
    input: {
      ...asking(ask, { computed, groups: { keys, having: [] }, texts: to.texts.all }),
      isStored: false,
    },
  };
}

/** An expression over what a select list reads; undefined: it reads what is no column of it. */
function overItems(
  expression: BoundExpression,
  { items, keepsInput }: ProjectNode,
): BoundExpression | undefined {
  if (keepsInput || !items.every((item) => item.kind === 'named')) return undefined;
  let areKnown = true;
  const replace = (part: BoundExpression): BoundExpression => {
    if (part.kind === 'row-function') areKnown = false;
    if (part.kind !== 'column') return mapChildren(part, replace);
    const [item, ...more] = items.filter(
      ({ kind, ...rest }) =>
        kind === 'named' && String((rest as NamedProjectItem).path) === String(part.path),
    );
    if (item?.kind === 'named' && more.length === 0) return item.expression;
    areKnown = false;
    return part;
  };
  const replaced = replace(expression);
  return areKnown ? replaced : undefined;
}

/** Keys and aggregates over what a select list reads. */
function groupsOverItems(
  { keys, aggregates }: AggregateNode,
  list: ProjectNode,
): Pick<AggregateNode, 'keys' | 'aggregates'> | undefined {
  let areKnown = true;
  const replace = (expression: BoundExpression): BoundExpression => {
    const replaced = overItems(expression, list);
    areKnown &&= replaced !== undefined;
    return replaced ?? expression;
  };
  const lists = {
    keys: keys.map(replace),
    aggregates: aggregates.map(({ args, modifiers, ...call }) => ({
      ...call,
      args: args.map(replace),
      modifiers: modifiers && {
        ...modifiers,
        filter: modifiers.filter && replace(modifiers.filter),
      },
    })),
  };
  return areKnown ? lists : undefined;
}

/** HAVING: what the server cannot test stays. */
function pushHaving(node: FilterNode, table: PushedTable): PlanNode | undefined {
  const below = groupsBelow(node.input);
  if (below === undefined) return undefined;
  const { groups, ask } = below;
  const to = loweringOf(ask, table);
  const parts = conjunctsOf(node.condition);
  const having: string[] = [];
  const rest: BoundExpression[] = [];
  for (const part of parts) {
    const read = groupColumns(part);
    const value = lower(read, withGroups(to, ask));
    const test = value && truthOf(value);
    if (test !== undefined) having.push(holds(test));
    else if (cannotFail(read)) rest.push(part);
    else return undefined;
  }
  const known = askedOf(ask).groups as NonNullable<Asked['groups']>;
  // Without keys there is one row, which an aggregate over none would give too.
  if (having.length === 0 || known.keys.length === 0) return undefined;
  const asked = asking(ask, {
    groups: { ...known, having: [...known.having, ...having] },
    texts: to.texts.all,
  });
  const input = { ...groups, input: asked };
  const condition = conjunctionOf(rest);
  return condition === undefined ? input : { ...node, input, condition };
}

/** Expressions that the server computes become columns; the others stay, over what they read. */
function pushProject(
  node: ProjectNode,
  { ask, to, columnAt }: RowsBelow,
  { hasTimestamps }: PushedTable,
): PlanNode | undefined {
  if (node.keepsInput) return undefined;
  if (!node.items.every(({ kind }) => kind === 'named' || kind === 'spread')) return undefined;
  const isOverList = node.input.kind === 'project';
  // What is computed from the names of rows is left to Rowan, which knows them.
  if (hasTimestamps || (isOverList && node.name !== undefined)) return undefined;
  const { named } = askedOf(ask);
  const computed: Record<string, Sql> = {};
  const compute = (sql: Sql, from: Span, type: BoundExpression['type']): BoundExpression => {
    const name = `=c${Object.keys(computed).length + Object.keys(named).length}`;
    computed[name] = sql;
    return { kind: 'column', path: [name], type, start: from.start, end: from.end };
  };
  let isWhole = true;
  const replace = (expression: BoundExpression): BoundExpression => {
    if (expression.kind === 'column' && isOverList) {
      const column = columnAt(expression.path);
      if (column === undefined) isWhole = false;
      else {
        const isComputed = column.kind === 'column' && Object.hasOwn(named, column.path[0] ?? '');
        if (!isComputed && TRIVIAL.has(column.kind)) return column;
      }
    } else if (TRIVIAL.has(expression.kind)) return expression;
    const sql = lower(expression, to);
    if (sql !== undefined) return compute(sql, expression, expression.type);
    const outputs =
      expression.kind === 'user-call' ? lowerModelOutputs(expression, to, lower) : undefined;
    if (outputs === undefined) {
      if (isOverList) isWhole = false;
      return mapChildren(expression, replace);
    }
    const { start, end, type } = expression;
    const items = outputs.map((output) => ({
      kind: 'named' as const,
      path: output.path,
      expression: compute(output.sql, expression, ANY_ATOM),
      start,
      end,
    }));
    return { kind: 'row', items, type, start, end };
  };
  const items = node.items.map((item) =>
    item.kind === 'named' || item.kind === 'spread'
      ? { ...item, expression: replace(item.expression) }
      : item,
  );
  if (!isWhole || Object.keys(computed).length === 0) return undefined;
  const input = { ...asking(ask, { computed, texts: to.texts.all }), isStored: false };
  return { ...node, items, input };
}

const TRIVIAL: ReadonlySet<BoundExpression['kind']> = new Set(['column', 'constant', 'parameter']);
