// The growing of a tree of a random forest beside a plain recursion.
import { expect, test } from 'vitest';
import {
  FOREST_LOCAL_ROWS,
  FOREST_PENDING_SIZE,
  FOREST_SCRATCH_SIZE,
  FOREST_TASK,
  FOREST_TASK_SIZE,
  NODE_LEAF,
  NODE_SIZE,
  NODE_STOPS_MISSING,
} from '../../../src/kernel/generated.ts';
import { Random, randomState } from '../../../src/learn/random.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const SHIFT = 8;

interface Training {
  readonly columns: readonly Uint8Array[];
  readonly labels: Uint8Array;
  readonly drawCount: number;
  readonly featuresPerNode: number;
  readonly maxDepth: number;
}

interface PlainNode {
  test: number;
  child: number;
  readonly value: number;
  readonly cover: number;
}

/** Weights of label 0 and 1. */
type Pair = readonly [zeros: number, ones: number];

/** What the kernel does, a list of entries a node. */
function plainTree({ columns, labels, ...options }: Training, rows: Random, features: Random) {
  const times = new Uint32Array(labels.length);
  for (let i = 0; i < options.drawCount; i++) {
    const row = rows.below(labels.length);
    times[row] = (times[row] as number) + 1;
  }
  const nodes: PlainNode[] = [];
  const order = [...columns.keys()];
  let deepest = 0;
  const weigh = (entries: readonly number[]): Pair => {
    const weights: [number, number] = [0, 0];
    for (const row of entries) {
      const label = labels[row] as 0 | 1;
      weights[label] += times[row] as number;
    }
    return weights;
  };
  const drawFeature = (k: number): number => {
    const at = k + features.below(columns.length - k);
    [order[k], order[at]] = [order[at] as number, order[k] as number];
    return order[k] as number;
  };
  const grow = (id: number, entries: readonly number[], depth: number): void => {
    const [zeros, ones] = weigh(entries);
    const value = ones / (zeros + ones);
    const node: PlainNode = { test: NODE_LEAF, child: id, value, cover: zeros + ones };
    nodes[id] = node;
    deepest = Math.max(deepest, depth);
    if (depth >= options.maxDepth || entries.length < 2 || zeros === 0 || ones === 0) return;
    let score = Math.sqrt(zeros * ones) * (1 - 1e-9);
    let best: { feature: number; threshold: number; offset: number; stops: number } | undefined;
    const consider = (left: Pair, test: NonNullable<typeof best>) => {
      const found = Math.sqrt(left[0] * left[1]) + Math.sqrt((zeros - left[0]) * (ones - left[1]));
      if (found < score) [score, best] = [found, test];
    };
    const search = (feature: number) => {
      const column = columns[feature] as Uint8Array;
      const codes = [...new Set(entries.map((row) => column[row] as number))].sort((a, b) => a - b);
      const weightOf = (code: number) => weigh(entries.filter((row) => column[row] === code));
      const missing = codes[0] === 0 ? weightOf(0) : undefined;
      const stops = missing === undefined ? NODE_STOPS_MISSING : 0;
      if (missing !== undefined) consider(missing, { feature, threshold: 0, offset: 0, stops });
      let left: Pair = [0, 0];
      for (const code of codes.filter((each) => each > 0).slice(0, -1)) {
        const here = weightOf(code);
        left = [left[0] + here[0], left[1] + here[1]];
        const both: Pair = [left[0] + (missing?.[0] ?? 0), left[1] + (missing?.[1] ?? 0)];
        consider(both, { feature, threshold: code, offset: 0, stops });
        if (missing !== undefined)
          consider(left, { feature, threshold: code - 1, offset: 1, stops });
      }
    };
    const count = Math.min(options.featuresPerNode, columns.length);
    if (count === columns.length) for (const feature of columns.keys()) search(feature);
    else {
      for (let k = 0; k < count || (k < columns.length && best === undefined); k++) {
        search(drawFeature(k));
      }
    }
    if (best === undefined) return;
    const { feature, threshold, offset, stops } = best;
    const goesRight = (row: number) =>
      ((((columns[feature] as Uint8Array)[row] as number) - offset) & 255) > threshold;
    node.test = feature | stops | (threshold << 16) | (offset << 24);
    node.child = nodes.length;
    // Room for both, before the nodes below them.
    nodes.push(node, node);
    const child = node.child;
    grow(
      child,
      entries.filter((row) => !goesRight(row)),
      depth + 1,
    );
    grow(child + 1, entries.filter(goesRight), depth + 1);
  };
  nodes.push({ test: 0, child: 0, value: 0, cover: 0 });
  grow(
    0,
    [...times.keys()].filter((row) => times[row] !== 0),
    0,
  );
  return { nodes, deepest };
}

/** Grows a tree in steps. @returns how many steps it took, and what the kernels wrote */
function kernelTree(training: Training, seed: number) {
  const { columns, labels, drawCount, featuresPerNode, maxDepth } = training;
  const nodeMax = 2 ** (maxDepth + 1) - 1;
  const rowCount = labels.length;
  const fields = {
    ...{ rowCount, drawCount, featuresPerNode, maxDepth, shift: SHIFT },
    labels: put(labels),
    weights: 0,
    columns: put(Uint32Array.from(columns, (column) => put(column))),
    codeCounts: put(
      Int32Array.from(columns, (column) => column.reduce((a, b) => Math.max(a, b), 0) + 1),
    ),
    columnNumbers: put(Int32Array.from(columns.keys())),
    featureCount: columns.length,
    entries: room(rowCount * 4 + 16),
    buffer: room(rowCount * 4 + 16),
    scratch: room(FOREST_SCRATCH_SIZE + columns.length * 8),
    local: room(FOREST_LOCAL_ROWS * columns.length),
    pending: room((maxDepth + 2) * FOREST_PENDING_SIZE),
    nodes: room(nodeMax * NODE_SIZE),
    values: room(nodeMax * 8),
    covers: room(nodeMax * 4),
  };
  const words = new Uint32Array(FOREST_TASK_SIZE / 4);
  for (const [field, value] of Object.entries(fields)) {
    words[FOREST_TASK[field as keyof typeof FOREST_TASK] / 4] = value;
  }
  words.set(randomState(seed, 1), FOREST_TASK.rowState0 / 4);
  words.set(randomState(seed, 2), FOREST_TASK.nodeState0 / 4);
  const task = put(words);
  const told = (field: keyof typeof FOREST_TASK) =>
    read(Int32Array, task + FOREST_TASK[field], 1)[0] as number;
  let stepCount = 1;
  kernels.forestTree(task);
  for (; told('pendingCount') > 0; stepCount++) kernels.forestStep(task);
  const count = told('nodeCount');
  const pairs = read(Int32Array, fields.nodes, count * 2);
  const values = read(Float64Array, fields.values, count);
  const covers = read(Float32Array, fields.covers, count);
  const nodes = Array.from(values, (value, i) => ({
    ...{ test: pairs[2 * i], child: pairs[2 * i + 1], value, cover: covers[i] },
  }));
  return { stepCount, nodes, deepest: told('depth') };
}

function trainingOf(draw: Draw, rowCount: number, columnCount: number): Training {
  const labels = Uint8Array.from(draw.list(rowCount, () => draw.integer(0, 1)));
  return {
    labels,
    // Some say something of the label.
    columns: draw.list(columnCount, () => {
      const least = draw.integer(0, 1);
      return labels.map((label) => draw.integer(least, 4) + (draw.chance(0.2) ? label : 0));
    }),
    drawCount: draw.integer(rowCount, 2 * rowCount),
    featuresPerNode: draw.integer(1, columnCount),
    maxDepth: draw.integer(1, 5),
  };
}

test('forestTree grows the tree of the plain recursion', () => {
  repeat((draw) => {
    const training = trainingOf(draw, draw.pick([4, 30, 120]), draw.integer(1, 4));
    const seed = draw.integer(1, 1000);
    const { stepCount, ...found } = kernelTree(training, seed);
    const plain = plainTree(training, Random.of(seed, 1), Random.of(seed, 2));
    expect(stepCount).toBe(1);
    expect(found).toEqual(plain);
  });
});

test('forestStep goes on with a tree of many rows where the step before ended', () => {
  repeat((draw) => {
    const few = trainingOf(draw, 20_000, 3);
    // So many cells that the first step looks at the root only.
    const columns = Array.from({ length: 240 }, (_, k) => few.columns[k % 3] as Uint8Array);
    const training = { ...few, columns, featuresPerNode: columns.length, maxDepth: 3 };
    const { stepCount, ...found } = kernelTree(training, 7);
    expect(stepCount).toBeGreaterThan(1);
    // Equal columns never beat those before them.
    const same = { ...training, columns: few.columns, featuresPerNode: 3 };
    expect(found).toEqual(plainTree(same, Random.of(7, 1), Random.of(7, 2)));
  }, 1);
});
