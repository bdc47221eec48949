import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codePointCount, levenshteinDistance } from '../../../../src/builtin/text/string.ts';
import { resultOf } from '../../../support/builtin-query.ts';

test.each([
  ["upper('ß')", 'SS'],
  ["lower('ΑΣ')", 'ας'],
  ["lower('İ')", 'i̇'],
  ['lower(null)', null],
  ['length(null)', null],
  ["length('e\u0301')", 2],
  ["length(parse_path('a.b'))", 3],
  ["remove_prefix('abc', '')", 'abc'],
  ["remove_suffix('aa', 'a')", 'a'],
])('%s', (expression, expected) => {
  expect(resultOf(expression)).toEqual(expected);
});

test.each([
  ["remove_prefix(null, 'a')", 'The arguments passed to remove_prefix must be two strings'],
  ["remove_suffix('a', null)", 'The arguments passed to remove_suffix must be two strings'],
  ["levenshtein_distance('a', null)", 'function must be strings'],
  ["levenshtein_distance({a: 'x'}, 'x')", 'function must be strings'],
  ["lower({a: 'A'})", "of type 'structured' to 'atomic value'"],
  ["lower('a', 'b')", 'expected 1 argument, got 2'],
])('%s fails', (expression, message) => {
  expect(() => resultOf(expression)).toThrow(message);
});

test('lengths count code points, lone surrogates included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(codePointCount(text)).toBe([...text].length);
    }),
  );
  expect(codePointCount('\ud83d')).toBe(1);
});

describe('Levenshtein distance', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 8 });

  test('is a metric', () => {
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const distance = levenshteinDistance(a, b);
        expect(levenshteinDistance(b, a)).toBe(distance);
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(levenshteinDistance(a, c) + levenshteinDistance(c, b));
      }),
    );
  });

  test('grows by the length of what is appended', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(levenshteinDistance(a, a + b)).toBe(codePointCount(b));
      }),
    );
  });
});
