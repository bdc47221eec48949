// What gradient boosting minimises: gradients, first scores, leaf values that are found otherwise.
import { failure } from '../../util/error.ts';
import { logistic } from '../glz/link.ts';
import type { Target, TrainingData } from '../learner.ts';
import type { FitContext, JobContext, LearnJob, Workspace } from '../workspace.ts';
import type { Objective } from './model.ts';
import type { EvalMetric, GbtOptions } from './options.ts';

/** Where scores, targets, weights and gradients lie; plain data. */
export interface GradientTask {
  readonly arena: number;
  readonly objective: Objective;
  readonly rowCount: number;
  /** f64: `width` a row */
  readonly scores: number;
  /** labels u8 (logistic), u16 (softmax), or f64 targets */
  readonly targets: number;
  /** f32 a row; 0 leaves a row out */
  readonly weights: number;
  /** pairs f32: all rows of the first score, then of the next */
  readonly pairs: number;
  readonly width: number;
  readonly objectiveAlpha: number;
}

/** Rows of one unit of work. */
export const GRADIENT_ROW_COUNT = 65_536;

/** Gradients and hessians of a stretch of rows. */
export function boostGradientJob(workspace: Workspace): LearnJob<GradientTask, void> {
  return {
    name: 'learn.boost-gradient',
    execute(task, unit, scope: JobContext) {
      scope.checkCancelled();
      const from = unit * GRADIENT_ROW_COUNT;
      const to = Math.min(task.rowCount, from + GRADIENT_ROW_COUNT);
      const kernels = workspace.kernels(task.arena);
      const { scores, targets, weights, pairs, width, rowCount } = task;
      if (task.objective === 'logistic') {
        kernels.boostLogistic(scores, targets, weights, pairs, from, to);
      } else if (task.objective === 'softmax') {
        const shape = [width, rowCount, from, to] as const;
        kernels.boostSoftmax(scores, targets, weights, pairs, ...shape);
      } else if (task.objective === 'squared') {
        kernels.boostSquared(scores, targets, weights, pairs, from, to);
      } else {
        otherGradients(workspace, task, from, to);
      }
    },
  };
}

function otherGradients(workspace: Workspace, task: GradientTask, from: number, to: number): void {
  const { f32, f64 } = workspace.memory.get(task.arena);
  const { objective, objectiveAlpha } = task;
  for (let row = from; row < to; row++) {
    const score = f64[(task.scores >>> 3) + row] as number;
    const target = f64[(task.targets >>> 3) + row] as number;
    const weight = f32[(task.weights >>> 2) + row] as number;
    const error = score - target;
    let gradient = 0;
    let hessian = 1;
    if (objective === 'absolute') gradient = Math.sign(error);
    else if (objective === 'huber') {
      gradient = Math.max(-objectiveAlpha, Math.min(objectiveAlpha, error));
    } else if (objective === 'quantile') {
      gradient = error >= 0 ? 1 - objectiveAlpha : -objectiveAlpha;
    } else {
      const mean = Math.exp(score);
      gradient = mean - target;
      hessian = Math.max(mean, 1e-16);
    }
    f32[(task.pairs >>> 2) + 2 * row] = weight * gradient;
    f32[(task.pairs >>> 2) + 2 * row + 1] = weight * hessian;
  }
}

/** Fills the pairs of all rows. */
export function computeGradients(context: FitContext, task: GradientTask): void {
  const job = boostGradientJob(context.workspace);
  const unitCount = Math.ceil(task.rowCount / GRADIENT_ROW_COUNT);
  if (unitCount > 1) context.parallel.run(job, task, unitCount);
  else for (let unit = 0; unit < unitCount; unit++) job.execute(task, unit, context);
}

/** @throws INVALID_PARAMETER for one that the mode lacks */
export function objectiveOf({ objective }: GbtOptions, mode: TrainingData['mode']): Objective {
  const accepted: Readonly<Record<string, readonly Objective[]>> = {
    boolean: ['logistic', 'squared'],
    categorical: ['softmax'],
    regression: ['squared', 'absolute', 'huber', 'quantile', 'poisson'],
  };
  const own = accepted[mode] ?? [];
  if (objective === 'auto') return own[0] as Objective;
  if (own.includes(objective)) return objective;
  throw failure(
    'INVALID_PARAMETER',
    `objective ${objective} is not for mode ${mode}; accepted are auto, ${own.join(', ')}`,
  );
}

/** The best constant, as a sum behind the link: one a score. */
export function firstScores(
  objective: Objective,
  target: Target,
  weights: Float64Array,
  { baseScore, objectiveAlpha }: GbtOptions,
): number[] {
  const width = target.kind === 'classes' && objective === 'softmax' ? target.labelCount : 1;
  if (baseScore !== 'auto') return Array.from({ length: width }, () => baseScore);
  if (objective === 'softmax' && target.kind === 'classes') {
    const totals = new Float64Array(width);
    let total = 0;
    for (const [row, weight] of weights.entries()) {
      const label = target.labels[row] as number;
      totals[label] = (totals[label] as number) + weight;
      total += weight;
    }
    return Array.from(totals, (own) => Math.log(Math.max(own / total, 1e-12)));
  }
  const values = target.kind === 'classes' ? Float64Array.from(target.labels) : target.values;
  if (objective === 'absolute') return [weightedQuantile(values, weights, 0.5)];
  if (objective === 'quantile') return [weightedQuantile(values, weights, objectiveAlpha)];
  let total = 0;
  let sum = 0;
  for (const [row, weight] of weights.entries()) {
    total += weight;
    sum += weight * (values[row] as number);
  }
  const mean = sum / total;
  if (objective === 'logistic') {
    const p = Math.min(1 - 1e-12, Math.max(1e-12, mean));
    return [Math.log(p / (1 - p))];
  }
  return [objective === 'poisson' ? Math.log(Math.max(mean, 1e-12)) : mean];
}

/** The smallest value with at least that share of the weight at or below it. */
export function weightedQuantile(
  values: ArrayLike<number>,
  weights: ArrayLike<number>,
  share: number,
): number {
  const order = Array.from({ length: values.length }, (_, i) => i)
    .filter((i) => (weights[i] as number) > 0)
    .sort((a, b) => (values[a] as number) - (values[b] as number));
  let total = 0;
  for (const i of order) total += weights[i] as number;
  let sum = 0;
  for (const i of order) {
    sum += weights[i] as number;
    if (sum >= share * total) return values[i] as number;
  }
  return values[order.at(-1) ?? 0] as number;
}

export function metricOf({ evalMetric }: GbtOptions, objective: Objective): EvalMetric {
  if (evalMetric !== 'auto') return evalMetric;
  if (objective === 'logistic') return 'logloss';
  if (objective === 'softmax') return 'mlogloss';
  return objective === 'absolute' || objective === 'quantile' ? 'mae' : 'rmse';
}

/** Whether larger values of the metric are better. */
export const isRisingMetric = (metric: EvalMetric): boolean => metric === 'auc';

/** The metric over some rows, weighted. @param scores width a row, sums behind the link */
export function evaluate(
  metric: EvalMetric,
  objective: Objective,
  scores: Float64Array,
  width: number,
  target: Target,
  rows: Uint32Array,
  weights: Float64Array,
): number {
  const labelAt = (row: number) =>
    (target.kind === 'classes' ? target.labels[row] : target.values[row]) as number;
  if (metric === 'auc') return areaUnder(rows, scores, labelAt, weights);
  let total = 0;
  let sum = 0;
  for (const row of rows) {
    const weight = weights[row] as number;
    total += weight;
    const label = labelAt(row);
    if (width > 1) {
      const own = scores.subarray(row * width, (row + 1) * width);
      const highest = own.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
      if (metric === 'error') {
        sum += own.indexOf(highest) === label ? 0 : weight;
      } else {
        const log = Math.log(own.reduce((all, score) => all + Math.exp(score - highest), 0));
        sum += weight * (highest + log - (own[label] as number));
      }
      continue;
    }
    const score = scores[row] as number;
    const mean =
      objective === 'logistic'
        ? logistic(score)
        : objective === 'poisson'
          ? Math.exp(score)
          : score;
    if (metric === 'logloss' || metric === 'mlogloss') {
      const p = Math.min(1 - 1e-15, Math.max(1e-15, mean));
      sum -= weight * (label === 1 ? Math.log(p) : Math.log(1 - p));
    } else if (metric === 'error') sum += mean > 0.5 === (label === 1) ? 0 : weight;
    else if (metric === 'mae') sum += weight * Math.abs(mean - label);
    else sum += weight * (mean - label) ** 2;
  }
  return metric === 'rmse' ? Math.sqrt(sum / total) : sum / total;
}

function areaUnder(
  rows: Uint32Array,
  scores: Float64Array,
  labelAt: (row: number) => number,
  weights: Float64Array,
): number {
  const order = rows.slice().sort((a, b) => (scores[a] as number) - (scores[b] as number));
  let negatives = 0;
  let positives = 0;
  let area = 0;
  for (let i = 0; i < order.length; ) {
    const score = scores[order[i] as number] as number;
    let own = 0;
    let others = 0;
    for (; i < order.length && scores[order[i] as number] === score; i++) {
      const row = order[i] as number;
      if (labelAt(row) === 1) own += weights[row] as number;
      else others += weights[row] as number;
    }
    area += own * (negatives + others / 2);
    negatives += others;
    positives += own;
  }
  return positives > 0 && negatives > 0 ? area / (positives * negatives) : 0;
}
