// Classifiers as plain values: what is stored, what is scored, what is shown.

import { packTree, testedColumns } from '../decision-tree/pack.ts';
import type { DecisionTree, UpdateAlgorithm } from '../decision-tree/tree.ts';
import type { Feature } from '../feature/feature.ts';
import type { Mode } from '../label.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';

/** What a learner found. Each kind is a plain value and knows nothing of the data it came from. */
export type Algorithm =
  | {
      readonly type: 'decision_tree';
      readonly tree: DecisionTree;
      readonly updateAlgorithm: UpdateAlgorithm;
    }
  /** the ensemble's trees lie in shared memory, and belong to whoever holds the model */
  | { readonly type: 'random_forest'; readonly ensemble: TreeEnsemble };

export interface ClassifierModel {
  readonly mode: Mode;
  /** JSON texts of the labels in score order; empty for boolean and regression */
  readonly labels: readonly string[];
  /** inputs in the order of their names */
  readonly features: readonly Feature[];
  readonly algorithm: Algorithm;
}

/** Scores that a row gets: one a label, or one. */
export function scoreCountOf(model: ClassifierModel): number {
  return model.mode === 'boolean' || model.mode === 'regression' ? 1 : model.labels.length;
}

/** Whether any input can make a difference; a model without any trains, but does not score. */
export function hasUsableFeature(model: ClassifierModel): boolean {
  return model.features.some((feature) => feature.kind !== 'unused');
}

/** The model's trees in shared memory, ready to be walked. Trees made here are the caller's. */
export function ensembleOf(
  workspace: Workspace,
  model: ClassifierModel,
  arena: number,
): TreeEnsemble {
  const { algorithm, features } = model;
  if (algorithm.type === 'random_forest') return algorithm.ensemble;
  const columns = testedColumns(features, [algorithm.tree]);
  return {
    features,
    columns,
    width: algorithm.tree.width,
    trees: [packTree(workspace, algorithm.tree, columns, arena)],
    weights: [1],
    divisor: 1,
  };
}

/**
 * A row's scores from an ensemble's outputs: trees for two labels keep only the second label's
 * output, of which the first label's is the mirror image.
 */
export function expandScores(model: ClassifierModel, outputs: Float64Array): Float64Array {
  const scoreCount = scoreCountOf(model);
  if (outputs.length === scoreCount) return outputs;
  const second = outputs[0] as number;
  return Float64Array.of(mirrored(model, second), second);
}

function mirrored({ algorithm }: ClassifierModel, score: number): number {
  const isShare = algorithm.type === 'random_forest' || algorithm.updateAlgorithm === 'prob';
  return isShare ? 1 - score : -score;
}
