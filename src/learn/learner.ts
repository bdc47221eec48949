// The contract of every learner: described options, then a fit, then a plain model.
import type { FeatureMatrix } from './feature/matrix.ts';
import type { Mode } from './label.ts';
import type { Algorithm } from './model/classifier.ts';
import type { FitContext } from './workspace.ts';

/** One option as configurations name it. */
export interface OptionSpec {
  readonly key: string;
  readonly summary: string;
  readonly value: OptionRange;
  readonly default: OptionValue;
}

export type OptionValue = number | boolean | string;

export type OptionRange =
  | {
      readonly kind: 'number' | 'integer';
      readonly low: number;
      /** the low end itself is refused */
      readonly isLowOpen?: boolean;
      readonly high?: number;
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

/** Options by key, complete and checked. */
export type OptionValues = Readonly<Record<string, OptionValue>>;

/** What rows teach: one of the classes, or a number. */
export type Target =
  | { readonly kind: 'classes'; readonly labels: Uint16Array; readonly labelCount: number }
  | { readonly kind: 'regression'; readonly values: Float64Array };

export interface TrainingData {
  /** coded as the learner asks, features in the order of their paths, which decides ties */
  readonly matrix: FeatureMatrix;
  readonly target: Target;
  /** one a row, of sum 1 unless regression; rows of weight 0 are left out */
  readonly weights: Float64Array;
}

/** A type of learner that configurations can name. */
export interface Learner {
  readonly type: string;
  readonly summary: string;
  readonly modes: readonly Mode[];
  readonly options: readonly OptionSpec[];
  /** how categories must be coded in the matrix */
  readonly coding: 'rank' | 'each';
  fit(context: FitContext, data: TrainingData, options: OptionValues, seed: number): Algorithm;
}

/** Options that every learner takes; they change what is logged and checked, never the model. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'verbosity',
    summary: 'log detail',
    value: { kind: 'integer', low: 0, high: 5 },
    default: 2,
  },
  { key: 'profile', summary: 'log timings', value: { kind: 'boolean' }, default: false },
  { key: 'validate', summary: 'expensive self-checks', value: { kind: 'boolean' }, default: false },
];
