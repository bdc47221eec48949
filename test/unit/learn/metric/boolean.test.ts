import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  areaUnderCurve,
  booleanCurve,
  booleanReport,
  ratesAt,
  rowsOfDistinctScores,
} from '../../../../src/learn/metric/boolean.ts';

function curveOf(
  scores: readonly number[],
  labels: readonly number[],
  weights?: readonly number[],
) {
  return booleanCurve(
    Float64Array.from(scores),
    Uint8Array.from(labels),
    weights === undefined ? undefined : Float64Array.from(weights),
  );
}

const report = (...args: Parameters<typeof curveOf>) => booleanReport(curveOf(...args));

describe('the report of scores for two classes', () => {
  test('has area and best points', () => {
    const { auc, bestF1Score, bestMcc } = report(
      [1, 0.75, 0.625, 0.5, 0.25, 0.125],
      [1, 1, 0, 1, 0, 0],
    );
    expect(auc).toBeCloseTo(0.888888888888889, 12);
    expect(bestF1Score).toEqual({
      population: { included: 4, excluded: 2 },
      pr: { accuracy: 5 / 6, precision: 0.75, recall: 1, f1Score: 6 / 7 },
      mcc: expect.closeTo(Math.SQRT1_2, 12),
      gain: expect.closeTo(1.5, 12),
      counts: { truePositives: 3, falsePositives: 1, trueNegatives: 2, falseNegatives: 0 },
      threshold: 0.5,
    });
    expect(bestMcc).toMatchObject({
      threshold: 0.75,
      gain: 2,
      pr: { precision: 1, recall: 2 / 3 },
      counts: { truePositives: 2, falsePositives: 0 },
    });
  });

  test('gives ties half credit', () => {
    const { auc, bestF1Score, bestMcc } = report([0.5, 0.5, 0.25, 0.25, 0.125], [1, 0, 1, 0, 1]);
    expect(auc).toBeCloseTo(1 / 3, 12);
    expect(bestF1Score).toMatchObject({ threshold: 0.25, gain: 0.8333333333333333 });
    expect(bestF1Score.mcc).toBeCloseTo(-0.4082482904638631, 12);
    expect(bestMcc).toMatchObject({ threshold: 0, population: { included: 0, excluded: 5 } });
  });

  test('weighs its counts', () => {
    const { auc, bestF1Score, bestMcc } = report(
      [1, 0.75, 0.5, 0.25, 0.125],
      [1, 0, 1, 0, 1],
      [2, 1, 3, 4, 0.5],
    );
    expect(auc).toBeCloseTo(0.8, 12);
    expect(bestF1Score).toMatchObject({
      population: { included: 6, excluded: 4.5 },
      counts: { truePositives: 5, falsePositives: 1, trueNegatives: 4, falseNegatives: 0.5 },
    });
    expect(bestF1Score.gain).toBeCloseTo(1.590909090909091, 12);
    expect(bestMcc.mcc).toBeCloseTo(0.7156264473321343, 12);
  });

  test('has no candidate at the lowest score', () => {
    const { auc, bestF1Score, bestMcc } = report([4, 3, 2, 1], [0, 1, 1, 1]);
    expect(auc).toBe(0);
    expect(bestF1Score).toMatchObject({ threshold: 2, population: { included: 3, excluded: 1 } });
    expect(bestF1Score.gain).toBeCloseTo(0.8888888888888888, 12);
    expect(bestMcc.population).toEqual({ included: 0, excluded: 4 });
  });

  test('selects nothing when all scores are equal', () => {
    const { auc, bestF1Score, bestMcc } = report([0.5, 0.5, 0.5], [1, 0, 0]);
    expect(auc).toBe(0.5);
    for (const best of [bestF1Score, bestMcc]) {
      expect(best).toMatchObject({
        threshold: 0,
        population: { included: 0, excluded: 3 },
        gain: 0,
      });
      expect(best.pr).toEqual({ accuracy: 2 / 3, precision: 0, recall: 0, f1Score: 0 });
    }
  });

  test('has no area with one class only', () => {
    expect(report([1, 2], [1, 1]).auc).toBe(0);
    expect(report([1, 2], [0, 0]).auc).toBe(0);
  });
});

test('the area is the share of pairs in order', () => {
  const row = fc.record({
    score: fc.integer({ min: 0, max: 8 }),
    label: fc.nat(1),
    weight: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      let pairs = 0;
      let ordered = 0;
      for (const a of rows.filter(({ label }) => label === 1)) {
        for (const b of rows.filter(({ label }) => label === 0)) {
          const weight = a.weight * b.weight;
          pairs += weight;
          ordered += weight * (a.score > b.score ? 1 : a.score === b.score ? 0.5 : 0);
        }
      }
      const curve = curveOf(
        rows.map(({ score }) => score),
        rows.map(({ label }) => label),
        rows.map(({ weight }) => weight),
      );
      expect(areaUnderCurve(curve)).toBeCloseTo(pairs === 0 ? 0 : ordered / pairs, 9);
    }),
  );
});

test('points of rows and their rates', () => {
  const curve = curveOf([3, 2, 1, 1], [1, 1, 0, 0]);
  expect([...curve.points]).toEqual([1, 2, 3, 3]);
  expect(areaUnderCurve(curve)).toBe(1);
  expect(ratesAt(curve, 1)).toEqual({
    ...{ truePositives: 1, falsePositives: 0, trueNegatives: 2, falseNegatives: 1 },
    ...{ accuracy: 0.75, precision: 1, recall: 0.5, truePositiveRate: 0.5, falsePositiveRate: 0 },
  });
  expect(ratesAt(curve, 3)).toMatchObject({
    accuracy: 0.5,
    falsePositives: 2,
    falsePositiveRate: 1,
  });
});

test('of each score one row is kept, a false one if there is one', () => {
  const labels = [1, 0, 1, 0, 0];
  const curve = curveOf([3, 3, 2, 1, 1], labels);
  expect([...rowsOfDistinctScores(curve, Uint8Array.from(labels))]).toEqual([1, 2, 3]);
  expect([...rowsOfDistinctScores(curveOf([5, 5], [1, 1]), Uint8Array.of(1, 1))]).toEqual([0]);
});

test('empty sets and NaN scores are refused', () => {
  expect(() => curveOf([], [])).toThrow('Cannot run classifier.test procedure on empty test set');
  expect(() => curveOf([Number.NaN], [1])).toThrow('Classifier returned a NaN score');
});
