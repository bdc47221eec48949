// The parallel part of ORDER BY … LIMIT: each unit keeps the first rows of its chunks. A row whose
// first key is beyond the last kept one is dropped by a kernel before anything else is known of it.
import { TRUTH } from '../../../kernel/generated.ts';
import type { ColumnSnapshot, RowNames, Span } from '../../../value/column/snapshot.ts';
import { registerParallelJob } from '../../parallel.ts';
import { ChunkVectors } from '../chunk.ts';
import { type ChunkRange, firstRowOf } from '../chunk-range.ts';
import { PickedVectors } from '../picked-vectors.ts';
import type { TruthProgram } from '../program/program.ts';
import { type RowHasher, rowHasher } from '../row-hash.ts';
import { Scratch } from '../scratch.ts';
import type { Vectors } from '../vectors.ts';
import { LeastWords, NO_LIMIT } from './least-words.ts';
import {
  boundOfFirstKey,
  isBeyondBound,
  type OrderBound,
  type OrderWord,
  withinBound,
  wordVector,
} from './order-key.ts';

export interface OrderJobArgs {
  readonly arena: number;
  readonly columns: readonly ColumnSnapshot[];
  readonly chunkRowCounts: readonly number[];
  readonly ranges: readonly ChunkRange[];
  readonly rowCount: number;
  readonly rowNames: RowNames;
  readonly filter: TruthProgram | undefined;
  readonly words: readonly OrderWord[];
}

export interface TopJobArgs extends OrderJobArgs {
  readonly keep: number;
  /** a Uint64 that all units share: no row with a greater first word is wanted */
  readonly limit: Span;
}

/** Candidates as flat halves: the row number, then high and low half of each word and of the hash. */
export type Candidates = Uint32Array;

/** Halves of one candidate. */
export function candidateSize(wordCount: number): number {
  return 1 + 2 * (wordCount + 1);
}

export function compareCandidates(words: Uint32Array, a: number, b: number, size: number): number {
  for (let i = 1; i < size; i++) {
    const difference = (words[a + i] as number) - (words[b + i] as number);
    if (difference !== 0) return difference;
  }
  return (words[a] as number) - (words[b] as number);
}

/** The first `keep` candidates in order. */
export function firstCandidates(
  words: Uint32Array,
  count: number,
  size: number,
  keep: number,
): Uint32Array {
  const starts = Uint32Array.from({ length: count }, (_, index) => index * size);
  starts.sort((a, b) => compareCandidates(words, a, b, size));
  return pickCandidates(words, starts.subarray(0, keep), size);
}

/** Those that are within a limit of the first word, as they lie. */
export function candidatesWithin(words: Uint32Array, size: number, limit: bigint): Uint32Array {
  const high = Number(BigInt.asUintN(64, limit) >> 32n);
  const low = Number(limit & 0xffff_ffffn);
  const starts: number[] = [];
  for (let start = 0; start < words.length; start += size) {
    const difference = (words[start + 1] as number) - high;
    if (difference < 0 || (difference === 0 && (words[start + 2] as number) <= low)) {
      starts.push(start);
    }
  }
  return pickCandidates(words, starts, size);
}

function pickCandidates(words: Uint32Array, starts: ArrayLike<number>, size: number): Uint32Array {
  const out = new Uint32Array(starts.length * size);
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i] as number;
    out.set(words.subarray(start, start + size), i * size);
  }
  return out;
}

export const topJob = registerParallelJob<TopJobArgs, Candidates>({
  name: 'vector.top',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const chunk = new ChunkVectors(scratch, args.columns);
      const top = new TopRows(args, chunk, scratch);
      const range = args.ranges[unit] as ChunkRange;
      let start = firstRowOf(args.chunkRowCounts, range);
      for (let index = range.from; index < range.to; index++) {
        scope.checkCancelled();
        const rowCount = args.chunkRowCounts[index] as number;
        chunk.moveTo(index, rowCount);
        top.add(start, index);
        start += rowCount;
      }
      return top.finish();
    } finally {
      scratch.release();
    }
  },
});

/** Rows that may be wanted: all of a chunk, or some by their positions in it. */
interface SomeRows {
  readonly vectors: Vectors;
  /** address of Int32; 0: all */
  readonly positions: number;
  /** address of a truth byte a row; 0: all are true */
  readonly truth: number;
}

class TopRows {
  readonly #args: TopJobArgs;
  readonly #chunk: ChunkVectors;
  readonly #scratch: Scratch;
  readonly #size: number;
  readonly #capacity: number;
  readonly #hash: RowHasher;
  /** first words of the rows so far */
  readonly #least: LeastWords;
  /** the least keys behind the first word, of rows whose first word is `tieWord` */
  readonly #tieHeap: number;
  #tieHeapSize = 0;
  #tieWord = NO_LIMIT;
  #words: Uint32Array;
  #count = 0;

  constructor(args: TopJobArgs, chunk: ChunkVectors, scratch: Scratch) {
    this.#args = args;
    this.#chunk = chunk;
    this.#scratch = scratch;
    this.#size = candidateSize(args.words.length);
    this.#capacity = 4 * args.keep + 1024;
    this.#words = new Uint32Array(this.#capacity * this.#size);
    this.#hash = rowHasher(args.rowNames, args.rowCount, scratch);
    this.#least = new LeastWords(args.limit, args.keep, scratch);
    this.#tieHeap = scratch.keep(args.keep * 8);
  }

  /** @param start the number of the chunk's first row */
  add(start: number, chunkIndex: number): void {
    const { columns, filter, keep, words } = this.#args;
    const [first] = words;
    if (first === undefined || keep === 0) return;
    let bound = this.#bound(first);
    if (bound !== undefined && isBeyondBound(bound, columns, chunkIndex)) return;
    const truth = filter === undefined ? 0 : this.#chunk.truth(filter);
    const { rowCount } = this.#chunk;
    let done = 0;
    if (this.#least.lowerLimit() === NO_LIMIT && rowCount > 2 * this.#sampleCount) {
      // A few rows tell most of the others that they are not wanted.
      done = this.#sampleCount;
      this.#addRows(first, start, this.#firstRows(done, truth));
      bound = this.#bound(first);
    }
    const picked = bound && this.#pick(bound, truth, done);
    if (picked !== undefined) this.#addRows(first, start, picked);
    else this.#addRows(first, start, this.#rowsFrom(done, truth));
  }

  get #sampleCount(): number {
    return Math.max(2048, 8 * this.#args.keep);
  }

  #bound(first: OrderWord): OrderBound | undefined {
    const limit = this.#least.lowerLimit();
    return limit === NO_LIMIT ? undefined : boundOfFirstKey(first, limit);
  }

  #firstRows(count: number, truth: number): SomeRows {
    const positions = this.#scratch.take(count * 4);
    const { i32 } = this.#scratch.arena;
    for (let i = 0; i < count; i++) i32[positions / 4 + i] = i;
    const vectors = new PickedVectors(this.#scratch, this.#chunk, positions, count);
    return { vectors, positions, truth };
  }

  #rowsFrom(done: number, truth: number): SomeRows {
    if (done === 0) return { vectors: this.#chunk, positions: 0, truth };
    const { rowCount } = this.#chunk;
    const { u8 } = this.#scratch.arena;
    const rest = this.#scratch.take(rowCount);
    if (truth === 0) u8.fill(TRUTH.isTrue, rest, rest + rowCount);
    else u8.copyWithin(rest, truth, truth + rowCount);
    u8.fill(TRUTH.isFalse, rest, rest + done);
    return { vectors: this.#chunk, positions: 0, truth: rest };
  }

  /** The few rows behind the first `done` that are within a bound; undefined when not few are. */
  #pick(bound: OrderBound, truth: number, done: number): SomeRows | undefined {
    const numbers = this.#chunk.numbers(bound.numbers);
    if (numbers.valid !== 0) return undefined;
    const { rowCount } = this.#chunk;
    const most = rowCount >> 2;
    const positions = this.#scratch.take((most + 16) * 4);
    const { value, isDescending } = bound;
    let count: number;
    if (numbers.kind === 'int32' && (value | 0) === value) {
      count = this.#scratch.kernels.selectWithinI32(
        ...([numbers.data, truth, done, rowCount] as const),
        ...([value, isDescending ? 1 : 0, most, positions] as const),
      );
    } else count = this.#selectWithin(bound, { truth, done, most, positions });
    if (count < 0) return undefined;
    const vectors = new PickedVectors(this.#scratch, this.#chunk, positions, count);
    return { vectors, positions, truth: 0 };
  }

  /** @returns how many rows were selected, or -1 when they are more than `most` */
  #selectWithin(
    bound: OrderBound,
    { truth, done, most, positions }: Record<'truth' | 'done' | 'most' | 'positions', number>,
  ): number {
    const { kernels, arena } = this.#scratch;
    const { rowCount } = this.#chunk;
    const passes = this.#chunk.truth(withinBound(bound));
    if (truth !== 0) kernels.andTruth(passes, truth, rowCount, passes);
    arena.u8.fill(TRUTH.isFalse, passes, passes + done);
    if (kernels.countTrue(passes, rowCount) > most) return -1;
    return kernels.selectTrue(passes, rowCount, positions);
  }

  #addRows(first: OrderWord, start: number, { vectors, positions, truth }: SomeRows): void {
    const { rowCount } = vectors;
    if (rowCount === 0) return;
    const { kernels } = this.#scratch;
    const { keep, words: all } = this.#args;
    const words = wordVector(first, vectors, this.#scratch);
    this.#least.add(words, truth, rowCount);
    const limit = this.#least.lowerLimit();
    // Sixteen spare bytes behind the positions belong to the hash kernel.
    const selected = this.#scratch.take(rowCount * 4 + 16);
    const count = kernels.selectAtMost(words, truth, rowCount, limit, selected);
    const others = count === 0 ? [] : all.slice(1);
    const made = [words, ...others.map((word) => wordVector(word, vectors, this.#scratch))];
    if (count <= 2 * keep + 64 || limit === NO_LIMIT) {
      this.#collect(start, { positions, selected, count, words: made });
      return;
    }
    const ties = this.#scratch.take(count * 4 + 16);
    const below = kernels.splitTies(words, selected, count, limit, ties);
    this.#collect(start, { positions, selected, count: below, words: made });
    const tied = { positions, selected: ties, count: count - below, words: made };
    this.#collect(start, this.#leastOfTies(start, tied, limit));
  }

  /** Of rows with the same first word, those that the next key leaves. */
  #leastOfTies(start: number, rows: SelectedRows, limit: bigint): SelectedRows {
    const { selected, count, words } = rows;
    const { keep } = this.#args;
    const { arena, kernels } = this.#scratch;
    if (this.#tieWord !== limit) {
      this.#tieWord = limit;
      this.#tieHeapSize = 0;
    }
    const [, second] = words;
    let keys: number;
    if (second === undefined) keys = this.#hash(start, this.#rowsOf(rows), count);
    else {
      keys = this.#scratch.take(count * 8);
      kernels.gatherU64(second, selected, count, keys);
    }
    const [heap, size] = [this.#tieHeap, this.#tieHeapSize];
    this.#tieHeapSize = kernels.keepLeast(keys, 0, count, heap, size, keep);
    if (this.#tieHeapSize < keep) return rows;
    const least = this.#scratch.take(count * 4 + 16);
    const most = arena.i64[heap / 8] as bigint;
    const left = kernels.selectAtMost(keys, 0, count, most, least);
    kernels.gatherI32(selected, least, left, least);
    return { ...rows, selected: least, count: left };
  }

  /** Rows that may be wanted; which of them are is told by all units together. */
  finish(): Candidates {
    return candidatesWithin(
      this.#words.subarray(0, this.#count * this.#size),
      this.#size,
      this.#least.lowerLimit(),
    );
  }

  /** Positions in the chunk, as a vector with room for hashing behind it. */
  #rowsOf({ positions, selected, count }: SelectedRows): number {
    const rows = this.#scratch.take(count * 4 + 16);
    const { arena, kernels } = this.#scratch;
    if (positions !== 0) kernels.gatherI32(positions, selected, count, rows);
    else arena.u8.copyWithin(rows, selected, selected + count * 4);
    return rows;
  }

  #collect(start: number, some: SelectedRows): void {
    const { selected, count, words } = some;
    if (count === 0) return;
    const { u32 } = this.#scratch.arena;
    const rows = this.#rowsOf(some);
    // Hashing spoils what lies behind the positions, but not the positions.
    const hashes = this.#hash(start, rows, count);
    for (let i = 0; i < count; i++) {
      const position = u32[selected / 4 + i] as number;
      if (this.#count === this.#capacity) this.#shrink();
      let word = this.#count++ * this.#size;
      this.#words[word++] = start + (u32[rows / 4 + i] as number);
      for (const vector of words) {
        this.#words[word++] = u32[vector / 4 + 2 * position + 1] as number;
        this.#words[word++] = u32[vector / 4 + 2 * position] as number;
      }
      this.#words[word++] = u32[hashes / 4 + 2 * i + 1] as number;
      this.#words[word] = u32[hashes / 4 + 2 * i] as number;
    }
  }

  #shrink(): void {
    const kept = firstCandidates(this.#words, this.#count, this.#size, this.#args.keep);
    this.#words.set(kept);
    this.#count = kept.length / this.#size;
  }
}

/** Rows with the words of all rows that they are selected from. */
interface SelectedRows {
  /** of those rows in the chunk; 0: they are all of the chunk */
  readonly positions: number;
  /** address of Int32: positions in the words */
  readonly selected: number;
  readonly count: number;
  readonly words: readonly number[];
}
