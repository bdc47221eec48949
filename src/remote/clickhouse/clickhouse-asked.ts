// What ClickHouse is asked for instead of the rows of a table: plain data, and its text.
import type { AskNode } from '../../plan/plan.ts';
import { Path } from '../../value/path.ts';
import type { ClickhouseColumn } from './clickhouse-request.ts';
import type { Lowering, Sql } from './clickhouse-sql.ts';
import { QueryTexts, quoteName } from './clickhouse-text.ts';

/** What the server computes for an AskNode; plain data. */
export interface Asked {
  /** present: rows come from here instead of the table */
  readonly source: Source | undefined;
  /** values that others name, each one those before it */
  readonly named: Readonly<Record<string, string>>;
  readonly where: readonly string[];
  /** conditions that rows without a partner in a join, which Rowan makes, do not meet */
  readonly partners: readonly string[];
  /** what keys that only the run knows are compared with */
  readonly sent: readonly SentTo[];
  /** columns that are no columns of the table, by their names */
  readonly computed: Readonly<Record<string, Sql>>;
  /** present: a row for each group */
  readonly groups:
    | { readonly keys: readonly string[]; readonly having: readonly string[] }
    | undefined;
  readonly limit: number | undefined;
  readonly texts: readonly string[];
}

/** A tuple of values of a row. */
export interface SentTo {
  readonly values: readonly { readonly text: string; readonly kind: Sql['kind'] }[];
  /** that none of them is null */
  readonly tests: readonly string[];
}

/** Rows of a SELECT, or pairs of rows of two tables. */
export interface Source {
  /** absent: the table of the ask */
  readonly select: Selected | undefined;
  readonly join: Joined | undefined;
  /** its columns, by `columnKey` */
  readonly columns: Readonly<Record<string, Sql>>;
}

/** Rows that belong to those before them. */
export interface Joined {
  readonly kind: 'INNER' | 'LEFT';
  readonly right: Selected;
  readonly on: string;
}

/** A SELECT in a FROM, whose list has what the query around it reads. */
export interface Selected {
  /** what it is called there */
  readonly alias: string;
  readonly items: Readonly<Record<string, string>>;
  /** SQL of its table */
  readonly table: string;
  readonly asked: Asked;
}

export const NOTHING_ASKED: Asked = {
  source: undefined,
  named: {},
  where: [],
  partners: [],
  sent: [],
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
  /** true: cells have timestamps that somebody looks at, which groups and computed values would lose */
  readonly hasTimestamps: boolean;
  readonly models: NonNullable<Lowering['models']>;
  readonly modelSizeMax: number;
  /** another dataset of the same servers, or this one; undefined: it is elsewhere */
  beside(dataset: string): PushedTable | undefined;
  /** rows of the table, counted when it is called; Infinity: they are not counted */
  rowCount(): number;
}

export function askedOf(ask: AskNode): Asked {
  return ask.asked as Asked;
}

export function asking(ask: AskNode, changes: Partial<Asked>): AskNode {
  return { ...ask, asked: { ...askedOf(ask), ...changes } };
}

/** How a column is found by its path. */
export function columnKey(path: readonly string[]): string {
  return new Path(path).toString();
}

export function loweringOf(ask: AskNode, table: PushedTable): Lowering {
  const { models, modelSizeMax } = table;
  const { source, texts } = askedOf(ask);
  const common = { texts: new QueryTexts(texts), models, modelSizeMax };
  if (source === undefined) return { ...common, columns: table.columns };
  return { ...common, columns: new Map(), expressions: new Map(Object.entries(source.columns)) };
}

/** Whether rows are those of the table or the source, perhaps not all. */
export function isPlain(ask: AskNode): boolean {
  const { computed, groups, limit } = askedOf(ask);
  return groups === undefined && limit === undefined && Object.keys(computed).length === 0;
}

/** WITH, which gives values their names. */
function namesOf({ named }: Asked): string {
  const list = Object.entries(named).map(([name, text]) => `${text} AS ${quoteName(name)}`);
  return list.length === 0 ? '' : `WITH ${list.join(', ')} `;
}

/** WHERE, GROUP BY, HAVING. */
function conditionsOf({ where, partners, groups }: Asked): string {
  const all = [...where, ...partners];
  const parts = all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`;
  if (groups === undefined) return parts;
  const { keys, having } = groups;
  const by = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  return `${parts}${by}${having.length === 0 ? '' : ` HAVING ${having.join(' AND ')}`}`;
}

/** The SELECT of a list. */
export function selectSql(list: string, table: string, asked: Asked): string {
  const start = `${namesOf(asked)}SELECT ${list}`;
  return `${start}${behindList(start, table, asked)}`;
}

/** A SELECT behind its list: `reader` is the text before that. */
export function behindList(reader: string, table: string, asked: Asked): string {
  const conditions = conditionsOf(asked);
  const limit = asked.limit === undefined ? '' : ` LIMIT ${asked.limit}`;
  return ` FROM ${fromOf(asked, table, `${reader}${conditions}`)}${conditions}${limit}`;
}

/** Shards that have a part of the left side get all of the right one. */
function fromOf({ source }: Asked, table: string, reader: string): string {
  if (source === undefined) return table;
  const { select, join } = source;
  const read = join === undefined ? reader : `${reader} ${join.on}`;
  const from = select === undefined ? table : selectedSql(select, read);
  if (join === undefined) return from;
  const { kind, right, on } = join;
  return `${from} GLOBAL ALL ${kind} JOIN ${selectedSql(right, read)} ON ${on}`;
}

function selectedSql({ alias, items, table, asked }: Selected, reader: string): string {
  const list = Object.entries(items)
    .map(([name, text]) => [quoteName(name), text] as const)
    .filter(([name]) => reader.includes(name))
    .map(([name, text]) => `${text} AS ${name}`);
  const sql = selectSql(list.length === 0 ? '1' : list.join(', '), table, asked);
  return `(${sql}) AS ${quoteName(alias)}`;
}

/** The rows as those of a SELECT, with the columns that are given, so that all can be asked of them. */
export function asSource(
  ask: AskNode,
  table: PushedTable,
  columns: ReadonlyMap<string, Sql>,
): AskNode {
  const asked = askedOf(ask);
  const prefix = `=${depthOf(asked)}s`;
  const { items, columns: named } = itemsOf(prefix, columns);
  const select: Selected = {
    alias: prefix,
    items,
    table: table.from,
    asked: { ...asked, partners: [] },
  };
  const source: Source = { select, join: undefined, columns: Object.fromEntries(named) };
  return { ...ask, asked: { ...NOTHING_ASKED, source, texts: asked.texts }, isStored: false };
}

/** How many SELECTs stand within one another, so that names differ. */
export function depthOf({ source }: Asked): number {
  if (source === undefined) return 0;
  const within = [source.select, source.join?.right].filter((each) => each !== undefined);
  return 1 + Math.max(0, ...within.map(({ asked }) => depthOf(asked)));
}

/** Names for the values of a SELECT in a FROM, and what these are around it. */
export function itemsOf(
  prefix: string,
  columns: ReadonlyMap<string, Sql>,
): {
  readonly items: Record<string, string>;
  readonly columns: readonly (readonly [string, Sql])[];
} {
  const items: Record<string, string> = {};
  const outer = [...columns].map(([key, sql], index) => {
    // What is known of the text of a value is not true of its name.
    const { yes: _yes, no: _no, constant: _constant, calendar, ...rest } = sql;
    const name = `${prefix}${index}`;
    items[name] = sql.text;
    if (calendar === undefined) return [key, { ...rest, text: quoteName(name) }] as const;
    items[`${name}c`] = calendar;
    return [key, { ...rest, text: quoteName(name), calendar: quoteName(`${name}c`) }] as const;
  });
  return { items, columns: outer };
}
