import { describe, expect, test } from 'vitest';
import { categoricalReport } from '../../../../src/learn/metric/categorical.ts';
import { multilabelReport } from '../../../../src/learn/metric/multilabel.ts';
import type { Atom } from '../../../../src/value/atom.ts';

function report(
  labels: readonly Exclude<Atom, null>[],
  rows: readonly (readonly number[])[],
  actual: readonly number[],
  weights?: readonly number[],
  recallOverN?: readonly number[],
) {
  const columnCount = rows[0]?.length ?? 0;
  const test = {
    labels,
    columnCount,
    columns: Int32Array.from({ length: columnCount }, (_, i) => i),
    scores: Float64Array.from(rows.flat()),
    actual: Int32Array.from(actual),
    ...(weights === undefined ? {} : { weights: Float64Array.from(weights) }),
  };
  return categoricalReport(test, recallOverN);
}

const SIX_ROWS = [
  [0.75, 0.125, 0.125],
  [0.25, 0.5, 0.125],
  [0.125, 0.75, 0.5],
  [0.125, 0.25, 0.5],
  [0.5, 0.125, 0.25],
  [0.125, 0.25, 1],
];
const SIX_LABELS = [0, 0, 1, 2, 2, 2];

describe('the report of scores for several classes', () => {
  test('has statistics of labels and a confusion matrix', () => {
    const found = report([0, 1, 2], SIX_ROWS, SIX_LABELS);
    expect(found.labelStatistics).toEqual({
      0: { accuracy: 4 / 6, precision: 0.5, recall: 0.5, f1Score: 0.5, support: 2 },
      1: { accuracy: 5 / 6, precision: 0.5, recall: 1, f1Score: 2 / 3, support: 1 },
      2: { accuracy: 5 / 6, precision: 1, recall: 2 / 3, f1Score: 0.8, support: 3 },
    });
    expect(found.weightedStatistics.accuracy).toBeCloseTo(0.7777777777777777, 12);
    expect(found.weightedStatistics.f1Score).toBeCloseTo(0.6777777777777777, 12);
    expect(found.weightedStatistics.support).toBe(6);
    expect(found.confusionMatrix).toEqual([
      { actual: 0, predicted: 0, count: 1 },
      { actual: 0, predicted: 1, count: 1 },
      { actual: 1, predicted: 1, count: 1 },
      { actual: 2, predicted: 0, count: 1 },
      { actual: 2, predicted: 2, count: 2 },
    ]);
    expect('recallOverN' in found).toBe(false);
  });

  test('weighs its rows', () => {
    const found = report([0, 1, 2], SIX_ROWS, SIX_LABELS, [1, 2, 3, 0.5, 4, 1.5]);
    expect(found.labelStatistics[0]).toEqual({
      ...{ accuracy: 0.5, precision: 0.2, recall: 1 / 3, support: 3 },
      f1Score: expect.closeTo(0.25, 12),
    });
    expect(found.weightedStatistics).toEqual({
      accuracy: expect.closeTo(2 / 3, 12),
      precision: expect.closeTo(0.7, 12),
      recall: 0.5,
      f1Score: expect.closeTo(0.5, 12),
      support: 12,
    });
    expect(found.confusionMatrix.at(-1)).toEqual({ actual: 2, predicted: 2, count: 2 });
  });

  test('counts labels among the best n', () => {
    const found = report([0, 1, 2], SIX_ROWS, SIX_LABELS, undefined, [1, 2]);
    const recalls = [0, 1, 2].map((label) => found.labelStatistics[label]?.recallOverTopN);
    expect(recalls).toEqual([
      [0.5, 1],
      [1, 1],
      [2 / 3, 1],
    ]);
    expect(found.weightedStatistics.recallOverTopN).toEqual([expect.closeTo(2 / 3, 12), 1]);
    expect(found.recallOverN).toEqual([1, 2]);
  });

  test('shares the limit among tied scores', () => {
    const row = [0.5, 0.25, 0.25];
    const found = report([0, 1, 2], [row, row, row], [0, 1, 2], undefined, [1, 2, 3]);
    expect(found.labelStatistics[0]?.recallOverTopN).toEqual([1, 1, 1]);
    expect(found.labelStatistics[2]?.recallOverTopN).toEqual([0, 0.5, 1]);
    expect(found.weightedStatistics.recallOverTopN).toEqual([
      expect.closeTo(1 / 3, 12),
      expect.closeTo(2 / 3, 12),
      1,
    ]);
  });

  test('has nothing for labels that are only predicted', () => {
    const found = report(['cat', 7, 'dog'], [[0, 1, 0.5]], [2]);
    expect(Object.keys(found.labelStatistics)).toEqual(['dog']);
    expect(found.labelStatistics.dog).toMatchObject({ precision: 0, recall: 0, f1Score: 0 });
    expect(found.confusionMatrix).toEqual([{ actual: 'dog', predicted: 7, count: 1 }]);
  });

  test('counts labels that have no score', () => {
    const found = report(
      [0, 1, 2],
      [
        [1, 0],
        [0.5, 0.5],
      ],
      [2, 1],
      undefined,
      [2],
    );
    expect(found.labelStatistics[2]?.recallOverTopN).toEqual([0]);
    expect(found.confusionMatrix.map(({ predicted }) => predicted)).toEqual([0, 0]);
  });

  test('refuses empty sets and NaN scores', () => {
    expect(() => report([0], [], [])).toThrow('empty test set');
    expect(() => report([0], [[Number.NaN]], [0])).toThrow('Classifier returned a NaN score');
  });
});

describe('the report of scores for sets of labels', () => {
  const labels = ['a', 'b', 'c'];
  const columns = Int32Array.of(0, 1, 2);
  const set = (scores: number[], actual: number[], offsets: number[], columnCount = 3) => ({
    ...{ labels, columns: columns.subarray(0, columnCount), columnCount },
    scores: Float64Array.from(scores),
    actual: Int32Array.from(actual),
    offsets: Uint32Array.from(offsets),
  });

  test('has recalls and the coverage error', () => {
    const scores = [0.75, 0.5, 0.25, 0.5, 1, 0.25, 0.25, 0.5, 0.75];
    const found = multilabelReport(set(scores, [0, 0, 2, 1], [0, 1, 3, 4]), [1, 2]);
    expect(found).toEqual({
      recallOverN: [1, 2],
      labelStatistics: {
        a: { recallOverTopN: [0.5, 1] },
        b: { recallOverTopN: [0, 1] },
        c: { recallOverTopN: [0, 0] },
      },
      weightedStatistics: { recallOverTopN: [0.25, 0.75], coverageError: 2.25 },
    });
  });

  test('gives tied labels the mean of their ranks, and labels without score the last', () => {
    const tied = multilabelReport(set([1, 1, 0], [0], [0, 1]));
    expect(tied.weightedStatistics.coverageError).toBe(1.5);
    const unscored = multilabelReport(set([1, 0], [2], [0, 1], 2));
    expect(unscored.weightedStatistics.coverageError).toBe(3);
  });
});
