import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flatIndex, PointSpace } from '../../../../src/learn/neighbor/point-space.ts';
import { vantagePointTree } from '../../../../src/learn/neighbor/vantage-point-tree.ts';

test('the tree finds what a look at every point finds', () => {
  // Few different coordinates make many equal distances.
  const coordinate = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.float({ noNaN: true, min: -5, max: 5 }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom('euclidean' as const, 'cosine' as const),
      fc.integer({ min: 1, max: 4 }),
      fc.array(coordinate, { minLength: 1200, maxLength: 1600 }),
      fc.integer({ min: 0, max: 40 }),
      fc.constantFrom(0, 0.5, 2, Number.POSITIVE_INFINITY),
      (metric, width, numbers, count, distanceMax) => {
        const whole = numbers.slice(0, numbers.length - (numbers.length % width));
        const space = new PointSpace(metric, width, Float32Array.from(whole));
        const tree = vantagePointTree(space, () => {});
        const flat = flatIndex(space);
        for (const start of [0, width * 5]) {
          const query = Float32Array.from(whole.slice(start, start + width));
          const found = tree.search(query, count, distanceMax);
          expect(found).toEqual(flat.search(query, count, distanceMax));
          const all = flat.search(query, space.count, distanceMax);
          expect(all.slice(0, count)).toEqual(found);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test('equal distances come in the order of the points', () => {
  const space = new PointSpace(
    'euclidean',
    1,
    Float32Array.from({ length: 200 }, (_, i) => i % 2),
  );
  const found = vantagePointTree(space, () => {}).search(Float32Array.of(0), 5, 10);
  expect(found.map(({ point }) => point)).toEqual([0, 2, 4, 6, 8]);
});
