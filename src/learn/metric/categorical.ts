// How often the best-scored label is the right one.
import { failure } from '../../util/error.ts';
import { type Atom, compareAtoms } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import { quotient } from './boolean.ts';
import { bestColumn, lookEvery, type ScoreTable, shareInTop } from './rank.ts';
import { checkTestSet } from './test-set.ts';

export interface CategoricalTestSet extends ScoreTable {
  /** all labels, those of score columns and those of rows; distinct */
  readonly labels: readonly Exclude<Atom, null>[];
  /** label of each score column */
  readonly columns: Int32Array;
  /** label of each row */
  readonly actual: Int32Array;
  /** one a row; absent when all are 1 */
  readonly weights?: Float64Array;
}

export interface LabelStatistics {
  readonly accuracy: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1Score: number;
  readonly support: number;
  /** parallel to recallOverN, when asked for */
  readonly recallOverTopN?: readonly number[];
}

export interface ConfusionCell {
  readonly actual: Atom;
  readonly predicted: Atom;
  readonly count: number;
}

export interface CategoricalReport {
  /** by the text of each label that some row has */
  readonly labelStatistics: Readonly<Record<string, LabelStatistics>>;
  readonly weightedStatistics: LabelStatistics;
  readonly confusionMatrix: readonly ConfusionCell[];
  readonly recallOverN?: readonly number[];
}

/** The label of the largest score of each row. @param check called now and then */
export function predictedLabels(
  test: CategoricalTestSet,
  check: () => void = () => {},
): Int32Array {
  const look = lookEvery(test, check);
  const predicted = new Int32Array(test.actual.length);
  for (let row = 0; row < predicted.length; row++) {
    look();
    predicted[row] = test.columns[bestColumn(test, row)] as number;
  }
  return predicted;
}

/**
 * @param check called now and then
 * @throws DATA_ERROR without rows or columns, or with a NaN score
 */
export function categoricalReport(
  test: CategoricalTestSet,
  recallOverN: readonly number[] = [],
  check: () => void = () => {},
): CategoricalReport {
  const { labels, actual, weights, columns } = test;
  checkTestSet(actual.length, test.scores);
  if (test.columnCount === 0) throw failure('DATA_ERROR', 'the score has no columns');
  const predicted = predictedLabels(test, check);
  const look = lookEvery(test, check);
  const labelCount = labels.length;
  const confusion = new Map<number, number>();
  const truePositives = new Float64Array(labelCount);
  const predictions = new Float64Array(labelCount);
  const supports = new Float64Array(labelCount);
  const inTop = recallOverN.map(() => new Float64Array(labelCount));
  const columnOf = new Int32Array(labelCount).fill(-1);
  for (const [column, label] of columns.entries()) columnOf[label] = column;
  let total = 0;
  for (let row = 0; row < actual.length; row++) {
    look();
    const weight = weights === undefined ? 1 : (weights[row] as number);
    const label = actual[row] as number;
    const guess = predicted[row] as number;
    total += weight;
    supports[label] = (supports[label] as number) + weight;
    predictions[guess] = (predictions[guess] as number) + weight;
    if (label === guess) truePositives[label] = (truePositives[label] as number) + weight;
    const cell = label * labelCount + guess;
    confusion.set(cell, (confusion.get(cell) ?? 0) + weight);
    const column = columnOf[label] as number;
    if (column < 0) continue;
    for (const [index, n] of recallOverN.entries()) {
      const sums = inTop[index] as Float64Array;
      sums[label] = (sums[label] as number) + weight * shareInTop(test, row, column, n);
    }
  }
  const seen = [...new Set(actual)].sort((a, b) => compareLabels(labels, a, b));
  const statistics = seen.map((label) => {
    const tp = truePositives[label] as number;
    const support = supports[label] as number;
    const guessed = predictions[label] as number;
    const precision = quotient(tp, guessed);
    const recall = quotient(tp, support);
    return {
      accuracy: quotient(total - (guessed - tp) - (support - tp), total),
      precision,
      recall,
      f1Score: quotient(2 * precision * recall, precision + recall),
      support,
      ...(recallOverN.length === 0
        ? {}
        : { recallOverTopN: inTop.map((sums) => quotient(sums[label] as number, support)) }),
    };
  });
  return {
    labelStatistics: Object.fromEntries(
      seen.map((label, index) => [labelText(labels, label), statistics[index] as LabelStatistics]),
    ),
    weightedStatistics: weightedMean(statistics, recallOverN.length),
    confusionMatrix: confusionCells(labels, confusion),
    ...(recallOverN.length === 0 ? {} : { recallOverN }),
  };
}

function weightedMean(statistics: readonly LabelStatistics[], limitCount: number): LabelStatistics {
  const support = statistics.reduce((sum, { support }) => sum + support, 0);
  const mean = (pick: (statistic: LabelStatistics) => number) =>
    quotient(
      statistics.reduce((sum, statistic) => sum + statistic.support * pick(statistic), 0),
      support,
    );
  const limits = Array.from({ length: limitCount }, (_, index) =>
    mean((statistic) => statistic.recallOverTopN?.[index] ?? 0),
  );
  return {
    accuracy: mean((statistic) => statistic.accuracy),
    precision: mean((statistic) => statistic.precision),
    recall: mean((statistic) => statistic.recall),
    f1Score: mean((statistic) => statistic.f1Score),
    support,
    ...(limitCount === 0 ? {} : { recallOverTopN: limits }),
  };
}

function confusionCells(
  labels: readonly Exclude<Atom, null>[],
  confusion: ReadonlyMap<number, number>,
): ConfusionCell[] {
  const split = (cell: number) => [Math.floor(cell / labels.length), cell % labels.length] as const;
  return [...confusion]
    .filter(([, count]) => count !== 0)
    .sort(([a], [b]) => {
      const [actualA, predictedA] = split(a);
      const [actualB, predictedB] = split(b);
      const order = compareLabels(labels, actualA, actualB);
      return order || compareLabels(labels, predictedA, predictedB);
    })
    .map(([cell, count]) => {
      const [actual, predicted] = split(cell);
      return { actual: labels[actual] as Atom, predicted: labels[predicted] as Atom, count };
    });
}

function compareLabels(labels: readonly Atom[], a: number, b: number): number {
  return compareAtoms(labels[a] as Atom, labels[b] as Atom);
}

function labelText(labels: readonly Exclude<Atom, null>[], label: number): string {
  return atomText(labels[label] as Exclude<Atom, null>);
}
