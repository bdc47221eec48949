// A column of a row group as the bytes of a Parquet file: a page of distinct values where these are
// few, then pages of values.
import type { Encoding, ParquetType } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';

/** The values of some rows of a column. */
export interface ParquetValues {
  readonly rowCount: number;
  /** a byte a row, 1 where it has a value; absent: all have one */
  readonly present?: Uint8Array | undefined;
  /** of the rows that have one, in order */
  readonly values: WordValues | TextValues;
}

/** Two 32-bit words a value, the lower first. */
export interface WordValues {
  readonly kind: 'words';
  readonly type: 'int64' | 'uint64' | 'double';
  readonly words: Uint32Array;
}

/** Texts or bytes by their number among the different ones. */
export interface TextValues {
  readonly kind: 'texts';
  readonly numbers: Uint32Array;
  /** text i lies in bytes from starts[i] to ends[i] */
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** A written column, and what the file says about it. */
export interface EncodedColumn {
  readonly bytes: Uint8Array;
  readonly valueCount: number;
  readonly nullCount: number;
  readonly uncompressedSize: number;
  /** where pages of values begin; a page of distinct values before them */
  readonly dataPageOffset: number;
  readonly pageCount: number;
  readonly encodings: readonly Encoding[];
  readonly min: number | bigint | Uint8Array | undefined;
  readonly max: number | bigint | Uint8Array | undefined;
}

export type Compress = (bytes: Uint8Array) => Uint8Array;

const PAGE_ROW_COUNT_MAX = 131_072;
/** Distinct values are looked for while they are so few. */
const DISTINCT_COUNT_MAX = 16_384;
const DISTINCT_SIZE_MAX = 1 << 20;
/** After so many values most of which differ nobody looks any further. */
const SAMPLE_COUNT = 4096;

/**
 * Writes the pages of a column.
 * @param compress absent: pages are not compressed
 */
export function encodeParquetColumn(
  column: ParquetValues,
  compress: Compress | undefined,
): EncodedColumn {
  const { rowCount, present, values } = column;
  const writer = new ByteWriter(1 << 16);
  const distinct = distinctOf(values);
  const encoding: Encoding = distinct === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
  let uncompressedSize = 0;
  if (distinct !== undefined) {
    const packed = compress?.(distinct.plain) ?? distinct.plain;
    const start = writer.offset;
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: distinct.plain.length,
      compressed_page_size: packed.length,
      dictionary_page_header: { num_values: distinct.count, encoding: 'PLAIN' },
    });
    uncompressedSize += writer.offset - start + distinct.plain.length;
    writer.appendBytes(packed);
  }
  const dataPageOffset = writer.offset;
  let pageCount = 0;
  let first = 0;
  for (let from = 0; from < rowCount; from += PAGE_ROW_COUNT_MAX, pageCount++) {
    const to = Math.min(rowCount, from + PAGE_ROW_COUNT_MAX);
    const levels = definitionLevels(present, from, to);
    const end = first + levels.valueCount;
    const plain =
      distinct === undefined
        ? plainValues(values, first, end)
        : packedNumbers(distinct.numbers, first, end, distinct.count);
    const packed = compress?.(plain) ?? plain;
    const start = writer.offset;
    writePageHeader(writer, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levels.bytes.length + plain.length,
      compressed_page_size: levels.bytes.length + packed.length,
      data_page_header_v2: {
        num_values: to - from,
        num_nulls: to - from - levels.valueCount,
        num_rows: to - from,
        encoding,
        definition_levels_byte_length: levels.bytes.length,
        repetition_levels_byte_length: 0,
        is_compressed: compress !== undefined,
      },
    });
    uncompressedSize += writer.offset - start + levels.bytes.length + plain.length;
    writer.appendBytes(levels.bytes);
    writer.appendBytes(packed);
    first = end;
  }
  return {
    bytes: Uint8Array.from(writer.getBytes()),
    valueCount: rowCount,
    nullCount: rowCount - first,
    uncompressedSize,
    dataPageOffset,
    pageCount,
    encodings: distinct === undefined ? ['PLAIN'] : ['PLAIN', 'RLE_DICTIONARY'],
    ...bounds(values),
  };
}

/** The physical type of values. */
export function physicalType({ values }: ParquetValues): ParquetType {
  if (values.kind === 'texts') return 'BYTE_ARRAY';
  return values.type === 'double' ? 'DOUBLE' : 'INT64';
}

/** A run of ones or zeros, or a bit a row. */
function definitionLevels(
  present: Uint8Array | undefined,
  from: number,
  to: number,
): { readonly bytes: Uint8Array; readonly valueCount: number } {
  const rowCount = to - from;
  let valueCount = rowCount;
  if (present !== undefined) {
    valueCount = 0;
    for (let row = from; row < to; row++) valueCount += present[row] as number;
  }
  const writer = new ByteWriter(16);
  if (present === undefined || valueCount === rowCount || valueCount === 0) {
    writer.appendVarInt(rowCount << 1);
    writer.appendUint8(valueCount === 0 ? 0 : 1);
    return { bytes: writer.getBytes(), valueCount };
  }
  const bits = new Uint8Array((rowCount + 7) >> 3);
  for (let row = 0; row < rowCount; row++) {
    bits[row >> 3] = (bits[row >> 3] as number) | ((present[from + row] as number) << (row & 7));
  }
  writer.appendVarInt((bits.length << 1) | 1);
  writer.appendBytes(bits);
  return { bytes: writer.getBytes(), valueCount };
}

interface Distinct {
  readonly count: number;
  readonly numbers: Uint32Array;
  readonly plain: Uint8Array;
}

/** The different values, where they are few. */
function distinctOf(values: WordValues | TextValues): Distinct | undefined {
  if (values.kind === 'words') return distinctWords(values.words);
  const { numbers, starts } = values;
  if (starts.length > numbers.length / 2) return undefined;
  const every = Uint32Array.from(starts, (_, index) => index);
  const plain = plainTexts(values, every, 0, every.length);
  if (plain.length > DISTINCT_SIZE_MAX) return undefined;
  return { count: starts.length, numbers, plain };
}

/** By open addressing; equal words are equal values. */
function distinctWords(words: Uint32Array): Distinct | undefined {
  const valueCount = words.length >> 1;
  const mask = 4 * DISTINCT_COUNT_MAX - 1;
  const slots = new Uint16Array(mask + 1);
  const distinct = new Uint32Array(2 * DISTINCT_COUNT_MAX);
  const numbers = new Uint32Array(valueCount);
  let count = 0;
  for (let i = 0; i < valueCount; i++) {
    const low = words[2 * i] as number;
    const high = words[2 * i + 1] as number;
    let hash = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] as number;
      if (found === 0) {
        if (count === DISTINCT_COUNT_MAX) return undefined;
        distinct[2 * count] = low;
        distinct[2 * count + 1] = high;
        numbers[i] = count++;
        slots[slot] = count;
        break;
      }
      if (distinct[2 * found - 2] === low && distinct[2 * found - 1] === high) {
        numbers[i] = found - 1;
        break;
      }
    }
    if (i === SAMPLE_COUNT && count > SAMPLE_COUNT / 2) return undefined;
  }
  if (count > valueCount / 2) return undefined;
  return { count, numbers, plain: new Uint8Array(distinct.buffer, 0, count * 8) };
}

function plainValues(values: WordValues | TextValues, from: number, to: number): Uint8Array {
  if (values.kind === 'texts') return plainTexts(values, values.numbers, from, to);
  const { buffer, byteOffset } = values.words;
  return new Uint8Array(buffer, byteOffset + from * 8, (to - from) * 8);
}

/** Each behind its length. */
function plainTexts(
  { bytes, starts, ends }: TextValues,
  numbers: Uint32Array,
  from: number,
  to: number,
): Uint8Array {
  let size = 0;
  for (let i = from; i < to; i++) {
    const number = numbers[i] as number;
    size += 4 + (ends[number] as number) - (starts[number] as number);
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (let i = from; i < to; i++) {
    const number = numbers[i] as number;
    const start = starts[number] as number;
    const length = (ends[number] as number) - start;
    out[at] = length;
    out[at + 1] = length >>> 8;
    out[at + 2] = length >>> 16;
    out[at + 3] = length >>> 24;
    at += 4;
    if (length > 32) out.set(bytes.subarray(start, start + length), at);
    else for (let k = 0; k < length; k++) out[at + k] = bytes[start + k] as number;
    at += length;
  }
  return out;
}

/** Numbers in as few bits as the largest needs, in one run. */
function packedNumbers(
  numbers: Uint32Array,
  from: number,
  to: number,
  distinctCount: number,
): Uint8Array {
  const width = Math.max(1, 32 - Math.clz32(distinctCount - 1));
  const writer = new ByteWriter(16);
  const groupCount = Math.ceil((to - from) / 8);
  writer.appendUint8(width);
  writer.appendVarInt((groupCount << 1) | 1);
  const head = writer.getBytes();
  const out = new Uint8Array(head.length + groupCount * width);
  out.set(head);
  let at = head.length;
  let bits = 0;
  let bitCount = 0;
  for (let i = from; i < to; i++) {
    bits |= (numbers[i] as number) << bitCount;
    bitCount += width;
    for (; bitCount >= 8; bitCount -= 8) {
      out[at++] = bits;
      bits >>>= 8;
    }
  }
  if (bitCount > 0) out[at] = bits;
  return out;
}

function bounds(values: WordValues | TextValues): Pick<EncodedColumn, 'min' | 'max'> {
  if (values.kind === 'texts') return textBounds(values);
  const { buffer, byteOffset, length } = values.words;
  if (length === 0) return { min: undefined, max: undefined };
  if (values.type === 'double') {
    const doubles = new Float64Array(buffer, byteOffset, length >> 1);
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < doubles.length; i++) {
      const value = doubles[i] as number;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    return min <= max ? { min, max } : { min: undefined, max: undefined };
  }
  // Words decide without making any BigInt.
  const high =
    values.type === 'uint64'
      ? new Uint32Array(buffer, byteOffset, length)
      : new Int32Array(buffer, byteOffset, length);
  const low = values.words;
  let [min, max] = [0, 0];
  for (let i = 2; i < length; i += 2) {
    const order = (high[i + 1] as number) - (high[min + 1] as number);
    if (order < 0 || (order === 0 && (low[i] as number) < (low[min] as number))) min = i;
    const other = (high[i + 1] as number) - (high[max + 1] as number);
    if (other > 0 || (other === 0 && (low[i] as number) > (low[max] as number))) max = i;
  }
  const at = (index: number) =>
    (BigInt(high[index + 1] as number) << 32n) | BigInt(low[index] as number);
  return { min: at(min), max: at(max) };
}

function textBounds({ bytes, starts, ends }: TextValues): Pick<EncodedColumn, 'min' | 'max'> {
  let min: Uint8Array | undefined;
  let max: Uint8Array | undefined;
  for (let i = 0; i < starts.length; i++) {
    const text = bytes.subarray(starts[i] as number, ends[i] as number);
    if (min === undefined || Buffer.compare(text, min) < 0) min = text;
    if (max === undefined || Buffer.compare(text, max) > 0) max = text;
  }
  return { min: min && Uint8Array.from(min), max: max && Uint8Array.from(max) };
}
