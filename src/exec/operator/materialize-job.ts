// The parallel part of putting the rows of a pipeline into a table: each unit writes the batches of
// a range of chunks.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { encodeCodes } from '../../value/column/chunk-encoder.ts';
import type { ChunkSnapshot, Span } from '../../value/column/snapshot.ts';
import { freeChunk } from '../../value/column/snapshot-memory.ts';

import { registerParallelJob } from '../parallel.ts';
import { threadArenas } from '../thread-memory.ts';
import type { ChunkRange } from '../vector/chunk-range.ts';
import { type GroupSource, openBatches } from '../vector/group/group-job.ts';
import { LeastWords } from '../vector/order/least-words.ts';
import { type OrderWord, wordVector } from '../vector/order/order-key.ts';
import type { CodeProgram, NumberProgram } from '../vector/program/program.ts';
import { Scratch } from '../vector/scratch.ts';
import type { Vectors } from '../vector/vectors.ts';
import { BatchVectors } from './batch-vectors.ts';

export type WrittenColumn =
  | { readonly kind: 'numbers'; readonly numbers: NumberProgram; readonly form: NumberForm }
  | { readonly kind: 'codes'; readonly codes: CodeProgram }
  /** numbers of the rows of the table of a step, or of the chunks */
  | { readonly kind: 'rows'; readonly step: number | undefined };

export type NumberForm = 'int32' | 'float64' | 'timestamp';

export interface MaterializeArgs {
  readonly arena: number;
  readonly source: GroupSource;
  readonly chunkRowCounts: readonly number[];
  /** the number of the first row of each chunk */
  readonly firstRows: readonly number[];
  readonly ranges: readonly ChunkRange[];
  readonly columns: readonly WrittenColumn[];
  /** absent: all rows are written */
  readonly first?: FirstRows | undefined;
}

/** Rows that are not among the first by a word need not be written; some of them are. */
export interface FirstRows {
  readonly word: OrderWord;
  readonly keep: number;
  /** a Uint64 that all units share: no row with a greater word is wanted */
  readonly limit: Span;
}

/** The rows of a batch: a chunk for each column. */
export interface WrittenBatch {
  readonly rowCount: number;
  readonly chunks: readonly ChunkSnapshot[];
}

export const materializeJob = registerParallelJob<MaterializeArgs, WrittenBatch[]>({
  name: 'operator.materialize',
  discard: (batches) => freeBatches(batches, threadArenas()),
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    const written: WrittenBatch[] = [];
    try {
      const { vectors, forEachBatch } = openBatches(args.source, scratch, scope);
      const { from, to } = args.ranges[unit] as ChunkRange;
      const narrow = narrower(args.first, vectors, scratch);
      for (let index = from; index < to; index++) {
        const first = args.firstRows[index] as number;
        forEachBatch(index, args.chunkRowCounts[index] as number, () => {
          scope.checkCancelled();
          narrow(() => {
            const chunks = args.columns.map((column) =>
              writeColumn(column, vectors, scratch, first),
            );
            written.push({ rowCount: vectors.rowCount, chunks });
          });
        });
      }
      return written;
    } catch (thrown) {
      freeBatches(written, threadArenas());
      throw thrown;
    } finally {
      scratch.release();
    }
  },
});

/** Leaves the rows of a batch that may be among the first of all units. */
function narrower(
  first: FirstRows | undefined,
  vectors: Vectors,
  scratch: Scratch,
): (visit: () => void) => void {
  if (first === undefined || !(vectors instanceof BatchVectors)) return (visit) => visit();
  const least = new LeastWords(first.limit, first.keep, scratch);
  return (visit) => {
    const { rowCount } = vectors;
    const words = wordVector(first.word, vectors, scratch);
    least.add(words, 0, rowCount);
    const selected = scratch.take(rowCount * 4);
    const limit = least.lowerLimit();
    const count = scratch.kernels.selectAtMost(words, 0, rowCount, limit, selected);
    vectors.narrow(selected, count, visit);
  };
}

export function freeBatches(batches: readonly WrittenBatch[], arenas: ArenaAllocator): void {
  for (const { chunks } of batches) freeChunks(chunks, arenas);
}

export function freeChunks(
  chunks: readonly ChunkSnapshot[],
  arenas: ArenaAllocator = threadArenas(),
): void {
  for (const chunk of chunks) freeChunk(chunk, arenas);
}

function writeColumn(
  column: WrittenColumn,
  vectors: Vectors,
  scratch: Scratch,
  first: number,
): ChunkSnapshot {
  switch (column.kind) {
    case 'numbers':
      return writeNumbers(column.numbers, column.form, vectors, scratch);
    case 'codes': {
      const { rowCount } = vectors;
      const codes = vectors.codes(column.codes);
      return codesChunk(scratch, codes, rowCount);
    }
    case 'rows': {
      const numbers = numberOfRows(vectors, column.step, first, scratch);
      return numbersChunk('int32', { data: numbers, valid: 0 }, vectors.rowCount, scratch);
    }
  }
}

/** Int32: the number of each row in the table of a step, or in the chunks, the first of which is `first`. */
export function numberOfRows(
  vectors: Vectors,
  step: number | undefined,
  first: number,
  scratch: Scratch,
): number {
  if (vectors instanceof BatchVectors) return vectors.rowNumbers(step, first);
  const { rowCount } = vectors;
  const out = scratch.take(rowCount * 4);
  for (let i = 0; i < rowCount; i++) scratch.arena.i32[out / 4 + i] = first + i;
  return out;
}

function writeNumbers(
  numbers: NumberProgram,
  form: NumberForm,
  vectors: Vectors,
  scratch: Scratch,
): ChunkSnapshot {
  const vector = form === 'int32' ? vectors.integers(numbers) : vectors.doubles(numbers);
  return numbersChunk(form, vector, vectors.rowCount, scratch);
}

export function numbersChunk(
  kind: NumberForm,
  vector: { readonly data: number; readonly valid: number },
  rowCount: number,
  { arena }: Scratch,
): ChunkSnapshot {
  const arenas = threadArenas();
  const size = rowCount * (kind === 'int32' ? 4 : 8);
  const data = arenas.allocateIn(arena.id, size);
  arena.u8.copyWithin(data.offset, vector.data, vector.data + size);
  const validity = vector.valid === 0 ? undefined : bitsOf(vector.valid, rowCount, arena.u8);
  const values =
    kind === 'int32'
      ? arena.i32.subarray(data.offset / 4, data.offset / 4 + rowCount)
      : arena.f64.subarray(data.offset / 8, data.offset / 8 + rowCount);
  const bounds = boundsOf(values, vector.valid, arena.u8);
  const nullCount = validity?.nullCount ?? 0;
  const stored = validity === undefined || nullCount === 0 ? undefined : validity.bits;
  return {
    ...{ kind, rowCount, data, nullCount },
    ...(stored === undefined ? {} : { validity: storeBits(stored, arena.id) }),
    ...bounds,
  };
}

/** A bitmap of bytes that are 0 or 1. */
function bitsOf(
  valid: number,
  rowCount: number,
  u8: Uint8Array,
): { readonly bits: Uint8Array; readonly nullCount: number } {
  const bits = new Uint8Array((rowCount + 7) >> 3);
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    const bit = u8[valid + i] as number;
    count += bit;
    bits[i >> 3] = (bits[i >> 3] as number) | (bit << (i & 7));
  }
  return { bits, nullCount: rowCount - count };
}

function storeBits(bits: Uint8Array, arenaId: number): Span {
  const arenas = threadArenas();
  const span = arenas.allocateIn(arenaId, bits.length);
  arenas.get(arenaId).u8.set(bits, span.offset);
  return span;
}

/** Rows without a value become 0; -0 becomes 0. */
function boundsOf(
  values: Int32Array | Float64Array,
  valid: number,
  u8: Uint8Array,
): { readonly min?: number; readonly max?: number } {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    if (valid !== 0 && u8[valid + i] === 0) {
      values[i] = 0;
      continue;
    }
    const value = (values[i] as number) + 0;
    values[i] = value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max ? { min, max } : {};
}

export function codesChunk({ arena }: Scratch, codes: number, rowCount: number): ChunkSnapshot {
  return encodeCodes(arena.u32.subarray(codes / 4, codes / 4 + rowCount), rowCount, threadArenas());
}
