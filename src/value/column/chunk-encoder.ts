// Picks the form of a chunk from its values and writes it to an arena.

import { assert } from '../../util/assert.ts';
import type { Atom } from '../atom.ts';
import type { ArenaAllocator } from './arena-set.ts';
import type { ChunkSnapshot, Span } from './snapshot.ts';
import { CHUNK_ROW_COUNT_MAX } from './snapshot.ts';
import { bytesOf, float64Of, int32Of, spanOf, uint16Of, uint32Of } from './span-view.ts';

/** A chunk with fewer rows than this is never worth the sparse form. */
const SPARSE_ROW_COUNT_MIN = 1024;
/** Sparse when at most one row in so many has a value. */
const SPARSE_RATIO = 16;

/** The bytes of a validity bitmap. */
export function bitmapSize(rowCount: number): number {
  return (rowCount + 7) >> 3;
}

/** A chunk without any value. */
export function nullChunk(rowCount: number): ChunkSnapshot {
  return constantChunk(rowCount, null);
}

/** Only atoms that can be posted: null, numbers and text. */
export function constantChunk(rowCount: number, atom: Atom): ChunkSnapshot {
  return { kind: 'constant', rowCount, atom };
}

export interface NumberCells {
  readonly rowCount: number;
  /** values of rows without one are arbitrary */
  readonly values: Float64Array;
  /** bit i (least significant first) is set when row i has a value; absent: all have */
  readonly validity?: Uint8Array | undefined;
}

/** What a chunk of numbers holds, found in one pass. */
interface NumberSummary {
  readonly nullCount: number;
  /** NaN left out; Infinity and -Infinity when there is no other value */
  readonly min: number;
  readonly max: number;
  readonly allInt32: boolean;
  readonly allEqual: boolean;
}

/** Writes numbers as int32 where all fit, else as float64; timestamps stay float64. */
export function encodeNumbers(
  cells: NumberCells,
  kind: 'number' | 'timestamp',
  allocator: ArenaAllocator,
): ChunkSnapshot {
  const { rowCount } = cells;
  assert(rowCount <= CHUNK_ROW_COUNT_MAX, `${rowCount} rows exceed a chunk`);
  const summary = summarize(cells);
  const valueCount = rowCount - summary.nullCount;
  if (valueCount === 0) return nullChunk(rowCount);
  if (kind === 'number' && summary.allEqual && summary.nullCount === 0) {
    return constantChunk(rowCount, (cells.values[0] as number) + 0);
  }
  if (isSparse(rowCount, valueCount)) {
    const rows = validRows(cells, valueCount);
    const values = Float64Array.from(rows, (row) => cells.values[row] as number);
    const dense = { rowCount: valueCount, values };
    const inner = encodeDense(dense, kind, { ...summary, nullCount: 0 }, allocator);
    return { kind: 'sparse', rowCount, rows: spanOf(allocator, rows), values: inner };
  }
  return encodeDense(cells, kind, summary, allocator);
}

function encodeDense(
  cells: NumberCells,
  kind: 'number' | 'timestamp',
  summary: NumberSummary,
  allocator: ArenaAllocator,
): ChunkSnapshot {
  const { rowCount, values, validity } = cells;
  const { nullCount, min, max } = summary;
  const isInt32 = kind === 'number' && summary.allInt32;
  const data = allocator.allocate(rowCount * (isInt32 ? 4 : 8));
  const target = isInt32 ? int32Of(allocator, data) : float64Of(allocator, data);
  target.set(values.subarray(0, rowCount));
  if (!isInt32) dropNegativeZeros(target);
  if (nullCount > 0) clearNulls(target, validity as Uint8Array);
  return {
    kind: kind === 'timestamp' ? 'timestamp' : isInt32 ? 'int32' : 'float64',
    rowCount,
    data,
    nullCount,
    ...(nullCount > 0
      ? { validity: sealValidity(validity as Uint8Array, rowCount, allocator) }
      : {}),
    ...(min <= max ? { min, max } : {}),
  };
}

function summarize({ rowCount, values, validity }: NumberCells): NumberSummary {
  let nullCount = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let allInt32 = true;
  let allEqual = true;
  const first = values[0] as number;
  for (let i = 0; i < rowCount; i++) {
    if (validity !== undefined && ((validity[i >> 3] as number) & (1 << (i & 7))) === 0) {
      nullCount++;
      continue;
    }
    const value = values[i] as number;
    if (value < min) min = value;
    if (value > max) max = value;
    if (value !== (value | 0)) allInt32 = false;
    if (value !== first) allEqual = false;
  }
  return { nullCount, min: min + 0, max: max + 0, allInt32, allEqual };
}

function dropNegativeZeros(target: Int32Array | Float64Array): void {
  for (let i = 0; i < target.length; i++) if (target[i] === 0) target[i] = 0;
}

/** Rows without a value hold 0, so that equal content has equal bytes. */
function clearNulls(target: Int32Array | Float64Array, validity: Uint8Array): void {
  for (let i = 0; i < target.length; i++) {
    if (((validity[i >> 3] as number) & (1 << (i & 7))) === 0) target[i] = 0;
  }
}

function sealValidity(validity: Uint8Array, rowCount: number, allocator: ArenaAllocator): Span {
  const span = spanOf(allocator, validity.subarray(0, bitmapSize(rowCount)));
  if ((rowCount & 7) !== 0) {
    const bytes = bytesOf(allocator, span);
    const last = bytes.length - 1;
    bytes[last] = (bytes[last] as number) & ((1 << (rowCount & 7)) - 1);
  }
  return span;
}

function isSparse(rowCount: number, valueCount: number): boolean {
  return rowCount >= SPARSE_ROW_COUNT_MIN && valueCount * SPARSE_RATIO <= rowCount;
}

function validRows({ rowCount, validity }: NumberCells, valueCount: number): Uint16Array {
  const rows = new Uint16Array(valueCount);
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    if (((validity?.[i >> 3] as number) & (1 << (i & 7))) !== 0) rows[count++] = i;
  }
  return rows;
}

/** Writes dictionary codes in the smallest width; 0 is NULL. */
export function encodeCodes(
  codes: Uint32Array,
  rowCount: number,
  allocator: ArenaAllocator,
): ChunkSnapshot {
  assert(rowCount <= CHUNK_ROW_COUNT_MAX, `${rowCount} rows exceed a chunk`);
  let nullCount = 0;
  let max = 0;
  for (let i = 0; i < rowCount; i++) {
    const code = codes[i] as number;
    if (code === 0) nullCount++;
    else if (code > max) max = code;
  }
  const valueCount = rowCount - nullCount;
  if (valueCount === 0) return nullChunk(rowCount);
  if (isSparse(rowCount, valueCount)) {
    const rows = new Uint16Array(valueCount);
    const values = new Uint32Array(valueCount);
    let count = 0;
    for (let i = 0; i < rowCount; i++) {
      if (codes[i] === 0) continue;
      rows[count] = i;
      values[count++] = codes[i] as number;
    }
    const inner = encodeDenseCodes(values, valueCount, max, 0, allocator);
    return { kind: 'sparse', rowCount, rows: spanOf(allocator, rows), values: inner };
  }
  return encodeDenseCodes(codes, rowCount, max, nullCount, allocator);
}

function encodeDenseCodes(
  codes: Uint32Array,
  rowCount: number,
  max: number,
  nullCount: number,
  allocator: ArenaAllocator,
): ChunkSnapshot {
  const width = max < 256 ? 1 : max < 65_536 ? 2 : 4;
  const data = allocator.allocate(rowCount * width);
  codesOf(allocator, data, width).set(codes.subarray(0, rowCount));
  return { kind: 'codes', rowCount, width, data, nullCount };
}

/** Codes of a chunk as they lie in memory. */
export function codesOf(
  arenas: Pick<ArenaAllocator, 'get'>,
  data: Span,
  width: 1 | 2 | 4,
): Uint8Array | Uint16Array | Uint32Array {
  if (width === 1) return bytesOf(arenas, data);
  return width === 2 ? uint16Of(arenas, data) : uint32Of(arenas, data);
}

/** Nulls of a chunk, explicit and absent alike. */
export function chunkNullCount(chunk: ChunkSnapshot): number {
  switch (chunk.kind) {
    case 'constant':
      return chunk.atom === null ? chunk.rowCount : 0;
    case 'sparse':
      return chunk.rowCount - chunk.values.rowCount + chunkNullCount(chunk.values);
    default:
      return chunk.nullCount;
  }
}
