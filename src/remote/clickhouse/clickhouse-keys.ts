// Keys of a small table that is not in ClickHouse, as a condition on the rows that are joined with it.
import type { BoundExpression } from '../../plan/expression.ts';
import type { KeyTuples } from '../../plan/namespace.ts';
import type { PlanNode, SentKeys } from '../../plan/plan.ts';
import type { Atom } from '../../value/atom.ts';
import { Timestamp } from '../../value/timestamp.ts';
import {
  type Asked,
  askedOf,
  asking,
  NOTHING_ASKED,
  type PushedTable,
  type SentTo,
} from './clickhouse-asked.ts';
import { lower } from './clickhouse-expression.ts';
import { placeBelow } from './clickhouse-push.ts';
import { canonical, type Sql } from './clickhouse-sql.ts';
import { numberLiteral, quoteText } from './clickhouse-text.ts';

/** Longer lists are not sent. */
const LENGTH_MAX = 1_000_000;

/** A side of a join whose rows are compared with keys when the query runs. */
export function withKeys(
  node: PlanNode,
  keys: readonly BoundExpression[],
  sent: SentKeys,
  table: PushedTable,
): PlanNode | undefined {
  const place = placeBelow(node, table);
  if (place === undefined) return undefined;
  const values: { text: string; kind: Sql['kind'] }[] = [];
  const tests: string[] = [];
  for (const key of keys) {
    const read = place.read(key);
    const sql = read && lower(read, place.to);
    if (sql === undefined || sql.isInexact === true) return undefined;
    const text = keyText(sql, keys.length > 1);
    values.push({ text: sql.isNullable ? `assumeNotNull(${text})` : text, kind: sql.kind });
    if (sql.isNullable) tests.push(`isNull(${sql.text}) = 0`);
  }
  const { ask } = place;
  const all = [...askedOf(ask).sent, { values, tests }];
  return place.rebuild({
    ...asking(ask, { sent: all, texts: place.to.texts.all }),
    keys: [...(ask.keys ?? []), sent],
  });
}

/** A column as it is, so that an index is used; literals of a tuple must fit the types of it. */
function keyText(sql: Sql, isTuple: boolean): string {
  if (sql.kind === 'number') return canonical({ ...sql, mayBeNan: false });
  if (sql.kind === 'instant') return `toFloat64(${sql.text})`;
  const isInteger = sql.kind === 'integer' || sql.kind === 'truth';
  return isTuple && isInteger ? `toInt64(${sql.text})` : sql.text;
}

/** @param keys what is known when the query runs; undefined: nothing yet */
export function withKeyLists(
  asked: Asked,
  keys: readonly (KeyTuples | undefined)[] | undefined,
): Asked {
  const where = [...asked.where];
  for (const [index, sent] of asked.sent.entries()) {
    const tuples = keys?.[index];
    const list = keys === undefined ? '…' : tuples && listOf(sent, tuples);
    if (list !== undefined) where.push(list === '' ? '0' : memberOf(sent, list));
  }
  return asked.sent.length === 0 ? asked : { ...asked, where, sent: NOTHING_ASKED.sent };
}

function memberOf({ values, tests }: SentTo, list: string): string {
  const texts = values.map(({ text }) => text);
  const key = texts.length === 1 ? texts[0] : `(${texts.join(', ')})`;
  const all = [...tests, `${key} IN (${list})`];
  return `(${all.join(' AND ')})`;
}

/** undefined: a key cannot be written down, or there are too many; those that no row has are left out */
function listOf({ values }: SentTo, tuples: KeyTuples): string | undefined {
  const all: string[] = [];
  let length = 0;
  for (const tuple of tuples) {
    const texts = values.map(({ kind }, index) => literalOf(kind, tuple[index] as Atom));
    if (texts.includes(undefined)) return undefined;
    if (texts.includes(null)) continue;
    const text = texts.length === 1 ? (texts[0] as string) : `(${texts.join(', ')})`;
    length += text.length;
    if (length > LENGTH_MAX) return undefined;
    all.push(text);
  }
  return all.join(', ');
}

/** null: no value of the kind is equal to it */
function literalOf(kind: Sql['kind'], atom: Atom): string | null | undefined {
  switch (kind) {
    case 'string':
      return typeof atom === 'string' ? quoteText(atom) : null;
    case 'integer':
    case 'truth':
      if (typeof atom === 'bigint') return String(atom);
      return typeof atom === 'number' && Number.isSafeInteger(atom) ? String(atom + 0) : null;
    case 'number':
      if (typeof atom === 'bigint') return undefined;
      if (typeof atom !== 'number') return null;
      return Number.isFinite(atom) ? numberLiteral(atom) : undefined;
    case 'instant':
      if (!(atom instanceof Timestamp)) return null;
      return Number.isFinite(atom.seconds) ? numberLiteral(atom.seconds) : undefined;
  }
}
