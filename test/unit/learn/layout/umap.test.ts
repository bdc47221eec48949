import { describe, expect, test } from 'vitest';
import type { LayoutModel } from '../../../../src/learn/layout/model.ts';
import { embedInTsne } from '../../../../src/learn/layout/tsne-embed.ts';
import {
  fitCurve,
  fitUmap,
  strengths,
  type UmapOptions,
} from '../../../../src/learn/layout/umap.ts';
import { embedInUmap } from '../../../../src/learn/layout/umap-embed.ts';
import {
  blobs,
  placePoints,
  plainNearest,
  reversedContext,
  testContext,
  trustworthiness,
} from '../support.ts';

const context = testContext();
const DEFAULTS: UmapOptions = {
  numOutputDimensions: 2,
  numNeighbors: 15,
  minDist: 0.1,
  spread: 1,
  metric: 'euclidean',
  numEpochs: 0,
  learningRate: 1,
  negativeSampleRate: 5,
  init: 'spectral',
  setOpMixRatio: 1,
  randomSeed: 1,
};

function fit(
  rows: readonly (readonly number[])[],
  options: Partial<UmapOptions> = {},
  runIn = context,
) {
  return placePoints(context, rows, (points) =>
    fitUmap(runIn, points, { ...DEFAULTS, ...options }),
  );
}

function rowAt(positions: Float64Array, row: number): Float64Array {
  return positions.subarray(row * 2, row * 2 + 2);
}

describe('the curve of distances', () => {
  test('is that of the paper for its defaults', () => {
    const { a, b } = fitCurve(0.1, 1);
    expect(a).toBeCloseTo(1.577, 2);
    expect(b).toBeCloseTo(0.8951, 3);
  });
});

describe('strengths of neighbours', () => {
  test('are 1 for the nearest and have a sum of log2 of their number', () => {
    const distances = Float64Array.from({ length: 14 }, (_, i) => 2 + i * 0.3);
    const found = strengths(distances, 15, 3);
    expect(found[0]).toBe(1);
    expect(found.reduce((sum, value) => sum + value, 0)).toBeCloseTo(Math.log2(15), 4);
  });
});

describe('UMAP', () => {
  test('keeps blobs apart and neighbours together', () => {
    const size = 100;
    const rows = blobs(3, size, 10);
    const { positions } = fit(rows);
    // The reference implementation reaches 0.945 on these rows.
    expect(trustworthiness(rows, positions, 2, 15)).toBeGreaterThan(0.935);
    const laid = rows.map((_, row) => rowAt(positions, row));
    for (const row of rows.keys()) {
      const same = plainNearest(laid, row)
        .slice(0, size - 1)
        .filter((other) => other % 3 === row % 3);
      expect(same).toHaveLength(size - 1);
    }
  });

  test('lays out by direction with the cosine metric, and from a random start', () => {
    const rows = blobs(3, 40, 6).map((row, i) => row.map((value) => value * (1 + (i % 5))));
    const { positions } = fit(rows, { metric: 'cosine', init: 'random', numEpochs: 200 });
    expect(positions.every(Number.isFinite)).toBe(true);
  });

  test('bears one point, two, and equal ones', () => {
    expect([...fit([[1, 2]]).positions]).toEqual([0, 0]);
    expect(fit([[1], [2]]).positions.every(Number.isFinite)).toBe(true);
    expect(fit([[1], [1], [1], [1], [9]]).positions.every(Number.isFinite)).toBe(true);
  });

  test('is the same on any number of threads', () => {
    const rows = blobs(2, 300, 4);
    const options = { numEpochs: 10 };
    expect(fit(rows, options, reversedContext(context))).toEqual(fit(rows, options));
  });
});

describe('new points', () => {
  const rows = blobs(3, 60, 8);
  const { positions, meanDistance } = fit(rows);
  const model: LayoutModel = {
    columnNames: Array.from({ length: 8 }, (_, j) => `c${j}`),
    points: Float64Array.from(rows.flat()),
    positions,
    dimension: 2,
  };
  const options = {
    ...fitCurve(0.1, 1),
    ...{ numNeighbors: 15, negativeSampleRate: 5, learningRate: 1, isCosine: false, meanDistance },
  };

  test.each([
    ['UMAP', (point: Float64Array) => embedInUmap(model, options, point)],
    ['t-SNE', (point: Float64Array) => embedInTsne(model, 20, point)],
  ])('of training come to their own place, and others to their blob (%s)', (_name, embed) => {
    for (const row of [0, 1, 2, 50]) {
      expect([...embed(Float64Array.from(rows[row] as number[]))]).toEqual([
        ...rowAt(positions, row),
      ]);
      const near = Float64Array.from(rows[row] as number[], (value) => value + 0.05);
      const place = embed(near);
      const laid = [...rows.keys()].map((other) => rowAt(positions, other));
      const nearest = plainNearest([...laid, place], laid.length).slice(0, 10);
      expect(nearest.filter((other) => other % 3 === row % 3).length).toBeGreaterThan(8);
    }
  });
});
