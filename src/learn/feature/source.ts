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
  | SparseColumn
  | { readonly kind: 'nulls'; readonly name: string };

/** Numbers of few rows; the others have none. */
export interface SparseColumn {
  readonly kind: 'sparse';
  readonly name: string;
  readonly rowCount: number;
  /** ascending */
  readonly rows: Uint32Array;
  /** not NaN */
  readonly values: Float64Array;
}

/** The same column with a place for every row. */
export function denseSource(source: SourceColumn): Exclude<SourceColumn, SparseColumn> {
  if (source.kind !== 'sparse') return source;
  const values = new Float64Array(source.rowCount).fill(Number.NaN);
  for (const [index, row] of source.rows.entries()) values[row] = source.values[index] as number;
  return { kind: 'numbers', name: source.name, pieces: [{ values }] };
}

/** The given rows of a column, in that order; a row may be given several times. */
export function gatherSource(source: SourceColumn, rows: Uint32Array): SourceColumn {
  const dense = denseSource(source);
  if (dense.kind === 'nulls') return dense;
  if (dense.kind === 'codes') {
    const all = joinedCodes(dense.pieces);
    return { ...dense, pieces: [Uint32Array.from(rows, (row) => all[row] as number)] };
  }
  const all = joinedNumbers(dense.pieces);
  return {
    ...dense,
    pieces: [{ values: Float64Array.from(rows, (row) => all[row] as number) }],
  };
}

/** All numbers of a column, NaN where there is none; not to be written. */
export function joinedNumbers(pieces: readonly NumberPiece[]): Float64Array {
  const [only] = pieces;
  if (pieces.length === 1 && only?.validity === undefined && only?.values instanceof Float64Array) {
    return only.values;
  }
  const count = pieces.reduce((sum, { values }) => sum + values.length, 0);
  const joined = new Float64Array(count);
  let from = 0;
  for (const { values, validity } of pieces) {
    joined.set(values, from);
    if (validity !== undefined) {
      for (let i = 0; i < values.length; i++) {
        if ((((validity[i >> 3] as number) >> (i & 7)) & 1) === 0) joined[from + i] = Number.NaN;
      }
    }
    from += values.length;
  }
  return joined;
}

export function joinedCodes(pieces: readonly CodeArray[]): CodeArray {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const joined = new Uint32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let from = 0;
  for (const piece of pieces) {
    joined.set(piece, from);
    from += piece.length;
  }
  return joined;
}

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
