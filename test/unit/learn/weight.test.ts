import { describe, expect, test } from 'vitest';
import { equalizedSetWeights, equalizedWeights, rowWeight } from '../../../src/learn/weight.ts';

describe('equalizedWeights', () => {
  // x = 0: three false, one true; x = 1: three false, three true.
  const labels = [0, 0, 0, 1, 0, 0, 0, 1, 1, 1];
  const shareOfTrue = (weights: Float64Array, rows: readonly number[]) => {
    const sum = (wanted: number) =>
      rows.reduce((all, row) => all + (labels[row] === wanted ? (weights[row] as number) : 0), 0);
    return sum(1) / (sum(0) + sum(1));
  };

  test.each([
    [0, 0.25, 0.5],
    [1, 1 / 3, 0.6],
    [0.5, 0.2899, 0.55051],
  ])('with factor %s gives %s and %s', (factor, first, second) => {
    const weights = equalizedWeights(labels, 2, factor);
    expect(shareOfTrue(weights, [0, 1, 2, 3])).toBeCloseTo(first, 5);
    expect(shareOfTrue(weights, [4, 5, 6, 7, 8, 9])).toBeCloseTo(second, 5);
    expect(weights.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  test('counts a weight of 2 like the row twice', () => {
    const twice = equalizedWeights([0, 1, 1], 2, 0.5);
    const weighted = equalizedWeights([0, 1], 2, 0.5, Float64Array.of(1, 2));
    expect(weighted[0]).toBeCloseTo(twice[0] as number, 12);
    expect(weighted[1]).toBeCloseTo((twice[1] as number) + (twice[2] as number), 12);
  });

  test('gives no weight to a class without any', () => {
    expect([...equalizedWeights([0, 1], 2, 0.5, Float64Array.of(3, 0))]).toEqual([1, 0]);
  });

  test('refuses to train on nothing', () => {
    const none = () => equalizedWeights([0, 1], 2, 0.5, Float64Array.of(0, 0));
    expect(none).toThrow('cannot train with zero or non-finite weights');
  });

  test('of sets adds up what each label of a row counts', () => {
    const single = equalizedWeights([0, 1, 1], 2, 1);
    const sets = equalizedSetWeights([0, 1, 1], [0, 1, 2, 3], 2, 1);
    expect(sets).toEqual(single);
    const both = equalizedSetWeights([0, 1, 0], [0, 2, 3], 2, 1);
    expect(both[0]).toBeCloseTo(1.5 / 2, 12);
  });
});

describe('rowWeight', () => {
  test.each([
    [-1, 'classifier example weight cannot be negative'],
    [Number.POSITIVE_INFINITY, 'classifier example weights must be finite'],
    [Number.NaN, 'classifier example weights must be finite'],
    ['heavy', 'classifier example weights must be finite'],
    [null, 'classifier example weight cannot be null'],
  ])('refuses %s', (weight, message) => {
    expect(() => rowWeight(weight)).toThrow(message);
  });

  test('takes numbers of any size', () => {
    expect(rowWeight(0.5)).toBe(0.5);
    expect(rowWeight(2n ** 60n)).toBe(2 ** 60);
  });
});
