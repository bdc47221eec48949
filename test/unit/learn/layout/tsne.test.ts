import { describe, expect, test } from 'vitest';
import { TREE_CELL_SIZE, TREE_TASK, TREE_TASK_SIZE } from '../../../../src/kernel/generated.ts';
import { affinities } from '../../../../src/learn/layout/affinity.ts';
import { fitTsne, type TsneOptions } from '../../../../src/learn/layout/tsne.ts';
import { Random } from '../../../../src/learn/random.ts';
import { Layout, withScratch } from '../../../../src/learn/workspace.ts';
import { blobs, placePoints, reversedContext, testContext, trustworthiness } from '../support.ts';

const context = testContext();
const DEFAULTS: TsneOptions = {
  numOutputDimensions: 2,
  perplexity: 30,
  tolerance: 1e-5,
  learningRate: 500,
  minIterations: 200,
  maxIterations: 1000,
  randomSeed: 1,
};

function fit(
  rows: readonly (readonly number[])[],
  options: Partial<TsneOptions> = {},
  runIn = context,
) {
  return placePoints(context, rows, (points) =>
    fitTsne(runIn, points, { ...DEFAULTS, ...options }),
  );
}

/** Repulsion and the sum of all q, pair by pair. */
function plainRepulsion(positions: Float64Array, dimension: number) {
  const forces = new Float64Array(positions.length);
  let total = 0;
  for (let i = 0; i < positions.length; i += dimension) {
    for (let j = 0; j < positions.length; j += dimension) {
      if (i === j) continue;
      let distance = 0;
      for (let k = 0; k < dimension; k++) {
        distance += ((positions[i + k] as number) - (positions[j + k] as number)) ** 2;
      }
      const q = 1 / (1 + distance);
      total += q;
      for (let k = 0; k < dimension; k++) {
        const difference = (positions[i + k] as number) - (positions[j + k] as number);
        forces[i + k] = (forces[i + k] as number) + q * q * difference;
      }
    }
  }
  return { forces, total };
}

/** Repulsion by the tree. @param openness 1 / the squared opening ratio */
function treeRepulsion(positions: Float64Array, dimension: number, openness: number) {
  const { workspace } = context;
  const count = positions.length / dimension;
  const layout = new Layout();
  const place = (at: Layout) => ({
    task: at.take(TREE_TASK_SIZE),
    positions: at.take(positions.length * 8),
    keys: at.take(count * 8),
    spare: at.take(count * 8),
    order: at.take(count * 4),
    sorted: at.take(count * 24),
    sums: at.take(Math.max(1024, (count + 1) * 24)),
    cells: at.take(2 * count * TREE_CELL_SIZE),
    forces: at.take(positions.length * 8),
  });
  place(layout);
  return withScratch(workspace, 0, layout.sizeBytes, (base) => {
    const { task, forces, ...at } = place(new Layout(base));
    const { f64, memory } = workspace.memory.get(0);
    f64.set(positions, at.positions >>> 3);
    const view = new DataView(memory.buffer, task, TREE_TASK_SIZE);
    for (const [name, value] of Object.entries({ ...at, count, dimension })) {
      view.setUint32(TREE_TASK[name as keyof typeof TREE_TASK], value, true);
    }
    view.setFloat64(TREE_TASK.openness, openness, true);
    const kernels = workspace.kernels(0);
    const cellCount = kernels.layoutTree(task);
    expect(cellCount).toBeLessThanOrEqual(2 * count);
    const total = kernels.treeRepulsion(task, cellCount, 0, count, forces);
    return { total, forces: f64.slice(forces >>> 3, (forces >>> 3) + positions.length) };
  });
}

describe('repulsion by a tree', () => {
  test.each([1, 2, 3])('opened all the way is that of all pairs, in %d dimensions', (dimension) => {
    const random = Random.of(dimension);
    const positions = Float64Array.from({ length: 200 * dimension }, () =>
      random.below(4) === 0 ? 1 : random.uniform() * 10,
    );
    const expected = plainRepulsion(positions, dimension);
    const found = treeRepulsion(positions, dimension, 1e12);
    expect(found.total).toBeCloseTo(expected.total, 8);
    for (const [i, value] of found.forces.entries())
      expect(value).toBeCloseTo(expected.forces[i] as number, 9);
  });

  test('with the usual opening is within a fiftieth of it', () => {
    const random = Random.of(9);
    const positions = Float64Array.from({ length: 4000 }, () => random.uniform() * 50);
    const expected = plainRepulsion(positions, 2);
    const found = treeRepulsion(positions, 2, 1 / 0.6 ** 2);
    expect(Math.abs(found.total / expected.total - 1)).toBeLessThan(0.02);
  });
});

describe('affinities', () => {
  test('have the entropy of the perplexity and a sum of 1', () => {
    const distances = Float64Array.from({ length: 60 }, (_, i) => 1 + i / 7);
    const weights = affinities(distances, 12, 1e-8);
    const entropy = -weights.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);
    expect(Math.exp(entropy)).toBeCloseTo(12, 5);
    expect(weights.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
  });
});

describe('t-SNE', () => {
  test('keeps neighbours together and lowers its cost', () => {
    const rows = blobs(3, 60, 10);
    const { positions, costs } = fit(rows, { perplexity: 15, learningRate: 100 });
    expect(trustworthiness(rows, positions, 2, 10)).toBeGreaterThan(0.95);
    expect(costs.at(-1)?.cost).toBeLessThan(costs[0]?.cost as number);
    expect(positions.every(Number.isFinite)).toBe(true);
  });

  test('lays points out in more dimensions than there is a tree for', () => {
    const rows = blobs(2, 20, 6);
    const options = { numOutputDimensions: 4, perplexity: 5, maxIterations: 300 };
    const { positions } = fit(rows, options);
    expect(positions).toHaveLength(160);
    expect(trustworthiness(rows, positions, 4, 5)).toBeGreaterThan(0.9);
  });

  test('bears few points, equal points, and one', () => {
    expect([...fit([[1, 2]]).positions]).toEqual([0, 0]);
    expect(fit([[1], [1], [1], [5]]).positions.every(Number.isFinite)).toBe(true);
    expect(fit([[1], [2]]).positions.every(Number.isFinite)).toBe(true);
  });

  test('is the same on any number of threads', () => {
    const rows = blobs(3, 700, 4);
    const options = { maxIterations: 20, minIterations: 20 };
    expect(fit(rows, options, reversedContext(context))).toEqual(fit(rows, options));
  });
});
