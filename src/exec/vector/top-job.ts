// The parallel part of ORDER BY … LIMIT: each unit keeps the first rows of its chunks. A row whose
// first key is beyond the last kept one is dropped by a kernel before anything else is known of it.
import { hashPath } from '../../value/path-hash.ts';
import { rowNamesView } from '../../value/row-names.ts';
import type { ColumnSnapshot, RowNames } from '../../value/snapshot.ts';
import { registerParallelJob } from '../parallel.ts';
import { threadArenas } from '../thread-memory.ts';
import { ChunkVectors } from './chunk.ts';
import type { ChunkRange } from './chunk-range.ts';
import type { CodeProgram, NumberProgram, TruthProgram } from './program.ts';
import { Scratch } from './scratch.ts';

export type SortKeyProgram = {
  readonly descending: boolean;
} /** `integer`: int32 in every chunk, so that keys of all chunks are made alike */ & (
  | { readonly numbers: NumberProgram; readonly integer: boolean }
  /** codes that are ranks: they compare as the atoms do, 0 is NULL */
  | { readonly ranks: CodeProgram }
);

export interface TopJobArgs {
  readonly arena: number;
  readonly columns: readonly ColumnSnapshot[];
  readonly chunkRowCounts: readonly number[];
  readonly ranges: readonly ChunkRange[];
  readonly rowCount: number;
  readonly rowNames: RowNames;
  readonly filter: TruthProgram | undefined;
  readonly keys: readonly SortKeyProgram[];
  readonly keep: number;
}

/** Candidates as flat words: the row number, then high and low word of each key and of the hash. */
export type Candidates = Uint32Array;

/** Words of one candidate. */
export function candidateSize(keyCount: number): number {
  return 1 + 2 * (keyCount + 1);
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
  readonly #hash: (start: number, positions: number, count: number) => number;
  #words: Uint32Array;
  #count = 0;
  #limit = 0xffff_ffff_ffff_ffffn;

  constructor(args: TopJobArgs, chunk: ChunkVectors, scratch: Scratch) {
    this.#args = args;
    this.#chunk = chunk;
    this.#scratch = scratch;
    this.#size = candidateSize(args.keys.length);
    this.#capacity = 4 * args.keep + 1024;
    this.#words = new Uint32Array(this.#capacity * this.#size);
    this.#hash = rowHasher(args, scratch);
  }

  /** @param start the number of the chunk's first row */
  add(start: number): void {
    const { filter, keys } = this.#args;
    const { rowCount } = this.#chunk;
    const truth = filter === undefined ? 0 : this.#chunk.truth(filter);
    const [first, ...others] = keys.map((key) => () => this.#keyVector(key));
    if (first === undefined) return;
    const firstKeys = first();
    // Sixteen spare bytes behind the positions belong to the hash kernel.
    const positions = this.#scratch.take(rowCount * 4 + 16);
    const { kernels } = this.#scratch;
    const count = kernels.selectAtMost(firstKeys, truth, rowCount, this.#limit, positions);
    if (count === 0) return;
    const vectors = [firstKeys, ...others.map((make) => make())];
    const hashes = this.#hash(start, positions, count);
    this.#collect(start, positions, count, vectors, hashes);
  }

  finish(): Candidates {
    return firstCandidates(this.#words, this.#count, this.#size, this.#args.keep);
  }

  #collect(
    start: number,
    positions: number,
    count: number,
    vectors: readonly number[],
    hashes: number,
  ): void {
    const { u32 } = this.#scratch.arena;
    const limitBefore = this.#limit;
    for (let i = 0; i < count; i++) {
      const position = u32[positions / 4 + i] as number;
      if (this.#limit !== limitBefore && this.#isBeyond(u32, vectors[0] as number, position))
        continue;
      if (this.#count === this.#capacity) this.#shrink();
      let word = this.#count++ * this.#size;
      this.#words[word++] = start + position;
      for (const vector of vectors) {
        this.#words[word++] = u32[vector / 4 + 2 * position + 1] as number;
        this.#words[word++] = u32[vector / 4 + 2 * position] as number;
      }
      this.#words[word++] = u32[hashes / 4 + 2 * i + 1] as number;
      this.#words[word] = u32[hashes / 4 + 2 * i] as number;
    }
    if (this.#count >= 2 * this.#args.keep) this.#shrink();
  }

  #isBeyond(u32: Uint32Array, keys: number, position: number): boolean {
    const high = u32[keys / 4 + 2 * position + 1] as number;
    const limitHigh = Number(this.#limit >> 32n);
    if (high !== limitHigh) return high > limitHigh;
    return (u32[keys / 4 + 2 * position] as number) > Number(this.#limit & 0xffff_ffffn);
  }

  #shrink(): void {
    const { keep } = this.#args;
    const kept = firstCandidates(this.#words, this.#count, this.#size, keep);
    this.#words.set(kept);
    this.#count = kept.length / this.#size;
    if (this.#count < keep || keep === 0) return;
    const last = (keep - 1) * this.#size;
    this.#limit = (BigInt(kept[last + 1] as number) << 32n) | BigInt(kept[last + 2] as number);
  }

  #keyVector(key: SortKeyProgram): number {
    const { kernels } = this.#scratch;
    const { rowCount } = this.#chunk;
    const out = this.#scratch.take(rowCount * 8);
    const descending = key.descending ? 1 : 0;
    if ('ranks' in key) {
      // Rank 0 is NULL and is the least Int32 that occurs, so it needs no validity.
      kernels.orderKeysI32(this.#chunk.codes(key.ranks), 0, rowCount, descending, out);
      return out;
    }
    if (key.integer) {
      const vector = this.#chunk.numbers(key.numbers);
      kernels.orderKeysI32(vector.data, vector.valid, rowCount, descending, out);
      return out;
    }
    const { data, valid } = this.#chunk.doubles(key.numbers);
    kernels.orderKeysF64(data, valid, rowCount, descending, out);
    return out;
  }
}

/** Hashes of the names of rows at `positions`, as a vector of Uint64. */
function rowHasher(
  { rowNames, rowCount }: TopJobArgs,
  scratch: Scratch,
): (start: number, positions: number, count: number) => number {
  if (rowNames.kind === 'sequence' && rowNames.first + rowCount < 2 ** 32) {
    return (start, positions, count) => {
      const out = scratch.take(count * 8);
      scratch.kernels.hashDecimalNames(rowNames.first + start, positions, count, out);
      return out;
    };
  }
  const names = rowNamesView(rowNames, rowCount, threadArenas());
  return (start, positions, count) => {
    const out = scratch.take(count * 8);
    const { u32, i64 } = scratch.arena;
    for (let i = 0; i < count; i++) {
      const row = start + (u32[positions / 4 + i] as number);
      i64[out / 8 + i] = BigInt.asIntN(64, hashPath(names.pathAt(row)));
    }
    return out;
  };
}
