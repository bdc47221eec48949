import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareElements } from '../../../src/value/natural-order.ts';
import { comparePaths, comparePathValues, isIndexElement, Path } from '../../../src/value/path.ts';

test.each([
  [['a', 'b'], 'a.b'],
  [['a.b', 'c'], '"a.b".c'],
  [['say "x"'], '"say ""x"""'],
  [['x y', '[1]'], 'x y.[1]'],
  [[''], '""'],
  [['["cat"]'], '"[""cat""]"'],
  [['1.5'], '"1.5"'],
])('%j prints as %s', (elements, printed) => {
  expect(new Path(elements).toString()).toBe(printed);
  expect(Path.parse(printed).elements).toEqual(elements);
});

test('a text of dots has one empty element more than it has dots', () => {
  expect(Path.parse('').elements).toEqual(['']);
  expect(Path.parse('.').elements).toEqual(['', '']);
  expect(Path.parse('..').elements).toEqual(['', '', '']);
  expect(Path.parse('a.').elements).toEqual(['a', '']);
});

test.each([
  ['a"b', 'Quotes must be doubled'],
  ['a.b\n', 'Special characters must be quoted'],
  ['"a', 'terminated incorrectly'],
  ['"a"b', "expected '.'"],
])('%j is no path: %s', (text, reason) => {
  expect(() => Path.parse(text)).toThrow(reason);
});

test('printing and parsing are inverse', () => {
  const element = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\u0000'));
  fc.assert(
    fc.property(fc.array(element, { minLength: 1 }), (elements) => {
      expect(Path.parse(new Path(elements).toString()).elements).toEqual(elements);
    }),
  );
});

test('digit runs compare as numbers, more leading zeros first', () => {
  const sorted = ['', '00', '0', '1', '010', 'a', 'a1b', 'a1b2', 'ab', 'x2', 'x10', 'é'];
  expect([...sorted].reverse().sort(compareElements)).toEqual(sorted);
});

test('natural order of elements is a total order', () => {
  const element = fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', 'b', 'é', '😀') });
  fc.assert(
    fc.property(element, element, element, (a, b, c) => {
      expect(Math.sign(compareElements(a, b))).toBe(-Math.sign(compareElements(b, a)) + 0);
      expect(compareElements(a, b) === 0).toBe(a === b);
      if (compareElements(a, b) <= 0 && compareElements(b, c) <= 0) {
        expect(compareElements(a, c)).toBeLessThanOrEqual(0);
      }
    }),
  );
});

test('a proper prefix comes first; path values compare by text instead', () => {
  expect(comparePaths(Path.of('a'), Path.of('a', 'b'))).toBeLessThan(0);
  expect(comparePaths(Path.of('9'), Path.of('10'))).toBeLessThan(0);
  expect(comparePathValues(Path.of('9'), Path.of('10'))).toBeGreaterThan(0);
});

test('indexes have no leading zero and at most twelve digits', () => {
  expect(['0', '12', '999999999999'].every(isIndexElement)).toBe(true);
  expect(['', '01', '-1', '1000000000000', 'x'].some(isIndexElement)).toBe(false);
});
