import { describe, expect, test } from 'vitest';
import { POINT_GROUP } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const square = (x: number): number => x * x;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);
const grouped = (count: number): number => Math.ceil(count / POINT_GROUP) * POINT_GROUP;

/** Points of small integers, of which sums are exact, column by column. */
function pointsOf(draw: Draw) {
  const [count, dimension] = [draw.integer(1, 13), draw.integer(1, 4)];
  const points = draw.list(count, () => draw.list(dimension, () => draw.integer(-4, 4)));
  const stride = grouped(count) * 8;
  const columns = new Float64Array(grouped(count) * dimension);
  for (const [row, point] of points.entries()) {
    for (const [j, x] of point.entries()) columns[j * grouped(count) + row] = x;
  }
  return { count, dimension, points, stride, at: put(columns) };
}

const vectorOf = (draw: Draw, length: number): number[] =>
  draw.list(length, () => draw.integer(-4, 4));
const putDoubles = (numbers: readonly number[]): number => put(Float64Array.from(numbers));
const distance = (a: readonly number[], b: readonly number[]): number =>
  sum(a.map((x, j) => square(x - (b[j] as number))));
const dot = (a: readonly number[], b: readonly number[]): number =>
  sum(a.map((x, j) => x * (b[j] as number)));

describe('centroids', () => {
  test('nearestCentroid and addToCentroids', () => {
    repeat((draw) => {
      const { count, dimension, points, stride, at } = pointsOf(draw);
      const centroids = draw.list(draw.integer(1, 6), () => vectorOf(draw, dimension));
      const padded = [...centroids];
      while (padded.length % 4 !== 0) padded.push(new Array(dimension).fill(0));
      const norms = padded.map((c, i) => (i < centroids.length ? dot(c, c) / 2 : Infinity));
      const labels = room(grouped(count) * 4);
      const centroidsAt = putDoubles(padded.flat());
      kernels.nearestCentroid(
        ...([at, stride, count, dimension, centroidsAt, putDoubles(norms)] as const),
        ...([centroids.length, labels] as const),
      );
      const plain = points.map((point) => {
        const distances = centroids.map((centroid) => distance(point, centroid));
        return distances.indexOf(Math.min(...distances));
      });
      expect([...read(Int32Array, labels, count)]).toEqual(plain);
      const sums = putDoubles(new Array(centroids.length * dimension).fill(0));
      const counts = putDoubles(new Array(centroids.length).fill(0));
      const total = kernels.addToCentroids(
        ...([at, stride, count, dimension, labels, centroidsAt, sums, counts] as const),
      );
      const own = points.map((point, i) =>
        distance(point, centroids[plain[i] as number] as number[]),
      );
      expect(total).toBe(sum(own));
      const mine = (label: number) => points.filter((_, i) => plain[i] === label);
      expect([...read(Float64Array, counts, centroids.length)]).toEqual(
        centroids.map((_, label) => mine(label).length),
      );
      expect([...read(Float64Array, sums, centroids.length * dimension)]).toEqual(
        centroids.flatMap((centroid, label) =>
          centroid.map((_, j) => sum(mine(label).map((point) => point[j] as number))),
        ),
      );
    });
  });
});

describe('distances', () => {
  test('squaredDistances, pointDots, factoredDistances', () => {
    repeat((draw) => {
      const { count, dimension, points, stride, at } = pointsOf(draw);
      const center = vectorOf(draw, dimension);
      const [centerAt, out] = [putDoubles(center), room(grouped(count) * 8)];
      kernels.squaredDistances(at, stride, count, dimension, centerAt, out);
      expect([...read(Float64Array, out, count)]).toEqual(points.map((p) => distance(p, center)));
      kernels.pointDots(at, stride, count, dimension, centerAt, out);
      expect([...read(Float64Array, out, count)]).toEqual(points.map((p) => dot(p, center)));
      const factor = draw.list(draw.integer(1, 3), () => vectorOf(draw, dimension));
      kernels.factoredDistances(
        ...([at, stride, count, dimension, centerAt, putDoubles(factor.flat())] as const),
        ...([factor.length, room(dimension * 32), out] as const),
      );
      const plain = points.map((point) => {
        const x = point.map((value, j) => value - (center[j] as number));
        return sum(factor.map((row) => square(dot(row, x))));
      });
      expect([...read(Float64Array, out, count)]).toEqual(plain);
    });
  });

  test('nearestPoints', () => {
    repeat((draw) => {
      const { count, dimension, points, stride, at } = pointsOf(draw);
      const k = draw.integer(1, Math.max(1, count - 1));
      if (count <= k) return;
      const from = draw.integer(0, count - 1);
      const to = draw.integer(from, count);
      const [indices, distances] = [room(count * k * 4), room(count * k * 8)];
      const scratch = room(dimension * 32 + 4 * grouped(count) * 8);
      kernels.nearestPoints(
        ...([at, stride, count, dimension, from, to, k, indices, distances, scratch] as const),
      );
      for (let row = from; row < to; row++) {
        const others = [...points.keys()]
          .filter((other) => other !== row)
          .map((other) => ({
            other,
            far: distance(points[row] as number[], points[other] as number[]),
          }))
          .sort((a, b) => a.far - b.far || a.other - b.other)
          .slice(0, k);
        const found = read(Int32Array, indices + row * k * 4, k);
        expect([...found]).toEqual(others.map(({ other }) => other));
        const far = read(Float64Array, distances + row * k * 8, k);
        expect([...far]).toEqual(others.map((each) => each.far));
      }
    });
  });
});

test('addMoments', () => {
  repeat((draw) => {
    const { count, dimension, points, stride, at } = pointsOf(draw);
    const center = vectorOf(draw, dimension);
    const weights = draw.list(count, () => draw.integer(0, 3));
    const momentCount = 1 + dimension + (dimension * (dimension + 1)) / 2;
    const moments = putDoubles(new Array(momentCount * 2).fill(0));
    const weightsAt = putDoubles([...weights, ...new Array(grouped(count) - count).fill(0)]);
    kernels.addMoments(
      ...([at, stride, count, dimension, weightsAt, putDoubles(center)] as const),
      ...([room(dimension * 16), moments] as const),
    );
    const x = points.map((point) => point.map((value, j) => value - (center[j] as number)));
    const weighted = (value: (row: readonly number[]) => number): number =>
      sum(x.map((row, i) => (weights[i] as number) * value(row)));
    const axes = Array.from({ length: dimension }, (_, j) => j);
    const plain = [
      sum(weights),
      ...axes.map((j) => weighted((row) => row[j] as number)),
      ...axes.flatMap((i) =>
        axes.slice(0, i + 1).map((j) => weighted((row) => (row[i] as number) * (row[j] as number))),
      ),
    ];
    const pairs = read(Float64Array, moments, momentCount * 2);
    const found = plain.map((_, i) => (pairs[2 * i] as number) + (pairs[2 * i + 1] as number));
    expect(found.map((value) => value + 0)).toEqual(plain.map((value) => value + 0));
  });
});
