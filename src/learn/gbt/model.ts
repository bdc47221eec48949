// Gradient-boosted trees as plain values.
import type { TreeEnsemble } from '../tree/ensemble.ts';

export const OBJECTIVES = [
  'logistic',
  'squared',
  'absolute',
  'huber',
  'quantile',
  'poisson',
  'softmax',
] as const;
export type Objective = (typeof OBJECTIVES)[number];

export interface GbtModel {
  readonly type: 'gbt';
  readonly objective: Objective;
  /** one a score */
  readonly baseScore: readonly number[];
  readonly learningRate: number;
  /** scores are means, or the sums that they are made of */
  readonly output: 'probability' | 'margin';
  /** trees in shared memory; a node's value is what a leaf there would say, its cover the hessians */
  readonly ensemble: TreeEnsemble;
  /** gain of the split of each node, tree by tree; 0 for leaves */
  readonly gains: readonly Float32Array[];
  /** the best round, from 0; the last one without early stopping */
  readonly bestIteration: number;
}
