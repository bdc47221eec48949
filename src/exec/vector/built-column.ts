// The built side of a join, as kernels read it.
import type { Span } from '../../value/column/snapshot.ts';

/** A column of the build side with all its rows in one piece, and one more row without a value. */
export type FlatColumn =
  | { readonly kind: 'int32' | 'float64'; readonly data: Span; readonly valid: Span | undefined }
  | { readonly kind: 'codes'; readonly data: Span };

/** Where a column of joined rows is found. */
export interface JoinPlace {
  readonly isBuilt: boolean;
  readonly column: number;
}
