// Numbers for the distinct values of a word over all rows of a table.
//
// The rows of each chunk are parted by the hashes of their words; then each part is numbered by a
// hash table of its own, which is small enough for the cache. See Manegold, Boncz & Kersten,
// "Optimizing main-memory join on modern hardware", TKDE 2002.
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import { registerParallelJob } from '../../parallel.ts';
import type { ArenaSpans } from '../arena-spans.ts';
import { ChunkVectors } from '../chunk.ts';
import { type ChunkRange, cutChunks } from '../chunk-range.ts';
import type { VectorEngine } from '../engine.ts';
import { type OrderWord, wordVector } from '../order/order-key.ts';
import type { NumberedProgram, TruthProgram } from '../program/program.ts';
import { Scratch } from '../scratch.ts';

const PAIR_SIZE = 16;
const ENTRY_SIZE = 16;
/** Rows that a part should have. */
const PART_ROW_COUNT = 16_384;
const PART_BITS_MIN = 4;
const PART_BITS_MAX = 8;
const TABLE_SIZE_MIN = 1 << 12;
const UNIT_COUNT_MAX = 16;

/** What is numbered: values of sort keys, or pairs of numbers that were given before. */
export type NumberedWord =
  | { readonly kind: 'order'; readonly word: OrderWord }
  | { readonly kind: 'pair'; readonly upper: NumberedProgram; readonly lower: NumberedProgram };

export interface NumberedRows {
  readonly program: NumberedProgram;
  /** a Uint64 for each number from 1 on: what it stands for */
  readonly keys: Span;
  readonly count: number;
}

export interface NumberedTable {
  readonly columns: readonly ColumnSnapshot[];
  readonly chunkRowCounts: readonly number[];
  readonly rowCount: number;
  readonly filter: TruthProgram | undefined;
}

interface PartitionJobArgs extends NumberedTable {
  readonly arena: number;
  readonly word: NumberedWord;
  readonly ranges: readonly ChunkRange[];
  readonly firstRows: readonly number[];
  readonly bits: number;
  readonly pairs: Span;
  readonly starts: Span;
}

const partitionJob = registerParallelJob<PartitionJobArgs, void>({
  name: 'vector.group-partition',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const { kernels } = scratch;
      const chunk = new ChunkVectors(scratch, args.columns);
      const { from, to } = args.ranges[unit] as ChunkRange;
      for (let index = from; index < to; index++) {
        scope.checkCancelled();
        const rowCount = args.chunkRowCounts[index] as number;
        chunk.moveTo(index, rowCount);
        const truth = args.filter === undefined ? 0 : chunk.truth(args.filter);
        const words = vectorOf(args.word, chunk, scratch);
        const pairs = args.pairs.offset + (args.firstRows[index] as number) * PAIR_SIZE;
        const starts = args.starts.offset + index * ((1 << args.bits) + 1) * 4;
        kernels.partitionKeys(words, truth, rowCount, args.bits, pairs, starts);
      }
    } finally {
      scratch.release();
    }
  },
});

function vectorOf(word: NumberedWord, chunk: ChunkVectors, scratch: Scratch): number {
  if (word.kind === 'order') return wordVector(word.word, chunk, scratch);
  const out = scratch.take(chunk.rowCount * 8);
  const upper = chunk.codes(word.upper);
  scratch.kernels.pairCodes(upper, chunk.codes(word.lower), chunk.rowCount, out);
  return out;
}

interface NumberJobArgs extends Pick<PartitionJobArgs, 'arena' | 'firstRows' | 'bits' | 'pairs'> {
  readonly starts: Span;
  /** parts of each unit */
  readonly units: readonly ChunkRange[];
  readonly keys: Span;
  /** where the keys of each part have their place */
  readonly keyStarts: readonly number[];
}

/** @returns how many distinct keys each part of the unit has */
const numberJob = registerParallelJob<NumberJobArgs, number[]>({
  name: 'vector.group-number',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const numberer = new PartNumberer(args, scratch);
      const { from, to } = args.units[unit] as ChunkRange;
      const counts: number[] = [];
      for (let part = from; part < to; part++) {
        scope.checkCancelled();
        counts.push(numberer.number(part));
      }
      return counts;
    } finally {
      scratch.release();
    }
  },
});

class PartNumberer {
  readonly #args: NumberJobArgs;
  readonly #scratch: Scratch;
  readonly #state: number;

  constructor(args: NumberJobArgs, scratch: Scratch) {
    this.#args = args;
    this.#scratch = scratch;
    this.#state = scratch.keep(4);
  }

  number(part: number): number {
    const { firstRows, bits, pairs, starts, keys, keyStarts } = this.#args;
    const { arena, kernels } = this.#scratch;
    const keysOfPart = keys.offset + (keyStarts[part] as number) * 8;
    const used = this.#state / 4;
    arena.i32[used] = 0;
    let size = TABLE_SIZE_MIN;
    let table = this.#emptyTable(size);
    for (let index = 0; index < firstRows.length; index++) {
      const word = starts.offset / 4 + index * ((1 << bits) + 1) + part;
      let at = arena.u32[word] as number;
      const end = arena.u32[word + 1] as number;
      const first = pairs.offset + (firstRows[index] as number) * PAIR_SIZE;
      for (;;) {
        const [from, count] = [first + at * PAIR_SIZE, end - at];
        at += kernels.numberPairs(from, count, table, size - 1, keysOfPart, this.#state);
        if (at === end) break;
        size *= 4;
        table = this.#emptyTable(size);
        kernels.enterKeys(keysOfPart, arena.i32[used] as number, table, size - 1);
      }
    }
    return arena.i32[used] as number;
  }

  #emptyTable(size: number): number {
    this.#scratch.reset();
    const table = this.#scratch.take(size * ENTRY_SIZE);
    this.#scratch.arena.u8.fill(0, table, table + size * ENTRY_SIZE);
    return table;
  }
}

/** Numbers the rows that the filter leaves by the distinct values of a word, from 1 on. */
export function numberRows(
  word: NumberedWord,
  table: NumberedTable,
  engine: VectorEngine,
  spans: ArenaSpans,
): NumberedRows {
  const { arena } = spans;
  const { columns, chunkRowCounts, rowCount, filter } = table;
  const memory = engine.arenas.get(arena);
  const bits = bitsFor(rowCount);
  const partCount = 1 << bits;
  const firstRows = sumsBefore(chunkRowCounts);
  const pairs = spans.allocate(rowCount * PAIR_SIZE);
  const starts = spans.allocate(chunkRowCounts.length * (partCount + 1) * 4);
  const ranges = cutChunks(chunkRowCounts.length, UNIT_COUNT_MAX);
  const job = { arena, columns, chunkRowCounts, rowCount, filter, word };
  const parted = { ...job, ranges, firstRows, bits, pairs, starts };
  engine.parallel.run(partitionJob, parted, ranges.length);

  const partSizes = partSizesOf(memory.u32, starts, chunkRowCounts.length, partCount);
  const keyStarts = sumsBefore(partSizes);
  const keys = spans.allocate(rowCount * 8);
  const units = cutChunks(partCount, UNIT_COUNT_MAX);
  const numbering = { arena, firstRows, bits, pairs, starts, units, keys, keyStarts };
  const counts = engine.parallel.run(numberJob, numbering, units.length).flat();

  const bases = spans.allocate(partCount * 4);
  let count = 0;
  counts.forEach((partKeyCount, part) => {
    memory.u32[bases.offset / 4 + part] = count;
    const from = keys.offset + (keyStarts[part] as number) * 8;
    memory.u8.copyWithin(keys.offset + count * 8, from, from + partKeyCount * 8);
    count += partKeyCount;
  });
  const isTotal = filter === undefined;
  const numbers = { firstRows, pairs, starts, bases, partCount, isTotal, cardinality: count + 1 };
  return { program: { op: 'numbered', ...numbers }, keys, count };
}

function bitsFor(rowCount: number): number {
  const bits = Math.ceil(Math.log2(Math.max(1, rowCount / PART_ROW_COUNT)));
  return Math.min(PART_BITS_MAX, Math.max(PART_BITS_MIN, bits));
}

function sumsBefore(sizes: readonly number[]): number[] {
  let sum = 0;
  return sizes.map((size) => {
    sum += size;
    return sum - size;
  });
}

function partSizesOf(
  u32: Uint32Array,
  starts: Span,
  chunkCount: number,
  partCount: number,
): number[] {
  const sizes = new Array<number>(partCount).fill(0);
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const word = starts.offset / 4 + chunk * (partCount + 1);
    for (let part = 0; part < partCount; part++) {
      const size = (u32[word + part + 1] as number) - (u32[word + part] as number);
      sizes[part] = (sizes[part] as number) + size;
    }
  }
  return sizes;
}
