// Options of gradient boosting.
import { type Static, Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { OBJECTIVES, type Objective } from './model.ts';

export interface GbtOptions {
  readonly roundCount: number;
  readonly learningRate: number;
  /** -1: no limit */
  readonly maxDepth: number;
  readonly leafCountMax: number;
  /** best leaf first, or level by level */
  readonly growth: 'leaf' | 'depth';
  readonly minChildWeight: number;
  readonly minChildSamples: number;
  readonly lambda: number;
  readonly alpha: number;
  readonly gamma: number;
  readonly subsample: number;
  /** rounds between two draws of rows; 0: rows are not drawn */
  readonly subsampleInterval: number;
  readonly columnShare: number;
  readonly columnShareByNode: number;
  readonly objective: Objective | 'auto';
  readonly objectiveAlpha: number;
  readonly earlyStoppingRounds: number;
  readonly validationFraction: number;
  readonly evalMetric: EvalMetric | 'auto';
  /** -1, 0 or 1 by feature */
  readonly monotone: Readonly<Record<string, number>>;
  readonly categoryCountOneHot: number;
  readonly categoryCountMax: number;
  readonly categorySmooth: number;
  readonly categoryL2: number;
  readonly baseScore: number | 'auto';
  readonly output: 'probability' | 'margin';
}

export const EVAL_METRICS = ['auc', 'logloss', 'error', 'rmse', 'mae', 'mlogloss'] as const;
export type EvalMetric = (typeof EVAL_METRICS)[number];

/** Codes are bytes, and one stands for missing values. */
const BIN_COUNT_MAX = 255;

const share = (description: string) =>
  Type.Number({ description, exclusiveMinimum: 0, maximum: 1, default: 1 });

const count = (description: string, minimum: number, initial: number) =>
  Type.Integer({ description, minimum, default: initial });

const atLeastZero = (description: string, initial: number, aliases?: readonly string[]) =>
  Type.Number({
    description,
    ...(aliases === undefined ? {} : { aliases }),
    minimum: 0,
    default: initial,
  });

export const GBT_OPTIONS = Type.Object({
  num_rounds: Type.Integer({
    aliases: ['max_iter', 'n_estimators'],
    description: 'rounds; each adds a tree a score',
    minimum: 1,
    maximum: 100_000,
    default: 100,
  }),
  learning_rate: Type.Number({
    aliases: ['eta'],
    description: 'what each tree is multiplied by',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 0.1,
  }),
  max_depth: count('tests from root to leaf at most; -1: no limit', -1, 6),
  num_leaves: Type.Integer({
    description: 'leaves of a tree at most',
    minimum: 2,
    maximum: 131_072,
    default: 31,
  }),
  growth: choice(['leaf', 'depth'], {
    description: 'leaf: the leaf with the largest gain is split next; depth: level by level',
    default: 'leaf',
  }),
  min_child_weight: atLeastZero('sum of hessians in a child at least', 1e-3),
  min_child_samples: count('rows in a child at least, and no more than a tenth of all rows', 1, 20),
  lambda: atLeastZero('penalty on squares of leaf values', 1),
  alpha: atLeastZero('penalty on absolute leaf values', 0),
  gamma: atLeastZero('gain that a split has to exceed', 0, ['min_split_gain']),
  subsample: share('share of the rows that a round sees'),
  subsample_freq: count('rounds between two draws of rows; 0: none are drawn', 0, 1),
  colsample: share('share of the features that a tree sees'),
  colsample_bynode: share('share of the features that a node sees'),
  max_bins: Type.Integer({
    description: 'bins of a number at most',
    minimum: 2,
    maximum: BIN_COUNT_MAX,
    default: BIN_COUNT_MAX,
  }),
  objective: choice(['auto', ...OBJECTIVES], {
    description: 'what is minimised; auto: logistic, squared or softmax by mode',
    default: 'auto',
  }),
  objective_alpha: Type.Number({
    description: 'quantile: which one; huber: where errors begin to count linearly',
    exclusiveMinimum: 0,
    exclusiveMaximum: 1,
    default: 0.9,
  }),
  early_stopping_rounds: count(
    'rounds without improvement on rows set aside that end it; 0: none do',
    0,
    0,
  ),
  validation_fraction: Type.Number({
    description: 'with early stopping: share of the rows that is set aside',
    exclusiveMinimum: 0,
    maximum: 0.5,
    default: 0.1,
  }),
  eval_metric: choice(['auto', ...EVAL_METRICS], {
    description: 'what tells the best round; auto: by objective',
    default: 'auto',
  }),
  monotone_constraints: Type.Record(Type.String(), Type.Integer({ minimum: -1, maximum: 1 }), {
    description: 'by feature: 1, scores may not fall with it; -1, they may not rise; 0, anything',
    default: {},
  }),
  max_cat_to_onehot: count('categories up to which single ones are told from the rest', 1, 4),
  max_cat_threshold: count(
    'categories up to which any set can be told from the rest; more are in the order of the mean of the target',
    1,
    32,
  ),
  cat_smooth: atLeastZero('hessian that is added when categories are put in order', 10),
  cat_l2: atLeastZero('penalty on leaf values that splits of categories add', 10),
  base_score: Type.Union([Type.Number(), Type.Literal('auto')], {
    description: 'score before the first round, as a sum; auto: the best constant',
    default: 'auto',
  }),
  output: choice(['probability', 'margin'], {
    description: 'scores are probabilities (means), or the sums that they are made of',
    default: 'probability',
  }),
  randomSeed: count('added to the seed of the training', 0, 1),
});

export function gbtOptions(options: Static<typeof GBT_OPTIONS>): GbtOptions {
  return {
    roundCount: options.num_rounds,
    learningRate: options.learning_rate,
    maxDepth: options.max_depth,
    leafCountMax: options.num_leaves,
    growth: options.growth,
    minChildWeight: options.min_child_weight,
    minChildSamples: options.min_child_samples,
    lambda: options.lambda,
    alpha: options.alpha,
    gamma: options.gamma,
    subsample: options.subsample,
    subsampleInterval: options.subsample_freq,
    columnShare: options.colsample,
    columnShareByNode: options.colsample_bynode,
    objective: options.objective,
    objectiveAlpha: options.objective_alpha,
    earlyStoppingRounds: options.early_stopping_rounds,
    validationFraction: options.validation_fraction,
    evalMetric: options.eval_metric,
    monotone: options.monotone_constraints,
    categoryCountOneHot: options.max_cat_to_onehot,
    categoryCountMax: options.max_cat_threshold,
    categorySmooth: options.cat_smooth,
    categoryL2: options.cat_l2,
    baseScore: options.base_score,
    output: options.output,
  };
}
