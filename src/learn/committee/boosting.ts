// Boosting: members that are trained one after another on what those before got wrong.
import { type Static, Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { LearnContext, Learner, Recipe, TrainingData } from '../learner.ts';
import type { Algorithm, CommitteeModel } from '../model/classifier.ts';
import { normalized } from '../weight.ts';
import { drawSample } from './sampling.ts';
import { trainingScores } from './training-scores.ts';

/** What boosting and boosted stumps are both told. */
export const ITERATION_OPTIONS = Type.Object({
  min_iter: Type.Integer({ description: 'rounds at least', minimum: 1, default: 10 }),
  max_iter: Type.Integer({
    description: 'rounds at most',
    minimum: 1,
    maximum: 1_000_000,
    default: 500,
  }),
  cost_function: choice(['exponential', 'logistic'], {
    description: 'how rows that are wrong gain weight',
    default: 'exponential',
  }),
  short_circuit_window: Type.Integer({
    description: 'rounds without improvement that end it; 0: none does',
    minimum: 0,
    default: 0,
  }),
  trace_training_acc: Type.Boolean({
    description:
      'accepted, and changes nothing: the details of the run tell the accuracy of each round',
    default: false,
  }),
  validate_split: Type.Number({
    description:
      'share of the rows that is set aside to choose the last round, the others being drawn with replacement; 0: all rows train as they are',
    minimum: 0,
    maximum: 1,
    default: 0.3,
  }),
});

export interface BoostingOptions {
  readonly minIterations: number;
  readonly maxIterations: number;
  readonly costFunction: 'exponential' | 'logistic';
  /** rounds without improvement that end it; 0: none does */
  readonly window: number;
  readonly validationShare: number;
}

/** A round's model, and its scores of all rows, one for each label. */
export interface Round {
  readonly algorithm: Algorithm;
  readonly scores: Float64Array;
}

/**
 * Multiclass AdaBoost over weights of rows and labels: a round's score f of a label multiplies its
 * weight by exp(-f) where the label is the row's, by exp(f) elsewhere. The sum of the first b rounds
 * is the model, b being the round from minIterations on with the best accuracy on the rows set aside.
 * @param fitRound trains on the weights as they are
 * @see Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions",
 *   Machine Learning 37, 1999
 */
export function fitBoosting(
  context: LearnContext,
  data: TrainingData,
  options: BoostingOptions,
  seed: number,
  fitRound: (data: TrainingData, round: number) => Round,
): CommitteeModel {
  const { target } = data;
  if (target.kind !== 'classes') throw new Error('boosting needs classes');
  const { labels, labelCount } = target;
  const rowCount = labels.length;
  // Inside bagging the bag has drawn and set aside already.
  const sample =
    data.validation === undefined
      ? drawSample(data, options.validationShare, seed, 0)
      : { weights: data.weights, validation: data.validation };
  const isValidated = sample.validation.some((weight) => weight > 0);
  const judged = isValidated ? sample.validation : sample.weights;
  const start = Float64Array.from(
    { length: rowCount * labelCount },
    (_, at) => (sample.weights[Math.floor(at / labelCount)] as number) / labelCount,
  );
  let pairs = normalized(start.slice());
  const sums = new Float64Array(rowCount * labelCount);
  const members: Algorithm[] = [];
  let bestRound = 0;
  let bestAccuracy = -1;
  for (let round = 0; round < options.maxIterations; round++) {
    context.checkCancelled();
    const began = performance.now();
    const weights = rowSums(pairs, rowCount, labelCount);
    // Weights of two classes are those of rows: what favours one is against the other.
    const own = { ...data, weights, ...(labelCount > 2 ? { pairs } : {}) };
    const { algorithm, scores } = fitRound(own, round);
    members.push(algorithm);
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (scores[i] as number);
    const accuracy = accuracyOf(sums, labels, labelCount, judged);
    if (round + 1 >= options.minIterations && accuracy > bestAccuracy) {
      bestAccuracy = accuracy;
      bestRound = round;
    }
    context.reportIteration?.({
      iteration: round,
      seconds: (performance.now() - began) / 1000,
      trainMetric: isValidated ? accuracyOf(sums, labels, labelCount, sample.weights) : accuracy,
      ...(isValidated ? { validationMetric: accuracy } : {}),
    });
    context.progress?.(round + 1, options.maxIterations);
    const isPerfect = accuracyOf(scores, labels, labelCount, weights) >= 1;
    if (isPerfect && isSeparated(scores, labels, labelCount, weights)) {
      // A member without any error has endless weight: beside it the others say nothing.
      return { type: 'committee', members: [algorithm], weights: [1] };
    }
    if (isPerfect && round + 1 >= options.minIterations) break;
    if (options.window > 0 && round - bestRound >= options.window) break;
    pairs = reweighted(pairs, start, sums, scores, labels, labelCount, options.costFunction);
  }
  if (bestAccuracy < 0) bestRound = members.length - 1;
  const kept = members.slice(0, bestRound + 1);
  return { type: 'committee', members: kept, weights: kept.map(() => 1) };
}

function reweighted(
  pairs: Float64Array,
  start: Float64Array,
  sums: Float64Array,
  scores: Float64Array,
  labels: Uint16Array,
  labelCount: number,
  cost: BoostingOptions['costFunction'],
): Float64Array {
  const isLogistic = cost === 'logistic';
  // Few different scores stand in a round: what stays the same needs no new power of e.
  let known = 0;
  let power = 1;
  let at = 0;
  for (let row = 0; row < labels.length; row++) {
    const own = labels[row] as number;
    for (let l = 0; l < labelCount; l++, at++) {
      const score = (isLogistic ? sums[at] : scores[at]) as number;
      const margin = l === own ? score : -score;
      if (margin !== known) {
        known = margin;
        power = Math.exp(isLogistic ? margin : -margin);
      }
      // Collins, Schapire & Singer, "Logistic regression, AdaBoost and Bregman distances", 2002.
      if (isLogistic) pairs[at] = (start[at] as number) / (1 + power);
      else pairs[at] = (pairs[at] as number) * power;
    }
  }
  return normalized(pairs);
}

function rowSums(pairs: Float64Array, rowCount: number, labelCount: number): Float64Array {
  const sums = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    let sum = 0;
    for (let l = 0; l < labelCount; l++) sum += pairs[row * labelCount + l] as number;
    sums[row] = sum;
  }
  return sums;
}

/** Share of the weight whose row's label has the best score; ties are shared. */
function accuracyOf(
  scores: Float64Array,
  labels: Uint16Array,
  labelCount: number,
  weights: Float64Array,
): number {
  let total = 0;
  let right = 0;
  for (let row = 0; row < labels.length; row++) {
    const weight = weights[row] as number;
    if (weight === 0) continue;
    total += weight;
    const own = scores[row * labelCount + (labels[row] as number)] as number;
    let tied = 0;
    let isBest = true;
    for (let l = 0; l < labelCount && isBest; l++) {
      const score = scores[row * labelCount + l] as number;
      if (score > own) isBest = false;
      else if (score === own) tied++;
    }
    if (isBest) right += weight / tied;
  }
  return total === 0 ? 0 : right / total;
}

/** Every row is told with full confidence: another round would learn nothing new. */
function isSeparated(
  scores: Float64Array,
  labels: Uint16Array,
  labelCount: number,
  weights: Float64Array,
): boolean {
  for (let row = 0; row < labels.length; row++) {
    if (weights[row] === 0) continue;
    if ((scores[row * labelCount + (labels[row] as number)] as number) < 1) return false;
  }
  return true;
}

export function boostingOptions(options: Static<typeof ITERATION_OPTIONS>): BoostingOptions {
  return {
    minIterations: options.min_iter,
    maxIterations: options.max_iter,
    costFunction: options.cost_function,
    window: options.short_circuit_window,
    validationShare: options.validate_split,
  };
}

/** @throws INVALID_PARAMETER when there would be less than the least */
export function checkIterations({ options, path }: Recipe<typeof ITERATION_OPTIONS>): void {
  if (options.min_iter <= (options.max_iter as number)) return;
  throw failure(
    'INVALID_PARAMETER',
    `min_iter is greater than max_iter (${options.min_iter} > ${options.max_iter}) at '${path}'`,
  );
}

export const boostingLearner: Learner<typeof ITERATION_OPTIONS> = {
  type: 'boosting',
  summary: 'members trained one after another on what those before got wrong, added up',
  modes: ['boolean', 'categorical'],
  coding: 'each',
  isCommittee: true,
  takesSparse: true,
  makesPairs: true,
  options: ITERATION_OPTIONS,
  check(recipe) {
    checkIterations(recipe);
    const { options, path } = recipe;
    if (options.cost_function !== 'logistic') return;
    throw failure(
      'INVALID_PARAMETER',
      `cost_function logistic is not implemented for boosting, at '${path}'; boosted_stumps has it`,
    );
  },
  fit(context, data, { options, weak }, seed) {
    if (weak === undefined) throw new Error('boosting has a learner inside');
    const inner = { ...context, progress: () => undefined };
    return fitBoosting(context, data, boostingOptions(options), seed, (own, round) => {
      const { pairs, ...unpaired } = own;
      const usable = weak.learner.takesPairs === true ? own : unpaired;
      const algorithm = weak.learner.fit(inner, usable, weak, seed + round);
      return { algorithm, scores: trainingScores(context, data, algorithm) };
    });
  },
};
