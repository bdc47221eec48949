import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { choice, datasetReference, inputQuery } from '../../../src/schema/declare.ts';
import { mergeJson, parse, parseMerged } from '../../../src/schema/parse.ts';
import type { RowanError } from '../../../src/util/error.ts';

const schema = Type.Object({
  text: Type.String({ default: 'none' }),
  count: Type.Optional(Type.Integer({ minimum: 1, aliases: ['number'] })),
  flag: Type.Boolean({ default: false }),
  mode: choice(['a', 'b'], { description: '', default: 'a' }),
  inner: Type.Object({ depth: Type.Number({ default: 2 }) }, { default: { depth: 2 } }),
  data: Type.Optional(inputQuery({ description: '' })),
  sets: Type.Array(datasetReference({ description: '' }), { default: [] }),
});

function check(value: unknown) {
  return parse(schema, value, 'params');
}

function failureOf(work: () => unknown): RowanError {
  try {
    work();
  } catch (thrown) {
    return thrown as RowanError;
  }
  throw new Error('expected a failure');
}

describe('parameters', () => {
  test('are completed with defaults at every depth', () => {
    expect(check({ inner: {} })).toEqual({
      text: 'none',
      flag: false,
      mode: 'a',
      inner: { depth: 2 },
      sets: [],
    });
  });

  test('null stands for the default', () => {
    expect(check({ text: null, count: null })).toMatchObject({ text: 'none' });
  });

  test('booleans may be 0 and 1', () => {
    expect(check({ flag: 1 })).toMatchObject({ flag: true });
    expect(check({ flag: 0 })).toMatchObject({ flag: false });
  });

  test('another name of a parameter is taken, both are not', () => {
    expect(check({ number: 3 })).toMatchObject({ count: 3 });
    expect(failureOf(() => check({ number: 3, count: 3 })).code).toBe('INVALID_PARAMETER');
  });

  test('an unknown key is named with its path', () => {
    const error = failureOf(() => check({ inner: { deepness: 1 } }));
    expect(error.code).toBe('UNKNOWN_FIELD');
    expect(error.message).toContain('unknown field params.inner.deepness');
  });

  test.each([
    [{ count: 'x' }, `params.count: Integer was expected; instead got '"x"'`],
    [{ count: 0 }, 'count must be >= 1'],
    [{ text: 5 }, "params.text: String was expected; instead got '5'"],
    [{ flag: 'yes' }, `params.flag: Boolean was expected; instead got '"yes"'`],
    [{ mode: 'c' }, 'params.mode is "c"; accepted are "a", "b"'],
    [{ sets: 'x' }, `params.sets: Array was expected; instead got '"x"'`],
    [{ sets: ['x', 5] }, "params.sets[1]: String or Object was expected; instead got '5'"],
    [{ data: { selct: 'x' } }, 'unknown field params.data.selct'],
    [{ data: { from: { id: 7 } } }, `params.data.from.id: String was expected; instead got '7'`],
  ])('%j is refused', (value, message) => {
    expect(failureOf(() => check(value)).message).toContain(message);
  });
});

describe('overrides', () => {
  test('objects merge at every depth, all else replaces', () => {
    const params = { a: { b: 1, c: [1, 2] }, d: 'x', e: { f: 1 } };
    expect(mergeJson(params, { a: { c: [3] }, d: { g: 1 }, e: 5 })).toEqual({
      a: { b: 1, c: [3] },
      d: { g: 1 },
      e: 5,
    });
    expect(params.a.c).toEqual([1, 2]);
  });
});

describe('what was meant', () => {
  test.each([
    [{ cout: 1 }, 'did you mean count?'],
    [{ mode: 'bb' }, 'accepted are "a", "b"'],
  ])('%j is guessed', (value, message) => {
    expect(failureOf(() => check(value)).message).toContain(message);
  });

  test('a fault inside an alternative is told instead of the alternatives', () => {
    const either = Type.Object({
      part: Type.Union([
        Type.String({ minLength: 1 }),
        Type.Array(Type.Integer(), { maxItems: 2 }),
      ]),
    });
    const messageOf = (part: unknown) => failureOf(() => parse(either, { part }, 'params')).message;
    expect(messageOf([1, 2, 3])).toBe('params.part has 3 elements; expected are 0 to 2');
    expect(messageOf([1, 'x'])).toBe(`params.part[1]: Integer was expected; instead got '"x"'`);
    expect(messageOf('')).toBe('params.part must not be empty');
    expect(messageOf(true)).toBe("params.part: String or Array was expected; instead got 'true'");
  });

  test('keys with slashes and dots are shown as they are', () => {
    const map = Type.Object({ map: Type.Record(Type.String(), Type.Integer()) });
    const error = failureOf(() => parse(map, { map: { 'a/b~c': 'x' } }, 'params'));
    expect(error.message).toBe(`params.map.a/b~c: Integer was expected; instead got '"x"'`);
  });
});

describe('parsed values', () => {
  test('parse to themselves', () => {
    const parsed = check({ number: 3, flag: 1, data: 'SELECT 1' });
    expect(check(parsed)).toEqual(parsed);
  });

  test('numbers beyond exact integers become numbers', () => {
    expect(check({ count: 2n ** 64n })).toMatchObject({ count: 2 ** 64 });
  });

  test('are overridden under any name, and null brings the default back', () => {
    const parsed = check({ count: 3, text: 'x' });
    expect(parseMerged(schema, parsed, { number: 5, text: null }, 'params')).toMatchObject({
      count: 5,
      text: 'none',
    });
    expect(parsed).toMatchObject({ count: 3, text: 'x' });
  });
});
