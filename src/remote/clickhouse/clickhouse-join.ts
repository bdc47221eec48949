// Joins of tables of the same servers. Rows of pairs are made there where groups of them are what is
// wanted; else Rowan makes the pairs, of rows that have a partner there. Semi and anti joins are
// conditions on the rows of one side.
//
// Keys are compared by Rowan's equality: null equals nothing, NaN itself, and integers of 64 bits are
// no doubles. Servers of all versions join by keys that are never null, so nulls are left out, or
// told from others by a key of their own; what a row without a partner has is told from values by a
// column that partners have, whatever `join_use_nulls` is.
import { conjunctsOf } from '../../plan/conjunction.ts';
import type { BoundExpression, JoinSide } from '../../plan/expression.ts';
import { datasetsReadBy, inputsOf } from '../../plan/map-plan.ts';
import type { AskNode, JoinInput, JoinNode, PlanNode } from '../../plan/plan.ts';
import {
  askedOf,
  asking,
  asSource,
  columnKey,
  depthOf,
  isPlain,
  itemsOf,
  type Joined,
  loweringOf,
  type PushedTable,
  type Selected,
  selectSql,
} from './clickhouse-asked.ts';
import { columnSql, lower } from './clickhouse-expression.ts';
import {
  canonical,
  double,
  holds,
  isDouble,
  isNumeric,
  type Lowering,
  type Sql,
  truthOf,
} from './clickhouse-sql.ts';
import { QueryTexts, quoteName, withMovedTexts } from './clickhouse-text.ts';

/** All rows of a part of a plan, as the servers have them. */
export interface SideRows {
  readonly ask: AskNode;
  readonly to: Lowering;
  /** their columns, by `columnKey` */
  readonly columns: ReadonlyMap<string, Sql>;
}

/** Where a condition on the rows of a part of a plan is tested before they are sent. */
export interface ConditionPlace {
  readonly ask: AskNode;
  readonly to: Lowering;
  /** an expression over the rows of the part, as the ask has it */
  read(expression: BoundExpression): BoundExpression | undefined;
  rebuild(ask: AskNode): PlanNode;
}

/** How rows of parts of plans are found; see `clickhouse-push.ts`. */
export interface Sides {
  rows(node: PlanNode, table: PushedTable): SideRows | undefined;
  place(node: PlanNode, table: PushedTable): ConditionPlace | undefined;
}

/** The rows of a table or a source, which are no groups and have no limit. */
export function plainRows(ask: AskNode, table: PushedTable): SideRows | undefined {
  if (!isPlain(ask)) return undefined;
  const to = loweringOf(ask, table);
  if (to.expressions !== undefined) return { ask, to, columns: to.expressions };
  const columns = new Map<string, Sql>();
  for (const [name, column] of to.columns) {
    const sql = columnSql(column);
    if (sql !== undefined) columns.set(columnKey([name]), sql);
  }
  return { ask, to, columns };
}

/** A join above rows of the same servers with fewer rows to pair; undefined: none can be left out. */
export function pushJoin(node: JoinNode, table: PushedTable, sides: Sides): PlanNode | undefined {
  const { joinKind } = node;
  if (joinKind === 'semi' || joinKind === 'anti') return pushSemiJoin(node, table, sides);
  const left = joinKind === 'left' ? undefined : withPartners(node, 'left', table, sides);
  const right = joinKind === 'right' ? undefined : withPartners(node, 'right', table, sides);
  if (joinKind === 'full' || (left === undefined && right === undefined)) return undefined;
  return {
    ...node,
    left: { ...node.left, input: left ?? node.left.input },
    right: { ...node.right, input: right ?? node.right.input },
  };
}

/** The rows of one side that have a partner, or that have none. */
function pushSemiJoin(node: JoinNode, table: PushedTable, sides: Sides): PlanNode | undefined {
  if (node.residual !== undefined) return undefined;
  const found = placeAndOther(node, 'left', table, sides);
  if (found === undefined) return undefined;
  const { place, other } = found;
  const { ask } = place;
  const own = ownTests(node.own.left, place);
  const otherOwn = ownTests(node.own.right, other.rows);
  const keys = keysOf(node, 'left', place, other.rows);
  if (own === undefined || otherOwn === undefined || keys === undefined) return undefined;
  const { text, texts } = memberTest(place, keys, own, other, otherOwn);
  const where = [...askedOf(ask).where, node.joinKind === 'semi' ? text : `NOT ${text}`];
  const beside = [...(ask.beside ?? []), ...datasetsReadBy(other.rows.ask)];
  return place.rebuild({ ...asking(ask, { where, texts }), beside });
}

/** The rows of a side without those that no row of the other one belongs to. */
function withPartners(
  node: JoinNode,
  side: JoinSide,
  table: PushedTable,
  sides: Sides,
): PlanNode | undefined {
  const found = placeAndOther(node, side, table, sides);
  if (found === undefined) return undefined;
  const { place, own, other } = found;
  const keys = keysOf(node, side, place, other.rows);
  if (keys === undefined || !isSelective(other, own)) return undefined;
  const { text, texts } = memberTest(place, keys, [], other, []);
  const partners = [...askedOf(place.ask).partners, text];
  return place.rebuild(asking(place.ask, { partners, texts }));
}

interface OtherSide {
  readonly rows: SideRows;
  readonly table: PushedTable;
}

function placeAndOther(
  node: JoinNode,
  side: JoinSide,
  table: PushedTable,
  sides: Sides,
):
  | { readonly place: ConditionPlace; readonly own: PushedTable; readonly other: OtherSide }
  | undefined {
  const input = node[side].input;
  const otherInput = node[side === 'left' ? 'right' : 'left'].input;
  const own = tableOf(input, table);
  const otherTable = tableOf(otherInput, table);
  if (own === undefined || otherTable === undefined) return undefined;
  const place = sides.place(input, own);
  const rows = place && sides.rows(otherInput, otherTable);
  if (place === undefined || rows === undefined) return undefined;
  return { place, own, other: { rows, table: otherTable } };
}

/** Of the dataset that a part of a plan begins with, where the same servers have it. */
function tableOf(node: PlanNode, table: PushedTable): PushedTable | undefined {
  if (node.kind === 'ask') return table.beside(node.dataset);
  const [input] = inputsOf(node);
  return input && tableOf(input, table);
}

/** Whether rows may be without a partner: those of a larger table without conditions rarely are. */
function isSelective({ rows, table }: OtherSide, of: PushedTable): boolean {
  const { where, source } = askedOf(rows.ask);
  return where.length > 0 || source !== undefined || table.rowCount() < of.rowCount();
}

/** Keys of both sides, as many as there are equalities. */
interface Keys {
  readonly own: readonly string[];
  readonly other: readonly string[];
  /** that no key is null: without them keys may be anything */
  readonly ownTests: readonly string[];
  readonly otherTests: readonly string[];
}

type Read = Pick<ConditionPlace, 'to'> & Partial<Pick<ConditionPlace, 'read'>>;

function sqlOf(expression: BoundExpression, { to, read }: Read): Sql | undefined {
  const over = read === undefined ? expression : read(expression);
  return over && lower(over, to);
}

function keysOf(node: JoinNode, side: JoinSide, place: Read, rows: Read): Keys | undefined {
  if (node.equalities.length === 0) return undefined;
  const made = { own: [], other: [], ownTests: [], otherTests: [] } as Record<keyof Keys, string[]>;
  for (const equality of node.equalities) {
    const own = sqlOf(equality[side], place);
    const other = sqlOf(equality[side === 'left' ? 'right' : 'left'], rows);
    const pair = own && other && keyPair(own, other);
    if (pair === undefined) return undefined;
    made.own.push(pair[0]);
    made.other.push(pair[1]);
    if (own?.isNullable === true) made.ownTests.push(`isNull(${own.text}) = 0`);
    if (other?.isNullable === true) made.otherTests.push(`isNull(${other.text}) = 0`);
  }
  return made;
}

/** Both in one type, so that equal bytes are equal values; undefined: equality there is another one. */
function keyPair(a: Sql, b: Sql): readonly [string, string] | undefined {
  if (a.isInexact === true || b.isInexact === true) return undefined;
  const both = (as: (sql: Sql) => string) => [present(as(a), a), present(as(b), b)] as const;
  if (a.kind === b.kind && a.kind === 'string') return both(({ text }) => `toString(${text})`);
  if (a.kind === b.kind && a.kind === 'instant') return both(({ text }) => `toFloat64(${text})`);
  if (!isNumeric(a) || !isNumeric(b)) return undefined;
  if (a.kind !== 'number' && b.kind !== 'number') {
    const isUnsigned = a.isUnsigned === true;
    if (isUnsigned !== (b.isUnsigned === true)) return undefined;
    return both(({ text }) => `${isUnsigned ? 'toUInt64' : 'toInt64'}(${text})`);
  }
  if (!isDouble(a) || !isDouble(b)) return undefined;
  const asNumber = (sql: Sql): Sql => ({ ...sql, kind: 'number', text: double(sql) });
  return both((sql) => canonical({ ...asNumber(sql), mayBeNan: true }));
}

function present(text: string, { isNullable }: Sql): string {
  return isNullable ? `assumeNotNull(${text})` : text;
}

/** The condition of a side without which its rows have no partner. */
function ownTests(condition: BoundExpression | undefined, rows: Read): string[] | undefined {
  if (condition === undefined) return [];
  const value = sqlOf(condition, rows);
  const test = value && truthOf(value);
  return test && [holds(test)];
}

/** Whether a row has a partner; never null. */
function memberTest(
  { to }: Pick<ConditionPlace, 'to'>,
  keys: Keys,
  own: readonly string[],
  { rows, table }: OtherSide,
  otherOwn: readonly string[],
): { readonly text: string; readonly texts: readonly string[] } {
  const asked = askedOf(rows.ask);
  const where = [...asked.where, ...otherOwn, ...keys.otherTests];
  const list = selectSql(keys.other.join(', '), table.from, { ...asked, where });
  const texts = new QueryTexts(to.texts.all);
  const sql = withMovedTexts(list, rows.to.texts.all, texts);
  const key = keys.own.length === 1 ? keys.own[0] : `(${keys.own.join(', ')})`;
  const all = [...own, ...keys.ownTests, `(${key} GLOBAL IN (${sql}))`];
  return { text: all.length === 1 ? `${all[0]}` : `(${all.join(' AND ')})`, texts: texts.all };
}

/**
 * The pairs of a join as rows that are asked for; their names and order are not those of Rowan.
 * @returns undefined: the servers cannot make them
 */
export function joinedRows(node: JoinNode, table: PushedTable, sides: Sides): AskNode | undefined {
  const { joinKind, residual } = node;
  if (joinKind === 'right') return joinedRows(swapped(node), table, sides);
  if (joinKind !== 'inner' && joinKind !== 'left') return undefined;
  const isLeft = joinKind === 'left';
  const leftTable = tableOf(node.left.input, table);
  const rightTable = tableOf(node.right.input, table);
  if (leftTable === undefined || rightTable === undefined) return undefined;
  if (leftTable.hasTimestamps || rightTable.hasTimestamps) return undefined;
  if (isLeft && residual !== undefined) return undefined;
  const found = sides.rows(node.left.input, leftTable);
  const left = found && withoutJoin(found, leftTable);
  const right = left && sides.rows(node.right.input, rightTable);
  const keys = right && keysOf(node, 'left', left, right);
  if (left === undefined || right === undefined || keys === undefined) return undefined;
  const own = ownTests(node.own.left, left);
  const otherOwn = ownTests(node.own.right, right);
  if (own === undefined || otherOwn === undefined) return undefined;
  const asked = askedOf(left.ask);
  const texts = new QueryTexts(left.to.texts.all);
  const prefix = `=${1 + Math.max(depthOf(asked), depthOf(askedOf(right.ask)))}`;
  const other = selectedSide(right, rightTable, prefix, keys, otherOwn);
  const move = (text: string) => withMovedTexts(text, right.to.texts.all, texts);
  const tests = [...own, ...keys.ownTests];
  const on = keys.own.map((key, index) => `${key} = ${quoteName(`${prefix}k${index}`)}`);
  const flag = quoteName(`${prefix}p`);
  // A row that has no partner, whatever the other side has, differs from all of them by this key.
  if (isLeft && tests.length > 0) {
    on.push(`toUInt8(${tests.join(' AND ')}) = ${quoteName(`${prefix}t`)}`);
  }
  const columns: Record<string, Sql> = {};
  for (const [key, sql] of left.columns) columns[keyOfPair(node.left, key)] = sql;
  for (const [key, sql] of other.columns) {
    columns[keyOfPair(node.right, key)] = isLeft ? ifPartner(sql, flag) : sql;
  }
  const join: Joined = {
    kind: isLeft ? 'LEFT' : 'INNER',
    right: withTexts(other.selected, move),
    on: on.join(' AND '),
  };
  const beside = [...(left.ask.beside ?? []), ...datasetsReadBy(right.ask)];
  const pairs: AskNode = {
    ...asking(left.ask, {
      source: { select: asked.source?.select, join, columns },
      where: isLeft ? asked.where : [...asked.where, ...tests],
      partners: [],
      texts: texts.all,
    }),
    isStored: false,
    beside,
  };
  return residual === undefined ? pairs : whereAll(pairs, leftTable, residual);
}

/** Old servers join two tables at a time. */
function withoutJoin(rows: SideRows, table: PushedTable): SideRows | undefined {
  if (askedOf(rows.ask).source?.join === undefined) return rows;
  return plainRows(asSource(rows.ask, table, rows.columns), table);
}

/** Pairs that meet a condition on both rows. */
function whereAll(
  pairs: AskNode,
  table: PushedTable,
  condition: BoundExpression,
): AskNode | undefined {
  const to = loweringOf(pairs, table);
  const where = [...askedOf(pairs).where];
  for (const part of conjunctsOf(condition)) {
    const value = lower(part, to);
    const test = value && truthOf(value);
    if (test === undefined) return undefined;
    where.push(holds(test));
  }
  return asking(pairs, { where, texts: to.texts.all });
}

function swapped(node: JoinNode): JoinNode {
  const { left, right } = node.own;
  return {
    ...node,
    joinKind: 'left',
    left: node.right,
    right: node.left,
    equalities: node.equalities.map(({ left: a, right: b }) => ({ left: b, right: a })),
    own: {
      ...(right === undefined ? {} : { left: right }),
      ...(left === undefined ? {} : { right: left }),
    },
  };
}

/** The key of a column of pairs. */
function keyOfPair({ alias }: JoinInput, key: string): string {
  return alias === undefined ? key : `${columnKey([alias])}.${key}`;
}

/** What a column of the other side is beside a row without a partner. */
function ifPartner(sql: Sql, flag: string): Sql {
  const orNull = (text: string) => `if(${flag} = 1, ${text}, NULL)`;
  const { calendar } = sql;
  return {
    ...sql,
    text: orNull(sql.text),
    isNullable: true,
    ...(calendar === undefined ? {} : { calendar: orNull(calendar) }),
  };
}

/** The SELECT of the other side: its columns, its keys, and 1 in all rows, as a key and as none. */
function selectedSide(
  { ask, columns: own }: SideRows,
  table: PushedTable,
  prefix: string,
  keys: Keys,
  otherOwn: readonly string[],
): { readonly selected: Selected; readonly columns: readonly (readonly [string, Sql])[] } {
  const { items, columns } = itemsOf(`${prefix}r`, own);
  for (const [index, key] of keys.other.entries()) items[`${prefix}k${index}`] = key;
  // Old servers read of a key what the row has that a partner was looked for.
  for (const one of ['p', 't']) items[prefix + one] = 'toUInt8(1)';
  const asked = askedOf(ask);
  const where = [...asked.where, ...otherOwn, ...keys.otherTests];
  const selected: Selected = {
    alias: `${prefix}r`,
    items,
    table: table.from,
    asked: { ...asked, partners: [], where },
  };
  return { selected, columns };
}

/** The same SELECT with its texts in other places. */
function withTexts(selected: Selected, move: (text: string) => string): Selected {
  const { items, table, asked } = selected;
  const all = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, move(text)]));
  const { source, named, where, groups } = asked;
  return {
    ...selected,
    items: all(items),
    table,
    asked: {
      ...asked,
      source: source && {
        columns: {},
        select: source.select && withTexts(source.select, move),
        join: source.join && {
          ...source.join,
          right: withTexts(source.join.right, move),
          on: move(source.join.on),
        },
      },
      named: all(named),
      where: where.map(move),
      groups: groups && { keys: groups.keys.map(move), having: groups.having.map(move) },
      computed: {},
      texts: [],
    },
  };
}
