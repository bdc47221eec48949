// Models made ready to score: trees in shared memory, everything else as it is.

import type { Span } from '../../value/column/snapshot.ts';
import { packTree, testedColumns } from '../decision-tree/pack.ts';
import type { Feature } from '../feature/feature.ts';
import { spansOf, type TreeEnsemble } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import { type Algorithm, type ClassifierModel, mirrorOf, treesOf } from './classifier.ts';

/** What becomes of the sums of trees. */
export type OutputLink = 'none' | 'logistic' | 'softmax' | 'exp' | 'logit' | 'logit_norm';

/** Plain data over shared memory, with which any thread can score. */
export type Prepared =
  | {
      readonly kind: 'trees';
      readonly ensemble: TreeEnsemble;
      /** added to the ensemble's outputs; absent: nothing */
      readonly base?: readonly number[];
      readonly link: OutputLink;
      /** the first of two labels has this minus the second's score; absent: no label is left out */
      readonly mirror?: number;
    }
  | {
      readonly kind: 'values';
      readonly algorithm: Extract<
        Algorithm,
        { type: 'glz' | 'naive_bayes' | 'perceptron' | 'fasttext' | 'null' }
      >;
    }
  | {
      readonly kind: 'sum';
      readonly members: readonly Prepared[];
      readonly weights: readonly number[];
      readonly link: OutputLink;
    }
  | {
      readonly kind: 'each';
      readonly members: readonly Prepared[];
      readonly calibrations?: readonly (readonly [number, number])[];
    };

/** Makes a model ready. Trees that are made here are the caller's, see preparedSpans. */
export function prepare(
  workspace: Workspace,
  features: readonly Feature[],
  algorithm: Algorithm,
  arena: number,
): Prepared {
  switch (algorithm.type) {
    case 'random_forest':
      return { kind: 'trees', ensemble: algorithm.ensemble, link: 'none', mirror: 1 };
    case 'gbt': {
      const { ensemble, baseScore, output } = algorithm;
      const links = { logistic: 'logistic', softmax: 'softmax', poisson: 'exp' } as const;
      const natural = links[algorithm.objective as keyof typeof links] ?? 'none';
      const link = output === 'margin' ? 'none' : natural;
      const mirror = output === 'margin' ? 0 : 1;
      return { kind: 'trees', ensemble, base: baseScore, link, mirror };
    }
    case 'decision_tree':
    case 'stump':
      return packed(workspace, features, algorithm, arena, 'none');
    case 'boosted_stumps': {
      const link = algorithm.output === 'raw' ? 'none' : algorithm.output;
      return packed(workspace, features, algorithm.committee, arena, link);
    }
    case 'committee':
      return packed(workspace, features, algorithm, arena, 'none');
    case 'one_vs_all': {
      const { calibrations } = algorithm;
      const members = algorithm.members.map((member) =>
        prepare(workspace, features, member, arena),
      );
      return { kind: 'each', members, ...(calibrations === undefined ? {} : { calibrations }) };
    }
    default:
      return { kind: 'values', algorithm };
  }
}

function packed(
  workspace: Workspace,
  features: readonly Feature[],
  algorithm: Algorithm,
  arena: number,
  link: OutputLink,
): Prepared {
  const trees = treesOf(algorithm);
  const width = trees?.[0]?.tree.width ?? 0;
  if (trees === undefined || trees.some(({ tree }) => tree.width !== width)) {
    if (algorithm.type !== 'committee') throw new Error(`${algorithm.type} has no trees`);
    const members = algorithm.members.map((member) => prepare(workspace, features, member, arena));
    return { kind: 'sum', members, weights: algorithm.weights, link };
  }
  const columns = testedColumns(
    features,
    trees.map(({ tree }) => tree),
  );
  const ensemble: TreeEnsemble = {
    features,
    columns,
    width,
    trees: trees.map(({ tree }) => packTree(workspace, tree, columns, arena)),
    weights: trees.map(({ weight }) => weight),
    divisor: 1,
  };
  const mirror = mirrorOf(algorithm);
  return { kind: 'trees', ensemble, link, ...(mirror === undefined ? {} : { mirror }) };
}

/** All shared memory of a model that was made ready. */
export function preparedSpans(prepared: Prepared): Span[] {
  switch (prepared.kind) {
    case 'trees':
      return spansOf(prepared.ensemble);
    case 'sum':
    case 'each':
      return prepared.members.flatMap(preparedSpans);
    default:
      return [];
  }
}

/** Ready to score, with what scores mean; plain data. */
export interface PreparedModel {
  readonly model: Pick<ClassifierModel, 'mode' | 'labels' | 'features'>;
  readonly prepared: Prepared;
}
