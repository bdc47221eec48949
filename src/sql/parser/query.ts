// Queries: SELECT and its clauses, VALUES, set operations, WITH.
import { equalNodes } from '../equal.ts';
import type {
  CommonTable,
  Expression,
  NamedWindow,
  OrderKey,
  Query,
  QueryNode,
  SelectItem,
  SetOperator,
  TableExpression,
  WithClause,
} from '../node.ts';
import { parseCount } from './count.ts';
import type { Cursor } from './cursor.ts';
import { isGenericDistinct, startsQuery } from './lookahead.ts';
import { parseWindow } from './window.ts';

/** The clauses of a query before they are put together; all that is optional may be left out. */
export interface QueryParts extends Partial<Grouping> {
  readonly distinct?: boolean | undefined;
  readonly distinctOn: readonly Expression[];
  readonly select: readonly SelectItem[];
  readonly named?: Expression | undefined;
  readonly from?: TableExpression | undefined;
  readonly when?: Expression | undefined;
  readonly where?: Expression | undefined;
  readonly having?: Expression | undefined;
  readonly windows?: readonly NamedWindow[] | undefined;
  readonly qualify?: Expression | undefined;
  readonly orderBy?: readonly OrderKey[];
  readonly limit?: Expression | undefined;
  readonly offset?: Expression | undefined;
}

export type SelectClause = Pick<QueryParts, 'distinct' | 'distinctOn' | 'select'>;

/** What follows GROUP BY. */
export type Grouping = Pick<Query, 'groupBy' | 'groupByAll' | 'groupingSets'>;

/** ORDER BY and what follows it. */
type Tail = Pick<Query, 'orderBy' | 'orderByAll' | 'limit' | 'offset'>;

/** Sets that GROUPING SETS, ROLLUP and CUBE may make together. */
const GROUPING_SET_COUNT_MAX = 4096;

/** Reads a query with its set operations, WITH, ORDER BY and LIMIT. @throws SQL_SYNTAX */
export function parseQuery(cursor: Cursor): QueryNode {
  cursor.enter();
  const { start } = cursor.token;
  const withClause = cursor.token.word === 'WITH' ? parseWith(cursor) : undefined;
  const body = parseUnion(cursor);
  const query = parseTail(cursor, body, start, withClause);
  cursor.leave();
  return query;
}

/** Goes on with a query that was read in parentheses, when a set operation or ORDER BY follows. */
export function continueQuery(cursor: Cursor, query: QueryNode): QueryNode {
  const body = parseUnion(cursor, { query, closed: true });
  return parseTail(cursor, body, query.start, undefined);
}

/** A query without its tail; `closed` when it stood in parentheses. */
interface Body {
  readonly query: QueryNode;
  readonly closed: boolean;
}

function parseUnion(cursor: Cursor, first?: Body): Body {
  let left = parseIntersect(cursor, first);
  for (;;) {
    const operator = setOperatorAt(cursor, ['UNION', 'EXCEPT']);
    if (operator === undefined) return left;
    left = parseSetRest(cursor, left, operator, parseIntersect);
  }
}

function parseIntersect(cursor: Cursor, first?: Body): Body {
  let left = first ?? parseBody(cursor);
  for (;;) {
    const operator = setOperatorAt(cursor, ['INTERSECT']);
    if (operator === undefined) return left;
    left = parseSetRest(cursor, left, operator, parseBody);
  }
}

function setOperatorAt(cursor: Cursor, words: readonly string[]): SetOperator | undefined {
  const found = words.find((word) => cursor.acceptKeyword(word));
  return found === undefined ? undefined : (found.toLowerCase() as SetOperator);
}

function parseSetRest(
  cursor: Cursor,
  left: Body,
  operator: SetOperator,
  parseRight: (cursor: Cursor) => Body,
): Body {
  const all = cursor.acceptKeyword('ALL');
  if (!all) cursor.acceptKeyword('DISTINCT');
  const byName = operator === 'union' && cursor.acceptKeyword('BY', 'NAME');
  const right = parseRight(cursor);
  const query: QueryNode = Object.freeze({
    kind: 'set-query',
    text: cursor.source.text,
    operator,
    all,
    byName,
    left: left.query,
    right: right.query,
    orderBy: NO_KEYS,
    limit: undefined,
    offset: undefined,
    start: left.query.start,
    end: cursor.end,
  });
  return { query, closed: false };
}

const NO_KEYS: readonly OrderKey[] = Object.freeze([]);

function parseBody(cursor: Cursor): Body {
  if (cursor.token.symbol === '(') {
    cursor.advance();
    const query = parseQuery(cursor);
    cursor.expectSymbol(')');
    return { query, closed: true };
  }
  if (cursor.token.word === 'VALUES') return { query: parseValues(cursor), closed: false };
  return { query: parseSelectBody(cursor), closed: false };
}

function parseValues(cursor: Cursor): QueryNode {
  const { start } = cursor.advance();
  const rows: (readonly Expression[])[] = [];
  do {
    cursor.expectSymbol('(');
    const row: Expression[] = [];
    do {
      row.push(cursor.grammar.expression(cursor));
    } while (cursor.acceptSymbol(','));
    cursor.expectSymbol(')');
    rows.push(Object.freeze(row));
  } while (cursor.acceptSymbol(','));
  Object.freeze(rows);
  const { text } = cursor.source;
  const none = { orderBy: NO_KEYS, limit: undefined, offset: undefined };
  return Object.freeze({ kind: 'values-query', text, rows, ...none, start, end: cursor.end });
}

function parseSelectBody(cursor: Cursor): Query {
  const { grammar } = cursor;
  const { start } = cursor.token;
  cursor.expectKeyword('SELECT');
  const clause = parseSelect(cursor);
  const named = parseOptional(cursor, 'NAMED');
  const from = cursor.acceptKeyword('FROM') ? grammar.table(cursor) : undefined;
  const when = parseOptional(cursor, 'WHEN');
  const where = parseOptional(cursor, 'WHERE');
  const grouping = cursor.acceptKeyword('GROUP', 'BY') ? parseGrouping(cursor) : undefined;
  const having = parseOptional(cursor, 'HAVING');
  const windows = cursor.acceptKeyword('WINDOW') ? parseNamedWindows(cursor) : undefined;
  const qualify = parseOptional(cursor, 'QUALIFY');
  const parts = { ...clause, named, from, when, where, ...grouping, having, windows, qualify };
  return makeQuery(cursor.source.text, start, cursor.end, parts);
}

/** Puts the clauses of a query together. */
export function makeQuery(text: string, start: number, end: number, parts: QueryParts): Query {
  return Object.freeze({
    kind: 'query',
    text,
    ...(parts.distinct === true ? { distinct: true } : {}),
    distinctOn: Object.freeze(parts.distinctOn),
    select: Object.freeze(parts.select),
    named: parts.named,
    from: parts.from,
    when: parts.when,
    where: parts.where,
    groupBy: Object.freeze(parts.groupBy ?? []),
    ...(parts.groupByAll === true ? { groupByAll: true } : {}),
    ...(parts.groupingSets === undefined ? {} : { groupingSets: parts.groupingSets }),
    having: parts.having,
    ...(parts.windows === undefined ? {} : { windows: Object.freeze(parts.windows) }),
    ...(parts.qualify === undefined ? {} : { qualify: parts.qualify }),
    orderBy: Object.freeze(parts.orderBy ?? []),
    limit: parts.limit,
    offset: parts.offset,
    start,
    end,
  });
}

/** Reads ORDER BY, LIMIT, OFFSET and FETCH, and gives them and WITH to the query before them. */
function parseTail(
  cursor: Cursor,
  body: Body,
  start: number,
  withClause: WithClause | undefined,
): QueryNode {
  const order = cursor.acceptKeyword('ORDER', 'BY') ? parseOrder(cursor) : undefined;
  let limit: Expression | undefined;
  let offset: Expression | undefined;
  for (;;) {
    if (limit === undefined && cursor.acceptKeyword('LIMIT')) {
      limit = parseCount(cursor, 'LIMIT');
    } else if (offset === undefined && cursor.acceptKeyword('OFFSET')) {
      offset = parseCount(cursor, 'OFFSET');
      if (!cursor.acceptKeyword('ROWS')) cursor.acceptKeyword('ROW');
    } else if (limit === undefined && cursor.acceptKeyword('FETCH')) {
      limit = parseFetch(cursor);
    } else {
      break;
    }
  }
  const { query, closed } = body;
  const hasTail = order !== undefined || limit !== undefined || offset !== undefined;
  if (!hasTail && withClause === undefined) return query;
  const tail: Tail = { orderBy: NO_KEYS, ...order, limit, offset };
  const added = { ...tail, ...(withClause === undefined ? {} : { with: withClause }), start };
  const end = cursor.end;
  // A query in parentheses keeps what it has of its own.
  if (!closed) return Object.freeze({ ...query, ...added, end });
  const { text } = cursor.source;
  const all = { kind: 'wildcard', star: { path: [], dotted: false }, excluding: [] } as const;
  const span = { start: query.start, end: query.end };
  const select: SelectItem = Object.freeze({ ...all, replacement: undefined, ...span });
  const from: TableExpression = Object.freeze({
    kind: 'subquery',
    query,
    alias: undefined,
    ...span,
  });
  const outer = makeQuery(text, start, end, { distinctOn: [], select: [select], from });
  return Object.freeze({ ...outer, ...added });
}

/** `FIRST n ROWS ONLY` */
function parseFetch(cursor: Cursor): Expression {
  if (!cursor.acceptKeyword('FIRST')) cursor.expectKeyword('NEXT');
  const { start } = cursor.token;
  const one: Expression = Object.freeze({ kind: 'literal', value: 1, start, end: start });
  const single = cursor.token.word === 'ROW' || cursor.token.word === 'ROWS';
  const count = single ? one : parseCount(cursor, 'FETCH FIRST');
  if (!cursor.acceptKeyword('ROWS')) cursor.expectKeyword('ROW');
  cursor.expectKeyword('ONLY');
  return count;
}

function parseWith(cursor: Cursor): WithClause {
  cursor.advance();
  const recursive = cursor.token.word === 'RECURSIVE' && cursor.peek(1).kind === 'name';
  if (recursive) cursor.advance();
  const tables: CommonTable[] = [];
  do {
    tables.push(parseCommonTable(cursor));
  } while (cursor.acceptSymbol(','));
  return Object.freeze({ recursive, tables: Object.freeze(tables) });
}

function parseCommonTable(cursor: Cursor): CommonTable {
  const { start } = cursor.token;
  const name = cursor.expectIdentifier('a name for the query');
  const columnNames = cursor.token.symbol === '(' ? parseNameList(cursor) : undefined;
  cursor.expectKeyword('AS');
  let materialized: boolean | undefined;
  if (cursor.acceptKeyword('NOT')) {
    cursor.expectKeyword('MATERIALIZED');
    materialized = false;
  } else if (cursor.acceptKeyword('MATERIALIZED')) {
    materialized = true;
  }
  cursor.expectSymbol('(');
  if (!startsQuery(cursor) && cursor.token.symbol !== '(') cursor.fail('SELECT', 'VALUES');
  const query = parseQuery(cursor);
  cursor.expectSymbol(')');
  const end = cursor.end;
  return Object.freeze({
    kind: 'common-table',
    name,
    columnNames,
    materialized,
    query,
    start,
    end,
  });
}

/** Reads `(name, …)`. */
export function parseNameList(cursor: Cursor): readonly string[] {
  cursor.expectSymbol('(');
  const names: string[] = [];
  do {
    names.push(cursor.expectIdentifier('the name of a column'));
  } while (cursor.acceptSymbol(','));
  cursor.expectSymbol(')');
  return Object.freeze(names);
}

/** Reads what follows SELECT: `[DISTINCT [ON (…)]] item, …`. */
export function parseSelect(cursor: Cursor): SelectClause {
  const distinct = parseDistinct(cursor);
  return { ...distinct, select: parseSelectItems(cursor) };
}

/** Reads `item, …`; a comma may be the last thing in the text. */
export function parseSelectItems(cursor: Cursor): SelectItem[] {
  const items: SelectItem[] = [];
  do {
    items.push(cursor.grammar.selectItem(cursor));
  } while (cursor.acceptSymbol(',') && cursor.token.kind !== 'end');
  return items;
}

function parseExpressions(cursor: Cursor): Expression[] {
  const expressions: Expression[] = [];
  do {
    expressions.push(cursor.grammar.expression(cursor));
  } while (cursor.acceptSymbol(','));
  return expressions;
}

/**
 * Reads what follows GROUP BY. Keys are numbered in the order in which they are written; ROLLUP and
 * its kin become the sets of those numbers that they stand for.
 */
export function parseGrouping(cursor: Cursor): Grouping {
  // ALL is reserved: a column of that name is quoted.
  if (cursor.acceptKeyword('ALL')) {
    return { groupBy: [], groupByAll: true };
  }
  const keys: Expression[] = [];
  let sets: readonly (readonly number[])[] = [[]];
  let several = false;
  do {
    const element = parseGroupingElement(cursor, keys);
    several ||= element.length !== 1;
    if (sets.length * element.length > GROUPING_SET_COUNT_MAX) {
      cursor.failWith({
        message: `GROUP BY makes more than ${GROUPING_SET_COUNT_MAX} grouping sets`,
        expected: [],
      });
    }
    sets = sets.flatMap((set) => element.map((part) => [...set, ...part]));
  } while (cursor.acceptSymbol(','));
  if (!several) return { groupBy: keys };
  // A key that stands in several sets is one key.
  const distinct: Expression[] = [];
  const numbers = keys.map((key) => {
    const known = distinct.findIndex((other) => equalNodes(other, key));
    return known === -1 ? distinct.push(key) - 1 : known;
  });
  const groupingSets = sets.map((set) =>
    [...new Set(set.map((index) => numbers[index] as number))].sort((a, b) => a - b),
  );
  return { groupBy: distinct, groupingSets };
}

/** The sets of keys that one element of GROUP BY stands for. */
function parseGroupingElement(cursor: Cursor, keys: Expression[]): (readonly number[])[] {
  const { word } = cursor.token;
  const opens = cursor.peek(1).symbol === '(';
  if (word === 'ROLLUP' && opens) {
    cursor.advance();
    const parts = parseGroupingSets(cursor, keys).flat();
    return Array.from({ length: parts.length + 1 }, (_, i) =>
      parts.slice(0, parts.length - i).flat(),
    );
  }
  if (word === 'CUBE' && opens) {
    cursor.advance();
    const parts = parseGroupingSets(cursor, keys).flat();
    if (parts.length > 12) {
      cursor.failWith({ message: 'CUBE takes at most 12 expressions', expected: [] });
    }
    const all: (readonly number[])[] = [];
    for (let bits = 2 ** parts.length - 1; bits >= 0; bits--) {
      all.push(parts.filter((_, i) => ((bits >> (parts.length - 1 - i)) & 1) === 1).flat());
    }
    return all;
  }
  if (word === 'GROUPING' && cursor.peek(1).word === 'SETS') {
    cursor.advance();
    cursor.advance();
    return parseGroupingSets(cursor, keys).flat();
  }
  if (cursor.token.symbol === '(' && cursor.peek(1).symbol === ')') {
    cursor.advance();
    cursor.advance();
    return [[]];
  }
  const expression = cursor.grammar.expression(cursor);
  const parts = expression.kind === 'tuple' ? expression.elements : [expression];
  return [parts.map((part) => keys.push(part) - 1)];
}

/** Reads `(element, …)`; each element gives the sets that it stands for. */
function parseGroupingSets(cursor: Cursor, keys: Expression[]): (readonly number[])[][] {
  cursor.enter();
  cursor.expectSymbol('(');
  const elements: (readonly number[])[][] = [];
  do {
    elements.push(parseGroupingElement(cursor, keys));
  } while (cursor.acceptSymbol(','));
  cursor.expectSymbol(')');
  cursor.leave();
  return elements;
}

function parseNamedWindows(cursor: Cursor): NamedWindow[] {
  const windows: NamedWindow[] = [];
  do {
    const name = cursor.expectIdentifier('a name for the window');
    cursor.expectKeyword('AS');
    windows.push(Object.freeze({ name, window: parseWindow(cursor) }));
  } while (cursor.acceptSymbol(','));
  return windows;
}

function parseOrder(cursor: Cursor): Pick<Tail, 'orderBy' | 'orderByAll'> {
  if (!cursor.acceptKeyword('ALL')) {
    return { orderBy: Object.freeze(parseOrderKeys(cursor)) };
  }
  const descending = cursor.acceptKeyword('DESC');
  if (!descending) cursor.acceptKeyword('ASC');
  return { orderBy: NO_KEYS, orderByAll: { descending } };
}

/** Reads the keys behind ORDER BY, at least one. @throws SQL_SYNTAX */
export function parseOrderKeys(cursor: Cursor): OrderKey[] {
  const keys: OrderKey[] = [];
  do {
    const { start } = cursor.token;
    const expression = cursor.grammar.expression(cursor);
    const descending = cursor.acceptKeyword('DESC');
    if (!descending) cursor.acceptKeyword('ASC');
    const nulls = parseNulls(cursor);
    const end = cursor.end;
    const placed = nulls === undefined ? {} : { nulls };
    keys.push(Object.freeze({ kind: 'order-key', expression, descending, ...placed, start, end }));
  } while (cursor.acceptSymbol(','));
  return keys;
}

function parseNulls(cursor: Cursor): 'first' | 'last' | undefined {
  if (!cursor.acceptKeyword('NULLS')) return undefined;
  if (cursor.acceptKeyword('FIRST')) return 'first';
  cursor.expectKeyword('LAST');
  return 'last';
}

function parseDistinct(cursor: Cursor): Pick<QueryParts, 'distinct' | 'distinctOn'> {
  if (cursor.token.word !== 'DISTINCT') return { distinctOn: [] };
  if (cursor.peek(1).word !== 'ON') {
    const distinct = isGenericDistinct(cursor);
    if (distinct) cursor.advance();
    return { distinct, distinctOn: [] };
  }
  cursor.advance();
  cursor.expectKeyword('ON');
  cursor.expectSymbol('(');
  const keys = parseExpressions(cursor);
  cursor.expectSymbol(')');
  return { distinctOn: keys };
}

function parseOptional(cursor: Cursor, keyword: string): Expression | undefined {
  return cursor.acceptKeyword(keyword) ? cursor.grammar.expression(cursor) : undefined;
}
