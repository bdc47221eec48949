// The contract of every learner: described options, then a fit, then a plain model.
import type { FeatureMatrix } from './feature/matrix.ts';
import type { SourceColumn } from './feature/source.ts';
import type { Mode } from './label.ts';
import type { Algorithm } from './model/classifier.ts';
import type { FitContext } from './workspace.ts';

/** One option as configurations name it. */
export interface OptionSpec {
  readonly key: string;
  readonly summary: string;
  readonly value: OptionRange;
  readonly default: OptionValue;
  /** other names of the key */
  readonly aliases?: readonly string[];
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
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'text'; readonly accepted: string; readonly pattern: RegExp }
  /** an object of whole numbers by name, kept as JSON text */
  | { readonly kind: 'object'; readonly low: number; readonly high: number };

/** Options by key, complete and checked. */
export type OptionValues = Readonly<Record<string, OptionValue>>;

/** What rows teach: one of the classes, or a number. */
export type Target =
  | { readonly kind: 'classes'; readonly labels: Uint16Array; readonly labelCount: number }
  | { readonly kind: 'regression'; readonly values: Float64Array };

export interface TrainingData {
  /** coded as the learner asks, features in the order of their paths, which decides ties */
  readonly matrix: FeatureMatrix;
  /** the values themselves, one column a feature */
  readonly sources: readonly SourceColumn[];
  readonly mode: Mode;
  readonly target: Target;
  /** one a row, of sum 1; rows of weight 0 are left out */
  readonly weights: Float64Array;
  /** what the weights were before they were scaled to sum 1: how many rows they stand for */
  readonly weightTotal: number;
  /** weights of rows that were set aside for choosing among models; 0: the row is not one of them */
  readonly validation?: Float64Array;
  /** a weight for each row and label, row by row, of sum 1; for learners that take pairs */
  readonly pairs?: Float64Array;
}

/** A learner with everything that it was told, and the learner inside it. */
export interface Recipe {
  readonly learner: Learner;
  readonly options: OptionValues;
  /** where it stands in the configuration */
  readonly path: string;
  readonly weak?: Recipe;
}

/** One round of an iterative learner, as the details of a run show it. */
export interface Iteration {
  readonly iteration: number;
  readonly seconds?: number;
  readonly loss?: number;
  readonly trainMetric?: number;
  readonly validationMetric?: number;
}

/** A fit's surroundings, and where it tells what its rounds were like. */
export interface LearnContext extends FitContext {
  reportIteration?(iteration: Iteration): void;
}

/** A type of learner that configurations can name. */
export interface Learner {
  readonly type: string;
  readonly summary: string;
  readonly modes: readonly Mode[];
  readonly options: readonly OptionSpec[];
  /** how categories must be coded in the matrix; `none`: it reads the values, and no codes */
  readonly coding: 'rank' | 'each' | 'none';
  /** has a learner inside, `weak_learner`, whose coding is its own */
  readonly isCommittee?: boolean;
  /** understands `pairs` */
  readonly takesPairs?: boolean;
  /** codes a feature has at most, where the options say */
  bucketCountMax?(options: OptionValues): number;
  /** @throws INVALID_PARAMETER for options that contradict one another or the mode */
  check?(recipe: Recipe, mode: Mode): void;
  fit(context: LearnContext, data: TrainingData, recipe: Recipe, seed: number): Algorithm;
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
