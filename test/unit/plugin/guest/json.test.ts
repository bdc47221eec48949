import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../../../src/plugin/guest/json.ts';

test('large integers keep their digits', () => {
  const text = '{"a":[9223372036854775808,-9007199254740993],"b":"12345678901234567890","c":1}';
  expect(parseJson(text)).toEqual({
    a: [2n ** 63n, -(2n ** 53n) - 1n],
    b: '12345678901234567890',
    c: 1,
  });
  expect(stringifyJson(parseJson(text))).toBe(text);
});

test('numbers that are no large integers are plain', () => {
  expect(parseJson('[9007199254740991,1234567890123456.5,1234567890123456000e2,0.1]')).toEqual([
    9007199254740991, 1234567890123456.5, 1234567890123456000e2, 0.1,
  ]);
});

test('every JSON text comes back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(stringifyJson(parseJson(text))).toBe(text);
    }),
  );
});
