// How much of a model's quality rests on each feature: what it loses when the feature's values are
// dealt out to other rows.
import { failure } from '../util/error.ts';
import { areaUnderCurve, booleanCurve, booleanReport, quotient } from './metric/boolean.ts';
import { logarithmicLoss } from './metric/calibration.ts';
import { categoricalReport, predictedLabels } from './metric/categorical.ts';
import { regressionReport } from './metric/regression.ts';
import { checkTestSet } from './metric/test-set.ts';
import { Random } from './random.ts';

/** The metrics that each mode has; the first is the default. */
export const IMPORTANCE_METRICS = {
  boolean: ['auc', 'accuracy', 'f1Score', 'logLoss'],
  regression: ['r2', 'mse'],
  categorical: ['accuracy', 'f1Score', 'logLoss'],
} as const;

export type ImportanceMode = keyof typeof IMPORTANCE_METRICS;
export type ImportanceMetric = (typeof IMPORTANCE_METRICS)[ImportanceMode][number];

/** Metrics that fall as a model gets better. */
const LOSSES: ReadonlySet<ImportanceMetric> = new Set(['mse', 'logLoss']);

/** What is true of each row. */
export type Outcomes =
  /** 0 or 1 a row */
  | { readonly mode: 'boolean'; readonly values: Uint8Array }
  | { readonly mode: 'regression'; readonly values: Float64Array }
  | {
      readonly mode: 'categorical';
      /** all labels: first those that have scores, in the order of their scores */
      readonly labels: readonly string[];
      readonly scoredCount: number;
      /** positions in `labels` */
      readonly values: Int32Array;
    };

/** The quality of scores, one a row or one a row and label. */
export type Measure = (scores: Float64Array) => number;

/**
 * In mode boolean, accuracy and f1Score are those at one threshold: the best for F1 on the scores of
 * the unchanged rows. In mode categorical, accuracy is the share of rows whose best label is right,
 * and f1Score the weighted mean over labels.
 * @param weights one a row
 * @param unchanged scores of the unchanged rows
 * @throws DATA_ERROR for NaN scores, or scores that are no probabilities where the metric needs them
 */
export function measureOf(
  metric: ImportanceMetric,
  outcomes: Outcomes,
  weights: Float64Array,
  unchanged: Float64Array,
  check: () => void,
): Measure {
  switch (outcomes.mode) {
    case 'boolean':
      return measureBoolean(metric, outcomes.values, weights, unchanged, check);
    case 'regression':
      return (scores) => {
        const report = regressionReport(scores, outcomes.values, weights, check);
        return metric === 'mse' ? report.mse : report.r2;
      };
    case 'categorical':
      return measureCategorical(metric, outcomes, weights, check);
  }
}

function measureBoolean(
  metric: ImportanceMetric,
  labels: Uint8Array,
  weights: Float64Array,
  unchanged: Float64Array,
  check: () => void,
): Measure {
  const curveOf = (scores: Float64Array) => booleanCurve(scores, labels, weights, check);
  if (metric === 'auc') return (scores) => areaUnderCurve(curveOf(scores));
  if (metric === 'logLoss') {
    return (scores) =>
      meanLogLoss(weights, (row) => {
        const score = probability(scores[row] as number);
        return labels[row] === 1 ? score : 1 - score;
      });
  }
  const { threshold, population } = booleanReport(curveOf(unchanged), check).bestF1Score;
  const limit = population.included === 0 ? Number.POSITIVE_INFINITY : threshold;
  return (scores) => {
    checkTestSet(labels.length, scores);
    // Weight by truth and guess: 0 true negatives, 1 false positives, 2 false and 3 true ones.
    const sums = new Float64Array(4);
    for (const [row, label] of labels.entries()) {
      const cell = 2 * label + ((scores[row] as number) >= limit ? 1 : 0);
      sums[cell] = (sums[cell] as number) + (weights[row] as number);
    }
    const [tn, fp, fn, tp] = sums as unknown as readonly [number, number, number, number];
    return metric === 'accuracy'
      ? quotient(tp + tn, tp + tn + fp + fn)
      : quotient(2 * tp, 2 * tp + fp + fn);
  };
}

function measureCategorical(
  metric: ImportanceMetric,
  { labels, scoredCount, values }: Extract<Outcomes, { mode: 'categorical' }>,
  weights: Float64Array,
  check: () => void,
): Measure {
  const columns = Int32Array.from({ length: scoredCount }, (_, column) => column);
  const testOf = (scores: Float64Array) => ({
    scores,
    columnCount: scoredCount,
    columns,
    labels,
    actual: values,
    weights,
  });
  switch (metric) {
    case 'f1Score':
      return (scores) => categoricalReport(testOf(scores), [], check).weightedStatistics.f1Score;
    case 'logLoss':
      return (scores) =>
        meanLogLoss(weights, (row) => {
          const label = values[row] as number;
          return label < scoredCount ? probability(scores[row * scoredCount + label] as number) : 0;
        });
    default:
      return (scores) => {
        checkTestSet(values.length, scores);
        const predicted = predictedLabels(testOf(scores), check);
        let right = 0;
        let total = 0;
        for (const [row, label] of values.entries()) {
          const weight = weights[row] as number;
          total += weight;
          if (predicted[row] === label) right += weight;
        }
        return quotient(right, total);
      };
  }
}

function meanLogLoss(weights: Float64Array, probabilityOf: (row: number) => number): number {
  let loss = 0;
  let total = 0;
  for (const [row, weight] of weights.entries()) {
    loss += weight * logarithmicLoss(probabilityOf(row));
    total += weight;
  }
  return quotient(loss, total);
}

function probability(score: number): number {
  if (score >= 0 && score <= 1) return score;
  throw failure('DATA_ERROR', `metric logLoss needs scores from 0 to 1, not ${score}`);
}

export interface Importance {
  /** the mean loss of quality; of metrics that fall with quality, their mean rise */
  readonly importance: number;
  /** standard deviation over the repeats, as that of the whole population */
  readonly std: number;
}

export interface ImportanceTask {
  readonly rowCount: number;
  readonly featureCount: number;
  /** permutations of each feature */
  readonly repeats: number;
  readonly seed: number;
  readonly metric: ImportanceMetric;
  readonly baseline: number;
  readonly measure: Measure;
  /** Scores all rows, each with the value of one feature that the row at `order` has. */
  score(feature: number, order: Uint32Array): Float64Array;
  /** called after each permutation with the share of the work that is done, 0 to 1 */
  progress(share: number): void;
}

const STREAM_PERMUTATION = 71;
const STREAM_SAMPLE = 72;

/**
 * @see Breiman, "Random forests", 2001; Fisher, Rudin & Dominici, "All models are wrong, but many
 *   are useful", JMLR 2019
 */
export function permutationImportance(task: ImportanceTask): Importance[] {
  const { rowCount, featureCount, repeats, seed, baseline, measure, score, progress } = task;
  const sign = LOSSES.has(task.metric) ? -1 : 1;
  return Array.from({ length: featureCount }, (_, feature) => {
    const drops = Array.from({ length: repeats }, (_, repeat) => {
      const random = Random.of(seed, STREAM_PERMUTATION, feature, repeat);
      const changed = measure(score(feature, permutation(rowCount, random)));
      progress((feature * repeats + repeat + 1) / (featureCount * repeats));
      // Never -0, which JSON would not show.
      return sign * (baseline - changed) + 0;
    });
    const importance = mean(drops);
    return { importance, std: Math.sqrt(mean(drops.map((drop) => (drop - importance) ** 2))) };
  });
}

/** Positions of at most that many rows, ascending; drawn when there are more. */
export function sampleRows(rowCount: number, countMax: number, seed: number): Uint32Array {
  if (rowCount <= countMax) return Uint32Array.from({ length: rowCount }, (_, row) => row);
  return permutation(rowCount, Random.of(seed, STREAM_SAMPLE)).slice(0, countMax).sort();
}

/** All positions in an order in which every order is equally likely (Fisher and Yates). */
function permutation(count: number, random: Random): Uint32Array {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const j = random.below(i + 1);
    order[i] = order[j] as number;
    order[j] = i;
  }
  return order;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
