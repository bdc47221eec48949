// The counts after LIMIT, OFFSET and FETCH.
import type { Expression } from '../node.ts';
import { LEVEL } from '../precedence.ts';
import type { Cursor } from './cursor.ts';

/**
 * Reads `LIMIT n` or `OFFSET n` of a COLUMN EXPR when it stands here. Counts beyond 2^53, which no
 * data reaches, are rounded to a double.
 */
export function parseLimitCount(cursor: Cursor, keyword: 'LIMIT' | 'OFFSET'): number | undefined {
  if (!cursor.acceptKeyword(keyword)) return undefined;
  const { token } = cursor;
  requireDigits(cursor, keyword);
  cursor.advance();
  return Number(token.value);
}

/** Reads the count of a query: an unsigned integer, a parameter or an expression of them. */
export function parseCount(cursor: Cursor, keyword: string): Expression {
  const { token } = cursor;
  if (token.kind !== 'parameter' && token.symbol !== '(') requireDigits(cursor, keyword);
  return cursor.grammar.expression(cursor, LEVEL.sum);
}

function requireDigits(cursor: Cursor, keyword: string): void {
  const { token, source } = cursor;
  const digits = source.text.slice(token.start, token.end);
  if (token.kind !== 'number' || !/^[0-9]+$/.test(digits)) {
    cursor.fail(`an unsigned integer after ${keyword}`);
  }
}
