// Reads some columns of a row group of a Parquet file, on any thread.
import { closeSync, openSync, readSync } from 'node:fs';
import {
  type ColumnMetaData,
  type Compressors,
  type FileMetaData,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage, readDataPageV2 } from 'hyparquet/src/datapage.js';
import { readPlain } from 'hyparquet/src/plain.js';
import { getTreePath } from 'hyparquet/src/schema.js';
import { compressors } from 'hyparquet-compressors';
import { failure } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ColumnBuilder } from '../../value/column/column-builder.ts';
import { ColumnSet } from '../../value/column/column-set.ts';
import type { TablePart } from '../../value/column/concatenate.ts';
import { chunkRowCounts } from '../../value/column/table-builder.ts';
import { atomText } from '../../value/text.ts';
import type { ArrayMode } from '../json/json-columns.ts';
import { type Leaf, leafOf } from './parquet-leaf.ts';
import { type RawValue, type ValueReader, valueReader } from './parquet-value.ts';

export interface ParquetJob {
  /** a local file */
  readonly path: string;
  readonly metadata: FileMetaData;
  readonly arrays: ArrayMode;
  readonly units: readonly ParquetUnit[];
}

export interface ParquetUnit {
  readonly group: number;
  /** names of columns at the top of the schema */
  readonly columns: readonly string[];
}

/** The library cannot unpack pages of no bytes in every codec. */
const CODECS: Compressors = Object.fromEntries(
  Object.entries(compressors as Compressors).map(([name, unpack]) => [
    name,
    (packed: Uint8Array, size: number) => (size === 0 ? new Uint8Array(0) : unpack(packed, size)),
  ]),
);
/** A compressed page larger than this is no page. */
const PAGE_SIZE_MAX = 2 ** 30;
/** A page of more values than this is no page: the library makes an array of them. */
const PAGE_VALUE_COUNT_MAX = 2 ** 24;

/**
 * Reads one unit: some columns of a row group.
 * @param check called in between; what it throws ends the work
 */
export function readParquetUnit(
  { path, metadata, arrays, units }: ParquetJob,
  unitIndex: number,
  arenas: ArenaAllocator,
  check: () => void,
): TablePart {
  const { group, columns } = units[unitIndex] as ParquetUnit;
  const rowGroup = metadata.row_groups[group];
  if (rowGroup === undefined) throw damaged('a row group is missing');
  const rowCount = Number(rowGroup.num_rows);
  const schema = parquetSchema(metadata);
  const wanted = new Set(columns);
  const out = new ColumnSet(rowCount, arenas);
  const file = openSync(path, 'r');
  try {
    const keys = new Map<string, string[]>();
    const leaves = rowGroup.columns.flatMap(({ meta_data: meta }) => {
      if (meta === undefined || !wanted.has(meta.path_in_schema[0] ?? '')) return [];
      return [{ meta, path: getTreePath(schema, meta.path_in_schema) }];
    });
    // The keys of maps come first, because they name the columns of the values.
    const withLeaf = leaves.map(({ meta, path: nodes }) => ({ meta, nodes, leaf: leafOf(nodes) }));
    withLeaf.sort((a, b) => Number(b.leaf.isKey) - Number(a.leaf.isKey));
    for (const { meta, nodes, leaf } of withLeaf) {
      check();
      const bytes = readChunk(file, meta);
      readLeaf(bytes, meta, nodes, leaf, { rowCount, arrays, keys, out, check });
    }
    return { chunkRowCounts: chunkRowCounts(rowCount), columns: out.seal() };
  } catch (thrown) {
    out.release();
    throw thrown;
  } finally {
    closeSync(file);
  }
}

/** DATA_ERROR for a file that cannot be read. */
export function damaged(reason: string): Error {
  return failure('DATA_ERROR', `not a Parquet file that can be read: ${reason}`);
}

function readChunk(file: number, meta: ColumnMetaData): Uint8Array {
  const dictionary = meta.dictionary_page_offset;
  const data = meta.data_page_offset;
  const start = Number(
    dictionary !== undefined && dictionary > 0n && dictionary < data ? dictionary : data,
  );
  const size = Number(meta.total_compressed_size);
  if (!(size >= 0 && size <= PAGE_SIZE_MAX * 2 && start >= 0))
    throw damaged('a column has no place');
  // Aligned, so that values can be read where they lie.
  const bytes = new Uint8Array(size);
  let have = 0;
  while (have < size) {
    const count = readSync(file, bytes, have, size - have, start + have);
    if (count === 0) throw damaged('a column lies beyond the end of the file');
    have += count;
  }
  return bytes;
}

interface LeafContext {
  readonly rowCount: number;
  readonly arrays: ArrayMode;
  /** keys of maps by the name of their leaf, in the order of entries */
  readonly keys: Map<string, string[]>;
  readonly out: ColumnSet;
  check(): void;
}

interface Page {
  readonly definitionLevels: ArrayLike<number>;
  readonly repetitionLevels: ArrayLike<number>;
  readonly values: ArrayLike<RawValue>;
  /** true: the values are positions in the dictionary */
  readonly isCoded: boolean;
  readonly valueCount: number;
}

function readLeaf(
  bytes: Uint8Array,
  meta: ColumnMetaData,
  nodes: readonly SchemaTree[],
  leaf: Leaf,
  scope: LeafContext,
): void {
  const { element } = nodes[nodes.length - 1] as SchemaTree;
  // Without its annotations the library leaves values as they are.
  const plain = { ...element };
  delete plain.converted_type;
  delete plain.logical_type;
  const decoder = {
    ...meta,
    pathInSchema: meta.path_in_schema,
    type: meta.type,
    element: plain,
    schemaPath: [...nodes],
    compressors: CODECS,
    utf8: false,
    parsers: DEFAULT_PARSERS,
  };
  const reader = { view: new DataView(bytes.buffer), offset: 0 };
  const sink = sinkOf(leaf, valueReader(element), scope);
  let dictionary: ArrayLike<RawValue> | undefined;
  let left = Number(meta.num_values);
  while (left > 0) {
    scope.check();
    if (reader.offset >= bytes.length) throw damaged('a column ends before its last value');
    const header = parquetHeader(reader);
    const size = header.compressed_page_size;
    if (!(size >= 0 && reader.offset + size <= bytes.length)) throw damaged('a page is cut');
    checkPageHeader(header, left);
    const body = new Uint8Array(bytes.buffer, reader.offset, size);
    reader.offset += size;
    if (header.type === 'DICTIONARY_PAGE') {
      const page = decompressPage(
        body,
        header.uncompressed_page_size,
        meta.codec,
        decoder.compressors,
      );
      const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
      const count = header.dictionary_page_header?.num_values ?? 0;
      dictionary = readPlain(
        { view, offset: 0 },
        meta.type,
        count,
        plain.type_length,
      ) as ArrayLike<RawValue>;
      sink.useDictionary(dictionary);
      continue;
    }
    const page = readPage(header, body, decoder);
    if (page === undefined) continue;
    if (page.isCoded && dictionary === undefined) throw damaged('a dictionary is missing');
    left -= page.valueCount;
    sink.add(page);
  }
  sink.finish();
}

type PageHeader = ReturnType<typeof parquetHeader>;

/**
 * Refuses what the library would believe and loop or allocate over.
 * @param left how many values the column has after the pages before
 */
function checkPageHeader(header: PageHeader, left: number): void {
  const size = header.uncompressed_page_size;
  if (!isCount(size, PAGE_SIZE_MAX)) throw damaged('a page says that it is too large');
  const v1 = header.data_page_header;
  const v2 = header.data_page_header_v2;
  const dictionary = header.dictionary_page_header;
  const data = header.type === 'DATA_PAGE' ? v1 : header.type === 'DATA_PAGE_V2' ? v2 : undefined;
  if (data !== undefined) {
    const { num_values: valueCount, encoding } = data;
    if (!isCount(valueCount, Math.min(left, PAGE_VALUE_COUNT_MAX))) {
      throw damaged(`a page says that it has ${valueCount} values`);
    }
    if (typeof encoding !== 'string') throw damaged('a page has no encoding');
  }
  if (data === v2 && v2 !== undefined) {
    const levels = v2.definition_levels_byte_length + v2.repetition_levels_byte_length;
    if (!isCount(v2.num_nulls, v2.num_values) || !isCount(levels, header.compressed_page_size)) {
      throw damaged('a page says that it has more levels than bytes');
    }
  }
  // Booleans have no dictionaries, so that each entry takes a byte or more.
  if (header.type === 'DICTIONARY_PAGE' && !isCount(dictionary?.num_values, size)) {
    throw damaged('a dictionary says that it has more entries than bytes');
  }
}

function isCount(value: number | undefined, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
}

type Decoder = Parameters<typeof readDataPageV2>[2];

function readPage(header: PageHeader, body: Uint8Array, decoder: Decoder): Page | undefined {
  const v1 = header.data_page_header;
  const v2 = header.data_page_header_v2;
  if (header.type === 'DATA_PAGE' && v1 !== undefined) {
    const { codec, compressors: codecs } = decoder;
    const bytes = decompressPage(body, header.uncompressed_page_size, codec, codecs);
    const { definitionLevels, repetitionLevels, dataPage } = readDataPage(bytes, v1, decoder);
    return pageOf(definitionLevels, repetitionLevels, dataPage, v1.encoding, v1.num_values);
  }
  if (header.type === 'DATA_PAGE_V2' && v2 !== undefined) {
    const { definitionLevels, repetitionLevels, dataPage } = readDataPageV2(body, header, decoder);
    return pageOf(definitionLevels, repetitionLevels, dataPage, v2.encoding, v2.num_values);
  }
  return undefined;
}

function pageOf(
  definitionLevels: ArrayLike<number> | undefined,
  repetitionLevels: ArrayLike<number>,
  values: ArrayLike<unknown>,
  encoding: string,
  valueCount: number,
): Page {
  return {
    definitionLevels: definitionLevels ?? [],
    repetitionLevels,
    values: values as ArrayLike<RawValue>,
    isCoded: encoding.endsWith('_DICTIONARY'),
    valueCount,
  };
}

interface LeafSink {
  useDictionary(values: ArrayLike<RawValue>): void;
  add(page: Page): void;
  finish(): void;
}

function sinkOf(leaf: Leaf, reader: ValueReader, scope: LeafContext): LeafSink {
  if (leaf.repetitionMax > 0) return new NestedSink(leaf, reader, scope);
  const path = leaf.steps.flatMap((step) => (step.kind === 'name' ? [step.name] : []));
  return new FlatSink(scope.out.at(path), leaf.definitionMax, reader, scope.rowCount);
}

/** A value for each row, or none. */
class FlatSink implements LeafSink {
  readonly #column: ColumnBuilder;
  readonly #definitionMax: number;
  readonly #reader: ValueReader;
  readonly #rowCount: number;
  #dictionary: ArrayLike<RawValue> = [];
  /** codes of the entries of the dictionary that have been seen; 0: not seen */
  #codes = new Uint32Array(0);
  #count = 0;

  constructor(column: ColumnBuilder, definitionMax: number, reader: ValueReader, rowCount: number) {
    this.#column = column;
    this.#definitionMax = definitionMax;
    this.#reader = reader;
    this.#rowCount = rowCount;
  }

  useDictionary(values: ArrayLike<RawValue>): void {
    this.#dictionary = values;
    this.#codes = new Uint32Array(values.length);
  }

  add(page: Page): void {
    this.#count += page.valueCount;
    if (this.#count > this.#rowCount) throw damaged('a column has more values than rows');
    const { definitionLevels, values, valueCount } = page;
    const append = this.#appender(page);
    if (definitionLevels.length === 0) {
      if (this.#appendAll(page)) return;
      for (let i = 0; i < valueCount; i++) append(i);
      return;
    }
    const column = this.#column;
    const max = this.#definitionMax;
    let next = 0;
    for (let i = 0; i < valueCount; i++) {
      if (definitionLevels[i] === max) append(next++);
      else column.appendNulls(1);
    }
    if (next > values.length) throw damaged('a page has fewer values than it says');
  }

  /** Numbers without nulls go into the column as they lie. */
  #appendAll({ values, isCoded, valueCount }: Page): boolean {
    if (isCoded || this.#reader.kind !== 'numbers' || values.length !== valueCount) return false;
    if (values instanceof Int32Array) this.#column.appendNumbers(values);
    else if (values instanceof Float64Array) this.#column.appendNumbers(positiveZeros(values));
    else if (values instanceof Float32Array) {
      this.#column.appendNumbers(positiveZeros(Float64Array.from(values)));
    } else if (values instanceof BigInt64Array) {
      const numbers = smallIntegers(values);
      if (numbers === undefined) return false;
      this.#column.appendNumbers(numbers);
    } else return false;
    return true;
  }

  /** Appends the value at a position of the page. */
  #appender({ values, isCoded }: Page): (index: number) => void {
    const column = this.#column;
    const reader = this.#reader;
    const dictionary = this.#dictionary;
    if (reader.kind === 'texts') {
      const codeOf = (value: RawValue | undefined): number => {
        if (!(value instanceof Uint8Array)) throw damaged('a text is missing');
        return column.textCode(value, 0, value.length);
      };
      if (!isCoded) return (index) => column.appendCode(codeOf(values[index]));
      const codes = this.#codes;
      return (index) => {
        const entry = values[index] as number;
        let code = codes[entry];
        if (code === undefined) throw damaged('a position beyond the dictionary');
        if (code === 0) {
          code = codeOf(dictionary[entry]);
          codes[entry] = code;
        }
        column.appendCode(code);
      };
    }
    const atomOf = reader.kind === 'atoms' ? reader.atomOf : numberAtom;
    return (index) => {
      const raw = isCoded ? dictionary[values[index] as number] : values[index];
      if (raw === undefined) throw damaged('a value is missing');
      column.append(atomOf(raw));
    };
  }

  finish(): void {
    if (this.#count !== this.#rowCount) throw damaged('a column has fewer values than rows');
  }
}

function numberAtom(value: RawValue): number | bigint {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  return (value as number) + 0;
}

function positiveZeros(values: Float64Array): Float64Array {
  for (let i = 0; i < values.length; i++) if (values[i] === 0) values[i] = 0;
  return values;
}

/** Integers that are exact as doubles; undefined when some are not. */
function smallIntegers(values: BigInt64Array): Float64Array | undefined {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const out = new Float64Array(values.length);
  for (let i = 0; i < out.length; i++) {
    const high = halves[i * 2 + 1] as number;
    if (high < -0x1f_ffff || high > 0x1f_ffff) return undefined;
    out[i] = high * 4_294_967_296 + ((halves[i * 2] as number) >>> 0);
  }
  return out;
}

/** Any number of values for each row, each with a path of its own. */
class NestedSink implements LeafSink {
  readonly #leaf: Leaf;
  readonly #reader: ValueReader;
  readonly #scope: LeafContext;
  #dictionary: ArrayLike<RawValue> = [];
  #row = -1;
  /** entries so far of the list or map at each level: in this row, and in all */
  readonly #positions: number[];
  readonly #entries: number[];
  readonly #ownKeys: string[] = [];

  constructor(leaf: Leaf, reader: ValueReader, scope: LeafContext) {
    this.#leaf = leaf;
    this.#reader = reader;
    this.#scope = scope;
    this.#positions = new Array<number>(leaf.repetitionMax).fill(-1);
    this.#entries = new Array<number>(leaf.repetitionMax).fill(-1);
  }

  useDictionary(values: ArrayLike<RawValue>): void {
    this.#dictionary = values;
  }

  add({ definitionLevels, repetitionLevels, values, isCoded, valueCount }: Page): void {
    const { definitionMax, entryLevels, repetitionMax, isKey } = this.#leaf;
    let next = 0;
    for (let i = 0; i < valueCount; i++) {
      const repetition = repetitionLevels.length === 0 ? 0 : (repetitionLevels[i] as number);
      const definition =
        definitionLevels.length === 0 ? definitionMax : (definitionLevels[i] as number);
      if (repetition === 0) {
        this.#row++;
        this.#positions.fill(-1);
      }
      if (this.#row >= this.#scope.rowCount || this.#row < 0) {
        throw damaged('a column has more values than rows');
      }
      for (let level = Math.max(1, repetition); level <= repetitionMax; level++) {
        if (level > repetition) this.#positions[level - 1] = -1;
        if (definition < (entryLevels[level - 1] as number)) continue;
        this.#positions[level - 1] = (this.#positions[level - 1] as number) + 1;
        this.#entries[level - 1] = (this.#entries[level - 1] as number) + 1;
      }
      const isThere = definition === definitionMax;
      if (!isThere) continue;
      const raw = isCoded ? this.#dictionary[values[next++] as number] : values[next++];
      if (raw === undefined) throw damaged('a value is missing');
      if (isKey) this.#ownKeys.push(this.#textOf(raw));
      else this.#record(raw);
    }
  }

  #textOf(raw: RawValue): string {
    const reader = this.#reader;
    if (reader.kind === 'texts') return Buffer.from(raw as Uint8Array).toString('utf8');
    const atom = reader.kind === 'atoms' ? reader.atomOf(raw) : numberAtom(raw);
    return atom === null ? '' : atomText(atom);
  }

  #record(raw: RawValue): void {
    const { arrays, out, keys } = this.#scope;
    const { steps, isElement } = this.#leaf;
    const isEncoded = arrays === 'encode' && isElement;
    const path: string[] = [];
    for (const step of isEncoded ? steps.slice(0, -1) : steps) {
      if (step.kind === 'name') path.push(step.name);
      else if (step.kind === 'index') path.push(String(this.#positions[step.level - 1]));
      else {
        const key = keys.get(step.keys)?.[this.#entries[step.level - 1] as number];
        if (key === undefined) throw damaged('a key of a map is missing');
        path.push(key);
      }
    }
    if (isEncoded) {
      const column = out.filledTo([...path, this.#textOf(raw)], this.#row);
      if (column.rowCount === this.#row) column.append(1);
      return;
    }
    const column = out.filledTo(path, this.#row);
    // Keys that occur twice: the first counts.
    if (column.rowCount > this.#row) return;
    const reader = this.#reader;
    if (reader.kind === 'texts') {
      const bytes = raw as Uint8Array;
      column.appendText(bytes, 0, bytes.length);
    } else column.append(reader.kind === 'atoms' ? reader.atomOf(raw) : numberAtom(raw));
  }

  finish(): void {
    if (this.#row + 1 !== this.#scope.rowCount)
      throw damaged('a column has fewer rows than it says');
    if (this.#leaf.isKey) this.#scope.keys.set(this.#leaf.id, this.#ownKeys);
  }
}
