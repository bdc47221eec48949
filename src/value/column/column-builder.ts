// Builds one column: chunks of numbers or timestamps, dictionary codes when atoms are of other kinds.
import { assert } from '../../util/assert.ts';
import type { Atom } from '../atom.ts';
import { isIntegral } from '../atom.ts';
import { Timestamp } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import {
  bitmapSize,
  chunkNullCount,
  encodeCodes,
  encodeNumbers,
  nullChunk,
} from './chunk-encoder.ts';
import { ColumnView, chunkView } from './column-view.ts';
import { DictionaryBuilder, DictionaryView } from './dictionary.ts';
import type { ChunkSnapshot, ColumnSnapshot, DictionarySnapshot } from './snapshot.ts';
import { CHUNK_ROW_COUNT_MAX } from './snapshot.ts';
import { freeChunk, retainChunk } from './snapshot-memory.ts';

/**
 * What the column's atoms are so far. It starts as `null`, becomes what its first atom is, and
 * `codes` for good when an atom of another kind comes: then all its chunks are recoded.
 */
type Mode = 'null' | 'number' | 'timestamp' | 'codes';

/**
 * Appends atoms or typed batches. In a column with a dictionary a constant chunk is always NULL;
 * the type of a column whose dictionary is mixed is `mixed`.
 */
export class ColumnBuilder {
  readonly path: readonly string[];
  readonly #allocator: ArenaAllocator;
  readonly #chunkRowCount: number;
  readonly #chunks: ChunkSnapshot[] = [];
  #mode: Mode = 'null';
  #allIntegers = true;
  #rowCount = 0;

  // The chunk that is being filled.
  #pending = 0;
  #capacity = 0;
  #nullCount = 0;
  #values: Float64Array = NO_VALUES;
  #validity: Uint8Array = NO_BYTES;
  #codes: Uint32Array = NO_CODES;
  #dictionary: DictionaryBuilder | undefined;
  /** the dictionary of the last `appendCodes` and the codes that its codes have here */
  #appended: { readonly id: number; readonly remap: Uint32Array } | undefined;

  /** @param chunkRowCount for tests; chunks of a dataset must all be cut alike */
  constructor(
    path: readonly string[],
    allocator: ArenaAllocator,
    chunkRowCount = CHUNK_ROW_COUNT_MAX,
  ) {
    assert(chunkRowCount <= CHUNK_ROW_COUNT_MAX, `${chunkRowCount} rows exceed a chunk`);
    this.path = path;
    this.#allocator = allocator;
    this.#chunkRowCount = chunkRowCount;
  }

  /** Goes on where a sealed column ended; its full chunks are shared with it, not copied. */
  static from(
    column: ColumnSnapshot,
    allocator: ArenaAllocator,
    chunkRowCount = CHUNK_ROW_COUNT_MAX,
  ): ColumnBuilder {
    const builder = new ColumnBuilder(column.path, allocator, chunkRowCount);
    builder.#adopt(column);
    return builder;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  append(atom: Atom): void {
    if (atom === null) this.appendNulls(1);
    else if (typeof atom === 'number') this.appendNumber(atom);
    else if (atom instanceof Timestamp) this.#appendSeconds(atom.seconds);
    else this.appendCode(this.#toCodes().add(atom));
  }

  /** The code of a text that is UTF-8 in `bytes`; the column is one of codes from now on. */
  textCode(bytes: Uint8Array, start: number, end: number): number {
    return this.#toCodes().addTextBytes(bytes, start, end);
  }

  /** Appends a text that is UTF-8 in `bytes`. */
  appendText(bytes: Uint8Array, start: number, end: number): void {
    this.appendCode(this.#toCodes().addTextBytes(bytes, start, end));
  }

  appendNulls(count: number): void {
    while (count > 0) {
      const part = Math.min(count, this.#chunkRowCount - this.#pending);
      if (part === this.#chunkRowCount) {
        this.#chunks.push(nullChunk(part));
        this.#rowCount += part;
      } else {
        this.#reserve(part);
        if (this.#mode === 'codes') this.#codes.fill(0, this.#pending, this.#pending + part);
        else if (this.#mode !== 'null') fillBits(this.#validity, this.#pending, part, false);
        this.#nullCount += part;
        this.#advance(part);
      }
      count -= part;
    }
  }

  /** @param validity bit i (least significant first) says whether values[i] is one */
  appendNumbers(values: Int32Array | Float64Array, validity?: Uint8Array): void {
    if (this.#mode === 'null') this.#startValues('number');
    if (this.#mode !== 'number' || validity !== undefined) {
      values.forEach((value, i) => {
        const isValue = validity === undefined || isBitSet(validity, i);
        if (isValue) this.appendNumber(value);
        else this.appendNulls(1);
      });
      return;
    }
    for (let from = 0; from < values.length; ) {
      const count = Math.min(values.length - from, this.#chunkRowCount - this.#pending);
      const part = values.subarray(from, from + count);
      this.#reserve(count);
      this.#values.set(part, this.#pending);
      fillBits(this.#validity, this.#pending, count, true);
      if (this.#allIntegers) this.#allIntegers = part.every(isIntegral);
      this.#advance(count);
      from += count;
    }
  }

  /** @param codes of `dictionary`; 0 is NULL */
  appendCodes(codes: ArrayLike<number>, dictionary: DictionarySnapshot): void {
    const builder = this.#toCodes();
    const remap = this.#remapFor(dictionary);
    const view = new DictionaryView(dictionary, this.#allocator);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      if (code !== 0 && remap[code] === 0) remap[code] = builder.addEntry(view, code);
      this.appendCode(remap[code] as number);
    }
  }

  /** Ends the column; the builder is used up. */
  seal(): ColumnSnapshot {
    if (this.#pending > 0) this.#flush();
    const dictionary = this.#dictionary?.seal();
    return {
      path: this.path,
      type: this.#type(dictionary),
      chunks: this.#chunks,
      nullCount: this.#chunks.reduce((sum, chunk) => sum + chunkNullCount(chunk), 0),
      ...(dictionary === undefined ? {} : { dictionary }),
    };
  }

  /** Frees what a builder that is given up has written. */
  release(): void {
    for (const chunk of this.#chunks) freeChunk(chunk, this.#allocator);
    this.#dictionary?.release();
  }

  #type(dictionary: DictionarySnapshot | undefined): ColumnSnapshot['type'] {
    switch (this.#mode) {
      case 'null':
      case 'timestamp':
        return this.#mode;
      case 'number':
        return this.#allIntegers ? 'integer' : 'number';
      case 'codes':
        return dictionary?.kind === 'text' ? 'string' : 'mixed';
    }
  }

  /** Appends a number that is not -0. */
  appendNumber(value: number): void {
    if (this.#mode !== 'number') {
      if (this.#mode !== 'null') {
        this.appendCode(this.#toCodes().add(value));
        return;
      }
      this.#startValues('number');
    }
    if (this.#allIntegers && !isIntegral(value)) this.#allIntegers = false;
    this.#appendValue(value);
  }

  #appendSeconds(seconds: number): void {
    if (this.#mode === 'null') this.#startValues('timestamp');
    if (this.#mode === 'timestamp') this.#appendValue(seconds);
    else this.appendCode(this.#toCodes().add(new Timestamp(seconds)));
  }

  #appendValue(value: number): void {
    if (this.#pending === this.#capacity) this.#reserve(1);
    this.#values[this.#pending] = value;
    setBit(this.#validity, this.#pending);
    this.#advance(1);
  }

  /** Appends a code that `textCode` has given, or 0 for NULL. */
  appendCode(code: number): void {
    if (this.#pending === this.#capacity) this.#reserve(1);
    if (code === 0) this.#nullCount++;
    this.#codes[this.#pending] = code;
    this.#advance(1);
  }

  /** Appends codes that `textCode` has given, none of which is NULL. */
  appendKnownCodes(codes: Uint32Array): void {
    for (let from = 0; from < codes.length; ) {
      const count = Math.min(codes.length - from, this.#chunkRowCount - this.#pending);
      this.#reserve(count);
      this.#codes.set(codes.subarray(from, from + count), this.#pending);
      this.#advance(count);
      from += count;
    }
  }

  #advance(count: number): void {
    this.#pending += count;
    this.#rowCount += count;
    if (this.#pending === this.#chunkRowCount) this.#flush();
  }

  #flush(): void {
    this.#chunks.push(this.#encodePending());
    this.#pending = 0;
    this.#nullCount = 0;
  }

  #encodePending(): ChunkSnapshot {
    const rowCount = this.#pending;
    switch (this.#mode) {
      case 'null':
        return nullChunk(rowCount);
      case 'codes':
        return encodeCodes(this.#codes, rowCount, this.#allocator);
      default:
        return encodeNumbers(
          {
            rowCount,
            values: this.#values,
            validity: this.#nullCount > 0 ? this.#validity : undefined,
          },
          this.#mode,
          this.#allocator,
        );
    }
  }

  #startValues(mode: 'number' | 'timestamp'): void {
    this.#mode = mode;
    this.#values = new Float64Array(this.#capacity);
    this.#validity = new Uint8Array(bitmapSize(this.#capacity));
  }

  /** Makes room for more rows in the chunk that is being filled; small columns stay small. */
  #reserve(count: number): void {
    const needed = this.#pending + count;
    if (needed <= this.#capacity) return;
    this.#capacity = Math.min(
      this.#chunkRowCount,
      Math.max(needed, this.#capacity * 2, CAPACITY_MIN),
    );
    if (this.#mode === 'codes') {
      const codes = this.#codes;
      this.#codes = new Uint32Array(this.#capacity);
      this.#codes.set(codes);
    } else if (this.#mode !== 'null') {
      const { values, validity } = { values: this.#values, validity: this.#validity };
      this.#values = new Float64Array(this.#capacity);
      this.#values.set(values);
      this.#validity = new Uint8Array(bitmapSize(this.#capacity));
      this.#validity.set(validity);
    }
  }

  /** Makes this a column of codes if it is none yet. */
  #toCodes(): DictionaryBuilder {
    if (this.#dictionary !== undefined) return this.#dictionary;
    const dictionary = new DictionaryBuilder(this.#allocator);
    const mode = this.#mode;
    this.#dictionary = dictionary;
    this.#mode = 'codes';
    this.#codes = new Uint32Array(this.#capacity);
    if (mode === 'null') return dictionary;
    const codes = new Uint32Array(this.#chunkRowCount);
    for (const [index, chunk] of this.#chunks.entries()) {
      const view = chunkView(chunk, undefined, this.#allocator);
      for (let i = 0; i < chunk.rowCount; i++) codes[i] = dictionary.add(view.atomAt(i));
      this.#chunks[index] = encodeCodes(codes, chunk.rowCount, this.#allocator);
      freeChunk(chunk, this.#allocator);
    }
    for (let i = 0; i < this.#pending; i++) {
      const value = this.#values[i] as number;
      const atom = mode === 'timestamp' ? new Timestamp(value) : value;
      this.#codes[i] = isBitSet(this.#validity, i) ? dictionary.add(atom) : 0;
    }
    this.#values = NO_VALUES;
    this.#validity = NO_BYTES;
    return dictionary;
  }

  #remapFor(dictionary: DictionarySnapshot): Uint32Array {
    if (this.#appended?.id !== dictionary.id) {
      this.#appended = { id: dictionary.id, remap: new Uint32Array(dictionary.count + 1) };
    }
    return this.#appended.remap;
  }

  #adopt(column: ColumnSnapshot): void {
    // Chunks behind the first short one are copied, so that all but the last are full again.
    const shortIndex = column.chunks.findIndex((chunk) => chunk.rowCount !== this.#chunkRowCount);
    const full = shortIndex === -1 ? column.chunks : column.chunks.slice(0, shortIndex);
    if (column.dictionary !== undefined) {
      this.#mode = 'codes';
      this.#dictionary = DictionaryBuilder.from(this.#allocator, column.dictionary);
    } else if (column.type !== 'null') {
      this.#startValues(column.type === 'timestamp' ? 'timestamp' : 'number');
      this.#allIntegers = column.type !== 'number';
    }
    for (const chunk of full) {
      retainChunk(chunk, this.#allocator);
      this.#chunks.push(chunk);
    }
    this.#rowCount = full.length * this.#chunkRowCount;
    const rest = { ...column, chunks: column.chunks.slice(full.length) };
    for (const atom of new ColumnView(rest, this.#allocator).atoms()) this.append(atom);
  }
}

/** Rows that a new column has room for. */
const CAPACITY_MIN = 256;
const NO_VALUES = new Float64Array(0);
const NO_BYTES = new Uint8Array(0);
const NO_CODES = new Uint32Array(0);

function isBitSet(bitmap: Uint8Array, index: number): boolean {
  return ((bitmap[index >> 3] as number) & (1 << (index & 7))) !== 0;
}

function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >> 3] = (bitmap[index >> 3] as number) | (1 << (index & 7));
}

function clearBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >> 3] = (bitmap[index >> 3] as number) & ~(1 << (index & 7));
}

function fillBits(bitmap: Uint8Array, start: number, count: number, value: boolean): void {
  const setOne = value ? setBit : clearBit;
  const end = start + count;
  let i = start;
  for (; i < end && (i & 7) !== 0; i++) setOne(bitmap, i);
  const wholeEnd = end & ~7;
  if (wholeEnd > i) {
    bitmap.fill(value ? 255 : 0, i >> 3, wholeEnd >> 3);
    i = wholeEnd;
  }
  for (; i < end; i++) setOne(bitmap, i);
}
