// How highly the labels of a row are scored, where a row can have several.
import { quotient } from './boolean.ts';
import { lookEvery, type ScoreTable, shareInTop, standing } from './rank.ts';
import { checkTestSet } from './test-set.ts';

export interface MultilabelTestSet extends ScoreTable {
  /** texts of all labels, those of score columns and those of rows; distinct */
  readonly labels: readonly string[];
  /** label of each score column */
  readonly columns: Int32Array;
  /** row r has the labels actual[offsets[r]] up to actual[offsets[r + 1]]; at least one */
  readonly actual: Int32Array;
  readonly offsets: Uint32Array;
  /** one a row; absent when all are 1 */
  readonly weights?: Float64Array;
}

export interface MultilabelReport {
  readonly recallOverN: readonly number[];
  /** by the text of each label that some row has */
  readonly labelStatistics: Readonly<Record<string, { readonly recallOverTopN: number[] }>>;
  readonly weightedStatistics: {
    readonly recallOverTopN: readonly number[];
    /** how many of the best scores must be taken, on average, to have all labels of a row */
    readonly coverageError: number;
  };
}

/**
 * @param check called now and then
 * @throws DATA_ERROR without rows or with a NaN score
 */
export function multilabelReport(
  test: MultilabelTestSet,
  recallOverN: readonly number[] = [],
  check: () => void = () => {},
): MultilabelReport {
  const look = lookEvery(test, check);
  const { labels, columns, actual, offsets, weights } = test;
  const rowCount = offsets.length - 1;
  checkTestSet(rowCount, test.scores);
  const columnOf = new Int32Array(labels.length).fill(-1);
  for (const [column, label] of columns.entries()) columnOf[label] = column;
  const supports = new Float64Array(labels.length);
  const inTop = recallOverN.map(() => new Float64Array(labels.length));
  const seen = new Set<number>();
  let pairWeight = 0;
  let coverage = 0;
  for (let row = 0; row < rowCount; row++) {
    const weight = weights === undefined ? 1 : (weights[row] as number);
    const first = offsets[row] as number;
    const end = offsets[row + 1] as number;
    let rankMax = 0;
    for (let i = first; i < end; i++) {
      look();
      const label = actual[i] as number;
      const column = columnOf[label] as number;
      seen.add(label);
      supports[label] = (supports[label] as number) + weight;
      rankMax = Math.max(rankMax, column < 0 ? test.columnCount : meanRank(test, row, column));
      if (column < 0) continue;
      for (const [index, n] of recallOverN.entries()) {
        const sums = inTop[index] as Float64Array;
        sums[label] = (sums[label] as number) + weight * shareInTop(test, row, column, n);
      }
    }
    coverage += (1 + rankMax) * weight * (end - first);
    pairWeight += weight * (end - first);
  }
  const recallOf = (label: number) =>
    inTop.map((sums) => quotient(sums[label] as number, supports[label] as number));
  return {
    recallOverN,
    labelStatistics: Object.fromEntries(
      [...seen]
        .sort((a, b) => a - b)
        .map((label) => [labels[label] as string, { recallOverTopN: recallOf(label) }]),
    ),
    weightedStatistics: {
      recallOverTopN: inTop.map((sums) =>
        quotient(
          sums.reduce((sum, value) => sum + value, 0),
          pairWeight,
        ),
      ),
      coverageError: quotient(coverage, pairWeight),
    },
  };
}

/** Rank from 0; tied labels take the mean of the ranks that they share. */
function meanRank(test: MultilabelTestSet, row: number, column: number): number {
  const { better, tied } = standing(test, row, column);
  return better + (tied - 1) / 2;
}
