// Scores of perceptrons.
import type { Atom } from '../../value/atom.ts';
import { compileDesign } from '../design/columns.ts';
import type { Feature } from '../feature/feature.ts';
import type { Activation, PerceptronLayer, PerceptronModel } from './model.ts';

/** What a unit's sum becomes. */
export function activate(activation: Activation, sum: number): number {
  switch (activation) {
    case 'logsig':
      return 1 / (1 + Math.exp(-sum));
    case 'tanh':
      return Math.tanh(sum);
    case 'tanhs':
      // Scaled so that 1 stays 1: LeCun et al., "Efficient backprop", 1998.
      return 1.7159 * Math.tanh((2 / 3) * sum);
    case 'nonstandard':
      return sum / (1 + Math.abs(sum));
    default:
      return sum;
  }
}

/** Slope of the activation, by sum and output. */
export function activationSlope(activation: Activation, sum: number, output: number): number {
  switch (activation) {
    case 'logsig':
      return output * (1 - output);
    case 'tanh':
      return 1 - output * output;
    case 'tanhs':
      return 1.7159 * (2 / 3) * (1 - (output / 1.7159) ** 2);
    case 'nonstandard':
      return 1 / (1 + Math.abs(sum)) ** 2;
    default:
      return 1;
  }
}

/** Outputs that training asks for at most: what half of the range is. */
export function rangeOf(activation: Activation): readonly [number, number] {
  switch (activation) {
    case 'logsig':
    case 'softmax':
      return [0, 1];
    case 'tanhs':
      return [-1.7159, 1.7159];
    default:
      return [-1, 1];
  }
}

/** Runs a layer; softmax is of the whole layer. */
export function runLayer(layer: PerceptronLayer, input: Float64Array, output: Float64Array): void {
  const { inputCount, outputCount, weights, biases, activation } = layer;
  for (let o = 0; o < outputCount; o++) {
    let sum = biases[o] as number;
    const from = o * inputCount;
    for (let i = 0; i < inputCount; i++) {
      sum += (weights[from + i] as number) * (input[i] as number);
    }
    output[o] = activate(activation, sum);
  }
  if (activation !== 'softmax') return;
  let highest = Number.NEGATIVE_INFINITY;
  for (let o = 0; o < outputCount; o++) highest = Math.max(highest, output[o] as number);
  let total = 0;
  for (let o = 0; o < outputCount; o++) {
    output[o] = Math.exp((output[o] as number) - highest);
    total += output[o] as number;
  }
  for (let o = 0; o < outputCount; o++) output[o] = (output[o] as number) / total;
}

export function compilePerceptron(
  features: readonly Feature[],
  model: PerceptronModel,
  { isBoolean }: { readonly isBoolean: boolean },
): (values: ArrayLike<Atom | undefined>, output: Float64Array) => void {
  const read = compileDesign(features, model.columns);
  const { columns, means, layers, low, high, isRegression } = model;
  const input = new Float64Array(columns.features.length);
  const isNumber = Array.from(columns.extracts, (extract) => extract < 2);
  const buffers = layers.map(({ outputCount }) => new Float64Array(outputCount));
  const visit = (column: number, value: number) => {
    input[column] = value;
  };
  return (values, output) => {
    for (let c = 0; c < input.length; c++) input[c] = isNumber[c] ? (means[c] as number) : 0;
    read(values, visit);
    let current: Float64Array = input;
    for (const [index, layer] of layers.entries()) {
      const buffer = buffers[index] as Float64Array;
      runLayer(layer, current, buffer);
      current = buffer;
    }
    if (isRegression) {
      output[0] = low + (high - low) * (current[0] as number);
      return;
    }
    const score = (raw: number) => Math.min(1, Math.max(0, (raw - low) / (high - low)));
    if (isBoolean) output[0] = score(current[current.length - 1] as number);
    else for (let k = 0; k < output.length; k++) output[k] = score(current[k] as number);
  };
}
