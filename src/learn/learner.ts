// The contract of every learner: described options, then a fit, then a plain model.
import { type Static, type TObject, Type } from 'typebox';
import type { FeatureMatrix } from './feature/matrix.ts';
import type { SourceColumn } from './feature/source.ts';
import type { Mode } from './label.ts';
import type { Algorithm } from './model/classifier.ts';
import type { SummedTraining } from './sums/training.ts';
import type { FitContext } from './workspace.ts';

/** Options that every learner takes; they change what is logged and checked, never the model. */
export const COMMON_OPTIONS = Type.Object({
  verbosity: Type.Integer({
    description: 'log detail; from 3 on, the log tells what is learned from',
    minimum: 0,
    maximum: 5,
    default: 2,
  }),
  profile: Type.Boolean({ description: 'the log tells how long each step took', default: false }),
  validate: Type.Boolean({ description: 'accepted, and changes nothing', default: false }),
});

/** Configurations of some learners have it. */
export const TRACE = Type.Integer({
  description: 'accepted, and changes nothing',
  minimum: 0,
  default: 0,
});

/** What a learner is told: the options of its schema and the common ones, complete and checked. */
export type OptionsOf<Schema extends TObject> = Static<Schema> & Static<typeof COMMON_OPTIONS>;

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
export interface Recipe<Schema extends TObject = TObject> {
  readonly learner: Learner;
  readonly options: OptionsOf<Schema>;
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
  /** linear models that choose their penalty: its factor, and what it leads to */
  readonly regularizationFactor?: number;
  readonly coefficientCount?: number;
  readonly leaveOneOutError?: number;
}

/** A fit's surroundings, and where it tells what its rounds were like. */
export interface LearnContext extends FitContext {
  reportIteration?(iteration: Iteration): void;
}

/** A type of learner that configurations can name, with the options that its schema describes. */
export interface Learner<Schema extends TObject = TObject> {
  readonly type: string;
  readonly summary: string;
  readonly modes: readonly Mode[];
  readonly options: Schema;
  /** how categories must be coded in the matrix; `none`: it reads the values, and no codes */
  readonly coding: 'rank' | 'each' | 'none';
  /** has a learner inside, `weak_learner`, whose coding is its own */
  readonly isCommittee?: boolean;
  /** reads the sparse columns of a matrix; a committee does where the learner inside does */
  readonly takesSparse?: boolean;
  /** weighs each row and label of more than two classes, for which learners inside need all codes */
  readonly makesPairs?: boolean;
  /** understands `pairs` */
  readonly takesPairs?: boolean;
  /** codes a feature has at most, where the options say */
  bucketCountMax?(options: OptionsOf<Schema>): number;
  /** @throws INVALID_PARAMETER for options that contradict one another or the mode */
  check?(recipe: Recipe<Schema>, mode: Mode): void;
  fit(context: LearnContext, data: TrainingData, recipe: Recipe<Schema>, seed: number): Algorithm;
  /** takes many passes over sums, so that rows are read as long as they are not too many */
  readonly prefersRows?: boolean;
  /**
   * The model of rows that are known by their sums, equal to that of the rows; absent: it reads rows.
   * @throws SumsRefused when the options need rows
   */
  fitSums?(
    context: LearnContext,
    training: SummedTraining,
    recipe: Recipe<Schema>,
    seed: number,
  ): Algorithm;
}
