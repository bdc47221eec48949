// A text classifier: words and labels as vectors in one space.
import { Type } from 'typebox';
import { TEXT_TASK, TEXT_TASK_SIZE } from '../../kernel/generated.ts';
import { readValues } from '../feature/values.ts';
import type { LearnContext, Learner, TrainingData } from '../learner.ts';
import { Random } from '../random.ts';
import { Layout, lookEvery, withScratch } from '../workspace.ts';
import type { FastTextModel } from './model.ts';
import { repetitions } from './score.ts';

const STREAM_VECTORS = 31;
const STREAM_ORDER = 32;
const RATE = 0.05;
/** Rows between two looks at the cancel flag. */
const ROWS_PER_CALL = 1024;

/**
 * Fits vectors of features and labels by stochastic gradient descent on the log loss; the rate falls
 * to 0. A feature counts as often as its value says.
 * @see Joulin et al., "Bag of tricks for efficient text classification", 2016
 */
export function fitFastText(
  context: LearnContext,
  data: TrainingData,
  options: { readonly epochCount: number; readonly dimensionCount: number },
  seed: number,
): FastTextModel {
  const { target, matrix, weights, weightTotal } = data;
  if (target.kind !== 'classes') throw new Error('fasttext needs classes');
  const { rowCount } = matrix;
  const bag = readBag(context, data);
  const { dimensionCount, epochCount } = options;
  const size = Math.ceil(dimensionCount / 4) * 4;
  const { labelCount } = target;
  const sizes = {
    task: TEXT_TASK_SIZE,
    order: rowCount * 4,
    starts: (rowCount + 1) * 4,
    features: bag.features.length * 4,
    counts: bag.counts.length * 4,
    labels: rowCount * 2,
    weights: rowCount * 4,
    inputs: bag.vectorCount * size * 4,
    outputs: labelCount * size * 4,
    hidden: size * 4,
    gradient: size * 4,
    scores: labelCount * 4,
  };
  const total = Object.values(sizes).reduce((sum, part) => sum + part + 16, 0);
  const { workspace } = context;
  return withScratch(workspace, matrix.span.arena, total, (scratch) => {
    const layout = new Layout(scratch);
    const place = {} as Record<keyof typeof sizes, number>;
    for (const name of Object.keys(sizes) as (keyof typeof sizes)[]) {
      place[name] = layout.take(sizes[name]);
    }
    const { f32, u16, u32 } = workspace.memory.get(matrix.span.arena);
    u32.set(bag.starts, place.starts >>> 2);
    u32.set(bag.features, place.features >>> 2);
    f32.set(bag.counts, place.counts >>> 2);
    u16.set(target.labels, place.labels >>> 1);
    const scale = rowCount;
    for (let row = 0; row < rowCount; row++) {
      f32[(place.weights >>> 2) + row] = (weights[row] as number) * scale;
    }
    const random = Random.of(seed, STREAM_VECTORS);
    f32.fill(0, place.inputs >>> 2, (place.inputs + sizes.inputs) >>> 2);
    f32.fill(0, place.outputs >>> 2, (place.outputs + sizes.outputs) >>> 2);
    for (let vector = 0; vector < bag.vectorCount; vector++) {
      const from = (place.inputs >>> 2) + vector * size;
      for (let d = 0; d < dimensionCount; d++) {
        f32[from + d] = (random.uniform() * 2 - 1) / dimensionCount;
      }
    }
    const words = { ...place, size, labelCount };
    for (const [field, offset] of Object.entries(TEXT_TASK)) {
      u32[(place.task + offset) >>> 2] = words[field as keyof typeof TEXT_TASK];
    }
    const kernels = workspace.kernels(matrix.span.arena);
    const order = u32.subarray(place.order >>> 2, (place.order >>> 2) + rowCount);
    for (let row = 0; row < rowCount; row++) order[row] = row;
    const fall = RATE / (rowCount * epochCount);
    for (let epoch = 0; epoch < epochCount; epoch++) {
      const began = performance.now();
      shuffle(order, Random.of(seed, STREAM_ORDER, epoch));
      let loss = 0;
      for (let from = 0; from < rowCount; from += ROWS_PER_CALL) {
        context.checkCancelled();
        const to = Math.min(rowCount, from + ROWS_PER_CALL);
        const rate = RATE - fall * (epoch * rowCount + from);
        loss += kernels.textTrain(place.task, from, to, rate, fall);
      }
      const seconds = (performance.now() - began) / 1000;
      context.reportIteration?.({ iteration: epoch, seconds, loss: loss / weightTotal });
      context.progress?.(epoch + 1, epochCount);
    }
    return {
      type: 'fasttext',
      dimensionCount,
      positions: bag.positions,
      inputs: unpadded(f32, place.inputs, bag.vectorCount, size, dimensionCount),
      outputs: unpadded(f32, place.outputs, labelCount, size, dimensionCount),
    };
  });
}

function unpadded(
  f32: Float32Array,
  at: number,
  count: number,
  size: number,
  dimensionCount: number,
): Float32Array {
  const vectors = new Float32Array(count * dimensionCount);
  for (let i = 0; i < count; i++) {
    const from = (at >>> 2) + i * size;
    vectors.set(f32.subarray(from, from + dimensionCount), i * dimensionCount);
  }
  return vectors;
}

function shuffle(order: Uint32Array, random: Random): void {
  for (let i = order.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    const row = order[i] as number;
    order[i] = order[other] as number;
    order[other] = row;
  }
}

/** Features of each row with their repetitions. */
function readBag(context: LearnContext, { matrix, sources }: TrainingData) {
  const look = lookEvery(context);
  const { rowCount, features } = matrix;
  const positions = new Int32Array(features.length).fill(-1);
  const entries: { vector: number; rows: Uint32Array; counts: Float32Array }[] = [];
  for (const [index, feature] of features.entries()) {
    look();
    const own = readValues(feature, sources[index] as (typeof sources)[number], look);
    const rows: number[] = [];
    const counts: number[] = [];
    const add = (row: number, count: number) => {
      if (count === 0) return;
      rows.push(row);
      counts.push(count);
    };
    if (own.kind === 'sparse') {
      for (const [i, row] of own.rows.entries()) add(row, repetitions(own.values[i]));
    } else if (own.kind === 'numbers') {
      for (const [row, value] of own.values.entries()) add(row, repetitions(value));
    } else if (own.kind === 'categories') {
      for (const [row, category] of own.indexes.entries()) add(row, category === -1 ? 0 : 1);
    }
    if (rows.length === 0) continue;
    positions[index] = entries.length;
    const vector = entries.length;
    entries.push({ vector, rows: Uint32Array.from(rows), counts: Float32Array.from(counts) });
  }
  const starts = new Uint32Array(rowCount + 1);
  for (const { rows } of entries) {
    for (const row of rows) starts[row + 1] = (starts[row + 1] as number) + 1;
  }
  for (let row = 0; row < rowCount; row++) {
    starts[row + 1] = (starts[row + 1] as number) + (starts[row] as number);
  }
  const count = starts[rowCount] as number;
  const vectors = new Uint32Array(count);
  const counts = new Float32Array(count);
  const next = starts.slice();
  for (const { vector, rows, counts: own } of entries) {
    for (const [i, row] of rows.entries()) {
      const at = next[row] as number;
      next[row] = at + 1;
      vectors[at] = vector;
      counts[at] = own[i] as number;
    }
  }
  return { positions, vectorCount: entries.length, starts, features: vectors, counts };
}

const OPTIONS = Type.Object({
  epoch: Type.Integer({
    description: 'passes over the rows',
    minimum: 1,
    maximum: 1_000_000,
    default: 5,
  }),
  dims: Type.Integer({
    description: 'numbers in a vector',
    minimum: 1,
    maximum: 10_000,
    default: 100,
  }),
});

export const fastTextLearner: Learner<typeof OPTIONS> = {
  type: 'fasttext',
  summary: 'a text classifier: words and labels as vectors in one space',
  modes: ['boolean', 'categorical'],
  coding: 'none',
  options: OPTIONS,
  fit: (context, data, { options }, seed) =>
    fitFastText(context, data, { epochCount: options.epoch, dimensionCount: options.dims }, seed),
};
