// What a column of a result holds: shares, quantiles, the most frequent values.
import type { Vector } from 'apache-arrow';
import { cellText, timestampText } from './cell.ts';
import type { ColumnKind, ColumnProfile } from './protocol.ts';

const BIN_COUNT = 20;
const TOP_COUNT = 10;
const DISTINCT_MAX = 200_000;
/** Rows that are looked at; a profile beyond says so. */
const ROW_COUNT_MAX = 2_000_000;

export function columnProfile(
  vectors: readonly (Vector | null)[],
  kind: ColumnKind,
  isWholeResult: boolean,
): ColumnProfile {
  const isNumeric = kind === 'integer' || kind === 'number' || kind === 'timestamp';
  const counts = new Map<unknown, number>();
  const numbers: number[] = [];
  let rows = 0;
  let nulls = 0;
  let isDistinctExact = true;
  let isCut = false;
  scan: for (const vector of vectors) {
    if (vector === null) continue;
    for (const value of vector) {
      if (rows >= ROW_COUNT_MAX) {
        isCut = true;
        break scan;
      }
      rows++;
      if (value === null || value === undefined) {
        nulls++;
        continue;
      }
      const keyed = kind === 'blob' || kind === 'interval' ? cellText(value, kind) : value;
      const known = counts.get(keyed);
      if (known !== undefined) counts.set(keyed, known + 1);
      else if (counts.size < DISTINCT_MAX) counts.set(keyed, 1);
      else isDistinctExact = false;
      if (isNumeric) {
        const number = Number(value);
        if (Number.isFinite(number)) numbers.push(number);
      }
    }
  }
  const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, TOP_COUNT);
  return {
    rows,
    isWhole: isWholeResult && !isCut,
    nulls,
    distinct: counts.size,
    isDistinctExact,
    top: top.map(([value, count]) => ({ value: cellText(value, kind) ?? '', count })),
    ...(numbers.length === 0 ? {} : numericProfile(numbers, kind)),
  };
}

function numericProfile(numbers: readonly number[], kind: ColumnKind) {
  const sorted = Float64Array.from(numbers).sort();
  const low = sorted[0] as number;
  const high = sorted[sorted.length - 1] as number;
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
  const counts = new Array<number>(BIN_COUNT).fill(0);
  const width = (high - low) / BIN_COUNT || 1;
  let sum = 0;
  for (const number of sorted) {
    sum += number;
    const bin = Math.min(BIN_COUNT - 1, Math.floor((number - low) / width));
    counts[bin] = (counts[bin] as number) + 1;
  }
  const text = (number: number) => (kind === 'timestamp' ? timestampText(number) : String(number));
  return {
    minimum: text(low),
    maximum: text(high),
    mean: sum / sorted.length,
    quantiles: [at(0.25), at(0.5), at(0.75)] as const,
    histogram: { from: low, to: high, counts },
  };
}
