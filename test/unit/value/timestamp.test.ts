import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTimestamp, printTimestamp } from '../../../src/value/timestamp.ts';

test.each([
  [0, '1970-01-01T00:00:00Z'],
  [1.5, '1970-01-01T00:00:01.5Z'],
  [-0.5, '1969-12-31T23:59:59.5Z'],
  [1420070400.956, '2015-01-01T00:00:00.956Z'],
  [Number.NaN, 'NaD'],
  [Number.POSITIVE_INFINITY, 'Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [-62135596800, '0001-01-01T00:00:00Z'],
  [-62135596801, '-Inf'],
  [253402300800, 'Inf'],
])('%d prints as %s', (seconds, text) => {
  expect(printTimestamp(seconds)).toBe(text);
});

test.each([
  ['2015-01-01', 1420070400],
  ['20150101', 1420070400],
  ['2015-01', 1420070400],
  ['2015', 1420070400],
  ['2015-001', 1420070400],
  ['2015001', 1420070400],
  ['2015-W01-4', 1420070400],
  ['2015W014', 1420070400],
  ['2015-W01', 1419811200],
  ['2015-01-01T01:02:03.5Z', 1420074123.5],
  ['2015-01-01 010203', 1420074123],
  ['2015-01-01T01+01', 1420070400],
  ['2015-01-01T01:00-01:30', 1420079400],
])('%s is %d seconds', (text, seconds) => {
  expect(parseTimestamp(text)).toBe(seconds);
});

test.each(['', 'x', '2013-367', '2013-W60', '2013-W23-8', '2015-01-01x', '2015-01-01T25', '0999'])(
  '%j is not a date',
  (text) => {
    expect(parseTimestamp(text)).toBeNaN();
  },
);

test('an impossible month or day is null', () => {
  expect(parseTimestamp('2015-02-30')).toBeNull();
  expect(parseTimestamp('2015-13-01')).toBeNull();
});

test('what is printed is read back as the same double', () => {
  const seconds = fc
    .maxSafeInteger()
    .filter((value) => Math.abs(value) > 1e12)
    .map((value) => value / 1e6);
  fc.assert(
    fc.property(seconds, (value) => {
      fc.pre(value >= -17987443200 && value < 253402300800);
      expect(parseTimestamp(printTimestamp(value))).toBe(value + 0);
    }),
  );
});
