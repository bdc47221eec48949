// Sorting a whole table: rows become pairs of a word and a row number, which radix passes sort.
//
// One pass by the highest byte in which first words differ makes buckets; these are sorted by their
// other bytes in parallel. Runs of equal words go on with the next word, and at last with the hash
// of the row's name.
import type { Arena } from '../../../value/column/arena.ts';
import type { RowNames, Span } from '../../../value/column/snapshot.ts';
import { registerParallelJob } from '../../parallel.ts';
import { threadKernels } from '../../thread-memory.ts';
import { ArenaSpans } from '../arena-spans.ts';
import { ChunkVectors } from '../chunk.ts';
import { type ChunkRange, firstRowOf } from '../chunk-range.ts';
import type { VectorEngine } from '../engine.ts';
import { firstDecimalName, type RowHasher, rowHasher } from '../row-hash.ts';
import { Scratch } from '../scratch.ts';
import { wordVector } from './order-key.ts';
import type { OrderJobArgs } from './top-job.ts';

/** Bytes of a word and a number. */
export const PAIR_SIZE = 16;
const BUCKET_COUNT = 256;
/** Runs of at most so many pairs are sorted by insertion. */
const FEW = 24;

interface PairJobArgs extends OrderJobArgs {
  readonly pairs: Span;
  /** a Uint64 a row for each word but the first */
  readonly otherWords: readonly Span[];
}

/** Makes the pairs of a range of chunks where its rows would stand if no row was dropped. */
const pairJob = registerParallelJob<PairJobArgs, number>({
  name: 'vector.sort-pairs',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const { kernels, arena } = scratch;
      const chunk = new ChunkVectors(scratch, args.columns);
      const range = args.ranges[unit] as ChunkRange;
      let row = firstRowOf(args.chunkRowCounts, range);
      const start = args.pairs.offset + row * PAIR_SIZE;
      let count = 0;
      for (let index = range.from; index < range.to; index++) {
        scope.checkCancelled();
        const rowCount = args.chunkRowCounts[index] as number;
        chunk.moveTo(index, rowCount);
        const truth = args.filter === undefined ? 0 : chunk.truth(args.filter);
        args.words.forEach((word, i) => {
          const words = wordVector(word, chunk, scratch);
          const out = start + count * PAIR_SIZE;
          if (i === 0) count += kernels.pairTrueKeys(words, truth, rowCount, row, out);
          else {
            const target = (args.otherWords[i - 1] as Span).offset + row * 8;
            arena.u8.copyWithin(target, words, words + rowCount * 8);
          }
        });
        row += rowCount;
      }
      return count;
    } finally {
      scratch.release();
    }
  },
});

/** Names of rows, whose hashes break ties. */
export interface NamedRows {
  readonly rowNames: RowNames;
  readonly rowCount: number;
}

interface BucketJobArgs {
  readonly arena: number;
  readonly pairs: Span;
  readonly spare: Span;
  /** a Uint64 a row for each word but the first */
  readonly otherWords: readonly Span[];
  /** undefined: rows that are equal stay in order */
  readonly ties: NamedRows | undefined;
  /** Uint32: the rows that the numbers of pairs stand for; undefined: they are these */
  readonly rows: Span | undefined;
  /** positions of the first pair of each bucket, and the number of all */
  readonly starts: readonly number[];
  /** buckets of each unit */
  readonly units: readonly ChunkRange[];
}

const bucketJob = registerParallelJob<BucketJobArgs, void>({
  name: 'vector.sort-buckets',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const sorter = new PairSorter(args, scratch);
      const range = args.units[unit] as ChunkRange;
      for (let bucket = range.from; bucket < range.to; bucket++) {
        scope.checkCancelled();
        sorter.sort(args.starts[bucket] as number, args.starts[bucket + 1] as number);
      }
    } finally {
      scratch.release();
    }
  },
});

/** Sorts stretches of the pairs; the spare pairs at the same places are overwritten. */
class PairSorter {
  readonly #args: BucketJobArgs;
  readonly #scratch: Scratch;
  readonly #counts: number;
  readonly #name: number;
  readonly #firstName: number | undefined;
  readonly #hash: RowHasher | undefined;

  constructor(args: BucketJobArgs, scratch: Scratch) {
    this.#args = args;
    this.#scratch = scratch;
    this.#counts = scratch.keep(9 * 1024);
    this.#name = scratch.keep(16);
    const { ties } = args;
    const isNumbered = args.rows !== undefined;
    this.#firstName =
      isNumbered || ties === undefined ? undefined : firstDecimalName(ties.rowNames, ties.rowCount);
    this.#hash = ties && rowHasher(ties.rowNames, ties.rowCount, scratch);
  }

  sort(from: number, to: number): void {
    this.#sortKeys(from, to);
    this.#resolveTies(from, to, 0);
  }

  /** @param word the number of the word that the keys are now */
  #resolveTies(from: number, to: number, word: number): void {
    const { kernels } = this.#scratch;
    const pairs = this.#args.pairs.offset + from * PAIR_SIZE;
    const count = to - from;
    const others = this.#args.otherWords[word];
    if (others === undefined) {
      if (this.#hash !== undefined) this.#hashTies(from, to, this.#hash);
      return;
    }
    for (let at = kernels.findTie(pairs, 0, count); at < count; ) {
      const end = kernels.endOfTie(pairs, at, count);
      kernels.gatherPairKeys(pairs + at * PAIR_SIZE, end - at, others.offset);
      this.#sortKeys(from + at, from + end);
      this.#resolveTies(from + at, from + end, word + 1);
      at = kernels.findTie(pairs, end, count);
    }
  }

  #hashTies(from: number, to: number, hash: RowHasher): void {
    const { kernels } = this.#scratch;
    const pairs = this.#args.pairs.offset + from * PAIR_SIZE;
    const count = to - from;
    const first = this.#firstName;
    const next = (at: number) =>
      first === undefined
        ? kernels.findTie(pairs, at, count)
        : kernels.sortTies(pairs, at, count, FEW, first, this.#name);
    for (let at = next(0); at < count; ) {
      const end = kernels.endOfTie(pairs, at, count);
      this.#keysBecomeHashes(pairs + at * PAIR_SIZE, end - at, hash);
      this.#sortKeys(from + at, from + end);
      at = next(end);
    }
  }

  #keysBecomeHashes(pairs: number, count: number, hash: RowHasher): void {
    const scratch = this.#scratch;
    scratch.reset();
    const rows = scratch.take(count * 4 + 16);
    scratch.kernels.rowsOfPairs(pairs, count, rows);
    scratch.kernels.setPairKeys(pairs, count, hash(0, this.#rowsAt(rows, count), count));
  }

  #rowsAt(numbers: number, count: number): number {
    const { rows } = this.#args;
    if (rows === undefined) return numbers;
    const out = this.#scratch.take(count * 4 + 16);
    this.#scratch.kernels.gatherI32(rows.offset, numbers, count, out);
    return out;
  }

  #sortKeys(from: number, to: number): void {
    const pairs = this.#args.pairs.offset + from * PAIR_SIZE;
    const spare = this.#args.spare.offset + from * PAIR_SIZE;
    this.#scratch.kernels.sortPairs(pairs, spare, to - from, this.#counts);
  }
}

/** The numbers of all rows that the filter leaves, in order. @throws OUT_OF_MEMORY */
export function sortTogether(args: OrderJobArgs, engine: VectorEngine): Uint32Array {
  const spans = new ArenaSpans(engine, args.arena);
  try {
    const pairs = spans.allocate(args.rowCount * PAIR_SIZE);
    const otherWords = args.words.slice(1).map(() => spans.allocate(args.rowCount * 8));
    const made = { ...args, pairs, otherWords };
    const unitCounts = engine.parallel.run(pairJob, made, args.ranges.length);
    const count = closeGaps(made, unitCounts, engine.arenas.get(args.arena));
    const { rowNames, rowCount } = args;
    const ties = { rowNames, rowCount };
    return sortPairs({ pairs, count, otherWords, ties, rows: undefined }, engine, spans);
  } finally {
    spans.release();
  }
}

/** Positions in the order of the words at them; equal ones stay in order. */
export function sortWords(
  words: readonly Span[],
  count: number,
  engine: VectorEngine,
  spans: ArenaSpans,
): Uint32Array {
  const [first, ...otherWords] = words;
  if (first === undefined) return Uint32Array.from({ length: count }, (_, i) => i);
  const pairs = spans.allocate(count * PAIR_SIZE);
  threadKernels(spans.arena).pairTrueKeys(first.offset, 0, count, 0, pairs.offset);
  const unsorted = { pairs, count, otherWords, ties: undefined, rows: undefined };
  return sortPairs(unsorted, engine, spans);
}

/** Pairs of a word and a number, and what tells apart those with equal words. */
export interface UnsortedPairs
  extends Pick<BucketJobArgs, 'pairs' | 'otherWords' | 'ties' | 'rows'> {
  readonly count: number;
}

/** @returns the numbers of the pairs in order */
export function sortPairs(
  { pairs, count, otherWords, ties, rows }: UnsortedPairs,
  engine: VectorEngine,
  spans: ArenaSpans,
): Uint32Array {
  const { arena } = spans;
  const memory = engine.arenas.get(arena);
  const spare = spans.allocate(count * PAIR_SIZE);
  const counts = spans.allocate(BUCKET_COUNT * 4);
  const starts = makeBuckets(memory, { pairs, spare, counts }, count);
  const units = cutBuckets(starts);
  // The pass has moved the pairs to the spare place.
  const job = { arena, pairs: spare, spare: pairs, otherWords, ties, rows, starts, units };
  engine.parallel.run(bucketJob, job, units.length);
  threadKernels(arena).rowsOfPairs(spare.offset, count, pairs.offset);
  return memory.u32.slice(pairs.offset / 4, pairs.offset / 4 + count);
}

/** Moves the pairs of all units together. @returns how many there are */
function closeGaps(args: PairJobArgs, unitCounts: readonly number[], arena: Arena): number {
  const base = args.pairs.offset;
  let count = 0;
  unitCounts.forEach((unitCount, unit) => {
    const from =
      base + firstRowOf(args.chunkRowCounts, args.ranges[unit] as ChunkRange) * PAIR_SIZE;
    const to = base + count * PAIR_SIZE;
    if (from !== to) arena.u8.copyWithin(to, from, from + unitCount * PAIR_SIZE);
    count += unitCount;
  });
  return count;
}

interface BucketSpans {
  readonly pairs: Span;
  readonly spare: Span;
  readonly counts: Span;
}

/** Moves pairs to the spare place, in order of the highest byte in which their keys differ. */
function makeBuckets(arena: Arena, { pairs, spare, counts }: BucketSpans, count: number): number[] {
  const kernels = threadKernels(arena.id);
  const varying = BigInt.asUintN(64, kernels.varyingBits(pairs.offset, count));
  const shift = Math.max(0, varying.toString(2).length - 8);
  kernels.radixPass(pairs.offset, spare.offset, count, shift, counts.offset);
  // After the pass each count is the end of its bucket.
  const ends = arena.u32.subarray(counts.offset / 4, counts.offset / 4 + BUCKET_COUNT);
  return [0, ...ends];
}

/** Buckets put together until a unit has enough to do. */
function cutBuckets(starts: readonly number[]): ChunkRange[] {
  const count = starts[BUCKET_COUNT] as number;
  const sizeMin = Math.max(16_384, count / 32);
  const units: ChunkRange[] = [];
  let from = 0;
  for (let bucket = 1; bucket <= BUCKET_COUNT; bucket++) {
    const size = (starts[bucket] as number) - (starts[from] as number);
    if (size < sizeMin && bucket < BUCKET_COUNT) continue;
    units.push({ from, to: bucket });
    from = bucket;
  }
  return units;
}
