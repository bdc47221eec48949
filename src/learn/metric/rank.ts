// Where labels stand among the scores of a row.

import { every } from '../../util/every.ts';

/** Scores row by row, one a column. */
export interface ScoreTable {
  readonly scores: Float64Array;
  readonly columnCount: number;
}

/** Scores read between two looks at whether the result is still wanted. */
const SCORES_PER_CHECK = 1 << 20;

/** To be called for each row, and each label of it: does `check` now and then. */
export function lookEvery({ columnCount }: ScoreTable, check: () => void): () => void {
  return every(Math.ceil(SCORES_PER_CHECK / (columnCount + 16)), check);
}

/** The column with the largest score of a row, the first of equal ones. */
export function bestColumn({ scores, columnCount }: ScoreTable, row: number): number {
  const start = row * columnCount;
  let best = 0;
  for (let column = 1; column < columnCount; column++) {
    if ((scores[start + column] as number) > (scores[start + best] as number)) best = column;
  }
  return best;
}

/** Columns with a larger score, and those with the same (the column itself included). */
export function standing(
  { scores, columnCount }: ScoreTable,
  row: number,
  column: number,
): { readonly better: number; readonly tied: number } {
  const start = row * columnCount;
  const own = scores[start + column] as number;
  let better = 0;
  let tied = 0;
  for (let other = 0; other < columnCount; other++) {
    const score = scores[start + other] as number;
    if (score > own) better++;
    else if (score === own) tied++;
  }
  return { better, tied };
}

/** The share of a label that is among the n best; labels tied across the limit share it. */
export function shareInTop(table: ScoreTable, row: number, column: number, n: number): number {
  const { better, tied } = standing(table, row, column);
  if (better >= n) return 0;
  return better + tied <= n ? 1 : (n - better) / tied;
}
