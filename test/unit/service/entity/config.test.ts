import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { choice, datasetReference, inputQuery } from '../../../../src/dataset/parameter.ts';
import { mergeParams, parseConfig } from '../../../../src/service/entity/config.ts';
import { validate } from '../../../../src/service/entity/parameter-validation.ts';
import type { RowanError } from '../../../../src/util/error.ts';

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
  return validate(schema, value, 'params');
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

describe('configurations', () => {
  test('are echoed as given, with parameters as params', () => {
    expect(parseConfig({ type: 't', parameters: { a: 1 }, persistent: 0 })).toEqual({
      type: 't',
      params: { a: 1 },
      persistent: false,
    });
  });

  test.each([
    [{ settings: {} }, 'unknown field settings'],
    [{ params: 5 }, "Object was expected; instead got '5'"],
    [{ params: {}, parameters: {} }, 'parameters is another name of params; give only one'],
    [{ id: 5 }, "String was expected; instead got '5'"],
    [[1], "Object was expected; instead got '[1]'"],
  ])('%j is refused', (json, message) => {
    expect(failureOf(() => parseConfig(json)).message).toContain(message);
  });
});

describe('overrides', () => {
  test('objects merge at every depth, all else replaces', () => {
    const params = { a: { b: 1, c: [1, 2] }, d: 'x', e: { f: 1 } };
    expect(mergeParams(params, { a: { c: [3] }, d: { g: 1 }, e: 5 })).toEqual({
      a: { b: 1, c: [3] },
      d: { g: 1 },
      e: 5,
    });
    expect(params.a.c).toEqual([1, 2]);
  });
});
