// Some rows of a table as a table of their own. Columns are read and written as typed arrays;
// dictionaries are shared.
import { Timestamp } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { encodeCodes, encodeNumbers } from './chunk-encoder.ts';
import { ColumnBuilder } from './column-builder.ts';
import { type ChunkView, CodesChunkView, ColumnView, NumericChunkView } from './column-view.ts';
import { RowNamesBuilder } from './row-names.ts';
import { RowTimestampsBuilder, RowTimestampsView } from './row-timestamps.ts';
import type {
  ChunkSnapshot,
  ColumnarSnapshot,
  ColumnSnapshot,
  RowNames,
  RowTimestamps,
} from './snapshot.ts';
import { dictionarySpans } from './snapshot-memory.ts';
import { bytesOf, spanOf, uint32Of } from './span-view.ts';
import { chunkRowCounts } from './table-builder.ts';

/** All values of a column in the order of rows. */
export type FlatColumn =
  | {
      readonly kind: 'numbers';
      readonly type: 'number' | 'timestamp';
      readonly values: Float64Array;
      /** 1 where there is a value; absent: everywhere */
      readonly valid?: Uint8Array;
    }
  /** codes of the dictionary; 0 is NULL */
  | { readonly kind: 'codes'; readonly codes: Uint32Array }
  /** numbers beside other atoms */
  | { readonly kind: 'mixed' };

/** Reads a column as a whole, which takes 4 to 9 bytes a row. @param check called between chunks */
export function flattenColumn(view: ColumnView, check: () => void = () => {}): FlatColumn {
  const { snapshot, rowCount } = view;
  const starts: number[] = [];
  let start = 0;
  for (const chunk of snapshot.chunks) {
    starts.push(start);
    start += chunk.rowCount;
  }
  if (view.dictionary !== undefined) {
    if (snapshot.chunks.some(holdsNumbers)) return { kind: 'mixed' };
    const codes = new Uint32Array(rowCount);
    for (let index = 0; index < starts.length; index++) {
      check();
      readCodes(
        view.chunk(index),
        view,
        codes.subarray(starts[index], start),
        starts[index] as number,
      );
    }
    return { kind: 'codes', codes };
  }
  if (!snapshot.chunks.every((chunk) => holdsNumbers(chunk) || isNullChunk(chunk))) {
    return { kind: 'mixed' };
  }
  const values = new Float64Array(rowCount);
  const valid = snapshot.nullCount === 0 ? undefined : new Uint8Array(rowCount);
  for (let index = 0; index < starts.length; index++) {
    check();
    readNumbers(view.chunk(index), values, valid, starts[index] as number);
  }
  const type = snapshot.type === 'timestamp' ? 'timestamp' : 'number';
  return { kind: 'numbers', type, values, ...(valid === undefined ? {} : { valid }) };
}

function holdsNumbers(chunk: ChunkSnapshot): boolean {
  switch (chunk.kind) {
    case 'constant':
      return typeof chunk.atom === 'number' || chunk.atom instanceof Timestamp;
    case 'sparse':
      return holdsNumbers(chunk.values);
    default:
      return chunk.kind !== 'codes';
  }
}

function isNullChunk(chunk: ChunkSnapshot): boolean {
  return chunk.kind === 'constant' && chunk.atom === null;
}

function readCodes(chunk: ChunkView, view: ColumnView, out: Uint32Array, start: number): void {
  if (chunk instanceof CodesChunkView) {
    out.set(chunk.codes.subarray(0, chunk.rowCount));
    return;
  }
  if (chunk.kind === 'constant') {
    const atom = chunk.atomAt(0);
    out.fill(atom === null ? 0 : (view.dictionary?.find(atom) ?? 0), 0, chunk.rowCount);
    return;
  }
  for (let row = 0; row < chunk.rowCount; row++) out[row] = view.codeAt(start + row);
}

function readNumbers(
  chunk: ChunkView,
  values: Float64Array,
  valid: Uint8Array | undefined,
  start: number,
): void {
  const { rowCount } = chunk;
  if (chunk instanceof NumericChunkView) values.set(chunk.values.subarray(0, rowCount), start);
  else for (let row = 0; row < rowCount; row++) values[start + row] = chunk.numberAt(row);
  if (valid === undefined) return;
  for (let row = 0; row < rowCount; row++) valid[start + row] = chunk.isNull(row) ? 0 : 1;
}

/** A table of some rows of another, in the order given; the other stays as it is. */
export function gatherSnapshot(
  snapshot: ColumnarSnapshot,
  rows: Uint32Array,
  arenas: ArenaAllocator,
  check: () => void,
): ColumnarSnapshot {
  return {
    layout: 'columnar',
    id: arenas.nextId(),
    rowCount: rows.length,
    chunkRowCounts: chunkRowCounts(rows.length),
    columns: snapshot.columns.map((column) => gatherColumn(column, rows, arenas, check)),
    rowNames: gatherRowNames(snapshot.rowNames, rows, arenas, check),
    timestamps: gatherTimestamps(snapshot.timestamps, rows, arenas),
  };
}

/** Some rows of a column as a column of their own. @param check called in between; it may throw */
export function gatherColumn(
  column: ColumnSnapshot,
  rows: Uint32Array,
  arenas: ArenaAllocator,
  check: () => void,
): ColumnSnapshot {
  const view = new ColumnView(column, arenas);
  const flat = flattenColumn(view, check);
  if (flat.kind === 'mixed') {
    const builder = new ColumnBuilder(column.path, arenas);
    for (const [index, row] of rows.entries()) {
      if (index % 4096 === 0) check();
      builder.append(view.atomAt(row));
    }
    return builder.seal();
  }
  if (flat.kind === 'codes') {
    const { codes } = flat;
    const { dictionary } = column;
    if (dictionary !== undefined)
      for (const span of dictionarySpans(dictionary)) arenas.retain(span);
    return codesColumn(column, rows.length, arenas, check, (out, from) => {
      for (let i = 0; i < out.length; i++) out[i] = codes[rows[from + i] as number] as number;
    });
  }
  const { values, valid, type } = flat;
  return numbersColumn(column.path, type, rows.length, arenas, check, (out, validity, from) => {
    for (let i = 0; i < out.length; i++) out[i] = values[rows[from + i] as number] as number;
    if (valid === undefined) return false;
    for (let i = 0; i < out.length; i++) {
      if (valid[rows[from + i] as number] === 1) {
        validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
      }
    }
    return true;
  });
}

/**
 * A column of numbers, made chunk by chunk.
 * @param fill sets the values from a row on, and their validity, which is all zero before; it
 * answers whether it has set any validity: otherwise all rows have values
 */
export function numbersColumn(
  path: readonly string[],
  type: 'number' | 'timestamp',
  rowCount: number,
  arenas: ArenaAllocator,
  check: () => void,
  fill: (out: Float64Array, validity: Uint8Array, from: number) => boolean,
): ColumnSnapshot {
  let nullCount = 0;
  let from = 0;
  let isInteger = type === 'number';
  const chunks = chunkRowCounts(rowCount).map((count) => {
    check();
    const values = new Float64Array(count);
    const bits = new Uint8Array((count + 7) >> 3);
    const validity = fill(values, bits, from) ? bits : undefined;
    from += count;
    const chunk = encodeNumbers({ rowCount: count, values, validity }, type, arenas);
    nullCount += nullsOf(chunk);
    isInteger &&= chunk.kind === 'int32' || areIntegers(values, validity);
    return chunk;
  });
  const isNull = nullCount === rowCount;
  const columnType = isNull ? 'null' : isInteger ? 'integer' : type;
  return { path, type: columnType, chunks, nullCount };
}

function nullsOf(chunk: ChunkSnapshot): number {
  if (chunk.kind === 'constant') return chunk.atom === null ? chunk.rowCount : 0;
  return chunk.kind === 'sparse' ? chunk.rowCount - chunk.values.rowCount : chunk.nullCount;
}

function areIntegers(values: Float64Array, validity: Uint8Array | undefined): boolean {
  for (let i = 0; i < values.length; i++) {
    const isThere = validity === undefined || ((validity[i >> 3] as number) & (1 << (i & 7))) !== 0;
    if (isThere && !Number.isInteger(values[i])) return false;
  }
  return true;
}

/** A column of codes, made chunk by chunk. The hold on the dictionary is the column's. */
export function codesColumn(
  { path, type, dictionary }: Pick<ColumnSnapshot, 'path' | 'type' | 'dictionary'>,
  rowCount: number,
  arenas: ArenaAllocator,
  check: () => void,
  fill: (out: Uint32Array, from: number) => void,
): ColumnSnapshot {
  let nullCount = 0;
  let from = 0;
  const chunks = chunkRowCounts(rowCount).map((count) => {
    check();
    const codes = new Uint32Array(count);
    fill(codes, from);
    from += count;
    const chunk = encodeCodes(codes, count, arenas);
    nullCount += nullsOf(chunk);
    return chunk;
  });
  if (dictionary !== undefined && nullCount < rowCount) {
    return { path, type, chunks, nullCount, dictionary };
  }
  if (dictionary !== undefined) for (const span of dictionarySpans(dictionary)) arenas.free(span);
  return { path, type: 'null', chunks, nullCount };
}

/** The names of some rows. @param check called in between; it may throw */
export function gatherRowNames(
  names: RowNames,
  rows: Uint32Array,
  arenas: ArenaAllocator,
  check: () => void,
): RowNames {
  if (rows.length === 0) return { kind: 'sequence', first: 0 };
  if (names.kind === 'paths') return gatherPaths(names, rows, arenas);
  const builder = new RowNamesBuilder(arenas);
  const numbers =
    names.kind === 'sequence'
      ? undefined
      : flattenColumn(
          new ColumnView({ path: [], type: 'integer', chunks: names.chunks, nullCount: 0 }, arenas),
        );
  const first = names.kind === 'sequence' ? names.first : 0;
  const values = numbers?.kind === 'numbers' ? numbers.values : undefined;
  for (let i = 0; i < rows.length; i++) {
    if (i % 65_536 === 0) check();
    const row = rows[i] as number;
    builder.addNumber(values === undefined ? first + row : (values[row] as number));
  }
  return builder.seal();
}

function gatherPaths(
  names: Extract<RowNames, { kind: 'paths' }>,
  rows: Uint32Array,
  arenas: ArenaAllocator,
): RowNames {
  const bytes = bytesOf(arenas, names.bytes);
  const offsets = uint32Of(arenas, names.offsets);
  const ends = new Uint32Array(rows.length + 1);
  let size = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    size += (offsets[row + 1] as number) - (offsets[row] as number);
    ends[i + 1] = size;
  }
  const heap = arenas.allocate(size);
  const out = bytesOf(arenas, heap);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    let at = ends[i] as number;
    const end = offsets[row + 1] as number;
    for (let from = offsets[row] as number; from < end; from++) out[at++] = bytes[from] as number;
  }
  return { kind: 'paths', bytes: heap, offsets: spanOf(arenas, ends) };
}

function gatherTimestamps(
  timestamps: RowTimestamps,
  rows: Uint32Array,
  arenas: ArenaAllocator,
): RowTimestamps {
  if (timestamps.kind === 'constant') return timestamps;
  const view = new RowTimestampsView(timestamps, arenas);
  const builder = new RowTimestampsBuilder(arenas);
  for (const row of rows) builder.add(view.at(row));
  return builder.seal();
}
