// Columns of training data as learners take them: typed arrays, never row objects.
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';

/** Consecutive rows; NaN and rows whose validity bit is 0 are missing. */
export interface NumberPiece {
  readonly values: Float64Array | Int32Array;
  /** bit i (least significant first) set when row i has a value */
  readonly validity?: Uint8Array;
}

export type CodeArray = Uint8Array | Uint16Array | Uint32Array;

/** One feature's values for all rows, in pieces that follow one another. */
export type SourceColumn =
  | { readonly kind: 'numbers'; readonly name: string; readonly pieces: readonly NumberPiece[] }
  | {
      readonly kind: 'codes';
      readonly name: string;
      readonly pieces: readonly CodeArray[];
      /** code 0 is NULL, entry k - 1 has code k; entries are distinct */
      readonly entries: readonly Atom[];
    }
  | { readonly kind: 'nulls'; readonly name: string };

export const FEATURE_TYPES = ['REAL', 'CATEGORICAL', 'INUTILE'] as const;
export type FeatureType = (typeof FEATURE_TYPES)[number];

/** What a feature is, by all values of its column: any string makes it categorical. */
export function featureType(values: Iterable<Atom>): FeatureType {
  let type: FeatureType = 'INUTILE';
  for (const value of values) {
    if (typeof value === 'string') return 'CATEGORICAL';
    if (value !== null) type = 'REAL';
  }
  return type;
}

/** The number that a value of a REAL feature stands for, undefined when it is none. */
export function numberOf(value: Atom): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : undefined;
}

/** The category that a value of a CATEGORICAL feature stands for; 1 and '1' are the same. */
export function categoryOf(value: Exclude<Atom, null>): string {
  return atomText(value);
}
