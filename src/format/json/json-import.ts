// Reads texts of one JSON document a line: units of whole lines become columns on all threads.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ByteStream } from '../../file/byte-stream.ts';
import { failure, type RowanError } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { concatenateColumns, freeParts, type TablePart } from '../../value/column/concatenate.ts';
import type { ColumnarSnapshot, RowTimestamps, Span } from '../../value/column/snapshot.ts';
import { float64Of } from '../../value/column/span-view.ts';
import { lineTooLong } from '../csv/line-error.ts';
import { LineNames } from '../csv/line-names.ts';
import type { ArrayMode, JsonFault } from './json-columns.ts';
import {
  isSpace,
  JSON_CONTROL,
  type JsonJob,
  type JsonSource,
  type JsonUnitFault,
  type JsonUnitResult,
} from './json-unit.ts';

export interface JsonThreads {
  readonly threadCount: number;
  read(job: JsonJob, unitCount: number): readonly JsonUnitResult[];
  /** throws when the import is to stop */
  checkCancelled(): void;
  /** lines read of all files so far */
  progress(lineCount: number): void;
}

export interface JsonOptions {
  readonly arrays: ArrayMode;
  readonly ignoreBadLines: boolean;
  readonly lineBytesMax: number;
  /** row names are `fileIndex.lineNumber` */
  readonly hasManyFiles: boolean;
}

export interface JsonText {
  readonly url: string;
  readonly fileIndex: number;
  /** timestamp of the rows, seconds since the epoch */
  readonly ts: number;
  /** present: a local file */
  readonly path?: string | undefined;
  stream(): ByteStream;
}

const UNIT_SIZE_MIN = 1 << 18;
const UNIT_SIZE_MAX = 1 << 24;
/** Units for each thread, so that one that is slow leaves work to others. */
const UNITS_PER_THREAD = 4;
/** Text of a stream that is read at once. */
const BATCH_SIZE = 1 << 25;
const NEWLINE = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Reads a file of JSON lines into a table. */
export class JsonImport {
  readonly #options: JsonOptions;
  readonly #threads: JsonThreads;
  readonly #arenas: ArenaAllocator;
  readonly #control = new Int32Array(new SharedArrayBuffer(JSON_CONTROL.count * 4));
  readonly #parts: TablePart[] = [];
  /** timestamp of the rows of each part */
  readonly #times: number[] = [];
  readonly #names: LineNames;
  #lineCount = 0;
  #badLineCount = 0;

  constructor(options: JsonOptions, threads: JsonThreads, arenas: ArenaAllocator) {
    this.#options = options;
    this.#threads = threads;
    this.#arenas = arenas;
    this.#names = new LineNames(options.hasManyFiles);
  }

  get badLineCount(): number {
    return this.#badLineCount;
  }

  get rowCount(): number {
    return this.#lineCount - this.#badLineCount;
  }

  /** Lines read so far, while units are still being read. */
  linesInProgress(): number {
    return this.#lineCount + Atomics.load(this.#control, JSON_CONTROL.lines);
  }

  /** Reads a text to its end. @throws DATA_ERROR at the first bad line that is not ignored */
  async read(text: JsonText): Promise<void> {
    if (text.path !== undefined) {
      const { start, end } = dataOfFile(text.path);
      this.#readPart(text, { kind: 'file', path: text.path }, start, end, 1);
    } else await this.#readStream(text);
  }

  /** @returns the table; `release` need not be called then */
  seal(): ColumnarSnapshot {
    const parts = this.#parts.splice(0);
    const chunkRowCounts = parts.flatMap((part) => part.chunkRowCounts);
    return {
      layout: 'columnar',
      id: this.#arenas.nextId(),
      rowCount: this.rowCount,
      chunkRowCounts,
      columns: concatenateColumns(parts, this.#arenas, () => this.#threads.checkCancelled()),
      rowNames: this.#names.seal(chunkRowCounts, this.#arenas),
      timestamps: timestampsOf(parts, this.#times, this.#arenas),
    };
  }

  /** Gives up. */
  release(): void {
    freeParts(this.#parts.splice(0), this.#arenas);
  }

  async #readStream(text: JsonText): Promise<void> {
    let batch = new Uint8Array(new SharedArrayBuffer(BATCH_SIZE));
    let size = 0;
    let line = 1;
    let isFirst = true;
    const read = (end: number): void => {
      const start = isFirst ? markEnd(batch, size) : 0;
      isFirst = false;
      if (end > start) line += this.#readPart(text, memoryOf(batch), start, end, line);
      // White space up to the end of the last line belongs to it.
      const newline = batch.subarray(0, size).indexOf(NEWLINE, end);
      const next = newline === -1 ? size : newline + 1;
      batch.copyWithin(0, next, size);
      size -= next;
    };
    for await (const part of text.stream()) {
      this.#threads.checkCancelled();
      for (let taken = 0; taken < part.length; ) {
        const count = Math.min(part.length - taken, batch.length - size);
        batch.set(part.subarray(taken, taken + count), size);
        size += count;
        taken += count;
        if (size < batch.length) continue;
        const end = endOfData(batch, 0, batch.lastIndexOf(NEWLINE) + 1);
        if (end > 0) read(end);
        else {
          const { lineBytesMax } = this.#options;
          if (batch.length > lineBytesMax) throw lineTooLong(line, text.url, lineBytesMax);
          const larger = new Uint8Array(new SharedArrayBuffer(batch.length * 2));
          larger.set(batch);
          batch = larger;
        }
      }
    }
    read(endOfData(batch, 0, size));
  }

  /** @returns lines read */
  #readPart(
    text: JsonText,
    source: JsonSource,
    start: number,
    end: number,
    firstLine: number,
  ): number {
    if (end <= start) return 0;
    const fair = Math.ceil((end - start) / (this.#threads.threadCount * UNITS_PER_THREAD));
    const unitSize = Math.min(UNIT_SIZE_MAX, Math.max(UNIT_SIZE_MIN, fair));
    const unitCount = Math.ceil((end - start) / unitSize);
    Atomics.store(this.#control, JSON_CONTROL.lastUnit, unitCount);
    const { arrays, ignoreBadLines, lineBytesMax } = this.#options;
    const control = this.#control;
    const job = { source, start, end, unitSize, arrays, ignoreBadLines, lineBytesMax, control };
    const results = this.#threads.read(job, unitCount);
    Atomics.store(control, JSON_CONTROL.lines, 0);
    const failed = results.findIndex((result) => 'fault' in result);
    let line = firstLine;
    for (const [index, result] of results.entries()) {
      if (index === failed) {
        this.#freeRest(results.slice(index));
        const { fault, lineIndex, line: shown } = result as JsonUnitFault;
        if (fault === 'too long') throw lineTooLong(line + lineIndex, text.url, lineBytesMax);
        throw jsonLineFailure(fault, shown, line + lineIndex, text.url);
      }
      if (!('part' in result)) throw new Error('a unit of text was skipped without a reason');
      this.#parts.push(result.part);
      this.#times.push(text.ts);
      this.#names.add(text.fileIndex, line, result.lineCount, result.refused);
      this.#badLineCount += result.refused.length;
      line += result.lineCount;
    }
    this.#lineCount += line - firstLine;
    this.#threads.progress(this.#lineCount);
    return line - firstLine;
  }

  #freeRest(results: readonly JsonUnitResult[]): void {
    freeParts(
      results.flatMap((result) => ('part' in result ? [result.part] : [])),
      this.#arenas,
    );
  }
}

/** DATA_ERROR for a line that is not accepted, with its number and the column. */
export function jsonLineFailure(
  { reason, column }: JsonFault,
  line: string,
  lineNumber: number,
  url: string,
): RowanError {
  return failure(
    'DATA_ERROR',
    `Error parsing JSON row: ${reason} (line ${lineNumber}, column ${column} of ${url}); ignoreBadLines skips such lines`,
    { filename: url, dataFileUrl: url, lineNumber, columnNumber: column, line },
  );
}

/** Timestamps of rows that come in parts, each with one of its own. */
export function timestampsOf(
  parts: readonly TablePart[],
  times: readonly number[],
  arenas: ArenaAllocator,
): RowTimestamps {
  const ts = times[0] ?? 0;
  if (times.every((other) => Object.is(other, ts))) return { kind: 'constant', ts };
  const chunks: Span[] = [];
  try {
    for (const [index, part] of parts.entries()) {
      for (const rowCount of part.chunkRowCounts) {
        const span = arenas.allocate(rowCount * 8);
        chunks.push(span);
        float64Of(arenas, span).fill(times[index] as number);
      }
    }
  } catch (error) {
    for (const span of chunks) arenas.free(span);
    throw error;
  }
  return { kind: 'per-row', chunks };
}

function memoryOf(bytes: Uint8Array): JsonSource {
  return { kind: 'memory', bytes };
}

function markEnd(bytes: Uint8Array, size: number): number {
  return size >= 3 && BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? 3 : 0;
}

/** Behind the last byte that is no white space; blank lines at the end of a text are nothing. */
function endOfData(bytes: Uint8Array, from: number, size: number): number {
  let end = size;
  while (end > from && isSpace(bytes[end - 1] as number)) end--;
  return end;
}

function dataOfFile(path: string): { readonly start: number; readonly end: number } {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(1 << 16);
    const start = markEnd(bytes, readSync(file, bytes, 0, 3, 0));
    for (let end = fstatSync(file).size; end > start; ) {
      const from = Math.max(start, end - bytes.length);
      const found = endOfData(bytes, 0, readSync(file, bytes, 0, end - from, from));
      if (found > 0) return { start, end: from + found };
      end = from;
    }
    return { start, end: start };
  } finally {
    closeSync(file);
  }
}
