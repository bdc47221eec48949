// Classifiers as plain values: what is stored, what is scored, what is shown.
import type { DecisionTree, UpdateAlgorithm } from '../decision-tree/tree.ts';
import type { FastTextModel } from '../fasttext/model.ts';
import type { Feature } from '../feature/feature.ts';
import type { GbtModel } from '../gbt/model.ts';
import type { GlzModel } from '../glz/model.ts';
import type { Mode } from '../label.ts';
import type { NaiveBayesModel } from '../naive-bayes/model.ts';
import type { PerceptronModel } from '../perceptron/model.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';

/** What a learner found. Each kind is a plain value and knows nothing of the data it came from. */
export type Algorithm =
  | DecisionTreeModel
  | StumpModel
  /** the ensemble's trees lie in shared memory, and belong to whoever holds the model */
  | { readonly type: 'random_forest'; readonly ensemble: TreeEnsemble }
  | CommitteeModel
  | BoostedStumpsModel
  | OneVsAllModel
  | GlzModel
  | NaiveBayesModel
  | PerceptronModel
  | FastTextModel
  | GbtModel
  | { readonly type: 'null' };

export interface DecisionTreeModel {
  readonly type: 'decision_tree';
  readonly tree: DecisionTree;
  readonly updateAlgorithm: UpdateAlgorithm;
}

export interface StumpModel {
  readonly type: 'stump';
  readonly tree: DecisionTree;
  readonly updateAlgorithm: UpdateAlgorithm;
  readonly z: number;
}

/** The weighted sum of its members' scores. */
export interface CommitteeModel {
  readonly type: 'committee';
  readonly members: readonly Algorithm[];
  readonly weights: readonly number[];
}

/** A sum of stumps, and what is made of it. */
export interface BoostedStumpsModel {
  readonly type: 'boosted_stumps';
  readonly committee: CommitteeModel;
  readonly output: 'raw' | 'logit' | 'logit_norm';
}

/** A model of two classes for each label, independent of one another. */
export interface OneVsAllModel {
  readonly type: 'one_vs_all';
  readonly members: readonly Algorithm[];
  /** for each label, the slope and constant of the logistic function of its score; absent: none */
  readonly calibrations?: readonly (readonly [number, number])[];
}

export interface ClassifierModel {
  readonly mode: Mode;
  /** JSON texts of the labels in score order; empty for boolean and regression */
  readonly labels: readonly string[];
  /** inputs in the order of their names */
  readonly features: readonly Feature[];
  readonly algorithm: Algorithm;
}

/** Scores that a row gets: one a label, or one. */
export function scoreCountOf({ mode, labels }: Pick<ClassifierModel, 'mode' | 'labels'>): number {
  return mode === 'boolean' || mode === 'regression' ? 1 : labels.length;
}

/** Whether any input can make a difference; a model without any trains, but does not score. */
export function hasUsableFeature(model: ClassifierModel): boolean {
  return model.features.some((feature) => feature.kind !== 'unused');
}

/** One tree of a committee, with the product of the weights on the way to it. */
export interface WeightedTree {
  readonly tree: DecisionTree;
  readonly updateAlgorithm: UpdateAlgorithm;
  readonly weight: number;
}

/** The trees that a model is the weighted sum of; undefined when it is no such sum. */
export function treesOf(algorithm: Algorithm, weight = 1): WeightedTree[] | undefined {
  switch (algorithm.type) {
    case 'decision_tree':
    case 'stump': {
      const { tree, updateAlgorithm } = algorithm;
      return [{ tree, updateAlgorithm, weight }];
    }
    case 'committee': {
      const trees: WeightedTree[] = [];
      for (const [index, member] of algorithm.members.entries()) {
        const own = treesOf(member, weight * (algorithm.weights[index] as number));
        if (own === undefined) return undefined;
        trees.push(...own);
      }
      return trees;
    }
    default:
      return undefined;
  }
}

/**
 * The score of "false" for a score of "true": c - score, where c is 1 for shares of a whole and 0
 * for margins. Undefined where one does not follow from the other.
 */
export function mirrorOf(algorithm: Algorithm): number | undefined {
  switch (algorithm.type) {
    case 'decision_tree':
    case 'stump':
      return algorithm.updateAlgorithm === 'prob' ? 1 : 0;
    case 'random_forest':
    case 'naive_bayes':
    case 'perceptron':
      return 1;
    case 'gbt':
      return algorithm.output === 'probability' ? 1 : 0;
    case 'glz':
      if (!algorithm.decode) return algorithm.link === 'linear' ? 1 : 0;
      return 1;
    case 'committee': {
      let sum = 0;
      for (const [index, member] of algorithm.members.entries()) {
        const own = mirrorOf(member);
        if (own === undefined) return undefined;
        sum += own * (algorithm.weights[index] as number);
      }
      return sum;
    }
    case 'boosted_stumps':
      return algorithm.output === 'raw' ? mirrorOf(algorithm.committee) : 1;
    case 'null':
      return 1;
    default:
      return undefined;
  }
}

/** Spans in shared memory that belong to the model. */
export function modelEnsembles(algorithm: Algorithm): TreeEnsemble[] {
  switch (algorithm.type) {
    case 'random_forest':
    case 'gbt':
      return [algorithm.ensemble];
    case 'committee':
    case 'one_vs_all':
      return algorithm.members.flatMap(modelEnsembles);
    default:
      return [];
  }
}
