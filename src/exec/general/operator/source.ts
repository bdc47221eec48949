// How operators hand rows on: as iterables that are made anew for each run.
import type { Runtime } from '../compiler.ts';
import type { ExecRow } from '../row.ts';

export type RowSource = () => Iterable<ExecRow>;

/** Rows that are known by number: a part of them costs nothing. */
export interface SliceableRows extends Iterable<ExecRow> {
  readonly rowCount: number;
  slice(from: number, to: number): SliceableRows;
}

export function isSliceable(rows: Iterable<ExecRow>): rows is SliceableRows {
  return 'slice' in rows && 'rowCount' in rows;
}

/** Rows between two looks at the cancel flag. */
const CANCEL_CHECK_ROW_COUNT = 256;

/** Comparisons between two looks: those of names or of rows take a few microseconds each. */
const CANCEL_CHECK_COMPARISON_COUNT = 4096;

/** A comparer for a sort that may take long. */
export function comparingWithCancellation<Item>(
  compare: (a: Item, b: Item) => number,
  scope: { checkCancelled(): void },
): (a: Item, b: Item) => number {
  let countdown = CANCEL_CHECK_COMPARISON_COUNT;
  return (a, b) => {
    if (--countdown === 0) {
      scope.checkCancelled();
      countdown = CANCEL_CHECK_COMPARISON_COUNT;
    }
    return compare(a, b);
  };
}

export function* withCancellation(rows: Iterable<ExecRow>, runtime: Runtime): Iterable<ExecRow> {
  let countdown = CANCEL_CHECK_ROW_COUNT;
  for (const row of rows) {
    if (--countdown === 0) {
      runtime.scope.checkCancelled();
      countdown = CANCEL_CHECK_ROW_COUNT;
    }
    yield row;
  }
}
