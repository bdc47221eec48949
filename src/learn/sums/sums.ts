// Rows that are known by their sums: what trainers ask for that never see a row.
import type { Atom } from '../../value/atom.ts';
import type { Term, Test } from './term.ts';

export type Aggregate =
  | { readonly kind: 'rows' }
  /** `count` and `distinct` of the values that are not null; `min` and `max` null over none */
  | { readonly kind: 'count' | 'distinct' | 'sum' | 'min' | 'max'; readonly of: Term };

export interface SumsRequest {
  /** values of each row that terms name; each may name those before it */
  readonly shared?: readonly Term[];
  /** a group for each distinct tuple; none: one group of all rows */
  readonly keys: readonly Term[];
  readonly values: readonly Aggregate[];
  /** other rows are left out; it names columns only */
  readonly where?: Test;
  /** groups of at least so many rows only */
  readonly rowCountMin?: number;
  /** groups of at most so many rows only */
  readonly rowCountMax?: number;
  /** the groups of the greatest first key only */
  readonly greatest?: number;
}

export interface Group {
  readonly keys: readonly Atom[];
  /** one for each aggregate */
  readonly values: readonly Atom[];
}

/** Rows somewhere, of which groups and sums can be had, in one pass over them for each request. */
export interface Sums {
  /** groups that one request may have */
  readonly groupCountMax: number;
  /** @throws SumsRefused when the rows would have to come here */
  groups(request: SumsRequest): readonly Group[];
}

/** Why sums cannot be had, or would not make the model that the rows make. */
export class SumsRefused extends Error {}

/** A sum, or a count, as a number; of nothing it is 0. */
export function sumAt({ values }: Group, index: number): number {
  return Number(values[index] ?? 0);
}
