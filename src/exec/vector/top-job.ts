// The parallel part of ORDER BY … LIMIT: each unit keeps the first rows of its chunks. A row whose
// first key is beyond the last kept one is dropped by a kernel before anything else is known of it.
import type { ColumnSnapshot, RowNames } from '../../value/snapshot.ts';
import { registerParallelJob } from '../parallel.ts';
import { ChunkVectors } from './chunk.ts';
import type { ChunkRange } from './chunk-range.ts';
import { boundOfFirstKey, type OrderWord, wordVector } from './order-key.ts';
import { PickedVectors } from './picked-vectors.ts';
import type { TruthProgram } from './program.ts';
import { type RowHasher, rowHasher } from './row-hash.ts';
import { Scratch } from './scratch.ts';
import type { Vectors } from './vectors.ts';

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
  const kept = Math.min(count, keep);
  const out = new Uint32Array(kept * size);
  for (let i = 0; i < kept; i++) {
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
      let start = args.chunkRowCounts.slice(0, range.from).reduce((sum, count) => sum + count, 0);
      for (let index = range.from; index < range.to; index++) {
        scope.checkCancelled();
        const rowCount = args.chunkRowCounts[index] as number;
        chunk.moveTo(index, rowCount);
        top.add(start);
        start += rowCount;
      }
      return top.finish();
    } finally {
      scratch.release();
    }
  },
});

class TopRows {
  readonly #args: TopJobArgs;
  readonly #chunk: ChunkVectors;
  readonly #scratch: Scratch;
  readonly #size: number;
  readonly #capacity: number;
  readonly #hash: RowHasher;
  /** the least first words of the rows so far */
  readonly #heap: number;
  #heapSize = 0;
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
    this.#heap = scratch.keep(args.keep * 8);
  }

  /** @param start the number of the chunk's first row */
  add(start: number): void {
    const { filter, keep } = this.#args;
    const [first] = this.#args.words;
    if (first === undefined || keep === 0) return;
    const truth = filter === undefined ? 0 : this.#chunk.truth(filter);
    const picked = this.#pick(first, truth);
    if (picked === undefined) {
      const all = this.#candidates(first, this.#chunk, truth);
      this.#collect(start, all.positions, all.positions, all.count, all.vectors);
    } else if (picked.count > 0) {
      const rows = new PickedVectors(this.#scratch, this.#chunk, picked.positions, picked.count);
      const some = this.#candidates(first, rows, 0);
      const rowPositions = this.#scratch.take(some.count * 4 + 16);
      const { kernels } = this.#scratch;
      kernels.gatherI32(picked.positions, some.positions, some.count, rowPositions);
      this.#collect(start, rowPositions, some.positions, some.count, some.vectors);
    }
  }

  /** Positions of the few rows that may be among the first; undefined when they are not few. */
  #pick(
    first: OrderWord,
    truth: number,
  ): { readonly positions: number; readonly count: number } | undefined {
    if (this.#heapSize < this.#args.keep) return undefined;
    const bound = boundOfFirstKey(first, this.#limit());
    if (bound?.op !== 'compare' || this.#chunk.numbers(bound.left).valid !== 0) return undefined;
    const { kernels } = this.#scratch;
    const { rowCount } = this.#chunk;
    const passes = this.#chunk.truth(bound);
    if (truth !== 0) kernels.andTruth(passes, truth, rowCount, passes);
    const count = kernels.countTrue(passes, rowCount);
    if (count > rowCount / 4) return undefined;
    const positions = this.#scratch.take(rowCount * 4);
    kernels.selectTrue(passes, rowCount, positions);
    return { positions, count };
  }

  /** Rows whose first word is not beyond the limit, and the words of all rows. */
  #candidates(first: OrderWord, rows: Vectors, truth: number) {
    const { kernels } = this.#scratch;
    const { rowCount } = rows;
    const { keep, words: all } = this.#args;
    const words = wordVector(first, rows, this.#scratch);
    this.#heapSize = kernels.keepLeast(words, truth, rowCount, this.#heap, this.#heapSize, keep);
    // Sixteen spare bytes behind the positions belong to the hash kernel.
    const positions = this.#scratch.take(rowCount * 4 + 16);
    const count = kernels.selectAtMost(words, truth, rowCount, this.#limit(), positions);
    const others = count === 0 ? [] : all.slice(1);
    const vectors = [words, ...others.map((word) => wordVector(word, rows, this.#scratch))];
    return { positions, count, vectors };
  }

  finish(): Candidates {
    return firstCandidates(this.#words, this.#count, this.#size, this.#args.keep);
  }

  /** Rows with a greater first word are not among the first. */
  #limit(): bigint {
    if (this.#heapSize < this.#args.keep) return -1n; // all bits set
    return this.#scratch.arena.i64[this.#heap / 8] as bigint;
  }

  /** @param rows positions in the chunk @param positions the same rows in `vectors` */
  #collect(
    start: number,
    rows: number,
    positions: number,
    count: number,
    vectors: readonly number[],
  ): void {
    if (count === 0) return;
    const { u32 } = this.#scratch.arena;
    // Hashing spoils what lies behind the positions, but not the positions.
    const hashes = this.#hash(start, rows, count);
    for (let i = 0; i < count; i++) {
      const position = u32[positions / 4 + i] as number;
      if (this.#count === this.#capacity) this.#shrink();
      let word = this.#count++ * this.#size;
      this.#words[word++] = start + (u32[rows / 4 + i] as number);
      for (const vector of vectors) {
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
