// Sorting a table whose words do not fit in memory together: values of the first word that are drawn
// from all rows cut the order into parts, of which each is sorted by itself. The table is read once
// more for each part; nothing is written.
import { TRUTH } from '../../../kernel/generated.ts';
import { isShortage } from '../../../util/error.ts';
import type { Span } from '../../../value/column/snapshot.ts';
import type { JobContext } from '../../parallel.ts';
import { registerParallelJob } from '../../parallel.ts';
import { ArenaSpans } from '../arena-spans.ts';
import { ChunkVectors } from '../chunk.ts';
import { type ChunkRange, firstRowOf } from '../chunk-range.ts';
import type { VectorEngine } from '../engine.ts';
import { Scratch } from '../scratch.ts';
import { type OrderWord, wordVector } from './order-key.ts';
import { PAIR_SIZE, sortPairs } from './sort-job.ts';
import type { OrderJobArgs } from './top-job.ts';

/** One row in so many is drawn. */
const DRAWN_STEP = 64;
const PART_COUNT_MIN = 4;
const PART_COUNT_MAX = 256;

/**
 * A word as a double, which keeps its first 53 bits: words in order stay so, and equal ones equal.
 */
function wordValue(u32: Uint32Array, index: number): number {
  return (u32[index + 1] as number) * 2 ** 32 + (u32[index] as number);
}

/** The words of a chunk of a unit, with the truth of its rows (0: all are true). */
interface ChunkWords {
  readonly first: number;
  readonly rowCount: number;
  readonly truth: number;
  vector(word: OrderWord): number;
}

function forEachChunk(
  args: OrderJobArgs,
  unit: number,
  scratch: Scratch,
  scope: JobContext,
  visit: (chunk: ChunkWords) => void,
): void {
  const chunk = new ChunkVectors(scratch, args.columns);
  const range = args.ranges[unit] as ChunkRange;
  let first = firstRowOf(args.chunkRowCounts, range);
  for (let index = range.from; index < range.to; index++) {
    scope.checkCancelled();
    const rowCount = args.chunkRowCounts[index] as number;
    chunk.moveTo(index, rowCount);
    const truth = args.filter === undefined ? 0 : chunk.truth(args.filter);
    visit({ first, rowCount, truth, vector: (word) => wordVector(word, chunk, scratch) });
    first += rowCount;
  }
}

/** @returns the values of the first word of some rows */
const drawJob = registerParallelJob<OrderJobArgs, Float64Array>({
  name: 'vector.sort-draw',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const drawn: number[] = [];
      const { u8, u32 } = scratch.arena;
      forEachChunk(args, unit, scratch, scope, ({ rowCount, truth, vector }) => {
        const words = vector(args.words[0] as OrderWord) / 4;
        for (let i = 0; i < rowCount; i += DRAWN_STEP) {
          if (truth === 0 || u8[truth + i] === TRUTH.isTrue)
            drawn.push(wordValue(u32, words + 2 * i));
        }
      });
      return Float64Array.from(drawn);
    } finally {
      scratch.release();
    }
  },
});

interface CountJobArgs extends OrderJobArgs {
  /** ascending: where the second part and those behind it begin */
  readonly bounds: readonly number[];
}

/** @returns how many rows of the unit each part has */
const countJob = registerParallelJob<CountJobArgs, number[]>({
  name: 'vector.sort-count',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const { bounds } = args;
      const counts = new Array<number>(bounds.length + 1).fill(0);
      const { u8, u32 } = scratch.arena;
      forEachChunk(args, unit, scratch, scope, ({ rowCount, truth, vector }) => {
        const words = vector(args.words[0] as OrderWord) / 4;
        for (let i = 0; i < rowCount; i++) {
          if (truth !== 0 && u8[truth + i] !== TRUTH.isTrue) continue;
          const part = partOf(wordValue(u32, words + 2 * i), bounds);
          counts[part] = (counts[part] as number) + 1;
        }
      });
      return counts;
    } finally {
      scratch.release();
    }
  },
});

function partOf(value: number, bounds: readonly number[]): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value < (bounds[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface PartJobArgs extends OrderJobArgs {
  /** values of the first word: from one to before another */
  readonly from: number;
  readonly to: number;
  /** the number of the first pair of each unit */
  readonly starts: readonly number[];
  readonly pairs: Span;
  /** Uint32: the row of each pair */
  readonly rows: Span;
  /** a Uint64 a pair for each word but the first */
  readonly otherWords: readonly Span[];
}

/** Makes the pairs of the rows of a part; their numbers count these rows. */
const partJob = registerParallelJob<PartJobArgs, void>({
  name: 'vector.sort-part',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const { arena, kernels } = scratch;
      const { u8, u32 } = arena;
      const [firstWord, ...others] = args.words as readonly [OrderWord, ...OrderWord[]];
      const rows = args.rows.offset / 4;
      let number = args.starts[unit] as number;
      forEachChunk(args, unit, scratch, scope, ({ first, rowCount, truth, vector }) => {
        const words = vector(firstWord);
        const within = scratch.take(rowCount);
        for (let i = 0; i < rowCount; i++) {
          const value = wordValue(u32, words / 4 + 2 * i);
          const isWithin = value >= args.from && value < args.to;
          const isLeft = truth === 0 || u8[truth + i] === TRUTH.isTrue;
          u8[within + i] = isWithin && isLeft ? TRUTH.isTrue : TRUTH.isFalse;
        }
        const pairs = args.pairs.offset + number * PAIR_SIZE;
        const count = kernels.pairTrueKeys(words, within, rowCount, first, pairs);
        for (let i = 0; i < count; i++) {
          const at = pairs / 4 + i * 4 + 2;
          u32[rows + number + i] = u32[at] as number;
          u32[at] = number + i;
        }
        others.forEach((word, index) => {
          const from = vector(word) / 4;
          const out = (args.otherWords[index] as Span).offset / 4 + number * 2;
          for (let i = 0; i < count; i++) {
            const row = (u32[rows + number + i] as number) - first;
            u32[out + 2 * i] = u32[from + 2 * row] as number;
            u32[out + 2 * i + 1] = u32[from + 2 * row + 1] as number;
          }
        });
        number += count;
      });
    } finally {
      scratch.release();
    }
  },
});

/**
 * The numbers of all rows that the filter leaves, in order.
 * @throws OUT_OF_MEMORY where rows with one first word are too many
 */
export function sortInParts(args: OrderJobArgs, engine: VectorEngine): Uint32Array {
  const drawn = concatenated(engine.parallel.run(drawJob, args, args.ranges.length)).sort();
  let bounds: readonly number[] = [];
  for (let partCount = PART_COUNT_MIN; ; partCount *= 4) {
    const coarser = bounds;
    bounds = boundsOf(drawn, partCount);
    try {
      return sortParts(args, bounds, engine);
    } catch (thrown) {
      const isFinest = partCount >= PART_COUNT_MAX || bounds.length === coarser.length;
      if (!isShortage(thrown) || isFinest) throw thrown;
    }
  }
}

/** Values that cut those that were drawn into parts of about one size. */
function boundsOf(drawn: Float64Array, partCount: number): readonly number[] {
  const bounds = new Set<number>();
  for (let part = 1; part < partCount; part++) {
    const value = drawn[Math.floor((part * drawn.length) / partCount)];
    if (value !== undefined && value !== drawn[0]) bounds.add(value);
  }
  return [...bounds];
}

function sortParts(
  args: OrderJobArgs,
  bounds: readonly number[],
  engine: VectorEngine,
): Uint32Array {
  const unitCount = args.ranges.length;
  const counts = engine.parallel.run(countJob, { ...args, bounds }, unitCount);
  const total = counts.flat().reduce((sum, count) => sum + count, 0);
  const order = new Uint32Array(total);
  let at = 0;
  for (let part = 0; part <= bounds.length; part++) {
    const from = bounds[part - 1] ?? Number.NEGATIVE_INFINITY;
    const to = bounds[part] ?? Number.POSITIVE_INFINITY;
    const unitCounts = counts.map((unit) => unit[part] as number);
    const sorted = sortPart({ ...args, from, to }, unitCounts, engine);
    order.set(sorted, at);
    at += sorted.length;
  }
  return order;
}

function sortPart(
  args: OrderJobArgs & Pick<PartJobArgs, 'from' | 'to'>,
  unitCounts: readonly number[],
  engine: VectorEngine,
): Uint32Array {
  let count = 0;
  const starts = unitCounts.map((unitCount) => {
    count += unitCount;
    return count - unitCount;
  });
  if (count === 0) return new Uint32Array(0);
  const spans = new ArenaSpans(engine, args.arena);
  try {
    const pairs = spans.allocate(count * PAIR_SIZE);
    const rows = spans.allocate(count * 4);
    const otherWords = args.words.slice(1).map(() => spans.allocate(count * 8));
    const job: PartJobArgs = { ...args, starts, pairs, rows, otherWords };
    engine.parallel.run(partJob, job, unitCounts.length);
    const ties = { rowNames: args.rowNames, rowCount: args.rowCount };
    const numbers = sortPairs({ pairs, count, otherWords, ties, rows }, engine, spans);
    const { u32 } = engine.arenas.get(args.arena);
    return numbers.map((number) => u32[rows.offset / 4 + number] as number);
  } finally {
    spans.release();
  }
}

function concatenated(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
