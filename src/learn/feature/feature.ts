// Features: how the values of one input become bucket codes, and what they were in training.

/** Codes are bytes: 0 is "missing", 1 to 255 are buckets. */
export const BUCKET_COUNT_MAX = 255;

export const MISSING_CODE = 0;

/** With coding `each`, a column holds this many categories; code 255 is "another category". */
export const CATEGORIES_PER_COLUMN = 254;
export const OTHER_CODE = 255;

/** A column of a number tells the sides of this many boundaries. */
export const BOUNDARIES_PER_COLUMN = 254;

/** A number; bucket code = 1 + count of the column's boundaries <= value. */
export interface NumericFeature {
  readonly kind: 'numeric';
  readonly name: string;
  /**
   * Ascending. Trained models have one column of them; those of other programs may test more, in
   * columns of BOUNDARIES_PER_COLUMN.
   */
  readonly boundaries: Float64Array;
  readonly hasMissing: boolean;
}

/** A text. */
export interface CategoricalFeature {
  readonly kind: 'categorical';
  readonly name: string;
  /**
   * `rank`: one column whose codes follow the mean of the target, for tests of ranges of
   * categories. `each`: a code for each of the first CATEGORIES_PER_COLUMN * columnCount
   * categories, for tests of single ones; a category of a later column is "another" here.
   */
  readonly coding: 'rank' | 'each';
  readonly categories: readonly string[];
  /** coding `rank`: the bucket of each category */
  readonly buckets: Uint8Array;
  readonly columnCount: number;
  readonly hasMissing: boolean;
}

/** No value was ever seen: ignored when training and when scoring. */
export interface UnusedFeature {
  readonly kind: 'unused';
  readonly name: string;
}

export type Feature = NumericFeature | CategoricalFeature | UnusedFeature;

/** Columns of codes that the feature takes up in a matrix. */
export function columnCountOf(feature: Feature): number {
  if (feature.kind === 'unused') return 0;
  if (feature.kind === 'categorical') return feature.columnCount;
  return Math.max(1, Math.ceil(feature.boundaries.length / BOUNDARIES_PER_COLUMN));
}

/** Highest code that the feature's column `column` can hold, plus 1. */
export function codeCountOf(feature: Feature, column: number): number {
  if (feature.kind === 'unused') return 1;
  if (feature.kind === 'numeric') return boundariesOf(feature, column).length + 2;
  if (feature.coding === 'rank') return feature.buckets.reduce((a, b) => Math.max(a, b), 0) + 1;
  if (feature.categories.length > CATEGORIES_PER_COLUMN) return OTHER_CODE + 1;
  return feature.categories.length - column * CATEGORIES_PER_COLUMN + 1;
}

/** The boundaries of one of the feature's columns. */
export function boundariesOf({ boundaries }: NumericFeature, column: number): Float64Array {
  const from = column * BOUNDARIES_PER_COLUMN;
  return boundaries.subarray(from, from + BOUNDARIES_PER_COLUMN);
}

/** Code of a number; NaN is missing. */
export function numericCode(boundaries: Float64Array, value: number): number {
  if (Number.isNaN(value)) return MISSING_CODE;
  let low = 0;
  let high = boundaries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value >= (boundaries[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/** Code in one of the feature's columns of the category at `index`, -1 for one never seen. */
export function categoryCode(feature: CategoricalFeature, index: number, column: number): number {
  // A category that is new means as little to a rank as a missing value; to a test for one
  // category it is just another one.
  if (feature.coding === 'rank') {
    return index < 0 ? MISSING_CODE : (feature.buckets[index] as number);
  }
  const code = index - column * CATEGORIES_PER_COLUMN + 1;
  return index >= 0 && code >= 1 && code <= CATEGORIES_PER_COLUMN ? code : OTHER_CODE;
}
