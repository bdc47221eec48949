// Generalised linear models by configuration.
import { type Static, Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { designColumns } from '../design/columns.ts';
import { type Design, makeDesign } from '../design/design.ts';
import { readValues } from '../feature/values.ts';
import type { LearnContext, Learner, TrainingData } from '../learner.ts';
import { Random } from '../random.ts';
import type { SummedTraining } from '../sums/training.ts';
import { lookEvery } from '../workspace.ts';
import { type FactorTrial, fitGlz, type GlzOptions } from './fit.ts';
import { designOfSums, designTerms, SummedGlz, type SummedTarget } from './fit-by-sums.ts';
import { LINKS, type Link } from './link.ts';
import type { GlzModel } from './model.ts';

const STREAM_FEATURES = 11;

const OPTIONS = Type.Object({
  link_function: choice(LINKS, {
    description: 'from weighted sum to mean: logit, probit, comp_log_log, linear or log',
    default: 'logit',
  }),
  add_bias: Type.Boolean({ description: 'a constant term', default: true }),
  decode: Type.Boolean({
    description: 'scores go through the inverse link; false: they stay sums',
    default: true,
  }),
  normalize: Type.Boolean({
    description: 'columns are standardised before they are penalised',
    default: true,
  }),
  condition: Type.Boolean({
    description: 'columns that nearly depend on others are left out',
    default: false,
  }),
  regularization: choice(['none', 'l1', 'l2'], {
    description: 'what is penalised: nothing, absolute values or squares of coefficients',
    default: 'l2',
  }),
  regularization_factor: Type.Number({
    description: 'weight of the penalty; negative: chosen by leaving rows out',
    minimum: -1,
    default: 1e-5,
  }),
  regularization_path: Type.Integer({
    description:
      'l1 with a chosen factor: how many factors are tried, from the smallest one that leaves no coefficient downwards; 0: the powers of ten from 10 to 1e-14',
    minimum: 0,
    maximum: 1000,
    default: 0,
  }),
  max_regularization_iteration: Type.Integer({
    description: 'l1: sweeps over the coefficients at most',
    minimum: 1,
    default: 1000,
  }),
  regularization_epsilon: Type.Number({
    description: 'l1: largest change of a coefficient that ends the sweeps',
    exclusiveMinimum: 0,
    default: 1e-4,
  }),
  feature_proportion: Type.Number({
    description: 'probability of each feature to be used',
    minimum: 0,
    maximum: 1,
    default: 1,
  }),
});

export const glzLearner: Learner<typeof OPTIONS> = {
  type: 'glz',
  summary: 'a generalised linear model: a weighted sum of the features behind a link',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'none',
  options: OPTIONS,
  check({ options, path }) {
    const { regularization, regularization_factor: factor, regularization_path: count } = options;
    if (count === 0) return;
    if (count === 1 || regularization !== 'l1' || factor >= 0) {
      throw failure(
        'INVALID_PARAMETER',
        `regularization_path ${count} at '${path}': a path has two factors or more, and goes with regularization l1 and a negative regularization_factor`,
      );
    }
  },
  fit(context, data, { options }, seed) {
    const kept = keptFeatures(data.matrix.features.length, options, seed);
    return withDesign(context, data, kept, (design, columns) =>
      fitModel(context, data, options, design, columns),
    );
  },
  fitSums(context, training, { options }, seed) {
    const kept = keptFeatures(training.features.length, options, seed);
    return fitModelBySums(context, training, options, kept);
  },
};

function keptFeatures(
  count: number,
  { feature_proportion: proportion }: Static<typeof OPTIONS>,
  seed: number,
): boolean[] {
  const random = Random.of(seed, STREAM_FEATURES);
  return Array.from({ length: count }, () => proportion === 1 || random.uniform() < proportion);
}

function settingsOf(options: Static<typeof OPTIONS>): GlzOptions {
  return {
    link: options.link_function,
    addBias: options.add_bias,
    normalize: options.normalize,
    regularization: options.regularization,
    lambda: options.regularization_factor,
    pathLength: options.regularization_path,
    sweepCountMax: options.max_regularization_iteration,
    epsilon: options.regularization_epsilon,
    condition: options.condition,
  };
}

function withDesign(
  context: LearnContext,
  { matrix, sources }: TrainingData,
  kept: readonly boolean[],
  use: (design: Design, columns: ReturnType<typeof designColumns>) => GlzModel,
): GlzModel {
  const { workspace } = context;
  const look = lookEvery(context);
  const values = matrix.features.map((feature, index) => {
    context.checkCancelled();
    return readValues(feature, sources[index] as (typeof sources)[number], look);
  });
  const columns = designColumns(
    matrix.features,
    values,
    matrix.rowCount,
    (feature) => kept[feature] === true,
  );
  context.checkCancelled();
  const design = makeDesign(workspace, columns, values, matrix.rowCount);
  try {
    return use(design, columns);
  } finally {
    workspace.memory.free(design.span);
  }
}

function fitModel(
  context: LearnContext,
  data: TrainingData,
  options: Static<typeof OPTIONS>,
  design: Design,
  columns: ReturnType<typeof designColumns>,
): GlzModel {
  const { target, mode, weightTotal } = data;
  const link = options.link_function;
  const settings = settingsOf(options);
  // Penalties are held against sums over rows, so weights are put back to what they stand for.
  const weights = data.weights.map((weight) => weight * weightTotal);
  let trialCount = 0;
  const report = (trial: FactorTrial) => {
    const { factor, coefficientCount, deviance, leaveOneOutError } = trial;
    context.reportIteration?.({
      ...{ iteration: ++trialCount, regularizationFactor: factor, coefficientCount },
      ...{ loss: deviance, leaveOneOutError },
    });
  };
  const fit = (targets: Float64Array) =>
    byColumn(design, fitGlz(context, design, targets, weights, settings, report));
  const rows: Float64Array[] = [];
  if (target.kind === 'regression') rows.push(fit(target.values));
  else if (mode === 'boolean') {
    const truth = fit(Float64Array.from(target.labels));
    rows.push(otherSide(truth, link, () => fit(Float64Array.from(target.labels, (l) => 1 - l))));
    rows.push(truth);
  } else {
    for (let label = 0; label < target.labelCount; label++) {
      context.checkCancelled();
      rows.push(fit(Float64Array.from(target.labels, (own) => (own === label ? 1 : 0))));
      context.progress?.(label + 1, target.labelCount);
    }
  }
  return {
    type: 'glz',
    link,
    decode: options.decode,
    addBias: settings.addBias,
    columns,
    weights: rows,
    means: columnMeans(context, design, data.weights),
  };
}

function fitModelBySums(
  context: LearnContext,
  training: SummedTraining,
  options: Static<typeof OPTIONS>,
  kept: readonly boolean[],
): GlzModel {
  const settings = settingsOf(options);
  const { link } = settings;
  const { classes, mode } = training;
  const { columns, order } = designOfSums(training, (feature) => kept[feature] === true);
  const glz = new SummedGlz(context, training, designTerms(training, columns, order), settings);
  const design = { order, columnCount: order.length };
  const fit = (target: SummedTarget) => byColumn(design, glz.fit(target));
  const rows: Float64Array[] = [];
  if (classes === undefined) rows.push(fit('label'));
  else if (mode === 'boolean') {
    const truth = fit({ ofClass: [0, 1] });
    rows.push(
      otherSide(truth, link, () => fit({ ofClass: [1, 0] })),
      truth,
    );
  } else {
    for (let label = 0; label < classes.labelCount; label++) {
      const ofClass = Array.from({ length: classes.labelCount }, (_, own) => Number(own === label));
      rows.push(fit({ ofClass }));
      context.progress?.(label + 1, classes.labelCount);
    }
  }
  const means = byColumn(design, Float64Array.of(...glz.means(), 0)).subarray(0, order.length);
  const { decode } = options;
  return { type: 'glz', link, decode, addBias: settings.addBias, columns, weights: rows, means };
}

/** The coefficients of "false", by symmetry where the link has it. */
function otherSide(truth: Float64Array, link: Link, fit: () => Float64Array): Float64Array {
  if (link === 'logit' || link === 'probit') return truth.map((weight) => -weight + 0);
  if (link !== 'linear') return fit();
  const opposite = truth.map((weight) => -weight + 0);
  opposite[opposite.length - 1] = 1 - (truth[truth.length - 1] as number);
  return opposite;
}

/** Coefficients in the order of the columns, the constant last. */
function byColumn(
  { order, columnCount }: Pick<Design, 'order' | 'columnCount'>,
  beta: Float64Array,
): Float64Array {
  const weights = new Float64Array(columnCount + 1);
  for (const [place, column] of order.entries()) weights[column] = beta[place] as number;
  weights[columnCount] = beta[columnCount] as number;
  return weights;
}

function columnMeans(context: LearnContext, design: Design, weights: Float64Array): Float64Array {
  const { workspace } = context;
  const { arena } = design.span;
  const size = design.columnCount + 1;
  const span = workspace.memory.allocateIn(arena, (design.rowCount + size) * 8 + 32);
  try {
    const { f64 } = workspace.memory.get(arena);
    const out = span.offset + design.rowCount * 8;
    f64.set(weights, span.offset >>> 3);
    f64.fill(0, out >>> 3, (out >>> 3) + size);
    const kernels = workspace.kernels(arena);
    kernels.linearTransposed(design.header, 0, design.rowCount, span.offset, out);
    return byColumn(design, f64.slice(out >>> 3, (out >>> 3) + size)).subarray(0, size - 1);
  } finally {
    workspace.memory.free(span);
  }
}
