import { describe, expect, test } from 'vitest';
import { densityOf, fitGaussians, logDensity } from '../../../../src/learn/cluster/gaussian.ts';
import { Random } from '../../../../src/learn/random.ts';
import { placePoints, reversedContext, testContext } from '../support.ts';

const context = testContext();

function fit(
  rows: readonly (readonly number[])[],
  numClusters: number,
  maxIterations = 100,
  runIn = context,
) {
  return placePoints(context, rows, (points) =>
    fitGaussians(runIn, points, { numClusters, maxIterations, randomSeed: 1 }),
  );
}

function square(x: number, y: number, side = 2): number[][] {
  return [
    [x, y],
    [x, y + side],
    [x + side, y],
    [x + side, y + side],
  ];
}

/** One step of expectation and maximisation in plain arithmetic, from unit covariances. */
function plainStep(rows: readonly (readonly number[])[], means: readonly (readonly number[])[]) {
  const shares = rows.map((x) => {
    const all = means.map((m) =>
      Math.exp(-x.reduce((s, v, j) => s + (v - (m[j] as number)) ** 2, 0) / 2),
    );
    const sum = all.reduce((a, b) => a + b, 0);
    return all.map((value) => value / sum);
  });
  return means.map((_, k) => {
    const weight = shares.reduce((sum, share) => sum + (share[k] as number), 0);
    const mean = [0, 1].map(
      (j) =>
        rows.reduce((sum, x, row) => sum + (shares[row]?.[k] as number) * (x[j] as number), 0) /
        weight,
    );
    const covariance = [0, 1].flatMap((i) =>
      [0, 1].map(
        (j) =>
          rows.reduce(
            (sum, x, row) =>
              sum +
              (shares[row]?.[k] as number) *
                ((x[i] as number) - (mean[i] as number)) *
                ((x[j] as number) - (mean[j] as number)),
            0,
          ) / weight,
      ),
    );
    return { mean, covariance };
  });
}

describe('Gaussian clusters', () => {
  test('find the mean and covariance of what lies apart', () => {
    const { clusters, labels } = fit([...square(0, 0), ...square(20, 20)], 2);
    const sorted = [...clusters].sort((a, b) => (a.mean[0] as number) - (b.mean[0] as number));
    expect([...(sorted[0]?.mean ?? [])]).toEqual([1, 1]);
    expect([...(sorted[1]?.covariance ?? [])].map((value) => value + 0)).toEqual([1, 0, 0, 1]);
    expect(new Set(labels.subarray(0, 4)).size).toBe(1);
    expect(labels[0]).not.toBe(labels[7]);
  });

  test('take the step that the formulas say', () => {
    const random = Random.of(3);
    const rows = Array.from({ length: 41 }, () => [random.uniform() * 3, random.uniform() * 3]);
    const start = fit(rows, 3, 0).clusters.map(({ mean }) => [...mean]);
    const { clusters } = fit(rows, 3, 1);
    for (const [k, expected] of plainStep(rows, start).entries()) {
      const { mean, covariance } = clusters[k] as (typeof clusters)[number];
      for (const [j, value] of expected.mean.entries()) expect(mean[j]).toBeCloseTo(value, 10);
      for (const [j, value] of expected.covariance.entries()) {
        expect(covariance[j]).toBeCloseTo(value, 10);
      }
    }
  });

  test('never become less likely', () => {
    const random = Random.of(4);
    const rows = Array.from({ length: 300 }, () => [random.uniform() * 5, random.uniform() ** 2]);
    const { logLikelihoods } = fit(rows, 4, 30);
    for (const [i, value] of logLikelihoods.entries()) {
      if (i > 1) expect(value).toBeGreaterThanOrEqual((logLikelihoods[i - 1] as number) - 1e-6);
    }
  });

  test('bear points on a line, whose covariance is singular', () => {
    const rows = Array.from({ length: 20 }, (_, i) => [i, 2 * i]);
    const { clusters } = fit(rows, 2);
    for (const cluster of clusters) {
      expect(densityOf(cluster).factorRows).toBe(1);
      expect(logDensity(densityOf(cluster), cluster.mean)).toBeGreaterThan(-10);
    }
  });

  test('give each far point to the nearest cluster', () => {
    const { labels } = fit([...square(0, 0), ...square(1e6, 0)], 2, 1);
    expect([...labels.subarray(0, 4)]).toEqual([labels[0], labels[0], labels[0], labels[0]]);
    expect(labels[4]).not.toBe(labels[0]);
  });

  test('are the same on any number of threads', () => {
    const random = Random.of(8);
    const rows = Array.from({ length: 20_000 }, () => [random.uniform(), random.uniform()]);
    expect(fit(rows, 3, 4, reversedContext(context))).toEqual(fit(rows, 3, 4));
  });
});
