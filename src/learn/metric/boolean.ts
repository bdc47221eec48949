// How well scores tell two classes apart, at every threshold.
import { checkTestSet } from './test-set.ts';

/** Rows or points between two looks at whether the result is still wanted. */
const STEPS_PER_CHECK = 65_536;

export interface Counts {
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
}

/** A threshold and what selecting every score from it on gives. */
export interface ThresholdReport {
  readonly threshold: number;
  readonly mcc: number;
  readonly gain: number;
  readonly pr: {
    readonly accuracy: number;
    readonly precision: number;
    readonly recall: number;
    readonly f1Score: number;
  };
  readonly counts: Counts;
  readonly population: { readonly included: number; readonly excluded: number };
}

export interface BooleanReport {
  readonly auc: number;
  readonly bestF1Score: ThresholdReport;
  readonly bestMcc: ThresholdReport;
}

/**
 * Point 0 selects nothing; point i selects scores from thresholds[i] on, which descend. Sums are
 * weighted.
 */
export interface BooleanCurve {
  readonly thresholds: Float64Array;
  readonly truePositives: Float64Array;
  readonly falsePositives: Float64Array;
  readonly positives: number;
  readonly negatives: number;
  /** the point at which each row is first selected, from 1 */
  readonly points: Uint32Array;
}

/**
 * @param labels 0 or 1 a row
 * @param weights one a row; absent when all are 1
 * @param check called every few thousand rows
 * @throws DATA_ERROR without rows or with a NaN score
 */
export function booleanCurve(
  scores: Float64Array,
  labels: Uint8Array,
  weights?: Float64Array,
  check: () => void = () => {},
): BooleanCurve {
  checkTestSet(scores.length, scores);
  check();
  const distinct = distinctDescending(scores);
  const pointCount = distinct.length + 1;
  const truePositives = new Float64Array(pointCount);
  const falsePositives = new Float64Array(pointCount);
  const points = new Uint32Array(scores.length);
  for (let row = 0; row < scores.length; row++) {
    if (row % STEPS_PER_CHECK === 0) check();
    const point = positionDescending(distinct, scores[row] as number) + 1;
    points[row] = point;
    const sums = labels[row] === 0 ? falsePositives : truePositives;
    sums[point] = (sums[point] as number) + (weights === undefined ? 1 : (weights[row] as number));
  }
  accumulate(truePositives);
  accumulate(falsePositives);
  const thresholds = new Float64Array(pointCount);
  thresholds.set(distinct, 1);
  return {
    thresholds,
    truePositives,
    falsePositives,
    positives: truePositives[pointCount - 1] as number,
    negatives: falsePositives[pointCount - 1] as number,
    points,
  };
}

/** @param check called every few thousand points */
export function booleanReport(curve: BooleanCurve, check: () => void = () => {}): BooleanReport {
  // The last point, which selects everything, is no candidate; of equal ones the first wins.
  let bestF1 = 0;
  let bestMcc = 0;
  let f1Max = f1Score(countsAt(curve, 0));
  let mccMax = mcc(countsAt(curve, 0));
  for (let point = 1; point < curve.thresholds.length - 1; point++) {
    if (point % STEPS_PER_CHECK === 0) check();
    const counts = countsAt(curve, point);
    const f1 = f1Score(counts);
    if (f1 > f1Max) {
      f1Max = f1;
      bestF1 = point;
    }
    const correlation = mcc(counts);
    if (correlation > mccMax) {
      mccMax = correlation;
      bestMcc = point;
    }
  }
  return {
    auc: areaUnderCurve(curve),
    bestF1Score: thresholdReport(curve, bestF1),
    bestMcc: thresholdReport(curve, bestMcc),
  };
}

/** Trapezoids over (false positive rate, true positive rate); tied scores count half. */
export function areaUnderCurve(curve: BooleanCurve): number {
  const { truePositives, falsePositives, positives, negatives } = curve;
  if (positives === 0 || negatives === 0) return 0;
  let area = 0;
  for (let point = 1; point < truePositives.length; point++) {
    const width = (falsePositives[point] as number) - (falsePositives[point - 1] as number);
    const height = (truePositives[point] as number) + (truePositives[point - 1] as number);
    area += (width * height) / 2;
  }
  return area / (positives * negatives);
}

export function countsAt(curve: BooleanCurve, point: number): Counts {
  const truePositives = curve.truePositives[point] as number;
  const falsePositives = curve.falsePositives[point] as number;
  return {
    truePositives,
    falsePositives,
    trueNegatives: curve.negatives - falsePositives,
    falseNegatives: curve.positives - truePositives,
  };
}

/** What the output dataset says of a row at its own score as threshold. */
export interface PointRates extends Counts {
  readonly accuracy: number;
  readonly precision: number;
  readonly recall: number;
  readonly truePositiveRate: number;
  readonly falsePositiveRate: number;
}

export function ratesAt(curve: BooleanCurve, point: number): PointRates {
  const counts = countsAt(curve, point);
  return {
    ...counts,
    accuracy: accuracy(counts),
    precision: precision(counts),
    recall: recall(counts),
    truePositiveRate: recall(counts),
    falsePositiveRate: quotient(
      counts.falsePositives,
      counts.falsePositives + counts.trueNegatives,
    ),
  };
}

/** One row for each distinct score, best score first: its first row with label 0 if it has one. */
export function rowsOfDistinctScores(curve: BooleanCurve, labels: Uint8Array): Uint32Array {
  const rows = new Uint32Array(curve.thresholds.length - 1);
  const isFalse = new Uint8Array(rows.length);
  for (let row = curve.points.length - 1; row >= 0; row--) {
    const at = (curve.points[row] as number) - 1;
    const label = labels[row] as number;
    if (label !== 0 && isFalse[at] === 1) continue;
    rows[at] = row;
    isFalse[at] = label === 0 ? 1 : 0;
  }
  return rows;
}

function thresholdReport(curve: BooleanCurve, point: number): ThresholdReport {
  const counts = countsAt(curve, point);
  const included = counts.truePositives + counts.falsePositives;
  const excluded = counts.trueNegatives + counts.falseNegatives;
  return {
    threshold: curve.thresholds[point] as number,
    mcc: mcc(counts),
    gain: quotient(recall(counts), included / (included + excluded)),
    pr: {
      accuracy: accuracy(counts),
      precision: precision(counts),
      recall: recall(counts),
      f1Score: f1Score(counts),
    },
    counts,
    population: { included, excluded },
  };
}

export function quotient(a: number, b: number): number {
  return b === 0 ? 0 : a / b;
}

function accuracy(c: Counts): number {
  const right = c.truePositives + c.trueNegatives;
  return quotient(right, right + c.falsePositives + c.falseNegatives);
}

function precision(c: Counts): number {
  return quotient(c.truePositives, c.truePositives + c.falsePositives);
}

function recall(c: Counts): number {
  return quotient(c.truePositives, c.truePositives + c.falseNegatives);
}

function f1Score(c: Counts): number {
  const p = precision(c);
  const r = recall(c);
  return quotient(2 * p * r, p + r);
}

function mcc(c: Counts): number {
  const { truePositives: tp, falsePositives: fp, trueNegatives: tn, falseNegatives: fn } = c;
  // Roots first: the product of four large counts could overflow.
  const scale = Math.sqrt((tp + fp) * (tp + fn)) * Math.sqrt((tn + fp) * (tn + fn));
  return quotient(tp * tn - fp * fn, scale);
}

function accumulate(sums: Float64Array): void {
  for (let i = 1; i < sums.length; i++) sums[i] = (sums[i] as number) + (sums[i - 1] as number);
}

function distinctDescending(scores: Float64Array): Float64Array {
  const sorted = Float64Array.from(scores).sort().reverse();
  let count = 0;
  for (const score of sorted) {
    if (count === 0 || score !== sorted[count - 1]) sorted[count++] = score;
  }
  return sorted.subarray(0, count);
}

function positionDescending(sorted: Float64Array, score: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) > score) low = middle + 1;
    else high = middle;
  }
  return low;
}
