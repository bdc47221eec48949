// Kernels of forces on layouts; those of the tree are in test/unit/learn/layout.
import { describe, expect, test } from 'vitest';
import { kernels, put, read, repeat, room } from './support.ts';

describe('forces pair by pair', () => {
  test.each([1, 2, 3, 5])('plainRepulsion and edgeAttraction in %d dimensions', (dimension) => {
    repeat((draw) => {
      const count = draw.integer(1, 9);
      const points = draw.list(count, () => draw.list(dimension, () => draw.uniform() * 4));
      const from = draw.integer(0, count - 1);
      const positions = put(Float64Array.from(points.flat()));
      const forces = room(count * dimension * 8);
      const minus = (i: number, j: number) =>
        (points[i] as number[]).map((x, k) => x - ((points[j] as number[])[k] as number));
      const nearness = (i: number, j: number) =>
        1 / (1 + minus(i, j).reduce((total, x) => total + x * x, 0));
      /** The sum of `weight(j) * (y_i - y_j)` over some points. */
      const pull = (
        i: number,
        others: readonly number[],
        weight: (j: number, at: number) => number,
      ) =>
        Array.from({ length: dimension }, (_, k) =>
          others.reduce((total, j, at) => total + weight(j, at) * (minus(i, j)[k] as number), 0),
        );
      const expectForces = (plain: readonly (readonly number[])[]) => {
        const found = read(Float64Array, forces + from * dimension * 8, plain.length * dimension);
        for (const [k, value] of plain.flat().entries()) expect(found[k]).toBeCloseTo(value, 9);
      };
      const some = [...points.keys()].slice(from);
      const othersOf = (i: number) => [...points.keys()].filter((j) => j !== i);
      const total = kernels.plainRepulsion(positions, count, dimension, from, count, forces);
      const sums = some.map((i) => othersOf(i).reduce((sum, j) => sum + nearness(i, j), 0));
      expect(total).toBeCloseTo(
        sums.reduce((a, b) => a + b, 0),
        9,
      );
      expectForces(some.map((i) => pull(i, othersOf(i), (j) => nearness(i, j) ** 2)));
      const edges = points.map(() =>
        draw.list(draw.integer(0, 4), () => draw.integer(0, count - 1)),
      );
      const weights = edges.map((ends) => ends.map(() => draw.uniform()));
      const starts = edges.map((_, i) => edges.slice(0, i).flat().length);
      kernels.edgeAttraction(
        ...([positions, dimension, from, count] as const),
        put(Int32Array.from([...starts, edges.flat().length])),
        ...([put(Int32Array.from(edges.flat())), put(Float64Array.from(weights.flat()))] as const),
        forces,
      );
      expectForces(
        some.map((i) =>
          pull(
            i,
            edges[i] as number[],
            (j, at) => ((weights[i] as number[])[at] as number) * nearness(i, j),
          ),
        ),
      );
    });
  });
});
