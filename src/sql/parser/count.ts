// The unsigned integer after LIMIT and OFFSET.
import type { Cursor } from './cursor.ts';

/**
 * Reads `LIMIT n` or `OFFSET n` when it stands here. Counts beyond 2^53, which no data reaches, are
 * rounded to a double.
 */
export function parseLimitCount(cursor: Cursor, keyword: 'LIMIT' | 'OFFSET'): number | undefined {
  if (!cursor.acceptKeyword(keyword)) return undefined;
  const { token, source } = cursor;
  const digits = source.text.slice(token.start, token.end);
  if (token.kind !== 'number' || !/^[0-9]+$/.test(digits)) {
    cursor.fail(`an unsigned integer after ${keyword}`);
  }
  cursor.advance();
  return Number(token.value);
}
