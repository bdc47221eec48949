// Perceptrons: layers of units, trained by gradient descent.
import { type Static, Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { designColumns } from '../design/columns.ts';
import { readValues } from '../feature/values.ts';
import type { LearnContext, Learner, TrainingData } from '../learner.ts';
import { Random } from '../random.ts';
import { lookEvery } from '../workspace.ts';
import { denseRows, standardized, whitening } from './inputs.ts';
import {
  ACTIVATIONS,
  type Activation,
  type PerceptronLayer,
  type PerceptronModel,
} from './model.ts';
import { activationSlope, rangeOf, runLayer } from './score.ts';

const STREAM_WEIGHTS = 41;
const STREAM_ORDER = 42;
const STREAM_SPLIT = 43;

/** Values of a design matrix at most: every row has all of them. */
const INPUT_COUNT_MAX = 100_000_000;

const OPTIONS = Type.Object({
  arch: Type.String({
    description: 'sizes of the hidden layers, joined by _; %i is the number of inputs',
    pattern: '^(%i|[1-9]\\d{0,5})(_(%i|[1-9]\\d{0,5}))*$',
    accepted: 'sizes joined by _, such as 5_10 or %i',
    default: '%i',
  }),
  activation: choice(ACTIVATIONS, { description: 'of hidden units', default: 'tanh' }),
  output_activation: choice(ACTIVATIONS, { description: 'of output units', default: 'tanh' }),
  learning_rate: Type.Number({
    description: 'length of a step; negative: of plain steps along the gradient',
    minimum: -1e9,
    maximum: 1e9,
    default: 0.01,
  }),
  min_iter: Type.Integer({ description: 'passes at least', minimum: 1, default: 10 }),
  max_iter: Type.Integer({
    description: 'passes at most',
    minimum: 1,
    maximum: 1_000_000,
    default: 100,
  }),
  batch_size: Type.Number({
    description: 'rows between two steps: 0 is all of them, below 1 a share, otherwise a count',
    minimum: 0,
    default: 1024,
  }),
  normalize: Type.Boolean({ description: 'inputs are standardised', default: true }),
  decorrelate: Type.Boolean({
    description: 'inputs are made independent of one another',
    default: true,
  }),
  target_value: Type.Number({
    description: 'output that is asked for, as a share of the range',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 0.8,
  }),
  validate_split: Type.Number({
    description: 'share of the rows that is set aside to choose the best pass',
    minimum: 0,
    maximum: 1,
    default: 0.3,
  }),
});

type PerceptronOptions = Static<typeof OPTIONS>;

/**
 * Fits a network by backpropagation over batches of rows, with Adam's steps; a negative rate is the
 * length of plain steps. The best round on the rows that were set aside is kept.
 * @see Rumelhart, Hinton & Williams, "Learning representations by back-propagating errors", 1986;
 *   Kingma & Ba, "Adam: a method for stochastic optimization", 2015
 */
export function fitPerceptron(
  context: LearnContext,
  data: TrainingData,
  options: PerceptronOptions,
  seed: number,
): PerceptronModel {
  const { matrix, sources, target } = data;
  const { features, rowCount } = matrix;
  const look = lookEvery(context);
  const values = features.map((feature, index) =>
    readValues(feature, sources[index] as (typeof sources)[number], look),
  );
  const columns = designColumns(features, values, rowCount);
  const inputCount = columns.features.length;
  if (inputCount * rowCount > INPUT_COUNT_MAX) {
    throw failure(
      'DATA_ERROR',
      `a perceptron takes at most ${INPUT_COUNT_MAX} input values, not ${rowCount} rows of ${inputCount}`,
    );
  }
  const raw = denseRows(columns, values, rowCount, data.weights);
  const first: PerceptronLayer = options.decorrelate
    ? whitening(raw.rows, raw.means, inputCount, data.weights, options.normalize)
    : standardized(raw.rows, raw.means, inputCount, data.weights, options.normalize);
  context.checkCancelled();
  const inputs = new Float64Array(rowCount * inputCount);
  const buffer = new Float64Array(inputCount);
  for (let row = 0; row < rowCount; row++) {
    look();
    runLayer(first, raw.rows.subarray(row * inputCount, (row + 1) * inputCount), buffer);
    inputs.set(buffer, row * inputCount);
  }
  const outputActivation = options.output_activation;
  const aims = targetsOf(data, outputActivation, options.target_value);
  const sizes = [
    inputCount,
    ...options.arch.split('_').map((size) => (size === '%i' ? inputCount : Number(size))),
    aims.width,
  ];
  const random = Random.of(seed, STREAM_WEIGHTS);
  const layers = sizes
    .slice(1)
    .map((size, index) =>
      randomLayer(
        random,
        sizes[index] as number,
        size,
        index === sizes.length - 2 ? outputActivation : options.activation,
      ),
    );
  const network = new Network(layers);
  const best = train(context, data, network, inputs, aims, options, seed);
  return {
    type: 'perceptron',
    columns,
    means: raw.means,
    layers: [first, ...best],
    low: aims.low,
    high: aims.high,
    isRegression: target.kind === 'regression',
  };
}

interface Aims {
  /** outputs */
  readonly width: number;
  /** what each output of each row should be */
  readonly values: Float64Array;
  /** scores 0 and 1 are these outputs; regression: see PerceptronModel */
  readonly low: number;
  readonly high: number;
}

function targetsOf({ target, mode }: TrainingData, activation: Activation, share: number): Aims {
  const [bottom, top] = rangeOf(activation);
  const middle = (bottom + top) / 2;
  const half = activation === 'softmax' ? 0.5 : ((top - bottom) / 2) * share;
  const low = middle - half;
  const high = middle + half;
  if (target.kind === 'regression') {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const value of target.values) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    const spread = most > least ? most - least : 1;
    const values = target.values.map((value) => low + ((value - least) / spread) * (high - low));
    const slope = spread / (high - low);
    // label = least + (output - low) x slope
    return { width: 1, values, low: least - low * slope, high: least - low * slope + slope };
  }
  const { labels, labelCount } = target;
  const width = mode === 'boolean' ? 1 : labelCount;
  const values = new Float64Array(labels.length * width).fill(low);
  for (const [row, label] of labels.entries()) {
    if (width === 1) values[row] = label === 1 ? high : low;
    else values[row * width + label] = high;
  }
  return { width, values, low, high };
}

function randomLayer(
  random: Random,
  inputCount: number,
  outputCount: number,
  activation: Activation,
): PerceptronLayer {
  // Glorot & Bengio, "Understanding the difficulty of training deep feedforward networks", 2010.
  const limit = Math.sqrt(6 / Math.max(1, inputCount + outputCount));
  const weights = Float64Array.from(
    { length: inputCount * outputCount },
    () => (random.uniform() * 2 - 1) * limit,
  );
  return { inputCount, outputCount, weights, biases: new Float64Array(outputCount), activation };
}

/** A network in training: outputs, and gradients by layer. */
class Network {
  readonly layers: readonly PerceptronLayer[];
  readonly outputs: readonly Float64Array[];
  readonly #errors: readonly Float64Array[];

  constructor(layers: readonly PerceptronLayer[]) {
    this.layers = layers;
    this.outputs = layers.map(({ outputCount }) => new Float64Array(outputCount));
    this.#errors = layers.map(({ outputCount }) => new Float64Array(outputCount));
  }

  run(input: Float64Array): Float64Array {
    let current = input;
    for (const [index, layer] of this.layers.entries()) {
      runLayer(layer, current, this.outputs[index] as Float64Array);
      current = this.outputs[index] as Float64Array;
    }
    return current;
  }

  /** Adds weight x the gradient of half the squared error (softmax: the log loss). */
  addGradient(
    input: Float64Array,
    aims: Float64Array,
    from: number,
    weight: number,
    gradients: readonly Float64Array[],
  ): void {
    const last = this.layers.length - 1;
    for (let index = last; index >= 0; index--) {
      const layer = this.layers[index] as PerceptronLayer;
      const outputs = this.outputs[index] as Float64Array;
      const errors = this.#errors[index] as Float64Array;
      const before = index === 0 ? input : (this.outputs[index - 1] as Float64Array);
      const above = this.layers[index + 1];
      const gradient = gradients[index] as Float64Array;
      for (let o = 0; o < layer.outputCount; o++) {
        const output = outputs[o] as number;
        let error = 0;
        if (above === undefined) error = output - (aims[from + o] as number);
        else {
          const higher = this.#errors[index + 1] as Float64Array;
          for (let h = 0; h < above.outputCount; h++) {
            error += (higher[h] as number) * (above.weights[h * above.inputCount + o] as number);
          }
        }
        const sum = layer.activation === 'nonstandard' ? output / (1 - Math.abs(output)) : output;
        const slope = activationSlope(layer.activation, sum, output);
        errors[o] = error * slope;
        const step = weight * error * slope;
        const row = o * layer.inputCount;
        for (let i = 0; i < layer.inputCount; i++) {
          gradient[row + i] = (gradient[row + i] as number) + step * (before[i] as number);
        }
        const bias = layer.inputCount * layer.outputCount + o;
        gradient[bias] = (gradient[bias] as number) + step;
      }
    }
  }
}

/** Moments of gradients: steps of about the same length whatever the batch. */
class Adam {
  readonly #first: Float64Array[];
  readonly #second: Float64Array[];
  #step = 0;

  constructor(sizes: readonly number[]) {
    this.#first = sizes.map((size) => new Float64Array(size));
    this.#second = sizes.map((size) => new Float64Array(size));
  }

  apply(
    layers: readonly PerceptronLayer[],
    gradients: readonly Float64Array[],
    rate: number,
  ): void {
    this.#step++;
    const correction1 = 1 - 0.9 ** this.#step;
    const correction2 = 1 - 0.999 ** this.#step;
    for (const [index, { weights, biases }] of layers.entries()) {
      const gradient = gradients[index] as Float64Array;
      const first = this.#first[index] as Float64Array;
      const second = this.#second[index] as Float64Array;
      for (let i = 0; i < gradient.length; i++) {
        const g = gradient[i] as number;
        first[i] = 0.9 * (first[i] as number) + 0.1 * g;
        second[i] = 0.999 * (second[i] as number) + 0.001 * g * g;
        const length = Math.sqrt((second[i] as number) / correction2) + 1e-8;
        move(weights, biases, i, (-rate * ((first[i] as number) / correction1)) / length);
      }
    }
  }
}

function move(weights: Float64Array, biases: Float64Array, index: number, step: number): void {
  const bias = index - weights.length;
  if (bias < 0) weights[index] = (weights[index] as number) + step;
  else biases[bias] = (biases[bias] as number) + step;
}

function train(
  context: LearnContext,
  data: TrainingData,
  network: Network,
  inputs: Float64Array,
  aims: Aims,
  options: PerceptronOptions,
  seed: number,
): readonly PerceptronLayer[] {
  const { weights, validation } = splitRows(data, options.validate_split, seed);
  const rows = Uint32Array.from([...weights.keys()].filter((row) => (weights[row] as number) > 0));
  const batchSize = batchSizeOf(options.batch_size, rows.length);
  const rate = options.learning_rate;
  const { layers } = network;
  const lengths = layers.map(({ weights: own, biases }) => own.length + biases.length);
  const gradients = lengths.map((length) => new Float64Array(length));
  const adam = new Adam(lengths);
  const inputCount = layers[0]?.inputCount ?? 0;
  const inputOf = (row: number) => inputs.subarray(row * inputCount, (row + 1) * inputCount);
  const minimum = options.min_iter;
  const maximum = Math.max(minimum, options.max_iter);
  const judged = validation.some((weight) => weight > 0) ? validation : weights;
  let best = layers.map(copyLayer);
  let bestMetric = Number.NEGATIVE_INFINITY;
  const look = lookEvery(context);
  for (let iteration = 0; iteration < maximum; iteration++) {
    context.checkCancelled();
    const began = performance.now();
    shuffle(rows, Random.of(seed, STREAM_ORDER, iteration));
    for (let from = 0; from < rows.length; from += batchSize) {
      context.checkCancelled();
      const batch = rows.subarray(from, Math.min(rows.length, from + batchSize));
      for (const gradient of gradients) gradient.fill(0);
      for (const row of batch) {
        look();
        network.run(inputOf(row));
        const weight = weights[row] as number;
        network.addGradient(inputOf(row), aims.values, row * aims.width, weight, gradients);
      }
      if (rate >= 0) adam.apply(layers, gradients, rate);
      else {
        for (const [index, { weights: own, biases }] of layers.entries()) {
          const gradient = gradients[index] as Float64Array;
          for (let i = 0; i < gradient.length; i++) {
            move(own, biases, i, rate * (gradient[i] as number));
          }
        }
      }
    }
    const metric = judge(network, data, inputOf, aims, judged, look);
    if (iteration + 1 >= minimum && metric > bestMetric) {
      bestMetric = metric;
      best = layers.map(copyLayer);
    }
    context.reportIteration?.({
      iteration,
      seconds: (performance.now() - began) / 1000,
      validationMetric: data.target.kind === 'regression' ? -metric : metric,
    });
    context.progress?.(iteration + 1, maximum);
  }
  return best;
}

/** Accuracy, or minus the root of the mean squared error. */
function judge(
  network: Network,
  { target }: TrainingData,
  inputOf: (row: number) => Float64Array,
  aims: Aims,
  weights: Float64Array,
  look: () => void,
): number {
  let total = 0;
  let sum = 0;
  for (let row = 0; row < weights.length; row++) {
    const weight = weights[row] as number;
    if (weight === 0) continue;
    look();
    total += weight;
    const outputs = network.run(inputOf(row));
    if (target.kind === 'regression') {
      sum -= weight * ((outputs[0] as number) - (aims.values[row] as number)) ** 2;
      continue;
    }
    const label = target.labels[row] as number;
    if (aims.width === 1) {
      const isTrue = (outputs[0] as number) > (aims.low + aims.high) / 2;
      sum += Number(isTrue) === label ? weight : 0;
    } else {
      let bestLabel = 0;
      for (let l = 1; l < outputs.length; l++) {
        if ((outputs[l] as number) > (outputs[bestLabel] as number)) bestLabel = l;
      }
      sum += bestLabel === label ? weight : 0;
    }
  }
  return target.kind === 'regression' ? -Math.sqrt(-sum / total) : sum / total;
}

function copyLayer(layer: PerceptronLayer): PerceptronLayer {
  return { ...layer, weights: layer.weights.slice(), biases: layer.biases.slice() };
}

function batchSizeOf(option: number, rowCount: number): number {
  if (option === 0) return rowCount;
  return Math.max(1, Math.round(option < 1 ? option * rowCount : option));
}

function splitRows({ weights, validation }: TrainingData, share: number, seed: number) {
  if (validation !== undefined) return { weights, validation };
  const train = weights.slice();
  const aside = new Float64Array(weights.length);
  const rows = Uint32Array.from([...weights.keys()].filter((row) => (weights[row] as number) > 0));
  shuffle(rows, Random.of(seed, STREAM_SPLIT));
  for (const row of rows.subarray(0, Math.min(rows.length - 1, Math.round(rows.length * share)))) {
    aside[row] = weights[row] as number;
    train[row] = 0;
  }
  return { weights: train, validation: aside };
}

function shuffle(rows: Uint32Array, random: Random): void {
  for (let i = rows.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    const row = rows[i] as number;
    rows[i] = rows[other] as number;
    rows[other] = row;
  }
}

export const perceptronLearner: Learner<typeof OPTIONS> = {
  type: 'perceptron',
  summary: 'a network of layers of units',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'none',
  options: OPTIONS,
  fit: (context, data, { options }, seed) => fitPerceptron(context, data, options, seed),
};
