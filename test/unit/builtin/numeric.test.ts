import { describe, expect, test } from 'vitest';
import { power, roundHalfAway, wilsonBound } from '../../../src/builtin/numeric.ts';
import { jsonOf, resultOf } from '../../support/builtin-query.ts';

describe('numbers', () => {
  test.each([
    ['CAST(abs(-9223372036854775807) AS string)', '9223372036854775807'],
    ['CAST(floor(9007199254740993) AS string)', '9007199254740993'],
    ['sqrt(16) IS INTEGER', 1],
    ['ceil(-0.5) IS INTEGER', 1],
    ['round(0.49999999999999994)', 0],
    ['pow(-8, 1.0/3)', { num: 'NaN' }],
    ['pow(nan, 0)', 1],
    ['pow(1, nan)', 1],
    ['log(2, sqrt(2))', 0.5000000000000001],
    ['log(0)', { num: '-Inf' }],
    ['mod(5.0, 3)', 2],
    ['mod(18446744073709551615, 10)', 5],
    ['quantize(-0.1, 1)', 0],
    ['quantize(0, 0)', { num: 'NaN' }],
    ['sign(TIMESTAMP 5)', { num: 'NaN' }],
    ['sign(null)', null],
    ['sign(18446744073709551615)', 1],
    ['isnan(null)', null],
    ['binomial_lb_80(0, 0)', { num: 'NaN' }],
    ['replace_nan(null, 1)', null],
    ['replace_nan(5, null)', 5],
    ["replace_inf('x', 1)", 'x'],
  ])('%s', (expression, expected) => {
    expect(resultOf(expression)).toEqual(
      typeof expected === 'bigint' ? Number(expected) : expected,
    );
  });

  test.each([
    ['pow([1, 2], [3, 2])', '[1,4]'],
    ['abs({a: {b: [-1, null]}, c: null})', '{"a":{"b":[1,null]},"c":null}'],
    ['pow(2, {a: 3})', '{"a":8}'],
    ['replace_null([1, null], 0)', '[1,0]'],
    ['clamp([1, 10, null], 2, 5)', '[2,5,null]'],
    ['clamp({a: null, b: nan}, null, 5)', '{"a":null,"b":{"num":"NaN"}}'],
  ])('%s maps', (expression, expected) => {
    expect(jsonOf(expression)).toBe(expected);
  });

  test.each([
    [
      "sqrt('4')",
      "Executing builtin function sqrt: Can't convert value '4' of type 'ASCII_STRING'",
    ],
    ["isnan('é')", "of type 'UTF8_STRING' to double"],
    ['abs(TIMESTAMP 1)', "of type 'TIMESTAMP' to double"],
    ["mod('a', 2)", 'to integer'],
    ['mod(1, 0)', 'Integer Modulus by a zero dividend'],
    ['pow({a: 1}, {a: 2})', 'two rows'],
    [
      'log(1, 2, 3)',
      'Binding builtin function log: the log function expected 1 or 2 arguments, got 3',
    ],
    ['log()', 'the log function expected 1 or 2 arguments, got 0'],
    ['pi(1)', 'Binding builtin function pi: expected 0 arguments, got 1'],
    ['clamp({a: {b: 1}}, 0, 1)', "of type 'structured'"],
    ['clamp(1, [0], 1)', "of type 'embedding'"],
    ['binomial_ub_80(1, 0.5)', "'0.5' of type 'FLOAT' to integer"],
    [`abs('${'x'.repeat(300)}')`, `${'x'.repeat(200)}... (trimmed)'`],
  ])('%s fails', (expression, message) => {
    expect(() => resultOf(expression)).toThrow(message);
  });
});

test('halves are rounded away from zero, whatever the sign', () => {
  for (const half of [0.5, 1.5, 2.5, 1e15 + 0.5]) {
    expect(roundHalfAway(-half)).toBe(-roundHalfAway(half));
    expect(roundHalfAway(half)).toBe(Math.floor(half) + 1);
  }
});

test('powers of one are one', () => {
  expect(power(1, Number.NaN)).toBe(1);
  expect(power(-1, Number.NEGATIVE_INFINITY)).toBe(1);
  expect(power(2, Number.NaN)).toBeNaN();
});

test('Wilson bounds enclose the rate', () => {
  expect(wilsonBound(200, 35, -1)).toBeCloseTo(0.14325323, 7);
  expect(wilsonBound(200, 35, 1)).toBeCloseTo(0.21204101, 7);
});
