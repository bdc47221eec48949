import { describe, expect, test } from 'vitest';
import { parseReplacement } from '../../../../src/builtin/text/regex.ts';
import { translateRegex } from '../../../../src/builtin/text/regex-syntax.ts';
import { resultOf } from '../../../support/builtin-query.ts';

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

describe('regular expressions', () => {
  test.each([
    ['abc', '\\Aabc\\z', 1],
    ['a\nb', 'a.b', 0],
    ['a\nb', '(?s)a.b', 1],
    ['a\rb', 'a.b', 1],
    ['a\u2028b', 'a.b', 1],
    ['Ab9_', '[[:alpha:]]+\\d\\w', 1],
    ['é', '[[:alpha:]]', 0],
    ['é', '\\w', 0],
    ['é', '\\p{L}', 1],
    ['é', '\\pL', 1],
    ['λ', '\\p{Greek}', 1],
    ['٣', '\\d', 0],
    ['\u00a0', '\\s', 0],
    [' \t', '\\s+', 1],
    ['x', '[^\\s\\d]', 1],
    ['a-b', '[\\w-]+', 1],
    ['a]b', '[]ab]+', 1],
    ['[x', '[[x]+', 1],
    ['{x}', '{x}', 1],
    ['a{2', 'a{2', 1],
    ['aa', 'a{2}', 1],
    ['a/b', 'a\\/b', 1],
    ['a%b', 'a\\%b', 1],
    ['a-b', 'a\\-b', 1],
    ["it's", "it's", 1],
    ['A', '\\x41', 1],
    ['😀', '\\x{1F600}', 1],
    ['abab', '(ab)\\1', 1],
    ['aa0', '(a)\\10', 1],
    ['foobar', 'foo(?=bar)bar', 1],
    ['year 2015', '(?i)(?P<word>YEAR) \\d+', 1],
    ['a|b', 'a|b', 0],
    ['b', 'a|b', 1],
  ])('%j matches %s: %s', (text, pattern, expected) => {
    expect(resultOf(`regex_match(${quote(text)}, ${quote(pattern)})`)).toBe(expected);
  });

  test.each([
    ['a\nb', '^b', 0],
    ['a\nb', '(?m)^b$', 1],
    ['a\n', 'a$', 0],
    ['a\n', 'a\\Z', 1],
    ['xay', '\\ba', 0],
    ['x ay', '\\ba', 1],
  ])('in %j the search for %s: %s', (text, pattern, expected) => {
    expect(resultOf(`regex_search(${quote(text)}, ${quote(pattern)})`)).toBe(expected);
  });

  test.each([
    ['abc', 'x*', '-', '-a-b-c-'],
    ['abc', '(b)|(z)', '[$1$2]', 'a[b]c'],
    ['abc', 'b', '$0$&\\0', 'abbbc'],
    ['abc', 'b', '$$1', 'a$1c'],
    ['abc', 'b', '\\\\', 'a\\c'],
    ['abc', 'b', '$x', 'a$xc'],
    ['aBc', '(?i)b', '', 'ac'],
    ['abc', 'b', '$9', 'ac'],
  ])('in %j %s becomes %s: %s', (text, pattern, replacement, expected) => {
    const args = [text, pattern, replacement].map(quote).join(', ');
    expect(resultOf(`regex_replace(${args})`)).toBe(expected);
  });

  test.each(['(', '[a', 'a)|(b', '\\', '\\y', '[[:nosuch:]]', '(?q)a', '*a', '\\p{NoSuch}'])(
    '%s is refused while binding',
    (pattern) => {
      expect(() => resultOf(`try(regex_match('a', ${quote(pattern)}), 1)`)).toThrow(
        `Error when compiling regex '${pattern}'`,
      );
    },
  );

  test('a pattern must be an atom', () => {
    expect(() => resultOf("regex_match('a', {x: 1})")).toThrow(
      'Regular expressions need to be strings',
    );
    expect(() => resultOf("regex_match({x: 1}, 'a')")).toThrow("of type 'structured'");
    expect(resultOf("regex_match('a', null)")).toBeNull();
  });
});

test('the flags at the start are taken off', () => {
  expect(translateRegex('(?i)(?s)a.')).toEqual({ source: 'a[^]', ignoreCase: true });
});

test('a replacement without groups is plain text', () => {
  expect(parseReplacement('a$$b\\\\c')).toBe('a$b\\c');
  expect(parseReplacement('$1')).toEqual(['', 1, '']);
});
