// Decisions about contextual words that need more than the current token.
import { OPERATOR_WORDS } from '../keyword.ts';
import type { Token } from '../lexer.ts';
import type { Cursor } from './cursor.ts';

/** Whether `SELECT` opens a query here, rather than being a column or dataset of that name. */
export function startsQuery(cursor: Cursor): boolean {
  return cursor.token.word === 'SELECT' && startsItem(cursor.peek(1));
}

/** Whether a token after a word can only be the start of an item, so that the word is no column. */
export function startsItem(token: Token): boolean {
  if (token.kind === 'name') return !OPERATOR_WORDS.has(token.word) || token.word === 'NOT';
  if (token.kind === 'symbol') return ITEM_SYMBOLS.has(token.symbol);
  return token.kind !== 'end';
}

const ITEM_SYMBOLS: ReadonlySet<string> = new Set(['(', '{', '[', '*', '-', '+', '~']);
const WILDCARD_ENDS: ReadonlySet<string> = new Set([',', ')', '}', ':']);
const WILDCARD_FOLLOWERS: ReadonlySet<string> = new Set([
  ...['AS', 'EXCLUDING', 'NAMED', 'FROM', 'WHEN', 'WHERE', 'HAVING', 'LIMIT', 'OFFSET'],
]);

/** Whether `*` at `peek(offset)` ends a wildcard `name*` rather than multiplying. */
export function endsWildcard(cursor: Cursor, offset: number): boolean {
  const token = cursor.peek(offset + 1);
  if (token.kind === 'end' || WILDCARD_ENDS.has(token.symbol)) return true;
  if (WILDCARD_FOLLOWERS.has(token.word)) return true;
  const grouped = token.word === 'GROUP' || token.word === 'ORDER';
  return grouped && cursor.peek(offset + 2).word === 'BY';
}

/**
 * Whether `DISTINCT` at the current token is the clause of other dialects, rather than a column of
 * that name: something follows that can only be the start of an item.
 */
export function isGenericDistinct(cursor: Cursor): boolean {
  const { token } = cursor;
  const next = cursor.peek(1);
  // `distinct*` is a wildcard and `distinct(x)` a call; with a space they are the clause.
  if (next.symbol === '*' || next.symbol === '(') return next.start > token.end;
  if (next.kind === 'name') return !FOLLOWERS_OF_COLUMN.has(next.word);
  return next.symbol === '{' || next.kind === 'string' || next.kind === 'number';
}

const FOLLOWERS_OF_COLUMN: ReadonlySet<string> = new Set([
  ...OPERATOR_WORDS,
  ...WILDCARD_FOLLOWERS,
  ...['GROUP', 'ORDER'],
]);
