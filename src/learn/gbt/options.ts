// Options of gradient boosting.
import type { Learner, OptionValues } from '../learner.ts';
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

const share = (key: string, summary: string): Learner['options'][number] => ({
  key,
  summary,
  value: { kind: 'number', low: 0, isLowOpen: true, high: 1 },
  default: 1,
});

const atLeastZero = (
  key: string,
  summary: string,
  initial: number,
): Learner['options'][number] => ({
  key,
  summary,
  value: { kind: 'number', low: 0 },
  default: initial,
});

export const GBT_OPTIONS: Learner['options'] = [
  {
    key: 'num_rounds',
    aliases: ['max_iter', 'n_estimators'],
    summary: 'rounds; each adds a tree a score',
    value: { kind: 'integer', low: 1, high: 100_000 },
    default: 100,
  },
  {
    key: 'learning_rate',
    aliases: ['eta'],
    summary: 'what each tree is multiplied by',
    value: { kind: 'number', low: 0, isLowOpen: true, high: 1 },
    default: 0.1,
  },
  {
    key: 'max_depth',
    summary: 'tests from root to leaf at most; -1: no limit',
    value: { kind: 'integer', low: -1 },
    default: 6,
  },
  {
    key: 'num_leaves',
    summary: 'leaves of a tree at most',
    value: { kind: 'integer', low: 2, high: 131_072 },
    default: 31,
  },
  {
    key: 'growth',
    summary: 'leaf: the leaf with the largest gain is split next; depth: level by level',
    value: { kind: 'choice', choices: ['leaf', 'depth'] },
    default: 'leaf',
  },
  atLeastZero('min_child_weight', 'sum of hessians in a child at least', 1e-3),
  {
    key: 'min_child_samples',
    summary: 'rows in a child at least, and no more than a tenth of all rows',
    value: { kind: 'integer', low: 1 },
    default: 20,
  },
  atLeastZero('lambda', 'penalty on squares of leaf values', 1),
  atLeastZero('alpha', 'penalty on absolute leaf values', 0),
  {
    ...atLeastZero('gamma', 'gain that a split has to exceed', 0),
    aliases: ['min_split_gain'],
  },
  share('subsample', 'share of the rows that a round sees'),
  {
    key: 'subsample_freq',
    summary: 'rounds between two draws of rows; 0: none are drawn',
    value: { kind: 'integer', low: 0 },
    default: 1,
  },
  share('colsample', 'share of the features that a tree sees'),
  share('colsample_bynode', 'share of the features that a node sees'),
  {
    key: 'max_bins',
    summary: 'bins of a number at most',
    value: { kind: 'integer', low: 2, high: BIN_COUNT_MAX },
    default: BIN_COUNT_MAX,
  },
  {
    key: 'objective',
    summary: 'what is minimised; auto: logistic, squared or softmax by mode',
    value: { kind: 'choice', choices: ['auto', ...OBJECTIVES] },
    default: 'auto',
  },
  {
    key: 'objective_alpha',
    summary: 'quantile: which one; huber: where errors begin to count linearly',
    value: { kind: 'number', low: 0, isLowOpen: true, high: 1 },
    default: 0.9,
  },
  {
    key: 'early_stopping_rounds',
    summary: 'rounds without improvement on rows set aside that end it; 0: none do',
    value: { kind: 'integer', low: 0 },
    default: 0,
  },
  {
    key: 'validation_fraction',
    summary: 'with early stopping: share of the rows that is set aside',
    value: { kind: 'number', low: 0, isLowOpen: true, high: 0.5 },
    default: 0.1,
  },
  {
    key: 'eval_metric',
    summary: 'what tells the best round; auto: by objective',
    value: { kind: 'choice', choices: ['auto', ...EVAL_METRICS] },
    default: 'auto',
  },
  {
    key: 'monotone_constraints',
    summary: 'by feature: 1, scores may not fall with it; -1, they may not rise; 0, anything',
    value: { kind: 'object', low: -1, high: 1 },
    default: '{}',
  },
  {
    key: 'max_cat_to_onehot',
    summary: 'categories up to which single ones are told from the rest',
    value: { kind: 'integer', low: 1 },
    default: 4,
  },
  {
    key: 'max_cat_threshold',
    summary:
      'categories up to which any set can be told from the rest; more are in the order of the mean of the target',
    value: { kind: 'integer', low: 1 },
    default: 32,
  },
  atLeastZero('cat_smooth', 'hessian that is added when categories are put in order', 10),
  atLeastZero('cat_l2', 'penalty on leaf values that splits of categories add', 10),
  {
    key: 'base_score',
    summary: 'score before the first round, as a sum; auto: the best constant',
    value: {
      kind: 'text',
      accepted: 'a number or auto',
      pattern: /^(auto|[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?)$/i,
    },
    default: 'auto',
  },
  {
    key: 'output',
    summary: 'scores are probabilities (means), or the sums that they are made of',
    value: { kind: 'choice', choices: ['probability', 'margin'] },
    default: 'probability',
  },
  {
    key: 'randomSeed',
    summary: 'added to the seed of the training',
    value: { kind: 'integer', low: 0 },
    default: 1,
  },
];

export function gbtOptions(options: OptionValues): GbtOptions {
  const number = (key: string) => options[key] as number;
  const text = <Choice extends string>(key: string) => options[key] as Choice;
  const base = text('base_score');
  return {
    roundCount: number('num_rounds'),
    learningRate: number('learning_rate'),
    maxDepth: number('max_depth'),
    leafCountMax: number('num_leaves'),
    growth: text<'leaf' | 'depth'>('growth'),
    minChildWeight: number('min_child_weight'),
    minChildSamples: number('min_child_samples'),
    lambda: number('lambda'),
    alpha: number('alpha'),
    gamma: number('gamma'),
    subsample: number('subsample'),
    subsampleInterval: number('subsample_freq'),
    columnShare: number('colsample'),
    columnShareByNode: number('colsample_bynode'),
    objective: text<GbtOptions['objective'] & string>('objective'),
    objectiveAlpha: number('objective_alpha'),
    earlyStoppingRounds: number('early_stopping_rounds'),
    validationFraction: number('validation_fraction'),
    evalMetric: text<GbtOptions['evalMetric'] & string>('eval_metric'),
    monotone: JSON.parse(text('monotone_constraints')) as Record<string, number>,
    categoryCountOneHot: number('max_cat_to_onehot'),
    categoryCountMax: number('max_cat_threshold'),
    categorySmooth: number('cat_smooth'),
    categoryL2: number('cat_l2'),
    baseScore: base === 'auto' ? 'auto' : Number(base),
    output: text<'probability' | 'margin'>('output'),
  };
}
