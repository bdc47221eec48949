// The values that most rows of a column have, from a sample of its rows: statistics for estimates.
import type { Atom } from '../atom.ts';
import { keyOfAtom } from '../canonical-key.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { ColumnView } from './column-view.ts';
import type { ColumnSnapshot } from './snapshot.ts';

/** Rows that are looked at, in so many chunks, spread over the column. */
const SAMPLE_COUNT = 4096;
const CHUNK_COUNT_MAX = 8;
/** Of rarer values a sample says too little. */
const LEAST_COUNT = 8;
const VALUE_COUNT_MAX = 64;

export interface FrequentValue {
  readonly atom: Atom;
  /** of the rows */
  readonly share: number;
}

/** Shares are those of all rows, nulls included; NULL is no value. */
export class FrequentValues {
  /** the most frequent first */
  readonly values: readonly FrequentValue[];
  /** rows that have another value */
  readonly restShare: number;
  readonly #shares: ReadonlyMap<unknown, number>;

  constructor(values: readonly FrequentValue[], valueShare: number) {
    this.values = values;
    const known = values.reduce((sum, { share }) => sum + share, 0);
    this.restShare = Math.max(0, valueShare - known);
    this.#shares = new Map(values.map(({ atom, share }) => [keyOfAtom(atom), share]));
  }

  /** @param distinctCount different values of the column, about */
  shareOf(atom: Atom, distinctCount: number): number {
    return this.#shares.get(keyOfAtom(atom)) ?? this.otherShare(distinctCount);
  }

  /** The share of a value that is none of the frequent ones. */
  otherShare(distinctCount: number): number {
    const others = Math.max(1, distinctCount - this.values.length);
    return Math.min(this.restShare / others, LEAST_COUNT / SAMPLE_COUNT);
  }

  has(atom: Atom): boolean {
    return this.#shares.has(keyOfAtom(atom));
  }
}

/** The frequent values of a column, from the same rows whenever it is asked. */
export function frequentValuesOf(
  column: ColumnSnapshot,
  arenas: Pick<ArenaAllocator, 'get'>,
): FrequentValues {
  const view = new ColumnView(column, arenas);
  const counts = new Map<number, { count: number; readonly row: number }>();
  let sampleCount = 0;
  for (const row of sampledRows(column)) {
    sampleCount++;
    if (view.isNull(row)) continue;
    // Equal codes and equal numbers are equal values; others are told apart by their rows.
    const key = view.dictionary === undefined ? view.numberAt(row) : view.codeAt(row);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { count: 1, row });
    else known.count++;
  }
  const rowCount = view.rowCount;
  const valueShare = rowCount === 0 ? 0 : 1 - column.nullCount / rowCount;
  // A sample of all rows counts them.
  const least = sampleCount === rowCount ? 1 : LEAST_COUNT;
  const frequent = [...counts.values()]
    .filter(({ count }) => count >= least)
    .sort((a, b) => b.count - a.count || a.row - b.row)
    .slice(0, VALUE_COUNT_MAX)
    .map(({ count, row }) => ({ atom: view.atomAt(row), share: count / sampleCount }));
  return new FrequentValues(frequent, valueShare);
}

/** Row numbers: few chunks, so that little is read of what lies in a file. */
function* sampledRows({ chunks }: ColumnSnapshot): Iterable<number> {
  const starts: number[] = [];
  let rowCount = 0;
  for (const chunk of chunks) {
    starts.push(rowCount);
    rowCount += chunk.rowCount;
  }
  if (rowCount <= SAMPLE_COUNT) {
    for (let row = 0; row < rowCount; row++) yield row;
    return;
  }
  const chunkCount = Math.min(chunks.length, CHUNK_COUNT_MAX);
  const perChunk = SAMPLE_COUNT / chunkCount;
  for (let i = 0; i < chunkCount; i++) {
    const chunk = Math.floor(((i + 0.5) * chunks.length) / chunkCount);
    const count = chunks[chunk]?.rowCount ?? 0;
    const wanted = Math.min(count, perChunk);
    for (let at = 0; at < wanted; at++) {
      yield (starts[chunk] as number) + Math.floor((at * count) / wanted);
    }
  }
}
