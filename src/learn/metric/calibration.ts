// Whether scores are the probabilities that they look like.
import { failure } from '../../util/error.ts';
import type { BooleanCurve } from './boolean.ts';

export const CALIBRATION_STRATEGIES = ['uniform', 'quantile'] as const;
export type CalibrationStrategy = (typeof CALIBRATION_STRATEGIES)[number];

export interface CalibrationBin {
  readonly lower: number;
  readonly upper: number;
  /** weight of the rows */
  readonly count: number;
  /** null without rows */
  readonly meanScore: number | null;
  readonly fractionPositive: number | null;
}

export interface CalibrationReport {
  readonly brier: number;
  readonly logLoss: number;
  /** expected and largest distance of a bin's mean score from its share of positives */
  readonly ece: number;
  readonly mce: number;
  readonly bins: readonly CalibrationBin[];
}

/** Probabilities are kept this far from 0 and 1 in logarithms. */
const CLIP = 1e-15;

/** The loss of a row whose outcome had this probability; finite even for 0. */
export function logarithmicLoss(probability: number): number {
  return -Math.log(Math.min(1 - CLIP, Math.max(CLIP, probability)));
}

/**
 * Compares mean scores with shares of positives, bin by bin. Uniform bins are equally wide, quantile
 * bins hold about the same weight; the last is closed. Everything is weighted.
 * @param check called now and then
 * @throws DATA_ERROR for a score outside [0, 1]
 * @see Naeini, Cooper & Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning",
 *   AAAI 2015
 */
export function calibrationReport(
  scores: Float64Array,
  labels: Uint8Array,
  weights: Float64Array,
  binCount: number,
  strategy: CalibrationStrategy,
  check: () => void = () => undefined,
): CalibrationReport {
  for (const score of scores) {
    if (score >= 0 && score <= 1) continue;
    throw failure('DATA_ERROR', `calibration needs scores from 0 to 1, not ${score}`);
  }
  check();
  const edges =
    strategy === 'uniform' ? uniformEdges(binCount) : quantileEdges(scores, weights, binCount);
  check();
  const totals = edges.slice(1).map(() => ({ weight: 0, score: 0, positive: 0 }));
  let total = 0;
  let brier = 0;
  let logLoss = 0;
  for (const [row, score] of scores.entries()) {
    const weight = weights[row] as number;
    const label = labels[row] as number;
    const bin = totals[binOf(edges, score)] as (typeof totals)[number];
    bin.weight += weight;
    bin.score += weight * score;
    bin.positive += weight * label;
    total += weight;
    brier += weight * (score - label) ** 2;
    logLoss += weight * logarithmicLoss(label === 1 ? score : 1 - score);
  }
  let ece = 0;
  let mce = 0;
  const bins = totals.map(({ weight, score, positive }, index): CalibrationBin => {
    const edge = { lower: edges[index] as number, upper: edges[index + 1] as number };
    if (weight === 0) return { ...edge, count: 0, meanScore: null, fractionPositive: null };
    const distance = Math.abs(score - positive) / weight;
    ece += (weight / total) * distance;
    mce = Math.max(mce, distance);
    const shares = { meanScore: score / weight, fractionPositive: positive / weight };
    return { ...edge, count: weight, ...shares };
  });
  return { brier: brier / total, logLoss: logLoss / total, ece, mce, bins };
}

function uniformEdges(binCount: number): number[] {
  return Array.from({ length: binCount + 1 }, (_, index) => index / binCount);
}

/** From 0 to 1, with about the same weight between neighbours; equal scores are not parted. */
function quantileEdges(scores: Float64Array, weights: Float64Array, binCount: number): number[] {
  const order = Uint32Array.from(scores.keys()).sort(
    (a, b) => (scores[a] as number) - (scores[b] as number),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const edges = [0];
  let sum = 0;
  let before = 0;
  for (const row of order) {
    const score = scores[row] as number;
    const isDue = sum >= (total * edges.length) / binCount && edges.length < binCount;
    if (isDue && score > before) edges.push(score);
    before = score;
    sum += weights[row] as number;
  }
  return [...edges, 1];
}

function binOf(edges: readonly number[], score: number): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((edges[middle] as number) <= score) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Average precision: precision at each threshold, weighted by the recall that it adds.
 * 0 without positives.
 */
export function averagePrecision(curve: BooleanCurve): number {
  const { truePositives, falsePositives, positives } = curve;
  if (positives === 0) return 0;
  let sum = 0;
  for (let point = 1; point < truePositives.length; point++) {
    const found = truePositives[point] as number;
    const added = found - (truePositives[point - 1] as number);
    if (added > 0) sum += (added * found) / (found + (falsePositives[point] as number));
  }
  return sum / positives;
}
