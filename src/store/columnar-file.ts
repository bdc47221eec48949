// Columnar snapshots as Arrow files: a field for the row names, one for timestamps that differ, and
// one for each column; a record batch for each chunk.
import { Field, Float64, Int32, Schema, Utf8 } from 'apache-arrow';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { ChunkStarts } from '../value/column/column-view.ts';
import type {
  ChunkSnapshot,
  ColumnarSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
  RowNames,
  RowTimestamps,
  Span,
} from '../value/column/snapshot.ts';
import { bytesOf, spanOf, uint32Of } from '../value/column/span-view.ts';
import type { ArrowFileReader } from './arrow-file-reader.ts';
import { ArrowFileWriter, bytesOfArray } from './arrow-file-writer.ts';
import type { ChunkDescription, ColumnDescription } from './column-description.ts';
import {
  type FieldBuffers,
  readChunk,
  readExactDictionary,
  readTextDictionary,
  textOffsets,
} from './column-reader.ts';
import { type ArrowArray, ColumnWriter, columnName } from './column-writer.ts';
import { damaged, type FileSink } from './durable-file.ts';
import { pagedChunk } from './paged-column.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

const ROW_NAME_FIELD = '_rowName';
const TIMESTAMP_FIELD = '_timestamp';
const NO_BYTES = new Uint8Array(0);
const INT32_MAX = 2 ** 31 - 1;

/** Everything about the snapshot that is not in the Arrow arrays; JSON in the section `snapshot`. */
export interface ColumnarDescription {
  readonly layout: 'columnar';
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly columns: readonly ColumnDescription[];
  readonly rowNames:
    | { readonly kind: 'sequence'; readonly first: number }
    | { readonly kind: 'numbers'; readonly column: ColumnDescription }
    | { readonly kind: 'paths' };
  readonly timestamps:
    | { readonly kind: 'constant'; readonly ts: string }
    | { readonly kind: 'per-row'; readonly column: ColumnDescription };
}

/** A field of the file and its array in each chunk. */
interface FieldWriter {
  readonly field: Field;
  array(chunkIndex: number): ArrowArray;
}

/** @param look called in between */
export function writeColumnar(
  sink: FileSink,
  snapshot: ColumnarSnapshot,
  arenas: Arenas,
  look: () => void,
): void {
  const columns = snapshot.columns.map(
    (column, id) => new ColumnWriter(column, columnName(column.path), id, arenas, look),
  );
  const names = namesWriter(snapshot, arenas);
  const timestamps = timestampsWriter(snapshot, arenas, look);
  const fields: FieldWriter[] = [names.writer];
  if (timestamps.writer !== undefined) fields.push(timestamps.writer);
  fields.push(...columns);
  const file = new ArrowFileWriter(sink, new Schema(fields.map(({ field }) => field)), look);
  columns.forEach((column, id) => {
    const part = column.dictionaryPart();
    if (part !== undefined) file.writeDictionary(id, part);
  });
  snapshot.chunkRowCounts.forEach((length, chunkIndex) => {
    const arrays = fields.map((field) => {
      look();
      return field.array(chunkIndex);
    });
    file.writeBatch({
      length,
      nodes: arrays.map(({ nullCount }) => ({ length, nullCount })),
      buffers: arrays.flatMap(({ buffers }) => buffers),
    });
  });
  snapshot.columns.forEach(({ dictionary }, id) => {
    if (dictionary?.kind === 'mixed')
      writeExactDictionary(file, `dictionary ${id}`, dictionary, arenas);
  });
  const description: ColumnarDescription = {
    layout: 'columnar',
    rowCount: snapshot.rowCount,
    chunkRowCounts: snapshot.chunkRowCounts,
    columns: columns.map((column) => column.description),
    rowNames: names.description,
    timestamps: timestamps.description,
  };
  file.writeSection('snapshot', Buffer.from(JSON.stringify(description)));
  file.finish();
}

/** The JSON text of a mixed atom does not say everything about it, so the atoms follow exactly. */
export function writeExactDictionary(
  file: ArrowFileWriter,
  name: string,
  dictionary: DictionarySnapshot,
  arenas: Arenas,
): void {
  file.writeSection(`${name} bytes`, bytesOf(arenas, dictionary.bytes));
  file.writeSection(`${name} offsets`, bytesOf(arenas, dictionary.offsets));
}

function namesWriter(
  { rowNames, chunkRowCounts, rowCount }: ColumnarSnapshot,
  arenas: Arenas,
): { writer: FieldWriter; description: ColumnarDescription['rowNames'] } {
  const starts = new ChunkStarts(chunkRowCounts);
  switch (rowNames.kind) {
    case 'sequence': {
      const { first } = rowNames;
      const isInt32 = first >= -INT32_MAX && first + rowCount <= INT32_MAX;
      const makeArray = (chunkIndex: number): ArrowArray => {
        const length = chunkRowCounts[chunkIndex] as number;
        const start = first + starts.startOf(chunkIndex);
        const values = isInt32 ? new Int32Array(length) : new Float64Array(length);
        for (let i = 0; i < length; i++) values[i] = start + i;
        return { nullCount: 0, buffers: [NO_BYTES, bytesOfArray(values)] };
      };
      return {
        writer: {
          field: new Field(ROW_NAME_FIELD, isInt32 ? new Int32() : new Float64(), false),
          array: makeArray,
        },
        description: { kind: 'sequence', first },
      };
    }
    case 'numbers': {
      const column = { path: [], type: 'integer', chunks: rowNames.chunks, nullCount: 0 } as const;
      const writer = new ColumnWriter(column, ROW_NAME_FIELD, 0, arenas);
      return { writer, description: { kind: 'numbers', column: writer.description } };
    }
    case 'paths': {
      const bytes = bytesOf(arenas, rowNames.bytes);
      const offsets = uint32Of(arenas, rowNames.offsets);
      const makeArray = (chunkIndex: number): ArrowArray => {
        const from = starts.startOf(chunkIndex);
        const length = chunkRowCounts[chunkIndex] as number;
        const begin = offsets[from] as number;
        const own = new Int32Array(length + 1);
        for (let i = 0; i <= length; i++) own[i] = (offsets[from + i] as number) - begin;
        const end = offsets[from + length] as number;
        return { nullCount: 0, buffers: [NO_BYTES, bytesOfArray(own), bytes.subarray(begin, end)] };
      };
      return {
        writer: { field: new Field(ROW_NAME_FIELD, new Utf8(), false), array: makeArray },
        description: { kind: 'paths' },
      };
    }
  }
}

function timestampsWriter(
  { timestamps }: ColumnarSnapshot,
  arenas: Arenas,
  look: () => void,
): { writer?: FieldWriter; description: ColumnarDescription['timestamps'] } {
  if (timestamps.kind === 'constant') {
    return { description: { kind: 'constant', ts: String(timestamps.ts) } };
  }
  const writer = new ColumnWriter(
    {
      path: [],
      type: 'timestamp',
      nullCount: 0,
      chunks: timestamps.chunks.map((data) => ({
        kind: 'timestamp',
        rowCount: data.sizeBytes / 8,
        data,
        nullCount: 0,
      })),
    },
    TIMESTAMP_FIELD,
    0,
    arenas,
    look,
  );
  return { writer, description: { kind: 'per-row', column: writer.description } };
}

/** Reads everything into arenas. @throws DATA_ERROR, OUT_OF_MEMORY */
export function readColumnar(
  file: ArrowFileReader,
  description: ColumnarDescription,
  allocator: ArenaAllocator,
): ColumnarSnapshot {
  const { columns } = description;
  const places = columnPlaces(description);
  const dictionaries = columns.map((column, c) =>
    readDictionary(file, column, places[c] as ColumnPlace, allocator),
  );
  const chunks: ChunkSnapshot[][] = columns.map(() => []);
  const frame = readFrame(file, description, allocator, (buffers, index) => {
    columns.forEach((column, c) => {
      const chunk = column.chunks[index] as ChunkDescription;
      const own = fieldBuffers(buffers, (places[c] as ColumnPlace).firstBuffer);
      (chunks[c] as ChunkSnapshot[]).push(readChunk(column, chunk, own, allocator));
    });
  });
  return {
    ...frame,
    columns: columns.map((column, c) =>
      columnSnapshot(column, chunks[c] as ChunkSnapshot[], dictionaries[c]),
    ),
  };
}

/**
 * Reads the names and timestamps of the rows, and what is known of the columns without their values.
 * Every batch is held against its checksum. @throws DATA_ERROR, OUT_OF_MEMORY
 */
export function readColumnarOutline(
  file: ArrowFileReader,
  description: ColumnarDescription,
  allocator: ArenaAllocator,
): ColumnarSnapshot {
  const frame = readFrame(file, description, allocator, () => {});
  const columns = description.columns.map(({ path, type, nullCount }) => ({
    ...{ path, type, nullCount, chunks: [] },
    isAbsent: true,
  }));
  return { ...frame, columns, file: file.path };
}

/** How much of columns is read. */
export interface ColumnRoom {
  /** what the columns that are read together take, unless it is only one */
  readonly sizeBytes: number;
  /** what they may take in memory: the chunks of the others stay in the file */
  readonly roomBytes: number;
}

/**
 * Reads columns of a file whose outline was read: the first of `wanted`, and those behind it as long as
 * they take less than `sizeBytes` together. @throws DATA_ERROR, OUT_OF_MEMORY
 */
export function readColumns(
  file: ArrowFileReader,
  description: ColumnarDescription,
  wanted: readonly number[],
  { sizeBytes, roomBytes }: ColumnRoom,
  allocator: ArenaAllocator,
): ReadColumn[] {
  let room = roomBytes;
  const chosen = firstOfSize(description, wanted, sizeBytes).map((number) => {
    const column = description.columns[number];
    if (column === undefined) throw damaged(file.path, 'a column is missing');
    const isPaged = sizeOf(column) > room;
    if (!isPaged) room -= sizeOf(column);
    return { number, column, isPaged, chunks: [] as ChunkSnapshot[] };
  });
  const places = columnPlaces(description);
  const dictionaries = chosen.map(({ number, column }) =>
    readDictionary(file, column, places[number] as ColumnPlace, allocator),
  );
  const buffersOf = (isPaged: boolean) =>
    chosen.flatMap((each) => {
      const { firstBuffer } = places[each.number] as ColumnPlace;
      return each.isPaged === isPaged ? [firstBuffer, firstBuffer + 1] : [];
    });
  const [readBuffers, pagedBuffers] = [buffersOf(false), buffersOf(true)];
  const { state } = file;
  for (let index = 0; index < description.chunkRowCounts.length; index++) {
    // Of each batch only these columns are read, but its head as a whole: once for all of them.
    const read = readBuffers.length > 0 ? [...file.readBatchBuffers(index, readBuffers)] : [];
    const regions = pagedBuffers.length > 0 ? [...file.batchRegions(index, pagedBuffers)] : [];
    for (const { column, chunks, isPaged } of chosen) {
      const chunk = column.chunks[index] as ChunkDescription;
      if (isPaged) {
        const [validity = NO_REGION, data = NO_REGION] = regions.splice(0, 2);
        chunks.push(pagedChunk(column, chunk, { validity, data }, state));
      } else {
        const own = read.splice(0, 2);
        const buffers = fieldBuffers(column.encoding === 'null' ? [] : own, 0);
        chunks.push(readChunk(column, chunk, buffers, allocator));
      }
    }
  }
  return chosen.map(({ number, column, chunks, isPaged }, position) => {
    const snapshot = columnSnapshot(column, chunks, dictionaries[position]);
    return { number, column: isPaged ? { ...snapshot, isPaged } : snapshot };
  });
}

const NO_REGION = { offset: 0, sizeBytes: 0 };

/** The first of these columns, and those behind it while all take less than that size. */
function firstOfSize(
  { columns }: ColumnarDescription,
  wanted: readonly number[],
  sizeBytes: number,
): readonly number[] {
  let size = 0;
  const count = wanted.findIndex((number, position) => {
    const column = columns[number];
    size += column === undefined ? 0 : sizeOf(column);
    return position > 0 && size > sizeBytes;
  });
  return count === -1 ? wanted : wanted.slice(0, count);
}

/** A column and its number. */
export interface ReadColumn {
  readonly number: number;
  readonly column: ColumnSnapshot;
}

/** Bytes of the chunks of a column in memory, about. */
function sizeOf({ chunks }: ColumnDescription): number {
  return chunks.reduce((sum, chunk) => sum + chunk.rowCount * widthOf(chunk), 0);
}

function widthOf(chunk: ChunkDescription): number {
  switch (chunk.kind) {
    case 'constant':
    case 'sparse':
      return 0;
    case 'codes':
      return chunk.width;
    case 'int32':
      return 4;
    default:
      return 8;
  }
}

function columnSnapshot(
  { path, type, nullCount }: ColumnDescription,
  chunks: readonly ChunkSnapshot[],
  dictionary: DictionarySnapshot | undefined,
): ColumnSnapshot {
  return { path, type, nullCount, chunks, ...(dictionary === undefined ? {} : { dictionary }) };
}

/** Everything but the columns, whose buffers are shown batch by batch. */
function readFrame(
  file: ArrowFileReader,
  description: ColumnarDescription,
  allocator: ArenaAllocator,
  onBatch: (buffers: readonly Uint8Array[], index: number) => void,
): Omit<ColumnarSnapshot, 'columns'> {
  const { rowCount, chunkRowCounts } = description;
  if (file.batchCount !== chunkRowCounts.length) throw damaged(file.path, 'a batch is missing');
  const names = new NamesReader(description, allocator);
  const timestampChunks: Span[] = [];
  for (let index = 0; index < chunkRowCounts.length; index++) {
    const { buffers } = file.readBatch(index);
    names.read(buffers, index);
    if (description.timestamps.kind === 'per-row') {
      const { column } = description.timestamps;
      const chunk = readChunk(
        column,
        column.chunks[index] as ChunkDescription,
        fieldBuffers(buffers, nameBufferCount(description)),
        allocator,
      );
      timestampChunks.push((chunk as Extract<ChunkSnapshot, { data: Span }>).data);
    }
    onBatch(buffers, index);
  }
  return {
    layout: 'columnar',
    id: allocator.nextId(),
    rowCount,
    chunkRowCounts,
    rowNames: names.finish(),
    timestamps: readTimestamps(description, timestampChunks),
  };
}

function nameBufferCount({ rowNames }: ColumnarDescription): number {
  return rowNames.kind === 'paths' ? 3 : 2;
}

/** Where the parts of a column are. */
interface ColumnPlace {
  readonly number: number;
  /** the first of its two buffers among those of a batch */
  readonly firstBuffer: number;
  /** of a column with a dictionary: its number among those that the file has */
  readonly dictionary: number;
}

function columnPlaces(description: ColumnarDescription): readonly ColumnPlace[] {
  let firstBuffer = nameBufferCount(description);
  if (description.timestamps.kind === 'per-row') firstBuffer += 2;
  let dictionary = 0;
  return description.columns.map((column, number) => {
    const place = { number, firstBuffer, dictionary };
    if (column.encoding !== 'null') firstBuffer += 2;
    if (column.dictionary !== undefined) dictionary++;
    return place;
  });
}

function fieldBuffers(buffers: readonly Uint8Array[], at: number): FieldBuffers {
  return { validity: buffers[at] ?? NO_BYTES, data: buffers[at + 1] ?? NO_BYTES };
}

function readDictionary(
  file: ArrowFileReader,
  { dictionary }: ColumnDescription,
  place: ColumnPlace,
  allocator: ArenaAllocator,
): DictionarySnapshot | undefined {
  if (dictionary === undefined) return undefined;
  return dictionary.kind === 'text'
    ? readTextDictionary(file.readDictionary(place.dictionary), dictionary, allocator)
    : readExactDictionary(file, `dictionary ${place.number}`, dictionary, allocator);
}

function readTimestamps({ timestamps }: ColumnarDescription, chunks: Span[]): RowTimestamps {
  if (timestamps.kind === 'constant') return { kind: 'constant', ts: Number(timestamps.ts) };
  return { kind: 'per-row', chunks };
}

/** Puts the row names of the batches together. */
class NamesReader {
  readonly #description: ColumnarDescription;
  readonly #allocator: ArenaAllocator;
  readonly #numbers: ChunkSnapshot[] = [];
  readonly #texts: Uint8Array[] = [];
  readonly #offsets: Uint32Array;
  #count = 0;

  constructor(description: ColumnarDescription, allocator: ArenaAllocator) {
    this.#description = description;
    this.#allocator = allocator;
    this.#offsets = new Uint32Array(
      description.rowNames.kind === 'paths' ? description.rowCount + 1 : 0,
    );
  }

  read(buffers: readonly Uint8Array[], index: number): void {
    const { rowNames, chunkRowCounts } = this.#description;
    if (rowNames.kind === 'sequence') return;
    if (rowNames.kind === 'numbers') {
      const chunk = rowNames.column.chunks[index] as ChunkDescription;
      this.#numbers.push(
        readChunk(rowNames.column, chunk, fieldBuffers(buffers, 0), this.#allocator),
      );
      return;
    }
    const rowCount = chunkRowCounts[index] as number;
    const own = textOffsets(buffers[1] as Uint8Array, rowCount);
    const begin = this.#offsets[this.#count] as number;
    for (let i = 1; i <= rowCount; i++) {
      this.#offsets[this.#count + i] = begin + (own[i] as number);
    }
    this.#count += rowCount;
    this.#texts.push((buffers[2] as Uint8Array).slice());
  }

  finish(): RowNames {
    const { rowNames } = this.#description;
    switch (rowNames.kind) {
      case 'sequence':
        return rowNames;
      case 'numbers':
        return { kind: 'numbers', chunks: this.#numbers };
      case 'paths': {
        const bytes = this.#allocator.allocate(this.#offsets[this.#count] as number);
        const target = bytesOf(this.#allocator, bytes);
        let position = 0;
        for (const text of this.#texts) {
          target.set(text, position);
          position += text.length;
        }
        return { kind: 'paths', bytes, offsets: spanOf(this.#allocator, this.#offsets) };
      }
    }
  }
}
