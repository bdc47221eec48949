import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flatIndex, type Metric, PointSpace } from '../../../../src/learn/neighbor/point-space.ts';

/** Points of few to many, near and far coordinates; enough of them for codes to be used. */
const coordinate = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.float({ noNaN: true, min: -5, max: 5 }),
  fc.constantFrom(0, 1e-30, 1e9, -1e9),
);

function plainNeighbors(metric: Metric, points: readonly Float32Array[], query: Float32Array) {
  const length = (point: Float32Array) => Math.sqrt(point.reduce((sum, x) => sum + x * x, 0));
  return points.map((point) => {
    if (metric === 'euclidean') {
      return Math.sqrt(point.reduce((sum, x, i) => sum + (x - (query[i] as number)) ** 2, 0));
    }
    const [own, other] = [length(point), length(query)];
    if (own === 0 || other === 0) return own === other ? 0 : 1;
    const product = point.reduce((sum, x, i) => sum + x * (query[i] as number), 0);
    return Math.max(0, 1 - product / (own * other));
  });
}

test('a look at codes first leaves nothing out', () => {
  const width = 24;
  const count = 2800;
  fc.assert(
    fc.property(
      fc.constantFrom<Metric>('euclidean', 'cosine'),
      fc.array(fc.array(coordinate, { minLength: width, maxLength: width }), {
        minLength: 20,
        maxLength: 40,
      }),
      fc.constantFrom(0, 1, 1000),
      fc.constantFrom(1, 10, 300),
      fc.constantFrom(0, 2, Number.POSITIVE_INFINITY),
      (metric, drawn, factor, countMax, distanceMax) => {
        const points = Array.from({ length: count }, (_, i) => {
          const base = drawn[i % drawn.length] as number[];
          return Float32Array.from(base, (x, j) => x + ((i * 31 + j * 17) % 101) / 100);
        });
        const coordinates = new Float32Array(count * width);
        for (const [i, point] of points.entries()) coordinates.set(point, i * width);
        const flat = flatIndex(new PointSpace(metric, width, coordinates));
        const query = (points[7] as Float32Array).map((x) => x * factor);
        const distances = plainNeighbors(metric, points, query);
        const found = flat.search(query, countMax, distanceMax);
        // The sums are taken in another order here.
        const nearest = distances.filter((d) => d <= distanceMax * (1 + 1e-9));
        nearest.sort((a, b) => a - b);
        expect(Math.abs(found.length - Math.min(countMax, nearest.length))).toBeLessThan(2);
        for (const [i, { point, distance }] of found.entries()) {
          const tolerance = 1e-6 * Math.max(1e-3, nearest[i] ?? 0);
          expect(Math.abs(distance - (distances[point] as number))).toBeLessThanOrEqual(tolerance);
          expect(Math.abs(distance - (nearest[i] as number))).toBeLessThanOrEqual(tolerance);
        }
      },
    ),
    { numRuns: 25 },
  );
});
