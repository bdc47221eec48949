// Gradient boosting with histograms.
import { failure } from '../../util/error.ts';
import type { LearnContext, Learner, TrainingData } from '../learner.ts';
import { Random } from '../random.ts';
import { Layout, withScratch } from '../workspace.ts';
import { monotoneOf } from './constraints.ts';
import { fitGbtBySums } from './fit-by-sums.ts';
import { type GrownTree, TreeGrower, type TreeSettings } from './grow.ts';
import type { GbtModel } from './model.ts';
import {
  computeGradients,
  evaluate,
  firstScores,
  type GradientTask,
  isRisingMetric,
  metricOf,
  objectiveOf,
  weightedQuantile,
} from './objective.ts';
import { GBT_OPTIONS, type GbtOptions, gbtOptions } from './options.ts';
import { packTrees } from './pack.ts';
import {
  type GrowPlaces,
  histogramSizeOf,
  listsSize,
  RowHistograms,
  type RowRange,
} from './row-histograms.ts';

const STREAM_ROWS = 63;
const STREAM_VALIDATION = 64;

/** Memory for histograms of nodes that may be split yet. */
const HISTOGRAM_BYTES_MAX = 512e6;
/** Nodes that are split at a time, at most. */
const DIRECTION_COUNT_MAX = 1024;
/** Rows that stand for all in the metric of a round on the rows that it was trained on. */
const METRIC_ROW_COUNT = 4096;

/**
 * Fits rounds of trees to the gradients of a loss. Histograms of the smaller child are computed, those
 * of the larger one are what is left of their parent's.
 * The model's spans are the caller's to free.
 * @throws DATA_ERROR for targets that the objective cannot have, INVALID_PARAMETER for constraints
 *   on features that are none or not numbers
 * @see Friedman, "Greedy function approximation: a gradient boosting machine", Ann. Statist. 29, 2001;
 *   Chen & Guestrin, "XGBoost", KDD 2016; Ke et al., "LightGBM", NIPS 2017
 */
export function fitGbt(
  context: LearnContext,
  data: TrainingData,
  options: GbtOptions,
  seed: number,
): GbtModel {
  const { matrix, target, mode } = data;
  const { workspace } = context;
  const { rowCount } = matrix;
  const objective = objectiveOf(options, mode);
  if (objective === 'poisson' && target.kind === 'regression') {
    for (const value of target.values) {
      if (value < 0)
        throw failure('DATA_ERROR', `objective poisson needs labels from 0, not ${value}`);
    }
  }
  const monotone = monotoneOf(matrix, options);
  const weights = data.weights.map((weight) => weight * data.weightTotal);
  const held = heldOut(data, options, weights, seed);
  const usedWeights = held === undefined ? weights : weights.map((w, row) => (held[row] ? 0 : w));
  const usedCount = usedWeights.reduce((count, weight) => count + Number(weight > 0), 0);
  if (usedCount === 0) {
    throw failure('DATA_ERROR', 'cannot train with zero or non-finite weights');
  }
  const base = firstScores(objective, target, usedWeights, options);
  const width = base.length;
  const directionCount = Math.min(DIRECTION_COUNT_MAX, options.leafCountMax);
  const histogramSize = histogramSizeOf(matrix);
  const histogramCount = Math.max(
    4,
    Math.min(
      options.leafCountMax + 1,
      Math.floor(HISTOGRAM_BYTES_MAX / Math.max(1, histogramSize)),
      2 * rowCount,
    ),
  );
  const sizes = {
    scores: rowCount * width * 8,
    targets: rowCount * 8,
    weights: rowCount * 4,
    gradients: rowCount * width * 8,
    rows: rowCount * 4 + 16,
    pairs: rowCount * 8 + 16,
    spareRows: rowCount * 4 + 16,
    sparePairs: rowCount * 8 + 16,
    histograms: histogramSize * histogramCount + 16,
    directions: directionCount * 256,
    lists: listsSize(matrix.columns.length, histogramCount + directionCount) + 16,
  };
  const total = Object.values(sizes).reduce((sum, size) => sum + size + 16, 0);
  const { arena } = matrix.span;
  const grown = withScratch(workspace, arena, total, (scratch) => {
    const layout = new Layout(scratch);
    const at = {} as Record<keyof typeof sizes, number>;
    for (const name of Object.keys(sizes) as (keyof typeof sizes)[]) {
      at[name] = layout.take(sizes[name]);
    }
    const { f32, f64, u8, u16 } = workspace.memory.get(arena);
    const scores = f64.subarray(at.scores >>> 3, (at.scores >>> 3) + rowCount * width);
    for (let i = 0; i < scores.length; i++) scores[i] = base[i % width] as number;
    if (target.kind === 'regression') f64.set(target.values, at.targets >>> 3);
    else if (objective === 'softmax') u16.set(target.labels, at.targets >>> 1);
    else if (objective === 'logistic') u8.set(target.labels, at.targets);
    else f64.set(target.labels, at.targets >>> 3);
    f32.set(usedWeights, at.weights >>> 2);
    const gradients: GradientTask = {
      ...{ arena, objective, rowCount, width, objectiveAlpha: options.objectiveAlpha },
      ...{ scores: at.scores, targets: at.targets, weights: at.weights, pairs: at.gradients },
    };
    const places: GrowPlaces = {
      ...{ rows: at.rows, pairs: at.pairs, spareRows: at.spareRows, sparePairs: at.sparePairs },
      ...{ histograms: at.histograms, histogramCount, histogramSize },
      ...{ directions: at.directions, directionCount, lists: at.lists },
    };
    return runRounds(context, data, {
      ...{ options, objective, base, width, usedWeights, held, monotone, seed },
      heldWeights: hasValidation(data) ? (data.validation as Float64Array) : weights,
      ...{ gradients, places, scores, usedCount },
    });
  });
  const ensemble = packTrees(workspace, matrix, grown.trees, { width, takesTurns: true }, arena);
  return {
    type: 'gbt',
    objective,
    baseScore: base,
    learningRate: options.learningRate,
    output: options.output,
    ensemble,
    gains: grown.trees.map(({ gains }) => Float32Array.from(gains)),
    bestIteration: grown.bestRound,
  };
}

interface Rounds {
  readonly options: GbtOptions;
  readonly objective: GbtModel['objective'];
  readonly base: readonly number[];
  readonly width: number;
  /** of the rows that were set aside */
  readonly heldWeights: Float64Array;
  readonly usedWeights: Float64Array;
  readonly held: Uint8Array | undefined;
  readonly monotone: readonly number[];
  readonly seed: number;
  readonly gradients: GradientTask;
  readonly places: GrowPlaces;
  readonly scores: Float64Array;
  readonly usedCount: number;
}

function runRounds(
  context: LearnContext,
  data: TrainingData,
  rounds: Rounds,
): { readonly trees: readonly GrownTree<RowRange>[]; readonly bestRound: number } {
  const { options, objective, width, held, seed, scores, gradients, usedWeights } = rounds;
  const { matrix, target } = data;
  const metric = metricOf(options, objective);
  const better = isRisingMetric(metric) ? 1 : -1;
  const heldRows = held && rowsWhere(held.length, (row) => held[row] === 1);
  const sample = sampleRows(usedWeights);
  const trees: GrownTree<RowRange>[] = [];
  let bestRound = -1;
  let bestMetric = Number.NEGATIVE_INFINITY;
  const minChildSamples = Math.min(
    options.minChildSamples,
    Math.max(1, Math.floor(rounds.usedCount / 10)),
  );
  for (let round = 0; round < options.roundCount; round++) {
    context.checkCancelled();
    const began = performance.now();
    drawRows(context, rounds, round);
    computeGradients(context, gradients);
    for (let output = 0; output < width; output++) {
      const sums = startTree(context, rounds, output);
      const number = round * width + output;
      const settings: TreeSettings = {
        ...{ options, minChildSamples, monotone: rounds.monotone, seed, number },
      };
      const source = new RowHistograms(context, matrix, rounds.places);
      const tree = new TreeGrower(matrix, settings, source).grow(sums);
      if (objective === 'absolute' || objective === 'quantile')
        renewLeaves(context, data, rounds, tree);
      addScores(context, rounds, tree, output);
      trees.push(tree);
    }
    const own = (rows: Uint32Array, weights: Float64Array) =>
      evaluate(metric, objective, scores, width, target, rows, weights);
    const validation = heldRows && own(heldRows, rounds.heldWeights);
    context.reportIteration?.({
      iteration: round,
      seconds: (performance.now() - began) / 1000,
      trainMetric: own(sample, usedWeights),
      ...(validation === undefined ? {} : { validationMetric: validation }),
    });
    context.progress?.(round + 1, options.roundCount);
    if (validation === undefined) continue;
    if (better * validation > bestMetric) {
      bestMetric = better * validation;
      bestRound = round;
    } else if (round - bestRound >= options.earlyStoppingRounds) break;
  }
  if (bestRound < 0) bestRound = trees.length / width - 1;
  return { trees: trees.slice(0, (bestRound + 1) * width), bestRound };
}

/** Puts rows and pairs in their first order. @returns the sums over all rows */
function startTree(context: LearnContext, { gradients, places }: Rounds, output: number) {
  const { f32, u32 } = context.workspace.memory.get(gradients.arena);
  const { rowCount } = gradients;
  const rows = places.rows >>> 2;
  for (let row = 0; row < rowCount; row++) u32[rows + row] = row;
  const from = (gradients.pairs >>> 2) + output * rowCount * 2;
  f32.copyWithin(places.pairs >>> 2, from, from + rowCount * 2);
  let gradient = 0;
  let hessian = 0;
  let count = 0;
  const pairs = places.pairs >>> 2;
  for (let row = 0; row < rowCount; row++) {
    const own = f32[pairs + 2 * row + 1] as number;
    gradient += f32[pairs + 2 * row] as number;
    hessian += own;
    if (own !== 0) count++;
  }
  return { gradient, hessian, count };
}

function addScores(
  context: LearnContext,
  { gradients, places, width }: Rounds,
  tree: GrownTree<RowRange>,
  output: number,
): void {
  const kernels = context.workspace.kernels(gradients.arena);
  const scores = gradients.scores + output * 8;
  for (const {
    node,
    rows: { from, count },
  } of tree.leaves) {
    const rows = places.rows + from * 4;
    kernels.boostAddScore(rows, count, scores, width * 8, tree.values[node] as number);
  }
}

/** Draws the rows of a round, without replacement. */
function drawRows(context: LearnContext, rounds: Rounds, round: number): void {
  const { options, usedWeights, usedCount, gradients, seed } = rounds;
  const { subsample, subsampleInterval } = options;
  if (subsample === 1 || subsampleInterval === 0 || round % subsampleInterval !== 0) return;
  const { f32 } = context.workspace.memory.get(gradients.arena);
  const random = Random.of(seed, STREAM_ROWS, round);
  let wanted = Math.max(1, Math.round(usedCount * subsample));
  let left = usedCount;
  // Knuth's selection sampling: each row with the chance that is left for it.
  for (let row = 0; row < usedWeights.length; row++) {
    const weight = usedWeights[row] as number;
    if (weight === 0) continue;
    const isDrawn = random.uniform() * left < wanted;
    f32[(gradients.weights >>> 2) + row] = isDrawn ? weight : 0;
    left--;
    if (isDrawn) wanted--;
  }
}

/** Leaves say the quantile of what is left of their rows: their gradients say only a direction. */
function renewLeaves(
  context: LearnContext,
  { target }: TrainingData,
  { gradients, options, places, scores }: Rounds,
  tree: GrownTree<RowRange>,
): void {
  if (target.kind !== 'regression') return;
  const { f32, u32 } = context.workspace.memory.get(gradients.arena);
  const share = options.objective === 'quantile' ? options.objectiveAlpha : 0.5;
  for (const {
    node,
    rows: { from, count },
  } of tree.leaves) {
    const rows = u32.subarray((places.rows >>> 2) + from, (places.rows >>> 2) + from + count);
    const rests = Float64Array.from(
      rows,
      (row) => (target.values[row] as number) - (scores[row] as number),
    );
    const weights = Float64Array.from(
      rows,
      (row) => f32[(gradients.weights >>> 2) + row] as number,
    );
    if (!weights.some((weight) => weight > 0)) continue;
    tree.values[node] = options.learningRate * weightedQuantile(rests, weights, share);
  }
}

/** Rows set aside for early stopping: 1 a row. */
function heldOut(
  data: TrainingData,
  options: GbtOptions,
  weights: Float64Array,
  seed: number,
): Uint8Array | undefined {
  if (options.earlyStoppingRounds === 0) return undefined;
  const held = new Uint8Array(weights.length);
  if (hasValidation(data)) {
    for (const [row, weight] of (data.validation as Float64Array).entries())
      if (weight > 0) held[row] = 1;
    return held;
  }
  const rows = rowsWhere(weights.length, (row) => (weights[row] as number) > 0);
  const random = Random.of(seed, STREAM_VALIDATION);
  const count = Math.min(
    rows.length - 1,
    Math.max(1, Math.round(rows.length * options.validationFraction)),
  );
  for (let i = 0; i < count; i++) {
    const other = i + random.below(rows.length - i);
    const row = rows[other] as number;
    rows[other] = rows[i] as number;
    held[row] = 1;
  }
  return held;
}

function hasValidation({ validation }: TrainingData): boolean {
  return validation?.some((weight) => weight > 0) ?? false;
}

function rowsWhere(rowCount: number, isWanted: (row: number) => boolean): Uint32Array {
  return Uint32Array.from([...Array(rowCount).keys()].filter(isWanted));
}

function sampleRows(weights: Float64Array): Uint32Array {
  const stride = Math.max(1, Math.ceil(weights.length / METRIC_ROW_COUNT));
  const rows: number[] = [];
  for (let row = 0; row < weights.length; row += stride) {
    if ((weights[row] as number) > 0) rows.push(row);
  }
  return Uint32Array.from(rows);
}

export const gbtLearner: Learner<typeof GBT_OPTIONS> = {
  type: 'gbt',
  summary: 'trees fitted one after another to the gradients of a loss',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'rank',
  options: GBT_OPTIONS,
  bucketCountMax: (options) => options.max_bins,
  check({ options, path }, mode) {
    if (options.max_depth === 0) {
      throw failure(
        'INVALID_PARAMETER',
        `max_depth must be -1 or at least 1; at '${path}' it is 0`,
      );
    }
    objectiveOf(gbtOptions(options), mode);
  },
  fit: (context, data, { options }, seed) =>
    fitGbt(context, data, gbtOptions(options), seed + options.randomSeed - 1),
  prefersRows: true,
  fitSums: (context, training, { options }, seed) =>
    fitGbtBySums(context, training, gbtOptions(options), seed + options.randomSeed - 1),
};
