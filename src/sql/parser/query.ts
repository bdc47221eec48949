// SELECT and its clauses.
import type { Expression, OrderKey, Query, SelectItem, TableExpression } from '../node.ts';
import { parseLimitCount } from './count.ts';
import type { Cursor } from './cursor.ts';
import { isGenericDistinct } from './lookahead.ts';

/** The clauses of a query before they are put together; all that is optional may be left out. */
export interface QueryParts {
  readonly distinctOn: readonly Expression[];
  readonly select: readonly SelectItem[];
  readonly named?: Expression | undefined;
  readonly from?: TableExpression | undefined;
  readonly when?: Expression | undefined;
  readonly where?: Expression | undefined;
  readonly groupBy?: readonly Expression[];
  readonly having?: Expression | undefined;
  readonly orderBy?: readonly OrderKey[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export type SelectClause = Pick<QueryParts, 'distinctOn' | 'select'>;

export function parseQuery(cursor: Cursor): Query {
  const { grammar } = cursor;
  cursor.enter();
  const { start } = cursor.token;
  cursor.expectKeyword('SELECT');
  const { distinctOn, select } = parseSelect(cursor);
  const named = parseOptional(cursor, 'NAMED');
  const from = cursor.acceptKeyword('FROM') ? grammar.table(cursor) : undefined;
  const when = parseOptional(cursor, 'WHEN');
  const where = parseOptional(cursor, 'WHERE');
  const groupBy = cursor.acceptKeyword('GROUP', 'BY') ? parseGroupKeys(cursor) : [];
  const having = parseOptional(cursor, 'HAVING');
  const orderBy = cursor.acceptKeyword('ORDER', 'BY') ? parseOrderKeys(cursor) : [];
  const limit = parseLimitCount(cursor, 'LIMIT');
  const offset = parseLimitCount(cursor, 'OFFSET');
  const parts = { distinctOn, select, named, from, when, where, groupBy, having, orderBy };
  const query = makeQuery(cursor.source.text, start, cursor.end, { ...parts, limit, offset });
  cursor.leave();
  return query;
}

/** Puts the clauses of a query together. */
export function makeQuery(text: string, start: number, end: number, parts: QueryParts): Query {
  return Object.freeze({
    kind: 'query',
    text,
    distinctOn: Object.freeze(parts.distinctOn),
    select: Object.freeze(parts.select),
    named: parts.named,
    from: parts.from,
    when: parts.when,
    where: parts.where,
    groupBy: Object.freeze(parts.groupBy ?? []),
    having: parts.having,
    orderBy: Object.freeze(parts.orderBy ?? []),
    limit: parts.limit,
    offset: parts.offset,
    start,
    end,
  });
}

/** Reads what follows SELECT: `[DISTINCT ON (…)] item, …`. */
export function parseSelect(cursor: Cursor): SelectClause {
  const distinctOn = parseDistinctOn(cursor);
  return { distinctOn, select: parseSelectItems(cursor) };
}

/** Reads `item, …`; a comma may be the last thing in the text. */
export function parseSelectItems(cursor: Cursor): SelectItem[] {
  const items: SelectItem[] = [];
  do {
    items.push(cursor.grammar.selectItem(cursor));
  } while (cursor.acceptSymbol(',') && cursor.token.kind !== 'end');
  return items;
}

export function parseGroupKeys(cursor: Cursor): Expression[] {
  const keys: Expression[] = [];
  do {
    keys.push(cursor.grammar.expression(cursor));
  } while (cursor.acceptSymbol(','));
  return keys;
}

export function parseOrderKeys(cursor: Cursor): OrderKey[] {
  const keys: OrderKey[] = [];
  do {
    const { start } = cursor.token;
    const expression = cursor.grammar.expression(cursor);
    const descending = cursor.acceptKeyword('DESC');
    if (!descending) cursor.acceptKeyword('ASC');
    const end = cursor.end;
    keys.push(Object.freeze({ kind: 'order-key', expression, descending, start, end }));
  } while (cursor.acceptSymbol(','));
  return keys;
}

function parseDistinctOn(cursor: Cursor): Expression[] {
  if (cursor.token.word !== 'DISTINCT') return [];
  if (cursor.peek(1).word !== 'ON') {
    if (!isGenericDistinct(cursor)) return [];
    cursor.failWith({
      message: "Generic 'DISTINCT' is not currently supported. Please use 'DISTINCT ON'.",
      expected: ['DISTINCT ON'],
      hint: undefined,
    });
  }
  cursor.advance();
  cursor.expectKeyword('ON');
  cursor.expectSymbol('(');
  const keys = parseGroupKeys(cursor);
  cursor.expectSymbol(')');
  return keys;
}

function parseOptional(cursor: Cursor, keyword: string): Expression | undefined {
  return cursor.acceptKeyword(keyword) ? cursor.grammar.expression(cursor) : undefined;
}
