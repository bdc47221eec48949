// Boosted stumps: boosting whose members are tests of one feature.
import { Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { fitStumps, type Stump } from '../decision-tree/stump.ts';
import {
  type DecisionTree,
  UPDATE_ALGORITHMS,
  type UpdateAlgorithm,
} from '../decision-tree/tree.ts';
import type { LearnContext, Learner, TrainingData } from '../learner.ts';
import type { Algorithm, BoostedStumpsModel } from '../model/classifier.ts';
import { boostingOptions, checkIterations, fitBoosting, ITERATION_OPTIONS } from './boosting.ts';
import { trainingScores } from './training-scores.ts';

const OUTPUTS = ['raw', 'logit', 'logit_norm'] as const;

/** Scores that differ by less are a tie, for `fair`. */
const TIE = 1e-12;

const OPTIONS = Type.Object({
  ...ITERATION_OPTIONS.properties,
  true_only: Type.Boolean({
    description: 'a test that does not hold says nothing',
    default: false,
  }),
  fair: Type.Boolean({
    description: 'stumps that are equally good are added together',
    default: false,
  }),
  output_function: choice(OUTPUTS, {
    description: 'scores are sums, logistic functions of them, or those divided by their total',
    default: 'raw',
  }),
  update_alg: choice(UPDATE_ALGORITHMS, {
    description: 'what an outcome says: share, log-odds or margin of its weights',
    default: 'normal',
  }),
});

export const boostedStumpsLearner: Learner<typeof OPTIONS> = {
  type: 'boosted_stumps',
  summary: 'tests of one feature each, trained on what those before got wrong, added up',
  modes: ['boolean', 'categorical'],
  coding: 'each',
  takesSparse: true,
  makesPairs: true,
  options: OPTIONS,
  check: checkIterations,
  fit(context, data, { options }, seed): BoostedStumpsModel {
    const updateAlgorithm = options.update_alg;
    const committee = fitBoosting(context, data, boostingOptions(options), seed, (own) => {
      const stumps = bestStumps(context, own, updateAlgorithm, options.fair);
      const members = stumps.map(({ tree, z }): Algorithm => {
        const kept = options.true_only ? withTrueOnly(tree) : tree;
        return { type: 'stump', tree: kept, updateAlgorithm, z };
      });
      const share = 1 / members.length;
      const [only] = members;
      const algorithm: Algorithm =
        members.length === 1 && only !== undefined
          ? only
          : { type: 'committee', members, weights: members.map(() => share) };
      return { algorithm, scores: trainingScores(context, data, algorithm) };
    });
    const output = options.output_function;
    return { type: 'boosted_stumps', committee, output };
  },
};

function bestStumps(
  context: LearnContext,
  data: TrainingData,
  updateAlgorithm: UpdateAlgorithm,
  isFair: boolean,
): Stump[] {
  const stumps = fitStumps(
    context,
    data,
    { committeeSize: 1, featureProportion: 1, updateAlgorithm, ignoreHighest: 0, randomSeed: 1 },
    isFair ? Number.POSITIVE_INFINITY : 1,
  );
  const least = stumps[0]?.z ?? 0;
  return stumps.filter(({ z }) => z <= least + TIE);
}

/** The outputs of all but the first outcome become 0. */
function withTrueOnly(tree: DecisionTree): DecisionTree {
  const outputs = tree.outputs.slice();
  const yes = tree.children[0] as number;
  for (let node = 1; node < tree.tests.length; node++) {
    if (node !== yes) outputs.fill(0, node * tree.width, (node + 1) * tree.width);
  }
  return { ...tree, outputs };
}
