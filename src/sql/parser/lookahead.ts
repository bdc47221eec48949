// Decisions about contextual words that need more than the current token.
import { NO_ALIAS_WORDS, OPERATOR_WORDS } from '../keyword.ts';
import type { Token } from '../lexer.ts';
import type { Cursor } from './cursor.ts';

/**
 * Whether SELECT, WITH or VALUES opens a query here, rather than being a column or dataset of that
 * name.
 */
export function startsQuery(cursor: Cursor): boolean {
  switch (cursor.token.word) {
    case 'SELECT':
      return startsItem(cursor.peek(1));
    case 'VALUES':
      return cursor.peek(1).symbol === '(';
    case 'WITH': {
      const next = cursor.peek(1);
      if (next.kind !== 'name') return false;
      const after = cursor.peek(2);
      return after.kind === 'name' || after.symbol === '(';
    }
    default:
      return false;
  }
}

/** Whether what stands here goes on with a query that ended before: a set operation or its end. */
export function continuesQuery(cursor: Cursor): boolean {
  const { word } = cursor.token;
  if (word === 'ORDER') return cursor.peek(1).word === 'BY';
  return QUERY_CONTINUATIONS.has(word);
}

const QUERY_CONTINUATIONS: ReadonlySet<string> = new Set([
  ...['UNION', 'EXCEPT', 'INTERSECT', 'LIMIT', 'OFFSET', 'FETCH'],
]);

/** Whether a token after a word can only be the start of an item, so that the word is no column. */
export function startsItem(token: Token): boolean {
  if (token.kind === 'name') return !OPERATOR_WORDS.has(token.word) || token.word === 'NOT';
  if (token.kind === 'symbol') return ITEM_SYMBOLS.has(token.symbol);
  return token.kind !== 'end';
}

const ITEM_SYMBOLS: ReadonlySet<string> = new Set(['(', '{', '[', '*', '-', '+', '~']);
const WILDCARD_ENDS: ReadonlySet<string> = new Set([',', ')', '}', ':', ';']);
const WILDCARD_FOLLOWERS: ReadonlySet<string> = new Set([
  ...['AS', 'EXCLUDING', 'NAMED', 'FROM', 'WHEN', 'WHERE', 'HAVING', 'LIMIT', 'OFFSET', 'FETCH'],
  ...['QUALIFY', 'WINDOW', 'UNION', 'EXCEPT', 'INTERSECT'],
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
 * Whether `DISTINCT` at the current token is a clause of its own, rather than a column of
 * that name: something follows that can only be the start of an item.
 */
export function isGenericDistinct(cursor: Cursor): boolean {
  const { token } = cursor;
  const next = cursor.peek(1);
  // `distinct*` is a wildcard and `distinct(x)` a call; with a space they are the clause.
  if (next.symbol === '*' || next.symbol === '(') return next.start > token.end;
  // `DISTINCT -x` has a sign, `distinct - x` and `distinct-x` take something from a column.
  if (next.symbol === '-' || next.symbol === '+') {
    return next.start > token.end && cursor.peek(2).start === next.end;
  }
  if (next.symbol === '~' || next.symbol === '[') return next.start > token.end;
  if (next.kind === 'name') return !FOLLOWERS_OF_COLUMN.has(next.word);
  return next.symbol === '{' || next.kind === 'string' || next.kind === 'number';
}

const FOLLOWERS_OF_COLUMN: ReadonlySet<string> = new Set([
  ...OPERATOR_WORDS,
  ...WILDCARD_FOLLOWERS,
  ...['GROUP', 'ORDER'],
]);

/** Whether a name stands here that can only be an alias, for which AS was left out. */
export function startsBareAlias(cursor: Cursor): boolean {
  const { kind, path, word } = cursor.token;
  if (kind !== 'name' || path.length > 1) return false;
  // `x, FROM t` is an item that was forgotten, not a column FROM called t; END ends a CASE.
  const before = cursor.previous?.word ?? '';
  if (before !== 'END' && NO_ALIAS_WORDS.has(before)) return false;
  // Digits may touch a keyword, as in `FROM t LIMIT5`.
  return word === '' || !NO_ALIAS_WORDS.has(word.replace(/[0-9].*$/, ''));
}
