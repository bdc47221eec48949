// What the values of one column are like: counts, moments, quartiles and the most frequent ones.

import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { codesOf } from '../../value/column/chunk-encoder.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type { ChunkSnapshot, ColumnSnapshot } from '../../value/column/snapshot.ts';
import { bytesOf, float64Of, int32Of } from '../../value/column/span-view.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp } from '../../value/timestamp.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

export interface FrequentValue {
  readonly text: string;
  readonly count: number;
}

export interface ColumnSummary {
  readonly nullCount: number;
  /** distinct values, without NULL */
  readonly uniqueCount: number;
  /** at most as many as were asked for; of equally frequent ones the greater first */
  readonly mostFrequent: readonly FrequentValue[];
  /** absent: not all values are numbers, or there is none */
  readonly numbers?: NumberSummary;
  /** of a column of timestamps, in seconds */
  readonly times?: { readonly earliest: number; readonly latest: number };
}

/** What is told of a column of a dataset. */
export interface ColumnProfile extends ColumnSummary {
  /** printed */
  readonly name: string;
  readonly type: ColumnSnapshot['type'];
  /** rows that were looked at */
  readonly rowCount: number;
}

export const PROFILE_QUANTILES = [0.25, 0.5, 0.75] as const;

export interface NumberSummary {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** of the sample (n - 1); NaN for one value */
  readonly stddev: number;
  /** the value at each of the asked quantiles: the smallest whose cumulative count exceeds it */
  readonly quantiles: readonly number[];
  /** counts in bins of equal width from min to max */
  readonly histogram: readonly number[];
}

export interface SummaryOptions {
  readonly frequentCount: number;
  readonly quantiles: readonly number[];
  readonly binCount: number;
}

/**
 * Describes one column; numbers are sorted, texts counted by their codes. @param check called
 * between the steps; may throw
 */
export function summarizeColumn(
  column: ColumnSnapshot,
  arenas: Arenas,
  options: SummaryOptions,
  check: () => void,
): ColumnSummary {
  if (column.dictionary !== undefined) return summarizeCodes(column, arenas, options, check);
  const isTime = column.type === 'timestamp';
  const values = numbersOf(column, arenas, check);
  const { nullCount } = column;
  if (values.length === 0) return { nullCount, uniqueCount: 0, mostFrequent: [] };
  const moments = isTime ? undefined : momentsOf(values);
  check();
  sortNumbers(values);
  check();
  const runs = runsOf(values, options.frequentCount);
  const mostFrequent = runs.top.map(({ value, count }) => ({
    text: atomText(isTime ? new Timestamp(value) : value),
    count,
  }));
  const facts = { nullCount, uniqueCount: runs.uniqueCount, mostFrequent };
  if (moments === undefined) {
    const [earliest = 0] = values;
    return { ...facts, times: { earliest, latest: values[values.length - 1] as number } };
  }
  return { ...facts, numbers: numbersSummary(values, moments, options) };
}

interface Moments {
  readonly mean: number;
  readonly stddev: number;
}

function momentsOf(values: Float64Array): Moments {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const difference = (values[i] as number) - mean;
    squares += difference * difference;
  }
  return {
    mean,
    stddev: values.length < 2 ? Number.NaN : Math.sqrt(squares / (values.length - 1)),
  };
}

function numbersSummary(
  sorted: Float64Array,
  moments: Moments,
  { quantiles, binCount }: SummaryOptions,
): NumberSummary {
  const count = sorted.length;
  const min = sorted[0] as number;
  const max = sorted[count - 1] as number;
  return {
    min,
    max,
    ...moments,
    quantiles: quantiles.map(
      (share) => sorted[Math.min(count - 1, Math.floor(count * share))] as number,
    ),
    histogram: histogramOf(sorted, min, max, binCount),
  };
}

/** The last bin has its upper bound in it. */
function histogramOf(sorted: Float64Array, min: number, max: number, binCount: number): number[] {
  const bins = new Array<number>(binCount).fill(0);
  const width = (max - min) / binCount;
  if (binCount === 0 || !Number.isFinite(width)) return bins;
  for (let i = 0; i < sorted.length; i++) {
    const bin = width === 0 ? 0 : Math.floor(((sorted[i] as number) - min) / width);
    const index = Math.min(binCount - 1, Math.max(0, bin));
    bins[index] = (bins[index] as number) + 1;
  }
  return bins;
}

interface Runs {
  readonly uniqueCount: number;
  readonly top: readonly { readonly value: number; readonly count: number }[];
}

/** Equal neighbours of sorted numbers. */
function runsOf(sorted: Float64Array, topCount: number): Runs {
  const top: { value: number; count: number }[] = [];
  let least = 0;
  let uniqueCount = 0;
  for (let start = 0; start < sorted.length; ) {
    const value = sorted[start] as number;
    let end = start + 1;
    while (end < sorted.length && Object.is(sorted[end], value)) end++;
    const count = end - start;
    uniqueCount++;
    // Values come in ascending order, so that of equally frequent ones a later one wins.
    if (top.length < topCount || count >= least) {
      let place = top.length;
      while (place > 0 && (top[place - 1] as { count: number }).count <= count) place--;
      top.splice(place, 0, { value, count });
      if (top.length > topCount) top.pop();
      least = top.length < topCount ? 0 : (top[top.length - 1] as { count: number }).count;
    }
    start = end;
  }
  return { uniqueCount, top };
}

function summarizeCodes(
  column: ColumnSnapshot,
  arenas: Arenas,
  options: SummaryOptions,
  check: () => void,
): ColumnSummary {
  const view = new ColumnView(column, arenas);
  const dictionary = view.dictionary;
  if (dictionary === undefined) throw new Error('a column of codes has a dictionary');
  const counts = new Uint32Array(dictionary.count + 1);
  for (const chunk of column.chunks) {
    check();
    countCodes(chunk, counts, arenas);
  }
  const { nullCount } = column;
  let uniqueCount = 0;
  let isNumeric = dictionary.snapshot.kind === 'mixed';
  for (let code = 1; code < counts.length; code++) {
    if (counts[code] === 0) continue;
    uniqueCount++;
    isNumeric &&= isNumber(dictionary.atom(code));
  }
  if (isNumeric && uniqueCount > 0) {
    const values = new Float64Array(
      counts.reduce((sum, count) => sum + count, 0) - (counts[0] ?? 0),
    );
    let position = 0;
    for (let code = 1; code < counts.length; code++) {
      const count = counts[code] as number;
      if (count === 0) continue;
      values.fill(Number(dictionary.atom(code)), position, position + count);
      position += count;
    }
    const moments = momentsOf(values);
    sortNumbers(values);
    return {
      nullCount,
      uniqueCount,
      mostFrequent: topCodes(counts, options.frequentCount, (code) => dictionary.atom(code)),
      numbers: numbersSummary(values, moments, options),
    };
  }
  const mostFrequent = topCodes(counts, options.frequentCount, (code) => dictionary.atom(code));
  return { nullCount, uniqueCount, mostFrequent };
}

function isNumber(atom: Atom): boolean {
  return typeof atom === 'number' || typeof atom === 'bigint';
}

function topCodes(
  counts: Uint32Array,
  topCount: number,
  atomOf: (code: number) => Atom,
): FrequentValue[] {
  const top: FrequentValue[] = [];
  let least = 0;
  for (let code = 1; code < counts.length; code++) {
    const count = counts[code] as number;
    if (count === 0 || (top.length === topCount && count < least)) continue;
    const text = atomText(atomOf(code) as Exclude<Atom, null>);
    let place = top.length;
    while (place > 0 && isMoreFrequent({ text, count }, top[place - 1] as FrequentValue)) place--;
    top.splice(place, 0, { text, count });
    if (top.length > topCount) top.pop();
    least = (top[top.length - 1] as FrequentValue).count;
  }
  return top;
}

/** Of equally frequent values the greater one comes first. */
export function isMoreFrequent(a: FrequentValue, b: FrequentValue): boolean {
  if (a.count !== b.count) return a.count > b.count;
  const numbers = [Number(a.text), Number(b.text)] as const;
  if (numbers.every((number) => !Number.isNaN(number)) && a.text !== '' && b.text !== '') {
    return numbers[0] > numbers[1];
  }
  return Buffer.compare(Buffer.from(a.text), Buffer.from(b.text)) > 0;
}

function countCodes(chunk: ChunkSnapshot, counts: Uint32Array, arenas: Arenas): void {
  if (chunk.kind === 'constant') return;
  if (chunk.kind === 'sparse') {
    countCodes(chunk.values, counts, arenas);
    return;
  }
  if (chunk.kind !== 'codes') throw new Error('a column with a dictionary has codes only');
  const codes = codesOf(arenas, chunk.data, chunk.width);
  for (let i = 0; i < chunk.rowCount; i++) {
    const code = codes[i] as number;
    counts[code] = (counts[code] as number) + 1;
  }
}

/** The values of a column of numbers or timestamps, without nulls, in row order. */
function numbersOf(column: ColumnSnapshot, arenas: Arenas, check: () => void): Float64Array {
  const rowCount = column.chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
  const out = new Float64Array(rowCount - column.nullCount);
  let position = 0;
  for (const chunk of column.chunks) {
    check();
    position = copyNumbers(chunk, out, position, arenas);
  }
  return out;
}

function copyNumbers(
  chunk: ChunkSnapshot,
  out: Float64Array,
  position: number,
  arenas: Arenas,
): number {
  switch (chunk.kind) {
    case 'constant': {
      if (chunk.atom === null) return position;
      out.fill(Number(chunk.atom), position, position + chunk.rowCount);
      return position + chunk.rowCount;
    }
    case 'sparse':
      return copyNumbers(chunk.values, out, position, arenas);
    case 'codes':
      throw new Error('a column without a dictionary has no codes');
    default: {
      const values =
        chunk.kind === 'int32' ? int32Of(arenas, chunk.data) : float64Of(arenas, chunk.data);
      if (chunk.validity === undefined) {
        out.set(values.subarray(0, chunk.rowCount), position);
        return position + chunk.rowCount;
      }
      const validity = bytesOf(arenas, chunk.validity);
      for (let i = 0; i < chunk.rowCount; i++) {
        if (((validity[i >> 3] as number) & (1 << (i & 7))) !== 0) {
          out[position++] = values[i] as number;
        }
      }
      return position;
    }
  }
}

/** Integers of a range that is not much wider than there are values are counted, others sorted. */
function sortNumbers(values: Float64Array): void {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let areIntegers = true;
  for (let i = 0; i < values.length && areIntegers; i++) {
    const value = values[i] as number;
    areIntegers = value === Math.floor(value) && Math.abs(value) < 2 ** 31;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (!areIntegers || max - min > values.length * 2) {
    values.sort();
    return;
  }
  const counts = new Uint32Array(max - min + 1);
  for (let i = 0; i < values.length; i++) {
    const index = (values[i] as number) - min;
    counts[index] = (counts[index] as number) + 1;
  }
  let position = 0;
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] as number;
    if (count === 0) continue;
    values.fill(min + index, position, position + count);
    position += count;
  }
}
