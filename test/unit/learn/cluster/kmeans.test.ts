import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitKmeans, type KmeansOptions } from '../../../../src/learn/cluster/kmeans.ts';
import { Random } from '../../../../src/learn/random.ts';
import { placePoints, reversedContext, testContext } from '../support.ts';

const context = testContext();
const DEFAULTS: KmeansOptions = {
  numClusters: 3,
  maxIterations: 100,
  metric: 'euclidean',
  randomSeed: 1,
};

function fit(
  rows: readonly (readonly number[])[],
  options: Partial<KmeansOptions>,
  runIn = context,
) {
  return placePoints(context, rows, (points) =>
    fitKmeans(runIn, points, { ...DEFAULTS, ...options }),
  );
}

/** The distance that each metric names, in plain arithmetic. */
function distance(metric: string, x: readonly number[], c: readonly number[]): number {
  if (metric === 'euclidean')
    return x.reduce((sum, value, j) => sum + (value - (c[j] as number)) ** 2, 0);
  const lengths = Math.hypot(...x) * Math.hypot(...c);
  if (lengths === 0) return Math.hypot(...x) === 0 && Math.hypot(...c) === 0 ? -1 : 2;
  return -x.reduce((sum, value, j) => sum + value * (c[j] as number), 0) / lengths;
}

const point = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 3, maxLength: 3 });

describe('k-means', () => {
  test.each(['euclidean', 'cosine'] as const)(
    'puts each point with its nearest centroid (%s)',
    (metric) => {
      fc.assert(
        fc.property(fc.array(point, { minLength: 5, maxLength: 60 }), (rows) => {
          const { centroids, labels } = fit(rows, { metric, numClusters: 5 });
          for (const [row, x] of rows.entries()) {
            const all = centroids.map((c) => distance(metric, x, [...c]));
            expect(all[labels[row] as number]).toBeCloseTo(Math.min(...all), 9);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test('ends where centroids are the means of their points', () => {
    const random = Random.of(5);
    const rows = Array.from({ length: 500 }, () => [random.uniform() * 9, random.uniform()]);
    const { centroids, labels, losses } = fit(rows, { numClusters: 7, maxIterations: 1000 });
    for (const [k, centroid] of centroids.entries()) {
      const own = rows.filter((_, row) => labels[row] === k);
      for (const j of [0, 1]) {
        const mean = own.reduce((sum, x) => sum + (x[j] as number), 0) / own.length;
        expect(centroid[j]).toBeCloseTo(mean, 9);
      }
    }
    for (const [i, loss] of losses.entries()) {
      if (i > 0) expect(loss).toBeLessThanOrEqual((losses[i - 1] as number) + 1e-9);
    }
  });

  test('counts zero rows in cosine space without moving a direction', () => {
    const { centroids, labels } = fit(
      [
        [3, 0],
        [0, 0],
        [0, 5],
      ],
      { metric: 'cosine', numClusters: 2 },
    );
    const [first] = centroids;
    expect(labels[1]).toBe(0);
    expect(Math.hypot(...(first as Float64Array))).toBeCloseTo(0.5, 12);
  });

  test('is the same on any number of threads, and for any seed that is given twice', () => {
    const random = Random.of(8);
    const rows = Array.from({ length: 20_000 }, () => [random.uniform(), random.uniform()]);
    const one = fit(rows, { numClusters: 9, maxIterations: 5 });
    const other = fit(rows, { numClusters: 9, maxIterations: 5 }, reversedContext(context));
    expect(other).toEqual(one);
    expect(fit(rows, { numClusters: 9, maxIterations: 5, randomSeed: 2 })).not.toEqual(one);
  });

  test('refuses fewer points than clusters', () => {
    expect(() => fit([[1], [2]], { numClusters: 3 })).toThrow('2 datapoints for numClusters 3');
  });
});
