import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketBoundaries, weightedValues } from '../../../../src/learn/feature/boundaries.ts';
import { listCategories, rankCategories } from '../../../../src/learn/feature/categories.ts';
import { describeFeature } from '../../../../src/learn/feature/describe.ts';
import {
  type CategoricalFeature,
  columnCountOf,
  type NumericFeature,
  numericCode,
  OTHER_CODE,
} from '../../../../src/learn/feature/feature.ts';
import { buildMatrix, encodeColumn } from '../../../../src/learn/feature/matrix.ts';
import { featureType, type SourceColumn } from '../../../../src/learn/feature/source.ts';
import { makeWorkspace } from '../../../../src/learn/workspace.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { numbers, testArenas, texts } from '../support.ts';

const arenas = testArenas();
const workspace = makeWorkspace(arenas);
const options = { coding: 'rank', arena: 0 } as const;

function codes(sources: readonly SourceColumn[], rowCount: number, targets?: Float64Array) {
  const rows = { rowCount, ...(targets === undefined ? {} : { targets }) };
  const matrix = buildMatrix(workspace, sources, rows, options);
  const { u8 } = arenas.get(0);
  const result = matrix.columns.map(({ offset }) => [...u8.subarray(offset, offset + rowCount)]);
  arenas.free(matrix.span);
  return { result, features: matrix.features };
}

describe('bucketBoundaries', () => {
  test('lie halfway between few values', () => {
    const values = weightedValues(Float64Array.of(3, 1, 2, 11, 1));
    expect([...bucketBoundaries(values)]).toEqual([1.5, 2.5, 7]);
  });

  test('part neighbours whose midpoint is no number of its own', () => {
    const next = 1 + Number.EPSILON;
    const values = Float64Array.of(Number.NEGATIVE_INFINITY, 1, next, Number.POSITIVE_INFINITY);
    const boundaries = bucketBoundaries(weightedValues(values));
    const found = [...values].map((value) => numericCode(boundaries, value));
    expect(found).toEqual([1, 2, 3, 4]);
  });

  test('make at most 255 buckets of about the same weight', () => {
    const values = Float64Array.from({ length: 10_000 }, (_, i) => Math.sqrt(i));
    const boundaries = bucketBoundaries(weightedValues(values));
    expect(boundaries.length).toBe(254);
    const counts = new Array(256).fill(0);
    for (const value of values) counts[numericCode(boundaries, value)]++;
    expect(Math.max(...counts)).toBeLessThan(45);
    expect(Math.min(...counts.slice(1))).toBeGreaterThan(30);
  });

  test('give a heavy value a bucket of its own', () => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => i);
    const weights = values.map((value) => (value === 500 ? 1000 : 1));
    const boundaries = bucketBoundaries(weightedValues(values, weights));
    expect(numericCode(boundaries, 499)).toBeLessThan(numericCode(boundaries, 500));
    expect(numericCode(boundaries, 501)).toBeGreaterThan(numericCode(boundaries, 500));
  });
});

describe('describeFeature', () => {
  test('knows types by all values', () => {
    expect(featureType([1, null, 2.5])).toBe('REAL');
    expect(featureType([1, 'a'])).toBe('CATEGORICAL');
    expect(featureType([null])).toBe('INUTILE');
  });

  test('takes numbers of a mixed column for texts', () => {
    const { features } = codes([texts('x', [1, '1', 'a', null])], 4);
    expect(features[0]).toMatchObject({ kind: 'categorical', categories: ['1', 'a'] });
  });

  test('takes a dictionary of numbers for numbers', () => {
    const { features, result } = codes([texts('x', [10, 2, null, 10])], 4);
    expect([...(features[0] as NumericFeature).boundaries]).toEqual([6]);
    expect(result).toEqual([[2, 1, 0, 2]]);
  });

  test('leaves out columns without a value', () => {
    const sources = [texts('x', [null, null]), numbers('y', [null, null])];
    const { features, result } = codes([...sources, { kind: 'nulls', name: 'z' }], 2);
    expect(features.map(({ kind }) => kind)).toEqual(['unused', 'unused', 'unused']);
    expect(result).toEqual([]);
  });

  test('ignores dictionary entries that no row has', () => {
    const source = { ...texts('x', [1, 2]), entries: [1, 2, 'never'] } as SourceColumn;
    expect(describeFeature(workspace, source, { rowCount: 2 }, options).kind).toBe('numeric');
  });

  test('places boundaries the same way however the rows come in pieces', () => {
    const values = Float64Array.from({ length: 150_000 }, (_, i) => (i * 7919) % 100_003);
    const whole = [{ values }];
    const pieces = [{ values: values.subarray(0, 70_001) }, { values: values.subarray(70_001) }];
    const [a, b] = [whole, pieces].map((pieces) =>
      describeFeature(
        workspace,
        { kind: 'numbers', name: 'x', pieces },
        { rowCount: 150_000 },
        options,
      ),
    );
    expect(a).toEqual(b);
  });

  test('draws the boundaries of very many rows from a sample', () => {
    const rowCount = 600_000;
    const values = Float64Array.from({ length: rowCount }, (_, i) => i);
    const source = { kind: 'numbers', name: 'x', pieces: [{ values }] } as const;
    const { boundaries } = describeFeature(
      workspace,
      source,
      { rowCount },
      options,
    ) as NumericFeature;
    expect(boundaries.length).toBe(254);
    for (const [i, boundary] of boundaries.entries()) {
      expect(Math.abs(boundary / rowCount - (i + 1) / 255)).toBeLessThan(0.002);
    }
  });
});

describe('codes of numbers', () => {
  test('equal those of a plain search', () => {
    const value = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double(), fc.constant(null));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 600 }), (values) => {
        const { result, features } = codes([numbers('x', values)], values.length);
        const [feature] = features;
        if (feature?.kind !== 'numeric') return;
        const plain = values.map((v) => numericCode(feature.boundaries, v ?? Number.NaN));
        expect(result[0]).toEqual(plain);
      }),
      { numRuns: 50 },
    );
  });

  test('leave out rows that a validity bitmap does', () => {
    const pieces = [{ values: Int32Array.of(5, 6, 7), validity: Uint8Array.of(0b101) }];
    const { result } = codes([{ kind: 'numbers', name: 'x', pieces }], 3);
    expect(result).toEqual([[1, 0, 2]]);
  });
});

describe('categories', () => {
  test('of coding rank follow the mean of the target', () => {
    const values = ['low', 'high', 'middle', 'low', 'high', 'middle', null];
    const targets = Float64Array.of(0, 1, 0, 0, 1, 1, 0);
    const { result } = codes([texts('x', values)], 7, targets);
    expect(result).toEqual([[1, 3, 2, 1, 3, 2, 0]]);
  });

  test('of coding rank share buckets when there are more than 255, like with like', () => {
    const totals = Array.from({ length: 1000 }, (_, i) => ({
      category: `c${i}`,
      weight: i < 100 ? 1000 : 10,
      targetSum: (i % 10) * (i < 100 ? 100 : 1),
    }));
    const feature = rankCategories('x', totals, 109_000, false);
    const bucket = (i: number) => feature.buckets[feature.categories.indexOf(`c${i}`)] as number;
    expect(new Set(feature.buckets).size).toBeLessThanOrEqual(255);
    expect(new Set(Array.from({ length: 100 }, (_, i) => bucket(i))).size).toBe(100);
    for (let i = 500; i < 600; i += 10) expect(bucket(i)).toBeLessThan(bucket(i + 9));
  });

  test('of coding each have a code in one column and are others elsewhere', () => {
    const totals = Array.from({ length: 600 }, (_, i) => ({
      category: `c${i}`,
      weight: 600 - i,
      targetSum: 0,
    }));
    const feature = listCategories('x', totals, false);
    expect(columnCountOf(feature)).toBe(3);
    const source = texts('x', ['c0', 'c253', 'c254', 'c599', 'new', null]);
    const encoded = [0, 1, 2].map((part) => {
      const target = { arena: 0, stride: 2, fromRow: 0, toRow: 6 };
      const span = arenas.allocate(16);
      encodeColumn(workspace, feature, part, source, { ...target, offset: span.offset });
      const found = [...arenas.get(0).u8.subarray(span.offset, span.offset + 11)];
      arenas.free(span);
      return found.filter((_, i) => i % 2 === 0);
    });
    expect(encoded).toEqual([
      [1, 254, OTHER_CODE, OTHER_CODE, OTHER_CODE, 0],
      [OTHER_CODE, OTHER_CODE, 1, OTHER_CODE, OTHER_CODE, 0],
      [OTHER_CODE, OTHER_CODE, OTHER_CODE, 92, OTHER_CODE, 0],
    ]);
  });

  test('that are new count as missing in a rank', () => {
    const feature = rankCategories('x', [{ category: 'a', weight: 1, targetSum: 0 }], 1, false);
    expect(encodeOne(feature, 'b')).toBe(0);
    expect(encodeOne(feature, 'a')).toBe(1);
  });
});

test('a timestamp in training is refused in words that name the column and the remedy', () => {
  const source = texts('day', [new Timestamp(0), null]);
  expect(() => codes([source], 2)).toThrow(
    `Column 'day' holds values of type TIMESTAMP, such as {"ts":"1970-01-01T00:00:00Z"}, but learners read numbers and texts: leave it out, as in {* EXCLUDING (day)}, or make numbers of it, as in {date_part('hour', day) AS hour}`,
  );
});

test('a text where training had numbers is refused', () => {
  const { features } = codes([numbers('x', [1, 2])], 2);
  const encode = () => encodeOne(features[0] as NumericFeature, 'abc');
  expect(encode).toThrow(`Value for column 'x' was numeric in training, but is now "abc"`);
});

function encodeOne(feature: NumericFeature | CategoricalFeature, value: Atom): number {
  const span = arenas.allocate(16);
  const target = { arena: 0, offset: span.offset, stride: 1, fromRow: 0, toRow: 1 };
  try {
    encodeColumn(workspace, feature, 0, texts(feature.name, [value]), target);
    return arenas.get(0).u8[span.offset] as number;
  } finally {
    arenas.free(span);
  }
}
