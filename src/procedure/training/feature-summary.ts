// What a model card tells of the values of one feature.
import { DistinctSketch } from '../../builtin/aggregate/distinct-sketch.ts';
import {
  featureType,
  type NumberPiece,
  numberOf,
  type SourceColumn,
} from '../../learn/feature/source.ts';
import { every } from '../../util/every.ts';

export interface FeatureSummary {
  readonly name: string;
  readonly type: 'number' | 'category' | 'unused';
  /** share of the rows without a value */
  readonly missing: number;
  /** distinct values; an estimate within 2 % beyond a few thousand */
  readonly distinct: number;
  /** of the finite numbers; null where there are none */
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
}

const TYPES = { REAL: 'number', CATEGORICAL: 'category', INUTILE: 'unused' } as const;

/** Rows between two looks at the cancel flag. */
const ROWS_PER_CHECK = 65_536;

/** @param check looks at the cancel flag */
export function summarizeFeature(
  source: SourceColumn,
  rowCount: number,
  check: () => void,
): FeatureSummary {
  switch (source.kind) {
    case 'nulls':
      return { ...summaryOf(source.name, 'unused', rowCount, new NumberTally()), distinct: 0 };
    case 'sparse': {
      const tally = new NumberTally();
      tally.addPiece({ values: source.values }, check);
      return summaryOf(source.name, 'number', rowCount, tally);
    }
    case 'numbers': {
      const tally = new NumberTally();
      for (const piece of source.pieces) tally.addPiece(piece, check);
      return summaryOf(source.name, 'number', rowCount, tally);
    }
    case 'codes':
      return summarizeCodes(source, rowCount, every(ROWS_PER_CHECK, check));
  }
}

function summarizeCodes(
  { name, pieces, entries }: Extract<SourceColumn, { kind: 'codes' }>,
  rowCount: number,
  look: () => void,
): FeatureSummary {
  const counts = new Float64Array(entries.length + 1);
  for (const piece of pieces) {
    for (let i = 0; i < piece.length; i++) {
      look();
      const code = piece[i] as number;
      counts[code] = (counts[code] as number) + 1;
    }
  }
  const isUsed = (_: unknown, index: number) => (counts[index + 1] as number) > 0;
  const type = TYPES[featureType(entries.filter(isUsed))];
  const tally = new NumberTally();
  let distinct = 0;
  for (const [index, entry] of entries.entries()) {
    const count = counts[index + 1] as number;
    if (count === 0) continue;
    look();
    distinct++;
    const number = type === 'number' ? numberOf(entry) : undefined;
    if (number !== undefined) tally.add(number, count);
  }
  const missing = rowCount === 0 ? 0 : (counts[0] as number) / rowCount;
  return { ...summaryOf(name, type, rowCount, tally), missing, distinct };
}

/** Counts and moments of numbers; NaN is no value. */
class NumberTally {
  count = 0;
  #finiteCount = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #last = Number.NaN;
  /** exact while there are few */
  readonly #seen = new Set<number>();
  #sketch: DistinctSketch | undefined;

  /** Sums are kept in the loop, which a field for each of them would slow down. */
  addPiece({ values, validity }: NumberPiece, check: () => void): void {
    let [count, finiteCount, sum, min, max] = [0, 0, 0, this.#min, this.#max];
    let last = this.#last;
    for (let i = 0; i < values.length; i++) {
      if (i % ROWS_PER_CHECK === 0) check();
      if (validity !== undefined && (((validity[i >> 3] as number) >> (i & 7)) & 1) === 0) continue;
      const value = values[i] as number;
      if (Number.isNaN(value)) continue;
      count++;
      if (Number.isFinite(value)) {
        finiteCount++;
        sum += value;
        if (value < min) min = value;
        if (value > max) max = value;
      }
      if (value === last) continue;
      last = value;
      if (this.#sketch !== undefined) this.#sketch.add(value);
      else this.#see(value);
    }
    this.count += count;
    this.#finiteCount += finiteCount;
    this.#sum += sum;
    this.#min = min;
    this.#max = max;
    this.#last = last;
  }

  add(value: number, count: number): void {
    if (Number.isNaN(value)) return;
    this.count += count;
    if (Number.isFinite(value)) {
      this.#finiteCount += count;
      this.#sum += value * count;
      if (value < this.#min) this.#min = value;
      if (value > this.#max) this.#max = value;
    }
    this.#see(value);
  }

  #see(value: number): void {
    if (this.#sketch !== undefined) {
      this.#sketch.add(value);
      return;
    }
    this.#seen.add(value);
    if (this.#seen.size <= EXACT_DISTINCT_MAX) return;
    this.#sketch = new DistinctSketch();
    for (const each of this.#seen) this.#sketch.add(each);
    this.#seen.clear();
  }

  get distinct(): number {
    return this.#sketch?.count() ?? this.#seen.size;
  }

  get moments(): Pick<FeatureSummary, 'min' | 'max' | 'mean'> {
    if (this.#finiteCount === 0) return { min: null, max: null, mean: null };
    return { min: this.#min, max: this.#max, mean: this.#sum / this.#finiteCount };
  }
}

const EXACT_DISTINCT_MAX = 4096;

function summaryOf(
  name: string,
  type: FeatureSummary['type'],
  rowCount: number,
  tally: NumberTally,
): FeatureSummary {
  return {
    name,
    type,
    missing: rowCount === 0 ? 0 : 1 - tally.count / rowCount,
    distinct: tally.distinct,
    ...tally.moments,
  };
}
