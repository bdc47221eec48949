import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/util/exact-json.ts';
import { findDifference } from './compare.ts';

function agrees(compare: string, expected: string, actual: string, isTable = false): boolean {
  return findDifference(compare, parseJson(expected), parseJson(actual), isTable) === undefined;
}

describe('exact', () => {
  test.each([
    ['{"a":1,"b":[null,true,"x"]}', '{"b":[null,true,"x"],"a":1}'],
    ['1', '1.0000000001'],
    ['9007199254740993', '9007199254740993'],
    ['1e20', '100000000000000000000'],
  ])('%s agrees with %s', (expected, actual) => {
    expect(agrees('exact', expected, actual)).toBe(true);
  });

  test.each([
    ['1', '1.00000001'],
    ['0', '1e-12'],
    ['1', '"1"'],
    ['null', '0'],
    ['[1,2]', '[2,1]'],
    ['[1]', '[1,2]'],
    ['{"a":1}', '{"a":1,"b":2}'],
    ['{"a":null}', '{}'],
    ['9007199254740993', '9007199254740992'],
    ['9007199254740993', '9007199254740995'],
    ['{}', '[]'],
  ])('%s differs from %s', (expected, actual) => {
    expect(agrees('exact', expected, actual)).toBe(false);
  });
});

describe('approx', () => {
  test('takes the tolerance as absolute or relative', () => {
    expect(agrees('approx:1e-3', '[0, 1000]', '[0.0009, 1000.9]')).toBe(true);
    expect(agrees('approx:1e-3', '[0, 1000]', '[0.0011, 1000]')).toBe(false);
    expect(agrees('approx:1e-3', '[0, 1000]', '[0, 1001.1]')).toBe(false);
  });
});

describe('subset', () => {
  test('allows further keys at any depth', () => {
    expect(agrees('subset', '{"a":{"b":[{"c":1}]}}', '{"a":{"b":[{"c":1,"d":2}],"e":3}}')).toBe(
      true,
    );
  });

  test('allows further elements, but neither missing keys nor missing elements', () => {
    expect(agrees('subset', '{"a":1}', '{"b":1}')).toBe(false);
    expect(agrees('subset', '[1]', '[1,2]')).toBe(true);
    expect(agrees('subset', '[1,2]', '[1]')).toBe(false);
  });
});

describe('unordered', () => {
  test('compares the outermost array as a multiset', () => {
    expect(agrees('unordered', '[1,2,2]', '[2,1,2]')).toBe(true);
    expect(agrees('unordered', '[1,2,2]', '[2,1,1]')).toBe(false);
    expect(agrees('unordered', '[[1,2]]', '[[2,1]]')).toBe(false);
  });

  test('matches the columns of a table by name', () => {
    const expected = '[["_rowName","a","b"],["r",1,2],["s",3,4]]';
    expect(agrees('unordered', expected, '[["_rowName","b","a"],["s",4,3],["r",2,1]]', true)).toBe(
      true,
    );
    expect(agrees('unordered', expected, '[["_rowName","b","a"],["s",3,4],["r",1,2]]', true)).toBe(
      false,
    );
    expect(agrees('unordered', expected, '[["_rowName","a","c"],["r",1,2],["s",3,4]]', true)).toBe(
      false,
    );
    expect(agrees('unordered', expected, '[["_rowName","a","b"],["s",3,4]]', true)).toBe(false);
  });
});

test('a way to compare that nobody knows is refused', () => {
  expect(() => findDifference('almost', 1, 1, false)).toThrow('unknown way to compare "almost"');
});
