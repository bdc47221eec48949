import { expect, test } from 'vitest';
import { compareIntervals, Interval, parseInterval } from '../../../src/value/interval.ts';

test.each([
  ['1 second', '1S'],
  ['90 m', '1H 30M 0S'],
  ['3 month 14d 1.5s', '3 MONTH 14D 1.5S'],
  ['2W', '14D'],
  ['1 year', '1Y'],
  ['-1 day 2h', '-1D 2H 0M 0S'],
  ['0s', '0S'],
  ['1H 16M 7.89S', '1H 16M 7.89S'],
  ['5M 0S', '5M 0S'],
  ['1 days', '1D'],
  ['183600.000005s', '51H 0M 0.000005S'],
])('%s prints as %s, which reads back', (text, printed) => {
  const interval = parseInterval(text);
  expect(interval.toString()).toBe(printed);
  expect(compareIntervals(parseInterval(printed), interval)).toBe(0);
});

test('short times print without an exponent, so that they read back', () => {
  expect(new Interval(0, 0, 5e-9).toString()).toMatch(/^0\.000000005\d*S$/);
  expect(
    compareIntervals(parseInterval(new Interval(0, 0, 5e-9).toString()), new Interval(0, 0, 5e-9)),
  ).toBe(0);
});

test.each([
  ['1.5 day', 'Fractional days not accepted'],
  ['1 Day', 'Unexpected symbol'],
  ['', 'Unexpected symbol'],
  ['x', 'Unexpected symbol'],
  ['1 constructor', 'Unexpected symbol'],
])('%j is refused: %s', (text, reason) => {
  expect(() => parseInterval(text)).toThrow(reason);
});

test('intervals order as stored, never normalised', () => {
  const sorted = ['-1 month', '-1 day', '0s', '24 h', '1 day', '30 d', '1 month'].map(
    parseInterval,
  );
  expect([...sorted].reverse().sort(compareIntervals)).toEqual(sorted);
});

test('parts of different signs make no interval', () => {
  expect(() => Interval.ofSigned(1, -1, 0)).toThrow('different signs');
  expect(Interval.ofSigned(0, -1, -2)).toEqual(new Interval(0, 1, 2, true));
});

test('endless intervals equal themselves', () => {
  const endless = new Interval(0, 0, Number.POSITIVE_INFINITY);
  expect(compareIntervals(endless, endless)).toBe(0);
  expect(compareIntervals(new Interval(0, 0, 1), endless)).toBeLessThan(0);
});
