import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dealFolds, deciles, type FoldRow } from '../../../src/learn/folds.ts';

const rowsOf = (strata: readonly string[]): FoldRow[] =>
  strata.map((stratum, index) => ({ name: `row${index}`, stratum }));

const countsOf = (folds: Iterable<number>, foldCount: number): number[] => {
  const counts = new Array<number>(foldCount).fill(0);
  for (const fold of folds) counts[fold] = (counts[fold] as number) + 1;
  return counts;
};

const spread = (counts: readonly number[]) => Math.max(...counts) - Math.min(...counts);

test('sizes, and the share of every stratum, differ by at most one', () => {
  const strata = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 5, maxLength: 60 });
  fc.assert(
    fc.property(strata, fc.integer({ min: 2, max: 5 }), fc.nat(50), (labels, foldCount, seed) => {
      const folds = dealFolds(rowsOf(labels), foldCount, seed);
      expect(spread(countsOf(folds, foldCount))).toBeLessThanOrEqual(1);
      for (const label of new Set(labels)) {
        const own = folds.filter((_, row) => labels[row] === label);
        expect(spread(countsOf(own, foldCount))).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 50 },
  );
});

test('another seed deals anew, the same seed alike, whatever the order of rows', () => {
  const rows = rowsOf(Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 'x' : 'y')));
  const folds = dealFolds(rows, 4, 1);
  expect(dealFolds(rows, 4, 1)).toEqual(folds);
  expect(dealFolds(rows, 4, 2)).not.toEqual(folds);
  expect([...dealFolds([...rows].reverse(), 4, 1)].reverse()).toEqual([...folds]);
});

test('rows of a group stay together, in folds of about the same size', () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({
    ...{ name: `row${i}`, stratum: '' },
    group: `g${Math.floor(i / 5)}`,
  }));
  const folds = dealFolds(rows, 3, 1);
  for (let g = 0; g < 12; g++) {
    expect(new Set(folds.subarray(5 * g, 5 * g + 5)).size).toBe(1);
  }
  expect(countsOf(folds, 3)).toEqual([20, 20, 20]);
});

test('numbers are told by their tenths', () => {
  expect(deciles([50, 10, 40, 20, 30])).toEqual([8, 0, 6, 2, 4]);
});
