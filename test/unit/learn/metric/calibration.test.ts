import { describe, expect, test } from 'vitest';
import { booleanCurve } from '../../../../src/learn/metric/boolean.ts';
import { averagePrecision, calibrationReport } from '../../../../src/learn/metric/calibration.ts';

const scores = Float64Array.of(0.1, 0.2, 0.2, 0.8, 0.9, 1);
const labels = Uint8Array.of(0, 1, 0, 1, 1, 1);
const ones = new Float64Array(6).fill(1);

describe('calibration', () => {
  test('compares mean scores with shares of positives in equally wide bins', () => {
    const report = calibrationReport(scores, labels, ones, 4, 'uniform');
    expect(report.bins.map(({ count }) => count)).toEqual([3, 0, 0, 3]);
    expect(report.bins[1]).toEqual({
      ...{ lower: 0.25, upper: 0.5, count: 0, meanScore: null, fractionPositive: null },
    });
    expect(report.bins[0]?.fractionPositive).toBeCloseTo(1 / 3, 12);
    expect(report.ece).toBeCloseTo((1 / 3 - 0.5 / 3 + 0.1) / 2, 12);
    expect(report.mce).toBeCloseTo(0.5 / 3, 12);
    expect(report.brier).toBeCloseTo((0.01 + 0.64 + 0.04 + 0.04 + 0.01) / 6, 12);
  });

  test('parts rows evenly by quantiles, equal scores together', () => {
    const report = calibrationReport(scores, labels, ones, 3, 'quantile');
    expect(report.bins.map(({ count }) => count)).toEqual([3, 1, 2]);
  });

  test('takes a weight of 2 for the row given twice', () => {
    const twice = [0, 0, 1, 2, 3, 4, 5];
    const given = calibrationReport(
      Float64Array.from(twice, (row) => scores[row] as number),
      Uint8Array.from(twice, (row) => labels[row] as number),
      new Float64Array(7).fill(1),
      ...([2, 'uniform'] as const),
    );
    const weighted = calibrationReport(
      scores,
      labels,
      Float64Array.of(2, 1, 1, 1, 1, 1),
      2,
      'uniform',
    );
    expect(weighted.ece).toBeCloseTo(given.ece, 12);
    expect(weighted.logLoss).toBeCloseTo(given.logLoss, 12);
  });

  test('refuses scores that are no probabilities', () => {
    const refused = () =>
      calibrationReport(Float64Array.of(1.5), Uint8Array.of(1), ones, 2, 'uniform');
    expect(refused).toThrow('calibration needs scores from 0 to 1, not 1.5');
  });
});

test('average precision weighs precision by the recall that it adds', () => {
  // scikit-learn: average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) = 0.8333…
  const curve = booleanCurve(Float64Array.of(0.1, 0.4, 0.35, 0.8), Uint8Array.of(0, 0, 1, 1));
  expect(averagePrecision(curve)).toBeCloseTo(5 / 6, 12);
});
