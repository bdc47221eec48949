import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearestNeighbors } from '../../../../src/learn/neighbor/exact.ts';
import { placePoints, reversedContext, testContext } from '../support.ts';

const context = testContext();

function plainNeighbors(rows: readonly (readonly number[])[], count: number): number[] {
  return rows.flatMap((x, row) =>
    rows
      .map((y, other) => ({ other, d: y.reduce((s, v, j) => s + (v - (x[j] as number)) ** 2, 0) }))
      .filter(({ other }) => other !== row)
      .sort((a, b) => a.d - b.d || a.other - b.other)
      .slice(0, count)
      .map(({ other }) => other),
  );
}

describe('the nearest points', () => {
  test('are those of a comparison of all pairs, the lower number among equals', () => {
    const row = fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 40 }), fc.nat(5), (rows, extra) => {
        const count = Math.min(rows.length - 1, 1 + extra);
        const { indices, distances } = placePoints(context, rows, (points) =>
          nearestNeighbors(context, points, count),
        );
        expect([...indices]).toEqual(plainNeighbors(rows, count));
        const [first] = rows as [number[]];
        const nearest = rows[indices[0] as number] as number[];
        expect(distances[0]).toBeCloseTo(
          Math.hypot(...nearest.map((value, j) => value - (first[j] as number))),
          12,
        );
      }),
    );
  });

  test('are the same on any number of threads', () => {
    const rows = Array.from({ length: 1500 }, (_, i) => [(i * 7919) % 1009, (i * 104_729) % 997]);
    const on = (runIn: typeof context) =>
      placePoints(context, rows, (points) => nearestNeighbors(runIn, points, 4));
    expect(on(reversedContext(context))).toEqual(on(context));
  });
});
