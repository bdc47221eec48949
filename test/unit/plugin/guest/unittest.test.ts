import { describe, expect, test } from 'vitest';
import { unittestModule } from '../../../../src/plugin/guest/unittest.ts';

const logged: unknown[][] = [];
const log = (...values: unknown[]) => logged.push(values);
const assertions = unittestModule(log) as Record<string, (...args: unknown[]) => unknown>;
const { assertEqual, assertNotEqual, assertInSet, assertNearlyEqual } = assertions;

describe('assertions', () => {
  test('return when they hold', () => {
    assertEqual?.([1, { a: 2 }], [1, { a: 2 }], 'm');
    assertEqual?.(1, '1', 'm');
    assertNotEqual?.(1, 2, 'm');
    assertInSet?.({ a: 1 }, [2, { a: 1 }], 'm');
  });

  test('throw what differs as a text', () => {
    expect(() => assertEqual?.(1, 2, 'm')).toThrow('Assertion failure: m: 1 not equal to 2');
    expect(() => assertNotEqual?.([1], [1], 'm')).toThrow(
      'Assertion failure: m: [1] should not be equal to [1]',
    );
    expect(() => assertInSet?.(3, [1, 2], 'm')).toThrow('Assertion failure: m: 3 not in set [1,2]');
  });

  test('compare numbers up to a relative error and log the first difference', () => {
    expect(assertNearlyEqual?.({ a: [1, 2] }, { a: [1, 2.0000001] }, '', 1e-6)).toBe(true);
    logged.length = 0;
    expect(assertNearlyEqual?.({ a: [1, 2] }, { a: [1, 2.1] }, 'p', 1e-6)).toBe(false);
    expect(logged).toEqual([['p.a.1: 2 is not nearly 2.1']]);
  });
});
