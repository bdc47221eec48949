import { expect, test } from 'vitest';
import { regressionReport } from '../../../../src/learn/metric/regression.ts';

const report = (
  scores: readonly number[],
  labels: readonly number[],
  weights?: readonly number[],
) =>
  regressionReport(
    Float64Array.from(scores),
    Float64Array.from(labels),
    weights === undefined ? undefined : Float64Array.from(weights),
  );

test.each([
  [[2.5, 0.5, 4, 9], [2, -1, 4, 8], undefined, 0.875, 0.9181286549707602, [0, 0.125, 0.25, 0.25]],
  [
    [1.5, 2.25, 4, 10, 16, 41],
    [1, 2, 5, 10, 20, 40],
    undefined,
    3.0520833333333335,
    0.9835909498207885,
    [0.025, 0.125, 0.2, 0.2],
  ],
  [
    [1, 1, 2, 3],
    [10, 10, 20, 40],
    [1, 3, 3, 1],
    333.125,
    -2.5533333333333332,
    [0.9, 0.9, 0.9, 0.9],
  ],
])('scores %j of labels %j with weights %j', (scores, labels, weights, mse, r2, quantiles) => {
  const found = report(scores, labels, weights);
  expect(found.mse).toBeCloseTo(mse, 12);
  expect(found.r2).toBeCloseTo(r2, 12);
  expect(Object.keys(found.quantileErrors).sort()).toEqual(['0.25', '0.5', '0.75', '0.9']);
  for (const [index, q] of ['0.25', '0.5', '0.75', '0.9'].entries()) {
    expect(found.quantileErrors[q]).toBeCloseTo(quantiles[index] as number, 12);
  }
});

test('r2 is 1 when perfect and 0 when labels do not vary', () => {
  expect(report([5, 5], [5, 5])).toMatchObject({ r2: 1, mse: 0 });
  expect(report([6, 5, 5], [5, 5, 5]).r2).toBe(0);
});

test('an error relative to 0 is infinite, none is 0', () => {
  expect(report([1, 0], [0, 0]).quantileErrors).toMatchObject({ '0.25': 0, '0.9': 0 });
  expect(report([1], [0]).quantileErrors['0.5']).toBe(Number.POSITIVE_INFINITY);
});

test('rows without a finite score are left out', () => {
  expect(report([Number.NaN, 1], [5, 3]).mse).toBe(4);
  expect(() => report([Number.NaN], [5])).toThrow('empty test set');
});
