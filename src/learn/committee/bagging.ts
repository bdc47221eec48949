// Bagging: members trained on samples of the rows, averaged.
import { Type } from 'typebox';
import { failure } from '../../util/error.ts';
import type { Learner } from '../learner.ts';
import type { Algorithm } from '../model/classifier.ts';
import { drawSample } from './sampling.ts';

/** @see Breiman, "Bagging predictors", Machine Learning 24, 1996 */
const OPTIONS = Type.Object({
  num_bags: Type.Integer({ description: 'members', minimum: 1, maximum: 100_000, default: 10 }),
  validation_split: Type.Number({
    description: 'share of the rows that a member does not see, and may choose by',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 0.35,
  }),
});

export const baggingLearner: Learner<typeof OPTIONS> = {
  type: 'bagging',
  summary: 'members trained on samples of the rows, averaged',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'each',
  isCommittee: true,
  takesSparse: true,
  options: OPTIONS,
  check({ path, weak }) {
    if (weak?.learner.type !== 'fasttext') return;
    throw failure('INVALID_PARAMETER', `fasttext cannot be inside bagging, at '${path}'`);
  },
  fit(context, data, recipe, seed) {
    const { options, weak } = recipe;
    if (weak === undefined) throw new Error('bagging has a learner inside');
    const count = options.num_bags;
    const members: Algorithm[] = [];
    for (let bag = 0; bag < count; bag++) {
      context.checkCancelled();
      const sample = drawSample(data, options.validation_split, seed, bag);
      const own = { ...data, ...sample };
      const inner = { ...context, progress: () => undefined };
      members.push(weak.learner.fit(inner, own, weak, seed + bag));
      context.progress?.(bag + 1, count);
    }
    return { type: 'committee', members, weights: members.map(() => 1 / count) };
  },
};
