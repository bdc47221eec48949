import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equalNodes, structuralKey } from '../../../src/sql/equal.ts';
import { parseExpression, parseQuery } from '../../../src/sql/parser/parser.ts';
import { arbitraryExpression } from './arbitrary-tree.ts';

function expectEqual(left: string, right: string, equal: boolean): void {
  const a = parseExpression(left);
  const b = parseExpression(right);
  expect(equalNodes(a, b), `${left} ~ ${right}`).toBe(equal);
  expect(structuralKey(a) === structuralKey(b), `keys of ${left} ~ ${right}`).toBe(equal);
}

test.each([
  ['x+1', '( x /* c */ + (1) )'],
  ['x is null', 'x IS NULL'],
  ['"x"', 'x'],
  ['a <> b', 'a != b'],
  ['2', '02'],
  ['true', '1'],
  ['{x + 1}', '{x + 1 AS "x + 1"}'],
  ['{y: x}', '{x AS y}'],
  ['cast(x as String)', 'CAST(x AS string)'],
  ['NaN', 'nan'],
])('%s equals %s', (left, right) => expectEqual(left, right, true));

test.each([
  ['x + 1', '1 + x'],
  ['x', 'X'],
  ['x', 't.x'],
  ['a.b', '"a.b"'],
  ["'1'", '1'],
  ['9007199254740993', "'9007199254740993'"],
  ['f(x)', 't.f(x)'],
  ['count(*)', 'count()'],
  ['f(a, b)', 'f([a, b])'],
  ['{x+1}', '{x + 1}'],
  ['x IN (1)', 'x NOT IN (1)'],
  ['x IN (y)', 'x IN (KEYS OF y)'],
  ['a AND b AND c', 'a AND (b AND c)'],
  ['CASE a WHEN b THEN c END', 'CASE WHEN a THEN b ELSE c END'],
  ['{*}', '{a*}'],
  ['{a*}', '{a.*}'],
  ['{* AS a*}', '{* EXCLUDING (a*)}'],
  ['{* EXCLUDING (a, b)}', '{* EXCLUDING (a.b)}'],
  ['{* EXCLUDING (a)}', '{* EXCLUDING (a*)}'],
  ['{COLUMN EXPR (OFFSET 1)}', '{COLUMN EXPR (LIMIT 1)}'],
  ['{COLUMN EXPR (SELECT a)}', '{COLUMN EXPR (WHERE a)}'],
  ["INTERVAL '1 day'", "INTERVAL '1 DAY'"],
  ['$x', 'x'],
])('%s differs from %s', (left, right) => expectEqual(left, right, false));

describe('queries', () => {
  test.each([
    ['SELECT 1 FROM t', 'SELECT 1 FROM t AS t'],
    ['SELECT 1 WHERE a', 'SELECT 1 WHEN a'],
    ['SELECT 1 FROM t GROUP BY a ORDER BY b', 'SELECT 1 FROM t GROUP BY a, b'],
    ['SELECT 1 FROM t ORDER BY a', 'SELECT 1 FROM t ORDER BY a DESC'],
    ['SELECT 1 LIMIT 1', 'SELECT 1 OFFSET 1'],
    ['SELECT 1 FROM a JOIN b', 'SELECT 1 FROM a LEFT JOIN b'],
  ])('%s differs from %s', (left, right) => {
    expect(equalNodes(parseQuery(left), parseQuery(right))).toBe(false);
  });
});

test('keys agree with equality', () => {
  fc.assert(
    fc.property(arbitraryExpression, arbitraryExpression, (a, b) => {
      expect(structuralKey(a) === structuralKey(b)).toBe(equalNodes(a, b));
      expect(equalNodes(a, structuredClone(a))).toBe(true);
    }),
  );
});
