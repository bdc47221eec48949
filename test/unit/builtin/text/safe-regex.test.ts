// Both engines of regular expressions say the same, and what may take long goes to the linear one.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { regexCost } from '../../../../src/builtin/text/regex-cost.ts';
import { translateRegex } from '../../../../src/builtin/text/regex-syntax.ts';
import { SafeRegex } from '../../../../src/builtin/text/safe-regex.ts';

describe('cost', () => {
  test.each([
    ['abc', 1, 0],
    ['[a-z+*]\\+\\p{Lu}\\u{10ffff}', 1, 0],
    ['a*', 1, 1],
    ['a+b*?c{2,}', 1, 3],
    ['(?:abc)+', 1, 1],
    ['foo|bar', 2, 0],
    ['(a|b)(c|d)', 4, 0],
    ['a?b?', 4, 0],
    ['a{2,4}', 3, 0],
    ['(?<x>a)*', 1, 1],
    ['(?<=a)*b', 1, 1],
    ['(a+)+', 1, Number.POSITIVE_INFINITY],
    ['(?:a|ab)*', 1, Number.POSITIVE_INFINITY],
    ['(?:a*){3}', 1, 3],
  ])('of %s is %d × length ^ %d', (source, factor, degree) => {
    expect(regexCost(source)).toMatchObject({ factor, degree });
  });

  test('tells of groups that are captured again and again', () => {
    expect(regexCost('(?:(a)|b)*').hasLoopedCapture).toBe(true);
    expect(regexCost('(a*)b').hasLoopedCapture).toBe(false);
  });
});

const FILLER = 'ab\n'.repeat(40);

/** The answer of each engine: a long tail makes a pattern of two loops costly. */
function replaced(pattern: string, text: string): { fast: string; safe: string } {
  const { source, ignoreCase } = translateRegex(pattern);
  const flags = `ug${ignoreCase ? 'i' : ''}`;
  const mark = (groups: readonly (string | undefined)[]) => `<${groups.join('|')}>`;
  const costly = `(?:${source})(?:(?:a*)*)`;
  const fast = text.replace(new RegExp(costly, flags), (...details) => {
    const end = details.findIndex((detail) => typeof detail === 'number');
    return mark(details.slice(0, end));
  });
  const safe = new SafeRegex(new RegExp(costly, flags), { startsAnywhere: true });
  return { fast, safe: safe.replaceAll(text, mark, true) };
}

const piece = fc.constantFrom(
  ...['a', 'b', '.', '\\d', '\\w', '\\s', '\\S', '\\W', '[ab]', '[^a]', '[[:alpha:]]', 'é', '😀'],
  ...['a*', 'b+?', 'a?', '.{1,3}', '^', '$', '\\b', '(a|b)', '(?:ab|a)', '\\.', '\\n', '\\p{L}'],
);
const patterns = fc
  .tuple(fc.constantFrom('', '(?i)', '(?s)', '(?m)'), fc.array(piece, { maxLength: 5 }))
  .map(([flags, pieces]) => flags + pieces.join(''));
const texts = fc
  .array(fc.constantFrom('a', 'b', 'A', '1', ' ', '\n', '\r', '\u2028', 'é', '😀', '.', '\v'), {
    maxLength: 12,
  })
  .map((characters) => characters.join('') + FILLER);

test('both engines find the same', () => {
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      const { fast, safe } = replaced(pattern, text);
      expect(safe).toBe(fast);
    }),
    { numRuns: 400, seed: 7 },
  );
});

test('what would explode is answered by the linear engine', () => {
  const text = 'a'.repeat(50_000);
  for (const source of ['(a+)+b', '(a|aa)*b', 'a*a*a*a*b', '(?:a?){30}a{30}b']) {
    const whole = new SafeRegex(new RegExp(`^(?:${source})$`, 'u'), { startsAnywhere: false });
    expect(whole.test(text)).toBe(false);
    expect(whole.test('x')).toBe(false);
  }
});
