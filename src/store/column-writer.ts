// Column chunks as Arrow arrays: buffers of column memory where the forms agree, converted otherwise.
import {
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int8,
  Int16,
  Int32,
  LargeUtf8,
  Null,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { bitmapSize } from '../value/column/chunk-encoder.ts';
import { type ChunkView, chunkView } from '../value/column/column-view.ts';
import { type DictionaryView, dictionaryView } from '../value/column/dictionary.ts';
import type { ChunkSnapshot, ColumnSnapshot } from '../value/column/snapshot.ts';
import { bytesOf } from '../value/column/span-view.ts';
import { atomToJsonText } from '../value/json.ts';
import { Path } from '../value/path.ts';
import { type ArrowPart, bytesOfArray } from './arrow-file-writer.ts';
import {
  type ColumnDescription,
  type ColumnEncoding,
  describeChunk,
} from './column-description.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

const NO_BYTES = new Uint8Array(0);
const TEXT_SIZE_MAX = 2 ** 31 - 1;

/** One chunk of a column as an Arrow array. */
export interface ArrowArray {
  readonly nullCount: number;
  readonly buffers: readonly Uint8Array[];
}

/** Writes one column; the arrays of a chunk are valid until the next chunk is asked for. */
export class ColumnWriter {
  readonly description: ColumnDescription;
  readonly field: Field;
  readonly #column: ColumnSnapshot;
  readonly #arenas: Arenas;
  readonly #look: () => void;
  readonly #dictionary: DictionaryView | undefined;
  #values: Int8Array | Int16Array | Int32Array | Float64Array | BigInt64Array;
  #validity = new Uint8Array(0);

  /**
   * @param dictionaryId the Arrow id of the column's dictionary, should it have one
   * @param look called in between
   */
  constructor(
    column: ColumnSnapshot,
    name: string,
    dictionaryId: number,
    arenas: Arenas,
    look: () => void = () => undefined,
  ) {
    this.#look = look;
    this.#column = column;
    this.#arenas = arenas;
    const { dictionary } = column;
    this.#dictionary = dictionary === undefined ? undefined : dictionaryView(dictionary, arenas);
    const encoding = chooseEncoding(column, arenas, look);
    this.description = {
      path: column.path,
      type: column.type,
      nullCount: column.nullCount,
      encoding,
      ...(dictionary === undefined
        ? {}
        : {
            dictionary: {
              kind: dictionary.kind,
              count: dictionary.count,
              sorted: dictionary.sorted,
              id: dictionaryId,
            },
          }),
      chunks: column.chunks.map(describeChunk),
    };
    const type = arrowType(encoding, this.#dictionary, dictionaryId);
    this.field = new Field(name, type, true, fieldMetadata(column, encoding));
    this.#values = makeValues(encoding, this.#dictionary?.count ?? 0);
  }

  /** The dictionary's texts: UTF-8 as it is, or the JSON of atoms of other kinds. */
  dictionaryPart(): ArrowPart | undefined {
    const view = this.#dictionary;
    if (view === undefined) return undefined;
    if (view.snapshot.kind === 'text') {
      return textPart(view.bytes, view.offsets.subarray(1, view.count + 2));
    }
    const textAt = (index: number): string => atomToJsonText(view.atom(index + 1));
    return textPart(...joinTexts(view.count, textAt, this.#look));
  }

  array(chunkIndex: number): ArrowArray {
    const chunk = this.#column.chunks[chunkIndex] as ChunkSnapshot;
    if (this.description.encoding === 'null') return { nullCount: chunk.rowCount, buffers: [] };
    if (chunk.kind === this.description.encoding && chunk.kind !== 'codes') {
      const validity =
        chunk.validity === undefined ? NO_BYTES : bytesOf(this.#arenas, chunk.validity);
      return { nullCount: chunk.nullCount, buffers: [validity, bytesOf(this.#arenas, chunk.data)] };
    }
    return this.#convert(chunk);
  }

  #convert(chunk: ChunkSnapshot): ArrowArray {
    const { rowCount } = chunk;
    this.#reserve(rowCount);
    const view = chunkView(chunk, this.#dictionary, this.#arenas);
    const nullCount =
      this.description.encoding === 'codes'
        ? this.#convertCodes(chunk, view)
        : this.#convertNumbers(view);
    const values = bytesOfArray(this.#values.subarray(0, rowCount));
    const validity = nullCount === 0 ? NO_BYTES : this.#validity.subarray(0, bitmapSize(rowCount));
    return { nullCount, buffers: [validity, values] };
  }

  /** Arrow counts codes from 0 and keeps nulls in the bitmap. */
  #convertCodes(chunk: ChunkSnapshot, view: ChunkView): number {
    const values = this.#values as Int32Array;
    const validity = this.#validity.fill(0);
    const { rowCount } = chunk;
    let nullCount = 0;
    if (view.kind === 'codes') {
      const { codes } = view as ChunkView & { readonly codes: Uint32Array };
      for (let i = 0; i < rowCount; i++) {
        const code = codes[i] as number;
        values[i] = code - 1;
        if (code === 0) {
          values[i] = 0;
          nullCount++;
        } else validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
      }
      return nullCount;
    }
    for (let i = 0; i < rowCount; i++) {
      const code = this.#dictionary?.find(view.atomAt(i)) ?? 0;
      values[i] = Math.max(0, code - 1);
      if (code === 0) nullCount++;
      else validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
    }
    return nullCount;
  }

  #convertNumbers(view: ChunkView): number {
    const validity = this.#validity.fill(0);
    const isMicros = this.description.encoding === 'micros';
    let nullCount = 0;
    for (let i = 0; i < view.rowCount; i++) {
      const isNull = view.isNull(i);
      const value = isNull ? 0 : view.numberAt(i);
      if (isMicros) (this.#values as BigInt64Array)[i] = BigInt(toMicros(value));
      else (this.#values as Float64Array)[i] = value;
      if (isNull) nullCount++;
      else validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
    }
    return nullCount;
  }

  #reserve(rowCount: number): void {
    if (this.#values.length < rowCount) {
      this.#values = makeValues(this.description.encoding, this.#dictionary?.count ?? 0, rowCount);
    }
    if (this.#validity.length < bitmapSize(rowCount)) {
      this.#validity = new Uint8Array(bitmapSize(rowCount));
    }
  }
}

/** The widths that signed indexes have: not every reader takes unsigned ones. */
export function indexWidth(count: number): 1 | 2 | 4 {
  return count <= 128 ? 1 : count <= 32_768 ? 2 : 4;
}

function makeValues(
  encoding: ColumnEncoding,
  dictionaryCount: number,
  length = 0,
): Int8Array | Int16Array | Int32Array | Float64Array | BigInt64Array {
  switch (encoding) {
    case 'codes':
      switch (indexWidth(dictionaryCount)) {
        case 1:
          return new Int8Array(length);
        case 2:
          return new Int16Array(length);
        case 4:
          return new Int32Array(length);
      }
      break;
    case 'float64':
      return new Float64Array(length);
    case 'micros':
      return new BigInt64Array(length);
  }
  return new Int32Array(length);
}

function chooseEncoding(column: ColumnSnapshot, arenas: Arenas, look: () => void): ColumnEncoding {
  const isMicros = (chunk: ChunkSnapshot): boolean => {
    look();
    return isWholeMicros(chunk, arenas);
  };
  if (column.dictionary !== undefined) return 'codes';
  switch (column.type) {
    case 'null':
      return 'null';
    case 'timestamp':
      return column.chunks.every(isMicros) ? 'micros' : 'float64';
    default:
      return column.chunks.every(fitsInt32) ? 'int32' : 'float64';
  }
}

function fitsInt32(chunk: ChunkSnapshot): boolean {
  switch (chunk.kind) {
    case 'constant':
      return chunk.atom === null || chunk.atom === ((chunk.atom as number) | 0);
    case 'sparse':
      return fitsInt32(chunk.values);
    default:
      return chunk.kind === 'int32';
  }
}

function isWholeMicros(chunk: ChunkSnapshot, arenas: Arenas): boolean {
  const view = chunkView(chunk.kind === 'sparse' ? chunk.values : chunk, undefined, arenas);
  for (let i = 0; i < view.rowCount; i++) {
    if (view.isNull(i)) continue;
    const seconds = view.numberAt(i);
    const micros = toMicros(seconds);
    if (!Number.isSafeInteger(micros) || micros / 1e6 !== seconds) return false;
  }
  return true;
}

function toMicros(seconds: number): number {
  return Math.round(seconds * 1e6);
}

function arrowType(
  encoding: ColumnEncoding,
  dictionary: DictionaryView | undefined,
  dictionaryId: number,
): DataType {
  switch (encoding) {
    case 'null':
      return new Null();
    case 'int32':
      return new Int32();
    case 'float64':
      return new Float64();
    case 'micros':
      return new TimestampMicrosecond('UTC');
    case 'codes': {
      const width = indexWidth(dictionary?.count ?? 0);
      const index = width === 1 ? new Int8() : width === 2 ? new Int16() : new Int32();
      return new Dictionary(textType(dictionary?.bytes.length ?? 0), index, dictionaryId);
    }
  }
}

/** Offsets of 32 bits reach 2 GiB. JSON of mixed atoms can be longer than the atoms. */
function textType(sizeBytes: number): Utf8 | LargeUtf8 {
  return sizeBytes * 2 > TEXT_SIZE_MAX ? new LargeUtf8() : new Utf8();
}

function fieldMetadata(column: ColumnSnapshot, encoding: ColumnEncoding): Map<string, string> {
  const metadata = new Map<string, string>();
  if (column.type === 'mixed') metadata.set('rowan.mixed', 'true');
  // Seconds that are no whole microseconds, or infinite, or no date.
  if (column.type === 'timestamp' && encoding === 'float64')
    metadata.set('rowan.type', 'timestamp');
  return metadata;
}

/** Texts as an Arrow array without nulls. @param offsets count + 1, from 0 on */
export function textPart(bytes: Uint8Array, offsets: Uint32Array): ArrowPart {
  const length = offsets.length - 1;
  const isLarge = textType(bytes.length) instanceof LargeUtf8;
  const arrowOffsets = isLarge ? BigInt64Array.from(offsets, BigInt) : offsets;
  return {
    length,
    nodes: [{ length, nullCount: 0 }],
    buffers: [NO_BYTES, bytesOfArray(arrowOffsets), bytes],
  };
}

export const TEXTS_PER_LOOK = 16_384;

/** Texts one behind the other, and where each begins. @param look called in between */
export function joinTexts(
  count: number,
  textAt: (index: number) => string,
  look: () => void,
): [bytes: Uint8Array, offsets: Uint32Array] {
  const offsets = new Uint32Array(count + 1);
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let from = 0; from < count; from += TEXTS_PER_LOOK) {
    look();
    const to = Math.min(from + TEXTS_PER_LOOK, count);
    const texts: string[] = [];
    for (let index = from; index < to; index++) {
      const text = textAt(index);
      texts.push(text);
      size += Buffer.byteLength(text);
      offsets[index + 1] = size;
    }
    parts.push(Buffer.from(texts.join('')));
  }
  return [Buffer.concat(parts), offsets];
}

/** The printed path, as columns are named everywhere outside. */
export function columnName(path: readonly string[]): string {
  return new Path(path).toString();
}
