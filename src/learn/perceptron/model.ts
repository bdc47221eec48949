// Perceptrons as plain values.
import type { DesignColumns } from '../design/columns.ts';

export const ACTIVATIONS = [
  'logsig',
  'tanh',
  'tanhs',
  'identity',
  'softmax',
  'nonstandard',
] as const;
export type Activation = (typeof ACTIVATIONS)[number];

export interface PerceptronLayer {
  readonly inputCount: number;
  readonly outputCount: number;
  /** outputCount rows of inputCount weights */
  readonly weights: Float64Array;
  readonly biases: Float64Array;
  readonly activation: Activation;
}

export interface PerceptronModel {
  readonly type: 'perceptron';
  readonly columns: DesignColumns;
  /** what a missing column counts as */
  readonly means: Float64Array;
  /** first: the inputs, whitened; without an activation */
  readonly layers: readonly PerceptronLayer[];
  /** outputs at these are scores 0 and 1; regression: they are what is added and divided by */
  readonly low: number;
  readonly high: number;
  readonly isRegression: boolean;
}
