// What a model computes of the features of a row, as plain data: other systems are told it in their
// own languages.

/**
 * A number. Features are positions in the list of the model. A feature that is no number is missing
 * when it is null, one that is a number also when it is NaN.
 */
export type Formula =
  | { readonly kind: 'number'; readonly value: number }
  | FeatureTerm
  | CategoryTerm
  | BelowTest
  | AmongTest
  | { readonly kind: 'sum'; readonly terms: readonly Formula[] }
  | { readonly kind: 'product'; readonly by: number; readonly of: Formula }
  | { readonly kind: 'apply'; readonly function: FormulaFunction; readonly of: Formula }
  | ShareOf
  | NearestOf;

export type FormulaFunction = 'exp' | 'logistic' | 'normal-cdf' | 'comp-log-log';

/** `present` + `weight` x value; infinite values are refused. */
export interface FeatureTerm {
  readonly kind: 'feature';
  readonly feature: number;
  readonly weight: number;
  readonly present: number;
  readonly missing: number;
}

/** A number for each category of a feature. */
export interface CategoryTerm {
  readonly kind: 'category';
  readonly feature: number;
  readonly categories: readonly string[];
  /** as many as categories */
  readonly values: readonly number[];
  readonly otherwise: number;
  readonly missing: number;
}

/** A feature that is a number, below a boundary or not. */
export interface BelowTest {
  readonly kind: 'below';
  readonly feature: number;
  /** infinite: all that are present are below */
  readonly boundary: number;
  readonly yes: Formula;
  readonly no: Formula;
  /** the same object as `yes` or `no` where it is one of them */
  readonly missing: Formula;
}

/** A feature that is a text: in one list, in the other, in none, or missing. */
export interface AmongTest {
  readonly kind: 'among';
  readonly feature: number;
  readonly left: readonly string[];
  readonly right: readonly string[];
  readonly yes: Formula;
  readonly no: Formula;
  /** of a text in neither list: the same object as one of the other three */
  readonly other: Formula;
  readonly missing: Formula;
}

/** The share of one of several in their sum, or in the sum of their exponentials. */
export interface ShareOf {
  readonly kind: 'share';
  readonly of: readonly Formula[];
  readonly index: number;
  readonly ofExponentials: boolean;
}

/** The position of the nearest centroid, the first among equals; missing and infinite values are refused. */
export interface NearestOf {
  readonly kind: 'nearest';
  readonly metric: 'euclidean' | 'cosine';
  /** each as long as the list of features */
  readonly centroids: readonly Float64Array[];
}

/** A model as formulas of the row that is its input. */
export interface ModelFormula {
  /** the member of the input that has the features */
  readonly member: string;
  readonly features: readonly FormulaFeature[];
  readonly outputs: readonly FormulaOutput[];
}

export interface FormulaFeature {
  /** printed path */
  readonly name: string;
  /** `category`: numbers stand for their texts; `key`: the same, and a null is the empty text */
  readonly kind: 'number' | 'category' | 'key' | 'unused';
  /** true: a row without it is refused */
  readonly isNeeded?: boolean;
}

export interface FormulaOutput {
  /** elements of its path in the result */
  readonly path: readonly string[];
  readonly formula: Formula;
  readonly isInteger?: boolean;
  /** there is no output where this feature is no column */
  readonly feature?: number;
}
