// Features as numbers and categories, for learners that read values instead of codes.
import { failure } from '../../util/error.ts';
import { notNumeric } from './describe.ts';
import type { CategoricalFeature, Feature } from './feature.ts';
import { categoryPositions } from './matrix.ts';
import {
  categoryOf,
  denseSource,
  joinedCodes,
  joinedNumbers,
  numberOf,
  type SourceColumn,
} from './source.ts';

/** The values of one feature in all rows. */
export type FeatureValues =
  /** NaN is missing */
  | { readonly kind: 'numbers'; readonly values: Float64Array }
  /** numbers of the listed rows, ascending; the others are missing */
  | { readonly kind: 'sparse'; readonly rows: Uint32Array; readonly values: Float64Array }
  /** position in the feature's list; MISSING_CATEGORY, or OTHER_CATEGORY for one not in the list */
  | { readonly kind: 'categories'; readonly indexes: Int32Array }
  | { readonly kind: 'none' };

export const MISSING_CATEGORY = -1;
export const OTHER_CATEGORY = -2;

/**
 * @param look called for each value
 * @throws DATA_ERROR when a value of a number is none, or infinite
 */
export function readValues(
  feature: Feature,
  source: SourceColumn,
  look: () => void = () => undefined,
): FeatureValues {
  if (feature.kind === 'unused' || source.kind === 'nulls') return { kind: 'none' };
  if (feature.kind === 'categorical') return readCategories(feature, source, look);
  if (source.kind === 'sparse') {
    for (const value of source.values) checkFinite(feature.name, value);
    return { kind: 'sparse', rows: source.rows, values: source.values };
  }
  if (source.kind === 'numbers') {
    const values = joinedNumbers(source.pieces);
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as number;
      // Infinities are what is no number after a subtraction from itself, and was one before.
      if (value - value !== 0 && !Number.isNaN(value)) checkFinite(feature.name, value);
    }
    return { kind: 'numbers', values };
  }
  const table = Float64Array.from([null, ...source.entries], (entry) => {
    look();
    return entry === null ? Number.NaN : (numberOf(entry) ?? Number.NaN);
  });
  const codes = joinedCodes(source.pieces);
  const values = Float64Array.from(codes, (code) => {
    look();
    const value = table[code] as number;
    const entry = code === 0 ? null : (source.entries[code - 1] ?? null);
    if (entry !== null && numberOf(entry) === undefined) throw notNumeric(feature.name, entry);
    if (!Number.isNaN(value)) checkFinite(feature.name, value);
    return value;
  });
  return { kind: 'numbers', values };
}

/** @throws DATA_ERROR when a number is infinite */
export function checkFinite(name: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw failure(
    'DATA_ERROR',
    `the value of column '${name}' is infinite; finite numbers are needed`,
  );
}

function readCategories(
  feature: CategoricalFeature,
  column: SourceColumn,
  look: () => void,
): FeatureValues {
  const source = denseSource(column);
  const positions = categoryPositions(feature, look);
  const indexOf = (value: Parameters<typeof categoryOf>[0]) =>
    positions.get(categoryOf(value)) ?? OTHER_CATEGORY;
  if (source.kind === 'nulls') return { kind: 'none' };
  if (source.kind === 'numbers') {
    const indexes = Int32Array.from(joinedNumbers(source.pieces), (value) => {
      look();
      return Number.isNaN(value) ? MISSING_CATEGORY : indexOf(value);
    });
    return { kind: 'categories', indexes };
  }
  const table = Int32Array.from([null, ...source.entries], (entry) => {
    look();
    return entry === null ? MISSING_CATEGORY : indexOf(entry);
  });
  const codes = joinedCodes(source.pieces);
  const indexes = new Int32Array(codes.length);
  for (let row = 0; row < codes.length; row++) indexes[row] = table[codes[row] as number] as number;
  return { kind: 'categories', indexes };
}
