// The rows of one partition of a window, and parts of them.
import type { Value } from '../../../value/value.ts';
import type { ExecRow } from '../row.ts';

/** The rows of a partition in their order. */
export interface Partition {
  readonly rows: readonly ExecRow[];
  /** their positions in the input */
  readonly rowIndexes: readonly number[];
  /** the first sort key of each row */
  readonly keys: readonly Value[];
  /** the number of the run of equal rows that each row is in */
  readonly groupOf: readonly number[];
  /** where each run begins, and the number of rows */
  readonly groupStarts: readonly number[];
}

/** Positions from the first on and below the second. */
export type PositionRange = readonly [from: number, to: number];
