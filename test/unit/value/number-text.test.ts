import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseNumber, printNumber } from '../../../src/value/number-text.ts';

test.each([
  [71218.5, '71218.5'],
  [0.0000001, '0.0000001'],
  [1e-8, '1e-8'],
  [1e20, '1e20'],
  [1.5e300, '1.5e300'],
  [-0.25, '-0.25'],
  [Number.NaN, 'nan'],
  [Number.NEGATIVE_INFINITY, '-inf'],
  [18446744073709551615n, '18446744073709551615'],
  [2 ** 60, '1152921504606846976'],
  [-0, '0'],
])('%d is written %s', (value, text) => {
  expect(printNumber(value)).toBe(text);
});

test.each([
  [' 12', 12],
  ['+5', 5],
  ['007', 7],
  ['1.', 1],
  ['.5', 0.5],
  ['-1e3', -1000],
  ['INF', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['9007199254740993', 9007199254740993n],
  ['-9223372036854775808', -9223372036854775808n],
  ['18446744073709551616', 2 ** 64],
  ['-0', 0],
])('%j reads as %d', (text, value) => {
  expect(parseNumber(text)).toBe(value);
});

test.each(['12 ', '--5', '0x1F', '1_000', '1-2', 'e3', '-', '1e', 'infinit', ''])(
  '%j is no number',
  (text) => {
    expect(parseNumber(text)).toBeUndefined();
  },
);

test('every finite double reads back equal', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (value) => {
      expect(Number(parseNumber(printNumber(value)))).toBe(value + 0);
    }),
  );
});
