// One label against the others: a model of two classes for each label of rows that may have several.
import { Type } from 'typebox';
import { failure } from '../../util/error.ts';
import { trainingScores } from '../committee/training-scores.ts';
import { fitProbabilizer } from '../glz/probabilizer.ts';
import type { LearnContext, Learner, Recipe, TrainingData } from '../learner.ts';
import type { Algorithm, OneVsAllModel } from '../model/classifier.ts';

/** Rows' sets of labels: row r has those from offsets[r] up to offsets[r + 1]. */
export interface LabelSets {
  readonly labels: ArrayLike<number>;
  readonly offsets: ArrayLike<number>;
  readonly labelCount: number;
}

/**
 * Fits one model a label, and a logistic function that turns its scores into probabilities.
 * A label that all rows have, or none, has a constant score.
 * @param isCalibrated false: scores stay as the models give them
 */
export function fitOneVsAll(
  context: LearnContext,
  data: Omit<TrainingData, 'target' | 'mode'>,
  sets: LabelSets,
  recipe: Recipe,
  seed: number,
  isCalibrated = true,
): OneVsAllModel {
  const members: Algorithm[] = [];
  const calibrations: (readonly [number, number])[] = [];
  const inner = { ...context, progress: () => undefined };
  for (let label = 0; label < sets.labelCount; label++) {
    context.checkCancelled();
    const labels = membership(sets, label);
    const own: TrainingData = {
      ...data,
      mode: 'boolean',
      target: { kind: 'classes', labels, labelCount: 2 },
    };
    const algorithm = recipe.learner.fit(inner, own, recipe, seed + label);
    members.push(algorithm);
    context.progress?.(label + 1, sets.labelCount);
    if (!isCalibrated) continue;
    const both = trainingScores(context, own, algorithm);
    const scores = Float64Array.from(labels, (_, row) => both[2 * row + 1] as number);
    const weights = data.weights.map((weight) => weight * data.weightTotal);
    calibrations.push(
      fitProbabilizer(context, scores, Float64Array.from(labels), weights, 'logit'),
    );
  }
  return { type: 'one_vs_all', members, ...(isCalibrated ? { calibrations } : {}) };
}

function membership({ labels, offsets }: LabelSets, label: number): Uint16Array {
  const rows = new Uint16Array(offsets.length - 1);
  for (let row = 0; row < rows.length; row++) {
    for (let i = offsets[row] as number; i < (offsets[row + 1] as number); i++) {
      if (labels[i] === label) rows[row] = 1;
    }
  }
  return rows;
}

export const oneVsAllLearner: Learner = {
  type: 'onevsall',
  summary: 'a model of two classes for each label of rows that may have several',
  modes: ['multilabel'],
  coding: 'each',
  isCommittee: true,
  takesSparse: true,
  options: Type.Object({}),
  fit() {
    throw failure('INVALID_PARAMETER', 'onevsall is for mode multilabel, and not inside others');
  },
};
