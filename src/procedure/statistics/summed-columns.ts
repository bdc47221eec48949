// What the values of columns are like where only sums of them can be had.

import {
  VALUE_COUNT_MAX,
  valueAtRank,
  valueAtRankOf,
  valueCounts,
} from '../../learn/sums/ranks.ts';
import { type Group, type Sums, SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import { columnOf, constant, minus, times } from '../../learn/sums/term.ts';
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import type { QuerySums, SummedColumn } from '../training/query-sums.ts';
import type { ColumnSummary, FrequentValue, SummaryOptions } from './column-summary.ts';
import { isMoreFrequent } from './column-summary.ts';

/** Groups of many rows that are looked at before the search for the most frequent values begins. */
const FREQUENT_GROUP_COUNT = 1000;

/** @throws SumsRefused over values whose sums say too little of them */
export function summarizeBySums(sums: QuerySums, options: SummaryOptions): ColumnSummary[] {
  const { columns } = sums;
  const numbers = columns.map(isNumeric);
  const [facts] = sums.groups({
    keys: [],
    values: [
      { kind: 'rows' },
      ...columns.flatMap((_, index) => {
        const of = columnOf(index);
        const counts = [{ kind: 'count', of } as const, { kind: 'distinct', of } as const];
        if (!numbers[index]) return counts;
        const range = [{ kind: 'min', of } as const, { kind: 'max', of } as const];
        return [...counts, ...range, { kind: 'sum', of } as const];
      }),
    ],
  });
  if (facts === undefined) throw new SumsRefused('the query selects no rows');
  let at = 1;
  const totals = columns.map((_, index) => {
    const [count, distinct] = [sumAt(facts, at), sumAt(facts, at + 1)];
    at += 2;
    if (!numbers[index]) return { count, distinct, low: 0, high: 0, mean: 0 };
    const [low, high, sum] = [sumAt(facts, at), sumAt(facts, at + 1), sumAt(facts, at + 2)];
    at += 3;
    return { count, distinct, low, high, mean: sum / count };
  });
  const rowCount = sumAt(facts, 0);
  const spread = squaresOf(sums, columns, totals);
  return columns.map((_, index): ColumnSummary => {
    const { count, distinct, low, high, mean } = totals[index] as ColumnTotals;
    const shared = { nullCount: rowCount - count, uniqueCount: distinct };
    if (count === 0) return { ...shared, mostFrequent: [] };
    const wanted = options.frequentCount;
    const isFew = distinct <= VALUE_COUNT_MAX;
    const mostFrequent = isFew
      ? frequentOf(sums.groups({ keys: [columnOf(index)], values: [{ kind: 'rows' }] }), wanted)
      : mostFrequentOf(sums, index, { count, distinct, wanted });
    if (!numbers[index]) return { ...shared, mostFrequent };
    const few = isFew ? valueCounts(sums, columnOf(index)) : undefined;
    const quantiles = options.quantiles.map((share) => {
      const rank = Math.min(count - 1, Math.floor(count * share));
      return few === undefined
        ? valueAtRankOf(sums, columnOf(index), rank, { low, high })
        : valueAtRank(few, rank);
    });
    const squares = spread[index] as number;
    const stddev = count < 2 ? Number.NaN : Math.sqrt(squares / (count - 1));
    return {
      ...shared,
      mostFrequent,
      numbers: { min: low, max: high, mean, stddev, quantiles, histogram: [] },
    };
  });
}

interface ColumnTotals {
  readonly count: number;
  readonly distinct: number;
  readonly low: number;
  readonly high: number;
  readonly mean: number;
}

function isNumeric({ atom, path }: SummedColumn): boolean {
  if (atom === 'integer' || atom === 'number') return true;
  if (atom === 'string' || atom === 'timestamp') return false;
  throw new SumsRefused(`column ${path} may hold values of any type`);
}

/** Sums of squared distances from the means, which a second pass gives exactly enough. */
function squaresOf(
  sums: Sums,
  columns: readonly SummedColumn[],
  totals: readonly ColumnTotals[],
): number[] {
  const chosen = columns.flatMap((column, index) => {
    const { count, low, high } = totals[index] as ColumnTotals;
    if (!isNumeric(column) || count === 0) return [];
    if (Number.isFinite(low) && Number.isFinite(high)) return [index];
    throw new SumsRefused(`column ${column.path} has values that are no finite numbers`);
  });
  if (chosen.length === 0) return [];
  const [group] = sums.groups({
    shared: chosen.map((index) =>
      minus(columnOf(index), constant((totals[index] as ColumnTotals).mean)),
    ),
    keys: [],
    values: chosen.map((_, position) => {
      const distance = { kind: 'shared', index: position } as const;
      return { kind: 'sum', of: times(distance, distance) };
    }),
  });
  const squares: number[] = [];
  for (const [position, index] of chosen.entries())
    squares[index] = sumAt(group as Group, position);
  return squares;
}

function frequentOf(groups: readonly Group[], wanted: number): FrequentValue[] {
  return groups
    .filter(({ keys }) => keys[0] !== null)
    .map((group) => ({
      text: atomText(group.keys[0] as Exclude<Atom, null>),
      count: sumAt(group, 0),
    }))
    .sort((a, b) => (isMoreFrequent(a, b) ? -1 : 1))
    .slice(0, wanted);
}

/**
 * The most frequent of many values: the least number of rows that still enough values have is
 * searched for, and of those values that have just as many the greatest ones are taken.
 */
function mostFrequentOf(
  sums: Sums,
  column: number,
  { count, distinct, wanted }: { count: number; distinct: number; wanted: number },
): FrequentValue[] {
  const request = { keys: [columnOf(column)], values: [{ kind: 'rows' } as const] };
  const there = (groups: readonly Group[]) => groups.filter(({ keys }) => keys[0] !== null);
  const greatest = wanted + 1;
  let low = 1;
  let high = Math.ceil(count / FREQUENT_GROUP_COUNT) + 1;
  const many = there(sums.groups({ ...request, rowCountMin: high }));
  if (many.length >= wanted) return frequentOf(many, wanted);
  // Fewer than wanted values have `high` rows, and all have `low`.
  if (distinct === count) high = 2;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = there(sums.groups({ ...request, rowCountMin: middle, greatest }));
    if (found.length >= wanted) low = middle;
    else high = middle;
  }
  const above = frequentOf(there(sums.groups({ ...request, rowCountMin: high, greatest })), wanted);
  const equal = there(sums.groups({ ...request, rowCountMin: low, rowCountMax: low, greatest }));
  return [...above, ...frequentOf(equal, wanted)].slice(0, wanted);
}
