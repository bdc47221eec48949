// One column of the chunk that is being parsed: integers while all are, then doubles, then codes.
import { CSV_COLUMN, CSV_COLUMN_SIZE, CSV_NUMBER } from '../../kernel/generated.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ChunkSnapshot, Span } from '../../value/column/snapshot.ts';
import { bytesOf } from '../../value/column/span-view.ts';
import { parseNumber } from '../../value/number-text.ts';
import type { StagedChunk } from './csv-job.ts';
import type { Scratch } from './scratch.ts';
import { ScratchDictionary } from './scratch.ts';

/** Numbers that are turned back into text at once. */
const TEXT_BATCH_COUNT = 1024;
/** No double or 32-bit integer is longer in its shortest form. */
const NUMBER_TEXT_SIZE_MAX = 32;

/** Parses one column of a chunk, and hands it on as integers, doubles or codes. */
export class ColumnParser {
  /** made when the first text is met, and kept from chunk to chunk */
  dictionary: ScratchDictionary | undefined;
  /** entries that were handed on in earlier units */
  reportedCount = 0;
  readonly #scratch: Scratch;
  readonly #chunkRowCount: number;
  /** 8 bytes a row: int32 or float64 values, or Uint32 codes */
  readonly #out: number;
  readonly #validity: number;
  readonly #state: number;
  #mode: 'integers' | 'doubles' | 'codes' = 'integers';
  #rowCount = 0;

  constructor(scratch: Scratch, chunkRowCount: number) {
    this.#scratch = scratch;
    this.#chunkRowCount = chunkRowCount;
    this.#out = scratch.allocate(chunkRowCount * 8);
    this.#validity = scratch.allocate(this.#validitySize);
    this.#state = scratch.allocate(CSV_COLUMN_SIZE);
    this.start();
  }

  get #validitySize(): number {
    return (this.#chunkRowCount + 7) >> 3;
  }

  /** Forgets the rows of a chunk that was not flushed. */
  start(): void {
    const { u8, f64, i32 } = this.#scratch.arena;
    this.#mode = 'integers';
    this.#rowCount = 0;
    u8.fill(255, this.#validity, this.#validity + this.#validitySize);
    f64[(this.#state + CSV_COLUMN.min) >> 3] = Number.POSITIVE_INFINITY;
    f64[(this.#state + CSV_COLUMN.max) >> 3] = Number.NEGATIVE_INFINITY;
    i32[(this.#state + CSV_COLUMN.nulls) >> 2] = 0;
    i32[(this.#state + CSV_COLUMN.fractions) >> 2] = 0;
  }

  /** Adds `count` fields, the first of which is described by the cell at this address. */
  append(cell: number, stride: number, count: number): void {
    const { kernels } = this.#scratch;
    let done = 0;
    while (done < count) {
      const next = cell + done * stride;
      const rest = count - done;
      const row = this.#rowCount;
      let parsed: number;
      if (this.#mode === 'codes') {
        const dictionary = this.dictionary as ScratchDictionary;
        const out = this.#out + row * 4;
        parsed = kernels.csvCodes(next, stride, rest, out, dictionary.address);
        if (parsed < rest) dictionary.grow(this.#sizeOf(next + parsed * stride));
        this.#rowCount += parsed;
      } else {
        const parse = this.#mode === 'integers' ? kernels.csvIntegers : kernels.csvDoubles;
        parsed = parse(next, stride, rest, this.#out, this.#validity, row, this.#state);
        this.#rowCount += parsed;
        if (parsed < rest) parsed += this.#change(next + parsed * stride);
      }
      done += parsed;
    }
  }

  /** Adds rows without a value. */
  appendNulls(count: number): void {
    const { u8, u32, i32 } = this.#scratch.arena;
    const first = this.#rowCount;
    if (this.#mode === 'codes') {
      const out = (this.#out >> 2) + first;
      u32.fill(0, out, out + count);
    } else {
      const size = this.#mode === 'integers' ? 4 : 8;
      u8.fill(0, this.#out + first * size, this.#out + (first + count) * size);
      for (let row = first; row < first + count; row++) {
        const byte = this.#validity + (row >> 3);
        u8[byte] = (u8[byte] as number) & ~(1 << (row & 7));
      }
      const nulls = (this.#state + CSV_COLUMN.nulls) >> 2;
      i32[nulls] = (i32[nulls] as number) + count;
    }
    this.#rowCount += count;
  }

  /** Writes the rows to an arena and starts the next chunk. */
  flush(arenas: ArenaAllocator): StagedChunk {
    const { f64, i32 } = this.#scratch.arena;
    const isIntegral = i32[(this.#state + CSV_COLUMN.fractions) >> 2] === 0;
    const chunk =
      this.#mode === 'codes' ? this.#flushCodes(arenas) : this.#flushNumbers(arenas, f64);
    this.start();
    return { chunk, isIntegral };
  }

  release(): void {
    this.dictionary?.release();
    this.#scratch.free(this.#out, this.#chunkRowCount * 8);
    this.#scratch.free(this.#validity, this.#validitySize);
    this.#scratch.free(this.#state, CSV_COLUMN_SIZE);
  }

  #flushNumbers(arenas: ArenaAllocator, f64: Float64Array): ChunkSnapshot {
    const rowCount = this.#rowCount;
    const nullCount = this.#scratch.arena.i32[(this.#state + CSV_COLUMN.nulls) >> 2] as number;
    if (nullCount === rowCount) return { kind: 'constant', rowCount, atom: null };
    const min = f64[(this.#state + CSV_COLUMN.min) >> 3] as number;
    const max = f64[(this.#state + CSV_COLUMN.max) >> 3] as number;
    const kind = this.#mode === 'integers' ? 'int32' : 'float64';
    const data = this.#copy(arenas, this.#out, rowCount * (kind === 'int32' ? 4 : 8));
    const range = min <= max ? { min: min + 0, max: max + 0 } : {};
    if (nullCount === 0) return { kind, rowCount, data, nullCount, ...range };
    if ((rowCount & 7) !== 0) {
      const { u8 } = this.#scratch.arena;
      const last = this.#validity + (rowCount >> 3);
      u8[last] = (u8[last] as number) & ((1 << (rowCount & 7)) - 1);
    }
    try {
      const validity = this.#copy(arenas, this.#validity, (rowCount + 7) >> 3);
      return { kind, rowCount, data, validity, nullCount, ...range };
    } catch (error) {
      arenas.free(data);
      throw error;
    }
  }

  #flushCodes(arenas: ArenaAllocator): ChunkSnapshot {
    const { kernels } = this.#scratch;
    const rowCount = this.#rowCount;
    const nullCount = kernels.csvZeros(this.#out, rowCount);
    if (nullCount === rowCount) return { kind: 'constant', rowCount, atom: null };
    const count = (this.dictionary as ScratchDictionary).count;
    const width = codeWidth(count);
    if (width < 4) kernels.csvRecode(this.#out, 4, rowCount, 0, this.#out, width);
    const data = this.#copy(arenas, this.#out, rowCount * width);
    return { kind: 'codes', rowCount, width, data, nullCount };
  }

  #copy(arenas: ArenaAllocator, address: number, sizeBytes: number): Span {
    const span = arenas.allocate(sizeBytes);
    const { u8 } = this.#scratch.arena;
    bytesOf(arenas, span).set(u8.subarray(address, address + sizeBytes));
    return span;
  }

  #sizeOf(cell: number): number {
    const { u32 } = this.#scratch.arena;
    return (u32[cell >> 2] as number) - (u32[(cell >> 2) - 1] as number);
  }

  /**
   * Changes the mode for a field that the present one does not take.
   * @returns rows done: 1 when the field was a number that only JavaScript reads exactly
   */
  #change(cell: number): 0 | 1 {
    const { arena, kernels } = this.#scratch;
    const start = arena.u32[(cell >> 2) - 1] as number;
    const end = arena.u32[cell >> 2] as number;
    const kind = kernels.csvNumber(start, end, this.#state + CSV_COLUMN.value);
    if (kind === CSV_NUMBER.text) {
      this.#toCodes();
      return 0;
    }
    if (kind !== CSV_NUMBER.hard) {
      this.#toDoubles();
      return 0;
    }
    const text = Buffer.from(arena.u8.buffer, start, end - start).toString('latin1');
    const value = parseNumber(text);
    if (typeof value !== 'number') {
      this.#toCodes();
      return 0;
    }
    this.#toDoubles();
    arena.f64[(this.#out >> 3) + this.#rowCount] = value === 0 ? 0 : value;
    kernels.csvNote(this.#state, value);
    this.#rowCount++;
    return 1;
  }

  #toDoubles(): void {
    if (this.#mode === 'doubles') return;
    this.#scratch.kernels.csvWiden(this.#out, this.#rowCount);
    this.#mode = 'doubles';
  }

  /** The numbers so far become texts, which read as the same numbers again. */
  #toCodes(): void {
    const isInteger = this.#mode === 'integers';
    this.dictionary ??= new ScratchDictionary(this.#scratch);
    this.#mode = 'codes';
    const { arena, kernels } = this.#scratch;
    const rowCount = this.#rowCount;
    if (rowCount === 0) return;
    const values = isInteger
      ? arena.i32.slice(this.#out >> 2, (this.#out >> 2) + rowCount)
      : arena.f64.slice(this.#out >> 3, (this.#out >> 3) + rowCount);
    const cells = this.#scratch.allocate(TEXT_BATCH_COUNT * 8 + 16);
    const texts = this.#scratch.allocate(TEXT_BATCH_COUNT * NUMBER_TEXT_SIZE_MAX);
    const buffer = Buffer.from(arena.u8.buffer, texts, TEXT_BATCH_COUNT * NUMBER_TEXT_SIZE_MAX);
    for (let first = 0; first < rowCount; first += TEXT_BATCH_COUNT) {
      const count = Math.min(TEXT_BATCH_COUNT, rowCount - first);
      let size = 0;
      for (let i = 0; i < count; i++) {
        const row = first + i;
        const bits = arena.u8[this.#validity + (row >> 3)] as number;
        const cell = (cells + 16 + i * 8) >> 2;
        arena.u32[cell - 1] = texts + size;
        if (bits & (1 << (row & 7)))
          size += buffer.write(numberText(values[row] as number), size, 'latin1');
        arena.u32[cell] = texts + size;
      }
      for (let done = 0; done < count; ) {
        const cell = cells + 16 + done * 8;
        const out = this.#out + (first + done) * 4;
        done += kernels.csvCodes(cell, 8, count - done, out, this.dictionary.address);
        if (done < count) this.dictionary.grow(NUMBER_TEXT_SIZE_MAX);
      }
    }
    this.#scratch.free(cells, TEXT_BATCH_COUNT * 8 + 16);
    this.#scratch.free(texts, TEXT_BATCH_COUNT * NUMBER_TEXT_SIZE_MAX);
  }
}

/** Text that reads as the same double: without an exponent a large one would be an integer. */
function numberText(value: number): string {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
    ? value.toExponential()
    : String(value);
}

/** Bytes of a code, for codes from 0 up to `count`. */
export function codeWidth(count: number): 1 | 2 | 4 {
  return count < 256 ? 1 : count < 65_536 ? 2 : 4;
}
