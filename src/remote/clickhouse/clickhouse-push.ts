// Parts of plans that ClickHouse takes over.

import { someExpression } from '../../plan/children.ts';
import { cannotFail, conjunctionOf, conjunctsOf } from '../../plan/conjunction.ts';
import type { BoundExpression, NamedProjectItem, SortKey } from '../../plan/expression.ts';
import { mapChildren } from '../../plan/map-expression.ts';
import type {
  AggregateNode,
  AskNode,
  FilterNode,
  LimitNode,
  PlanNode,
  ProjectNode,
  SortNode,
} from '../../plan/plan.ts';
import type { Span } from '../../sql/node.ts';
import { lowerAggregate } from './clickhouse-aggregate.ts';
import { lower } from './clickhouse-expression.ts';
import { lowerModelOutputs } from './clickhouse-model.ts';
import type { ClickhouseColumn } from './clickhouse-request.ts';
import { canonical, holds, type Lowering, type Sql, truthOf } from './clickhouse-sql.ts';
import { QueryTexts, quoteName } from './clickhouse-text.ts';

/** What the server computes for an AskNode; plain data. */
export interface Asked {
  /** values that others name, each one those before it */
  readonly named: Readonly<Record<string, string>>;
  readonly where: readonly string[];
  /** columns that are no columns of the table, by their names */
  readonly computed: Readonly<Record<string, Sql>>;
  /** present: a row for each group */
  readonly groups:
    | { readonly keys: readonly string[]; readonly having: readonly string[] }
    | undefined;
  readonly limit: number | undefined;
  readonly texts: readonly string[];
}

export const NOTHING_ASKED: Asked = {
  named: {},
  where: [],
  computed: {},
  groups: undefined,
  limit: undefined,
  texts: [],
};

export interface PushedTable {
  readonly columns: ReadonlyMap<string, ClickhouseColumn>;
  /** SQL of what rows are read from */
  readonly from: string;
  readonly namesRows: boolean;
  /** true: cells have timestamps of their own, which groups and computed values would lose */
  readonly hasTimestamps: boolean;
  readonly models: NonNullable<Lowering['models']>;
  readonly modelSizeMax: number;
}

/** More rows than these are sorted here alone. */
const KEEP_MAX = 100_000;

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
    default:
      return undefined;
  }
}

function askedOf(ask: AskNode): Asked {
  return ask.asked as Asked;
}

function asking(ask: AskNode, changes: Partial<Asked>): AskNode {
  return { ...ask, asked: { ...askedOf(ask), ...changes } };
}

function loweringOf(ask: AskNode, table: PushedTable): Lowering {
  const { columns, models, modelSizeMax } = table;
  return { columns, texts: new QueryTexts(askedOf(ask).texts), models, modelSizeMax };
}

/** Whether rows are those of the table, perhaps not all. */
function isPlain(ask: AskNode): boolean {
  const { computed, groups, limit } = askedOf(ask);
  return groups === undefined && limit === undefined && Object.keys(computed).length === 0;
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
  const { computed, groups, limit, where } = askedOf(ask);
  if (groups !== undefined || limit !== undefined) return undefined;
  const to = { ...loweringOf(ask, table), expressions: new Map(Object.entries(computed)) };
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

export const keyName = (index: number) => `=k${index}`;
export const valueName = (index: number) => `=a${index}`;

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
  const inner: Lowering = { ...loweringOf(ask, table), expressions: aliases };
  const columns = new Map<string, BoundExpression>();
  const expressions = new Map<string, Sql>();
  for (const item of items) {
    if (item.kind !== 'named' || item.path.length !== 1) return undefined;
    const [column] = item.path as [string];
    const sql = lower(item.expression, inner);
    // Two items of one name are two values of one column.
    if (sql === undefined || expressions.has(column)) return undefined;
    expressions.set(column, sql);
    columns.set(column, item.expression);
  }
  const all = { ...named };
  for (const [alias, { text }] of Object.entries(computed)) all[alias] = text;
  return {
    ask: asking(ask, { named: all, computed: {}, texts: inner.texts.all }),
    to: { columns: new Map(), expressions, texts: inner.texts },
    columnAt: ([column, ...more]) => (more.length === 0 ? columns.get(column ?? '') : undefined),
  };
}

function aliasOf(name: string, { yes: _yes, no: _no, ...sql }: Sql): Sql {
  return { ...sql, text: quoteName(name) };
}

/** Groups of the rows of a table, or of a select list over them, as DISTINCT has it. */
function pushAggregate(node: AggregateNode, table: PushedTable): PlanNode | undefined {
  const { input } = node;
  const list = input.kind === 'project' ? input : undefined;
  const ask = list === undefined ? input : list.input;
  if (ask.kind !== 'ask' || table.hasTimestamps) return undefined;
  const { computed: known, groups, limit } = askedOf(ask);
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
  // Present, so that wildcards are not taken for the columns of the table.
  const expressions = new Map(Object.entries(known));
  return groupsOf(node, listed, ask, { ...loweringOf(ask, table), expressions });
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

const ANY_ATOM = { kind: 'atom', atom: 'atom' } as const;

function columnOf(
  name: string,
  {
    start,
    end,
    ...rest
  }: { readonly start: number; readonly end: number; readonly type?: BoundExpression['type'] },
): BoundExpression {
  return { kind: 'column', path: [name], type: rest.type ?? ANY_ATOM, start, end };
}

/** The groups that a node reads, when they are all that the server has for it. */
function groupsBelow(
  node: PlanNode,
): { readonly groups: AggregateNode; readonly ask: AskNode } | undefined {
  if (node.kind !== 'aggregate' || node.input.kind !== 'ask') return undefined;
  const { input: ask } = node;
  return askedOf(ask).groups === undefined ? undefined : { groups: node, ask };
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

/** Keys and aggregates as the columns that the server gives for them. */
function groupColumns(expression: BoundExpression): BoundExpression {
  if (expression.kind === 'group-key') return columnOf(keyName(expression.index), expression);
  if (expression.kind === 'aggregate-result')
    return columnOf(valueName(expression.index), expression);
  return mapChildren(expression, groupColumns);
}

/** Keys and aggregates by the names of their columns. */
function withGroups(to: Lowering, ask: AskNode): Lowering {
  return { ...to, expressions: new Map(Object.entries(askedOf(ask).computed)) };
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

/**
 * ORDER BY with LIMIT: only rows that are not behind the last one that is wanted come, by the first
 * key alone, so that ties and further keys are decided here.
 */
function pushSort(node: SortNode, table: PushedTable): PlanNode | undefined {
  const { keep, keys } = node;
  const [first] = keys;
  if (keep === undefined || keep > KEEP_MAX || first === undefined) return undefined;
  return withAskBelow(
    node.input,
    (ask, resolve) => {
      const { where, groups, limit } = askedOf(ask);
      if (limit !== undefined) return undefined;
      const to = loweringOf(ask, table);
      const key = resolve(first.expression);
      const sql = key && lower(groupColumns(key), groups === undefined ? to : withGroups(to, ask));
      if (sql === undefined || sql.isInexact === true) return undefined;
      const all = { ...askedOf(ask), texts: to.texts.all };
      const bound = boundOf(sql, first, keep, all, table.from);
      return groups === undefined
        ? asking(ask, { where: [...where, bound], texts: to.texts.all })
        : asking(ask, {
            groups: { ...groups, having: [...groups.having, bound] },
            texts: to.texts.all,
          });
    },
    (input) => ({ ...node, input }),
  );
}

/** Changes the rows that are asked for below groups and select lists. */
function withAskBelow(
  node: PlanNode,
  change: (
    ask: AskNode,
    resolve: (key: BoundExpression) => BoundExpression | undefined,
  ) => AskNode | undefined,
  rebuild: (node: PlanNode) => PlanNode,
  resolve: (key: BoundExpression) => BoundExpression | undefined = (key) => key,
): PlanNode | undefined {
  switch (node.kind) {
    case 'ask': {
      const changed = change(node, resolve);
      return changed && rebuild(changed);
    }
    case 'aggregate': {
      const below = groupsBelow(node);
      const changed = below && change(below.ask, resolve);
      return changed && rebuild({ ...node, input: changed });
    }
    case 'project':
      return withAskBelow(
        node.input,
        change,
        (input) => rebuild({ ...node, input }),
        (key) => outputOf(key, node),
      );
    default:
      return undefined;
  }
}

/** What a key of the output is over the input. */
function outputOf(key: BoundExpression, { items }: ProjectNode): BoundExpression | undefined {
  if (key.kind !== 'output-column') return undefined;
  const [item] = items.filter(
    ({ kind, ...rest }) =>
      kind === 'named' && String((rest as NamedProjectItem).path) === String(key.path),
  );
  return item?.kind === 'named' ? item.expression : undefined;
}

function boundOf(
  key: Sql,
  { descending, nulls }: SortKey,
  keep: number,
  asked: Asked,
  from: string,
): string {
  // NaN is the least number here, as null is the least value.
  const text = key.mayBeNan === true ? `if(isNaN(${key.text}), -inf, ${key.text})` : key.text;
  const isNullFirst = nulls === undefined ? !descending : nulls === 'first';
  const order = `${descending ? 'DESC' : 'ASC'} NULLS ${isNullFirst ? 'FIRST' : 'LAST'}`;
  const first = `(${namesOf(asked)}SELECT ${text} AS b FROM ${from}${conditionsOf(asked)} ORDER BY b ${order} LIMIT ${keep})`;
  const test = descending
    ? `${text} >= (SELECT min(b) FROM ${first})`
    : `${text} <= (SELECT max(b) FROM ${first})`;
  if (!key.isNullable) return `(${test})`;
  const isNull = `isNull(${key.text})`;
  const lacks = `(SELECT count(b) FROM ${first}) < ${keep}`;
  return `(ifNull(${test}, 0) OR ${isNullFirst ? isNull : `(${isNull} AND ${lacks})`})`;
}

/** WITH, which gives values their names. */
export function namesOf({ named }: Asked): string {
  const list = Object.entries(named).map(([name, text]) => `${text} AS ${quoteName(name)}`);
  return list.length === 0 ? '' : `WITH ${list.join(', ')} `;
}

/** WHERE, GROUP BY, HAVING. */
export function conditionsOf({ where, groups }: Asked): string {
  const parts = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
  if (groups === undefined) return parts;
  const { keys, having } = groups;
  const by = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  return `${parts}${by}${having.length === 0 ? '' : ` HAVING ${having.join(' AND ')}`}`;
}

/** LIMIT of rows in no order. */
function pushLimit(node: LimitNode): PlanNode | undefined {
  if (node.limit === undefined) return undefined;
  const limit = node.offset + node.limit;
  const { input } = node;
  const ask = input.kind === 'project' ? input.input : input;
  if (ask.kind !== 'ask' || askedOf(ask).groups !== undefined) return undefined;
  const limited = asking(ask, { limit: Math.min(limit, askedOf(ask).limit ?? limit) });
  return { ...node, input: input.kind === 'project' ? { ...input, input: limited } : limited };
}
