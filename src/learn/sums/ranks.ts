// Values at given ranks of numbers that are known by their sums.
import { type Sums, sumAt } from './sums.ts';
import { call, compare, constant, minus, type Term, type Test, times } from './term.ts';

/** A number and how many rows have it. */
export interface CountedValue {
  readonly value: number;
  readonly count: number;
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** Values that are few enough to come one by one. */
export const VALUE_COUNT_MAX = 10_000;

/** Cells of equal width that a range is divided into. */
const CELL_COUNT = 4096;

/** Ascending. */
export function valueCounts(sums: Sums, x: Term, where?: Test): CountedValue[] {
  const groups = sums.groups({
    keys: [x],
    values: [{ kind: 'rows' }],
    ...(where === undefined ? {} : { where }),
  });
  return groups
    .filter(({ keys }) => keys[0] !== null)
    .map((group) => ({ value: Number(group.keys[0]), count: sumAt(group, 0) }))
    .sort((a, b) => a.value - b.value);
}

/** The value at a rank, from 0, of ascending values. */
export function valueAtRank(values: readonly CountedValue[], rank: number): number {
  let left = rank;
  for (const { value, count } of values) {
    if (left < count) return value;
    left -= count;
  }
  return values.at(-1)?.value ?? Number.NaN;
}

/**
 * The value at a rank by halving no further than needed: the range is divided into cells, and the
 * one that holds the rank is divided again, until its values are few.
 * @param range least and greatest value, both finite
 * @param among other rows are left out
 */
export function valueAtRankOf(
  sums: Sums,
  x: Term,
  rank: number,
  range: Range,
  among?: Test,
): number {
  let { low, high } = range;
  let left = rank;
  while (low < high) {
    const where = within(x, low, high, among);
    const scale = CELL_COUNT / (high - low);
    if (!Number.isFinite(scale) || scale === 0) break;
    const cell = call('floor', times(minus(x, constant(low)), constant(scale)));
    const groups = sums.groups({
      keys: [cell],
      values: [
        { kind: 'rows' },
        { kind: 'min', of: x },
        { kind: 'max', of: x },
        { kind: 'distinct', of: x },
      ],
      where,
    });
    const cells = [...groups].sort((a, b) => Number(a.keys[0]) - Number(b.keys[0]));
    const found = cells.find((group) => {
      const count = sumAt(group, 0);
      if (left < count) return true;
      left -= count;
      return false;
    });
    if (found === undefined) return high;
    low = sumAt(found, 1);
    high = sumAt(found, 2);
    if (sumAt(found, 3) <= VALUE_COUNT_MAX) {
      return valueAtRank(valueCounts(sums, x, within(x, low, high, among)), left);
    }
  }
  return valueAtRank(valueCounts(sums, x, within(x, low, high, among)), left);
}

function within(x: Term, low: number, high: number, among?: Test): Test {
  const tests = [compare('>=', x, constant(low)), compare('<=', x, constant(high))];
  return { kind: 'all', tests: among === undefined ? tests : [...tests, among] };
}
