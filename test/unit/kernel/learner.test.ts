// Kernels that train embeddings and lay points out, step by step, beside the published formulas.
import { expect, test } from 'vitest';
import {
  TEXT_TASK,
  TEXT_TASK_SIZE,
  UMAP_TASK,
  UMAP_TASK_SIZE,
} from '../../../src/kernel/generated.ts';
import { Random, randomState } from '../../../src/learn/random.ts';
import { kernels, put, read, repeat, room } from './support.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);

test('textTrain takes a step of softmax regression on the mean of the vectors of a row', () => {
  repeat((draw) => {
    const [rowCount, vectorCount, labelCount, size] = [
      draw.integer(1, 5),
      6,
      draw.integer(2, 3),
      4,
    ];
    const vector = () => draw.list(size, () => draw.uniform() - 0.5);
    const inputs = draw.list(vectorCount, vector);
    const outputs = draw.list(labelCount, vector);
    const bags = draw.list(rowCount, () =>
      [...inputs.keys()]
        .filter(() => draw.chance(0.5))
        .map((word) => [word, draw.integer(1, 3)] as const),
    );
    const labels = draw.list(rowCount, () => draw.integer(0, labelCount - 1));
    const weights = draw.list(rowCount, () => draw.pick([0, 1, 2]));
    const order = draw.list(rowCount, () => draw.integer(0, rowCount - 1));
    const entries = bags.flat();
    const fields = {
      order: put(Uint32Array.from(order)),
      starts: put(Uint32Array.from([...bags, []].map((_, i) => bags.slice(0, i).flat().length))),
      features: put(Uint32Array.from(entries, ([word]) => word)),
      counts: put(Float32Array.from(entries, ([, times]) => times)),
      labels: put(Uint16Array.from(labels)),
      weights: put(Float32Array.from(weights)),
      inputs: put(Float32Array.from(inputs.flat())),
      outputs: put(Float32Array.from(outputs.flat())),
      ...{ size, labelCount },
      hidden: room(size * 4),
      gradient: room(size * 4),
      scores: room(labelCount * 4),
    };
    const task = new Uint32Array(TEXT_TASK_SIZE / 4);
    for (const [field, offset] of Object.entries(TEXT_TASK)) {
      task[offset / 4] = fields[field as keyof typeof TEXT_TASK];
    }
    const [rate, fall] = [0.5, 0.01];
    const loss = kernels.textTrain(put(task), 0, rowCount, rate, fall);
    let plainLoss = 0;
    for (const [turn, row] of order.entries()) {
      const bag = bags[row] as (typeof bags)[number];
      const weight = weights[row] as number;
      if (bag.length === 0 || weight === 0) continue;
      const total = sum(bag.map(([, times]) => times));
      const meanAt = (k: number) =>
        sum(bag.map(([word, times]) => times * ((inputs[word] as number[])[k] as number))) / total;
      const hidden = Array.from({ length: size }, (_, k) => meanAt(k));
      const scores = outputs.map((output) =>
        Math.exp(sum(output.map((x, k) => x * (hidden[k] as number)))),
      );
      const gradient = new Array<number>(size).fill(0);
      for (const [label, output] of outputs.entries()) {
        const p = (scores[label] as number) / sum(scores);
        if (label === labels[row]) plainLoss -= Math.log(p);
        const step = (rate - turn * fall) * weight * (Number(label === labels[row]) - p);
        for (let k = 0; k < size; k++) {
          gradient[k] = (gradient[k] as number) + step * (output[k] as number);
          output[k] = (output[k] as number) + step * (hidden[k] as number);
        }
      }
      for (const [word, times] of bag) {
        const input = inputs[word] as number[];
        for (let k = 0; k < size; k++) {
          input[k] = (input[k] as number) + (times / total) * (gradient[k] as number);
        }
      }
    }
    expect(loss).toBeCloseTo(plainLoss, 4);
    for (const [address, plain] of [
      [fields.inputs, inputs.flat()],
      [fields.outputs, outputs.flat()],
    ] as const) {
      const found = read(Float32Array, address, plain.length);
      for (const [i, value] of plain.entries()) expect(found[i]).toBeCloseTo(value, 4);
    }
  });
});

test('umapEpoch pulls the ends of edges whose turn it is, and pushes their heads from others', () => {
  repeat((draw) => {
    const [pointCount, dimension, edgeCount] = [
      draw.integer(2, 6),
      draw.integer(1, 3),
      draw.integer(0, 6),
    ];
    const points = draw.list(pointCount, () => draw.list(dimension, () => draw.uniform() * 4));
    const ends = () => draw.list(edgeCount, () => draw.integer(0, pointCount - 1));
    const [heads, tails] = [ends(), ends()];
    const intervals = draw.list(edgeCount, () => draw.integer(1, 4));
    const nextTurns = draw.list(edgeCount, () => draw.integer(1, 6));
    const negativeSampleRate = 2;
    const nextPushes = nextTurns.map(
      (turn, i) => turn / negativeSampleRate - (intervals[i] as number),
    );
    const state = randomState(draw.integer(1, 99), 3);
    const [a, b, epoch, rate] = [1.5, 0.9, 4, 0.5];
    const fields = {
      positions: put(Float64Array.from(points.flat())),
      ...{ pointCount, dimension },
      heads: put(Int32Array.from(heads)),
      tails: put(Int32Array.from(tails)),
      intervals: put(Float64Array.from(intervals)),
      nextTurns: put(Float64Array.from(nextTurns)),
      nextPushes: put(Float64Array.from(nextPushes)),
      random: put(Uint32Array.from(state)),
    };
    const task = new DataView(new ArrayBuffer(UMAP_TASK_SIZE));
    for (const [field, value] of Object.entries(fields)) {
      task.setUint32(UMAP_TASK[field as keyof typeof UMAP_TASK], value, true);
    }
    for (const [field, value] of Object.entries({ negativeSampleRate, a, b })) {
      task.setFloat64(UMAP_TASK[field as keyof typeof UMAP_TASK], value, true);
    }
    kernels.umapEpoch(put(new Uint8Array(task.buffer)), 0, edgeCount, epoch, rate);
    const random = new Random(state);
    const clip = (x: number) => Math.max(-4, Math.min(4, x));
    for (let e = 0; e < edgeCount; e++) {
      const [interval, turn] = [intervals[e] as number, nextTurns[e] as number];
      if (turn > epoch) continue;
      const head = points[heads[e] as number] as number[];
      const tail = points[tails[e] as number] as number[];
      const apart = (other: readonly number[]) => head.map((x, k) => x - (other[k] as number));
      const squared = (other: readonly number[]) => sum(apart(other).map((x) => x * x));
      const distance = squared(tail);
      if (distance > 0) {
        const pull = (-2 * a * b * distance ** (b - 1)) / (a * distance ** b + 1);
        for (const [k, x] of apart(tail).entries()) {
          head[k] = (head[k] as number) + rate * clip(pull * x);
          tail[k] = (tail[k] as number) - rate * clip(pull * x);
        }
      }
      nextTurns[e] = turn + interval;
      const pushInterval = interval / negativeSampleRate;
      const pushes = Math.trunc((epoch - (nextPushes[e] as number)) / pushInterval);
      for (let push = 0; push < pushes; push++) {
        const other = points[random.below(pointCount)] as number[];
        const far = squared(other);
        if (other === head || far === 0) continue;
        const force = (2 * b) / ((0.001 + far) * (a * far ** b + 1));
        for (const [k, x] of apart(other).entries())
          head[k] = (head[k] as number) + rate * clip(force * x);
      }
      nextPushes[e] = (nextPushes[e] as number) + pushes * pushInterval;
    }
    expect([...read(Float64Array, fields.nextTurns, edgeCount)]).toEqual(nextTurns);
    expect([...read(Float64Array, fields.nextPushes, edgeCount)]).toEqual(nextPushes);
    const found = read(Float64Array, fields.positions, pointCount * dimension);
    for (const [i, value] of points.flat().entries()) expect(found[i]).toBeCloseTo(value, 3);
  });
});
