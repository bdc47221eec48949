// Pages of columns that have at most one value a row, read by kernels: plain and dictionary encoded
// numbers, times and texts. Other pages are left to the library.
import type { ColumnMetaData, PageHeader } from 'hyparquet';
import { PARQUET_PLAIN } from '../../kernel/generated.ts';
import type { ColumnBuilder } from '../../value/column/column-builder.ts';
import type { Scratch } from '../csv/scratch.ts';
import { TextCodes } from '../csv/text-codes.ts';
import { damaged } from './damaged.ts';
import type { ValueReader } from './parquet-value.ts';

export interface FlatColumn {
  readonly meta: ColumnMetaData;
  /** the level of rows that have a value; 0: all have one */
  readonly definitionMax: number;
  readonly reader: ValueReader;
  readonly out: ColumnBuilder;
  /** Unpacks bytes of other codecs than Snappy. */
  unpack(bytes: Uint8Array, size: number): Uint8Array;
}

/** What values become. */
type Form = 'texts' | 'numbers' | 'timestamps';

/** Bytes in scratch memory. */
interface Bytes {
  readonly start: number;
  readonly end: number;
}

const WIDTHS: Readonly<Record<number, number>> = {
  [PARQUET_PLAIN.int32]: 4,
  [PARQUET_PLAIN.int64]: 8,
  [PARQUET_PLAIN.float]: 4,
  [PARQUET_PLAIN.double]: 8,
  [PARQUET_PLAIN.days]: 4,
};

/** Behind bytes that kernels read, and before pairs. */
const MARGIN = 16;
const LIMIT_MAX = 0xffff_ffff;

/** Appends the pages of one column of a row group, see `add`. */
export class FlatPages {
  readonly #column: FlatColumn;
  readonly #scratch: Scratch;
  readonly #form: Form;
  readonly #taken: { readonly address: number; readonly size: number }[] = [];
  #texts: TextCodes | undefined;
  #dictionary: TextDictionary | NumberDictionary | undefined;

  private constructor(column: FlatColumn, form: Form, scratch: Scratch) {
    this.#column = column;
    this.#form = form;
    this.#scratch = scratch;
  }

  /** Undefined where values need more than kernels know. */
  static open(column: FlatColumn, scratch: Scratch): FlatPages | undefined {
    const form = formOf(column);
    return form && new FlatPages(column, form, scratch);
  }

  /** @param page the entries, unpacked */
  useDictionary(page: Uint8Array, count: number): void {
    this.#dictionary?.release();
    this.#dictionary = undefined;
    if (this.#form === 'texts') this.#dictionary = new TextDictionary(page, count);
    else {
      this.#dictionary = this.#numberDictionary(page, count);
    }
  }

  /** Undefined when some entry is no double. */
  #numberDictionary(page: Uint8Array, count: number): NumberDictionary | undefined {
    const dictionary = new NumberDictionary(this.#scratch, count);
    let isExact = false;
    try {
      isExact = this.#doubles(this.#copied(page), count, dictionary.address);
    } finally {
      this.#giveBack();
      if (!isExact) dictionary.release();
    }
    return isExact ? dictionary : undefined;
  }

  /**
   * Appends the values of a page whose header has been checked.
   * @returns false for a page that the library must read, of which nothing was appended
   */
  add(header: PageHeader, body: Uint8Array): boolean {
    try {
      const v1 = header.data_page_header;
      const v2 = header.data_page_header_v2;
      if (header.type === 'DATA_PAGE' && v1 !== undefined) {
        if (!this.#canRead(v1.encoding)) return false;
        const page = this.#unpacked(body, header.uncompressed_page_size);
        const { count, start } = this.#levelsOfV1(page, v1.num_values);
        const values = { start, end: page.end };
        return this.#append(v1.encoding, values, v1.num_values, count);
      }
      if (header.type !== 'DATA_PAGE_V2' || v2 === undefined || !this.#canRead(v2.encoding)) {
        return false;
      }
      const levelsStart = v2.repetition_levels_byte_length;
      const levelsEnd = levelsStart + v2.definition_levels_byte_length;
      const levels = this.#put(body.subarray(levelsStart, levelsEnd));
      const count = this.#levels(
        { start: levels, end: levels + levelsEnd - levelsStart },
        v2.num_values,
      );
      const packed = body.subarray(levelsEnd);
      const values =
        v2.is_compressed === false
          ? this.#copied(packed)
          : this.#unpacked(packed, header.uncompressed_page_size - levelsEnd);
      return this.#append(v2.encoding, values, v2.num_values, count);
    } finally {
      this.#giveBack();
    }
  }

  release(): void {
    this.#dictionary?.release();
    this.#texts?.release();
  }

  #canRead(encoding: string): boolean {
    if (encoding === 'PLAIN') return true;
    return encoding.endsWith('_DICTIONARY') && this.#dictionary !== undefined;
  }

  // Levels.

  /** a byte a row, 1 where it has a value; 0: all rows have one */
  #present = 0;

  #levelsOfV1(page: Bytes, rowCount: number): { readonly count: number; readonly start: number } {
    this.#present = 0;
    if (this.#column.definitionMax === 0) return { count: rowCount, start: page.start };
    if (page.end - page.start < 4) throw damaged('a page has no levels');
    const { arena } = this.#scratch;
    const view = new DataView(arena.u8.buffer, page.start, 4);
    const start = page.start + 4;
    const end = start + view.getUint32(0, true);
    if (end > page.end) throw damaged('a page says that it has more levels than bytes');
    return { count: this.#levels({ start, end }, rowCount), start: end };
  }

  /** @returns how many rows have a value */
  #levels({ start, end }: Bytes, rowCount: number): number {
    const { definitionMax } = this.#column;
    const { arena, kernels } = this.#scratch;
    this.#present = 0;
    if (definitionMax === 0 || rowCount === 0) return rowCount;
    if (this.#isOneRun(start, end, rowCount)) return rowCount;
    const levels = this.#take(rowCount * 4);
    const width = 32 - Math.clz32(definitionMax);
    const limit = definitionMax + 1;
    if (!kernels.parquetRuns(start, end, width, rowCount, limit, levels)) {
      throw damaged('a page has no levels that can be read');
    }
    this.#present = this.#take(rowCount);
    const count = kernels.parquetPresent(levels, rowCount, definitionMax, this.#present);
    if (count === 0) arena.u8.fill(0, this.#present, this.#present + rowCount);
    return count;
  }

  /** Most pages say in one run that all rows have a value. */
  #isOneRun(start: number, end: number, rowCount: number): boolean {
    const { u8 } = this.#scratch.arena;
    let header = 0;
    let at = start;
    for (let shift = 0; at < end && shift <= 28; shift += 7) {
      const byte = u8[at++] as number;
      header += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    return (
      at < end &&
      header % 2 === 0 &&
      header / 2 >= rowCount &&
      u8[at] === this.#column.definitionMax
    );
  }

  // Values.

  /** @param count of the values */
  #append(encoding: string, values: Bytes, rowCount: number, count: number): boolean {
    const { out } = this.#column;
    if (count === 0) {
      out.appendNulls(rowCount);
      return true;
    }
    const isPlain = encoding === 'PLAIN';
    if (this.#form === 'texts') {
      const codes = isPlain ? this.#plainTexts(values, count) : this.#codedTexts(values, count);
      out.appendKnownCodes(this.#spreadCodes(codes, rowCount));
      return true;
    }
    const doubles = this.#take(count * 8);
    if (isPlain) {
      if (!this.#doubles(values, count, doubles)) return false;
    } else {
      const { address } = this.#dictionary as NumberDictionary;
      this.#scratch.kernels.gatherF64(address, this.#entries(values, count), count, doubles);
    }
    const { f64 } = this.#scratch.arena;
    const found = f64.subarray(doubles >> 3, (doubles >> 3) + count);
    const { all, validity } = this.#spread(found, rowCount);
    if (this.#form === 'timestamps') out.appendTimestamps(all, validity);
    else out.appendNumbers(all, validity);
    return true;
  }

  #plainTexts({ start, end }: Bytes, count: number): Uint32Array {
    const pairs = this.#take(count * 8 + MARGIN) + MARGIN;
    if (!this.#scratch.kernels.parquetTexts(start, end, count, pairs)) {
      throw damaged('a page has fewer values than it says');
    }
    this.#texts ??= new TextCodes(this.#scratch);
    return this.#texts.find(pairs, count, this.#take(count * 4), this.#column.out);
  }

  #codedTexts(values: Bytes, count: number): Uint32Array {
    const entries = this.#entries(values, count);
    const { u32 } = this.#scratch.arena;
    const codes = u32.subarray(entries >> 2, (entries >> 2) + count);
    (this.#dictionary as TextDictionary).codesOf(codes, this.#column.out);
    return codes;
  }

  /** Positions in the dictionary. */
  #entries({ start, end }: Bytes, count: number): number {
    const { arena, kernels } = this.#scratch;
    const entries = this.#take(count * 4);
    const width = start < end ? (arena.u8[start] as number) : LIMIT_MAX;
    if (width > 32) throw damaged('a page has no positions in the dictionary');
    const limit = this.#dictionary?.count ?? 0;
    if (width === 0 && limit > 0) {
      arena.u32.fill(0, entries >> 2, (entries >> 2) + count);
    } else if (!kernels.parquetRuns(start + 1, end, width, count, limit, entries)) {
      throw damaged('a page has fewer values than it says, or positions beyond the dictionary');
    }
    return entries;
  }

  /** @returns false when some value is no double */
  #doubles({ start, end }: Bytes, count: number, out: number): boolean {
    const { kernels } = this.#scratch;
    const { meta, reader } = this.#column;
    const kind = plainKind(meta.type, reader) as number;
    const size = kind === PARQUET_PLAIN.boolean ? (count + 7) >> 3 : count * (WIDTHS[kind] ?? 8);
    if (size > end - start) throw damaged('a page has fewer values than it says');
    if (reader.kind === 'timestamps' && reader.unit !== 'days') {
      kernels.parquetSeconds(start, reader.unit, count, out);
      return true;
    }
    return kernels.parquetDoubles(start, kind, count, out) === 1;
  }

  /** Values at their rows; what stands where there is none is of no use. */
  #spread(
    values: Float64Array,
    rowCount: number,
  ): { readonly all: Float64Array; readonly validity?: Uint8Array } {
    if (this.#present === 0 || values.length === rowCount) return { all: values };
    const { u8 } = this.#scratch.arena;
    const all = new Float64Array(rowCount);
    const validity = new Uint8Array((rowCount + 7) >> 3);
    let next = 0;
    for (let row = 0; row < rowCount; row++) {
      if (u8[this.#present + row] === 0) continue;
      all[row] = values[next++] as number;
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    }
    return { all, validity };
  }

  #spreadCodes(codes: Uint32Array, rowCount: number): Uint32Array {
    if (this.#present === 0 || codes.length === rowCount) return codes;
    const { u8 } = this.#scratch.arena;
    const all = new Uint32Array(rowCount);
    let next = 0;
    for (let row = 0; row < rowCount; row++) {
      if (u8[this.#present + row] === 1) all[row] = codes[next++] as number;
    }
    return all;
  }

  // Memory of a page.

  #unpacked(packed: Uint8Array, size: number): Bytes {
    const { codec } = this.#column.meta;
    if (codec === 'UNCOMPRESSED') return this.#copied(packed);
    if (codec !== 'SNAPPY') return this.#copied(this.#column.unpack(packed, size));
    if (size < 0) throw damaged('a page says that it has more levels than bytes');
    if (size === 0) return this.#copied(packed.subarray(0, 0));
    const source = this.#put(packed);
    const start = this.#take(size + MARGIN);
    const end = source + packed.length;
    if (this.#scratch.kernels.snappyDecompress(source, end, start, size) !== 1) {
      throw damaged('a page cannot be unpacked');
    }
    return { start, end: start + size };
  }

  #copied(bytes: Uint8Array): Bytes {
    const start = this.#put(bytes);
    return { start, end: start + bytes.length };
  }

  #put(bytes: Uint8Array): number {
    const address = this.#take(bytes.length);
    this.#scratch.arena.u8.set(bytes, address);
    return address;
  }

  #take(sizeBytes: number): number {
    const size = sizeBytes + MARGIN;
    const address = this.#scratch.allocate(size);
    this.#taken.push({ address, size });
    return address;
  }

  #giveBack(): void {
    for (const { address, size } of this.#taken.splice(0)) this.#scratch.free(address, size);
  }
}

function formOf({ meta, reader }: FlatColumn): Form | undefined {
  if (reader.kind === 'texts') return meta.type === 'BYTE_ARRAY' ? 'texts' : undefined;
  if (plainKind(meta.type, reader) === undefined) return undefined;
  return reader.kind === 'timestamps' ? 'timestamps' : 'numbers';
}

/** How values lie in a page, a PARQUET_PLAIN; undefined where only the library knows. */
function plainKind(type: ColumnMetaData['type'], reader: ValueReader): number | undefined {
  switch (reader.kind) {
    case 'booleans':
      return PARQUET_PLAIN.boolean;
    case 'timestamps':
      return reader.unit === 'days' ? PARQUET_PLAIN.days : PARQUET_PLAIN.int64;
    case 'numbers':
      switch (type) {
        case 'INT32':
          return PARQUET_PLAIN.int32;
        case 'INT64':
          return PARQUET_PLAIN.int64;
        case 'FLOAT':
          return PARQUET_PLAIN.float;
        case 'DOUBLE':
          return PARQUET_PLAIN.double;
        default:
          return undefined;
      }
    default:
      return undefined;
  }
}

/** Texts by their positions; a text goes to the column when it is first met. */
class TextDictionary {
  readonly count: number;
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #codes: Uint32Array;

  constructor(bytes: Uint8Array, count: number) {
    this.count = count;
    this.#bytes = bytes;
    this.#starts = new Uint32Array(count);
    this.#ends = new Uint32Array(count);
    this.#codes = new Uint32Array(count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (let i = 0; i < count; i++) {
      if (at + 4 > bytes.length) throw damaged('a dictionary has fewer entries than it says');
      const start = at + 4;
      at = start + view.getUint32(at, true);
      if (at > bytes.length) throw damaged('a dictionary has fewer entries than it says');
      this.#starts[i] = start;
      this.#ends[i] = at;
    }
  }

  /** Replaces positions by codes. */
  codesOf(entries: Uint32Array, column: ColumnBuilder): void {
    const codes = this.#codes;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as number;
      if (codes[entry] === 0) {
        const [start, end] = [this.#starts[entry] as number, this.#ends[entry] as number];
        codes[entry] = column.textCode(this.#bytes, start, end);
      }
      entries[i] = codes[entry] as number;
    }
  }

  release(): void {}
}

/** Numbers or seconds as doubles in scratch memory. */
class NumberDictionary {
  readonly address: number;
  readonly count: number;
  readonly #scratch: Scratch;

  constructor(scratch: Scratch, count: number) {
    this.#scratch = scratch;
    this.address = scratch.allocate(count * 8 + MARGIN);
    this.count = count;
  }

  release(): void {
    this.#scratch.free(this.address, this.count * 8 + MARGIN);
  }
}
