// The fast way to read delimited text: units of whole lines are parsed by column on all threads.
// Takes what has one line a row and default row names and timestamps; all else is row-import.ts.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import type { ByteStream } from '../../file/byte-stream.ts';
import { RowanError } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { CHUNK_ROW_COUNT_MAX } from '../../value/column/snapshot.ts';
import { freeChunk } from '../../value/column/snapshot-memory.ts';
import type { CsvJob, CsvSource, CsvUnit, CsvUnitResult } from './csv-job.ts';
import { CSV_CONTROL } from './csv-job.ts';
import { CsvTable } from './csv-table.ts';
import { endCsvJob } from './csv-unit.ts';
import { lineFailure, lineTooLong } from './line-error.ts';
import type { RecodeJob } from './recode.ts';
import { threadScratch } from './scratch.ts';
import type { TextFormat } from './text-format.ts';
import { decodeField, LINE_FAULT, splitRow, trimLine } from './text-format.ts';

/** Rows of a unit, about; one chunk of columns each. */
const UNIT_ROW_COUNT = 60_000;
const UNIT_SIZE_MIN = 1 << 16;
const UNIT_SIZE_MAX = 1 << 24;
/** Text of a stream that is parsed at once. */
const BATCH_SIZE = 1 << 25;
const SAMPLE_SIZE = 1 << 16;
const NEWLINE = 10;
const RETURN = 13;

/** How work gets onto other threads; results are in the order of the units. */
export interface CsvThreads {
  readonly threadCount: number;
  parse(job: CsvJob, unitCount: number): readonly CsvUnitResult[];
  recode(job: RecodeJob, unitCount: number): void;
  /** throws when the import is to stop */
  checkCancelled(): void;
  /** lines read of all files so far */
  progress(lineCount: number): void;
}

export interface FastOptions {
  /** not latin1, and without a replacement of bad characters */
  readonly format: TextFormat;
  readonly ignoreBadLines: boolean;
  readonly lineBytesMax: number;
  /** the columns of the table */
  readonly paths: readonly (readonly string[])[];
  readonly hasManyFiles: boolean;
}

/** A text whose header has been read. */
export interface FastText {
  readonly url: string;
  readonly fileIndex: number;
  /** timestamp of the rows, seconds since the epoch */
  readonly ts: number;
  /** number of the first line of data */
  readonly firstLine: number;
  /** fields of each line */
  readonly columnCount: number;
  /** the field that each column of the table is made of; -1: none */
  readonly columns: readonly number[];
  /** present: a local file, read from `start` on; absent: `stream` has the data alone */
  readonly path?: string;
  readonly start: number;
  readonly stream: ByteStream;
}

let lastJobId = 0;

/** Reads files of delimited text into one table. */
export class FastImport {
  readonly #options: FastOptions;
  readonly #threads: CsvThreads;
  readonly #arenas: ArenaAllocator;
  readonly #table: CsvTable;
  /** unique in the process: threads keep what they have of a job until another one comes */
  readonly #jobId = threadId * 2 ** 32 + ++lastJobId;
  readonly #control = new Int32Array(new SharedArrayBuffer(CSV_CONTROL.count * 4));
  #chunkRowCount = 0;
  #lineCount = 0;

  constructor(options: FastOptions, threads: CsvThreads, arenas: ArenaAllocator) {
    this.#options = options;
    this.#threads = threads;
    this.#arenas = arenas;
    this.#table = new CsvTable(options.paths, arenas, options.hasManyFiles);
  }

  /** Lines read, bad ones included. */
  get lineCount(): number {
    return this.#lineCount;
  }

  get badLineCount(): number {
    return this.#table.refusedCount;
  }

  get rowCount(): number {
    return this.#table.rowCount;
  }

  /** Lines read so far, while units are still being parsed. */
  linesInProgress(): number {
    return this.#lineCount + Atomics.load(this.#control, CSV_CONTROL.lines);
  }

  /** Reads a text to its end. @throws DATA_ERROR at the first bad line that is not ignored */
  async read(text: FastText): Promise<void> {
    if (text.path !== undefined) this.#readFile(text, text.path);
    else await this.#readStream(text);
  }

  /** @returns the table; `release` need not be called then */
  seal(): ColumnarSnapshot {
    endCsvJob(this.#jobId);
    const recode = (job: RecodeJob, unitCount: number) => this.#threads.recode(job, unitCount);
    return this.#table.seal(threadScratch(), recode);
  }

  /** Gives up. */
  release(): void {
    endCsvJob(this.#jobId);
    this.#table.release();
  }

  #readFile(text: FastText, path: string): void {
    const { size, sample } = inspectFile(path, text.start);
    const source = { kind: 'file', path } as const;
    this.#readPart(text, source, text.start, size, sample, text.firstLine);
  }

  async #readStream(text: FastText): Promise<void> {
    let batch = new Uint8Array(new SharedArrayBuffer(BATCH_SIZE));
    let size = 0;
    let line = text.firstLine;
    const parse = (end: number): void => {
      const sample = batch.subarray(0, Math.min(end, SAMPLE_SIZE));
      line += this.#readPart(text, { kind: 'memory', bytes: batch }, 0, end, sample, line);
      batch.copyWithin(0, end, size);
      size -= end;
    };
    for await (const part of text.stream) {
      this.#threads.checkCancelled();
      for (let taken = 0; taken < part.length; ) {
        const count = Math.min(part.length - taken, batch.length - size);
        batch.set(part.subarray(taken, taken + count), size);
        size += count;
        taken += count;
        if (size < batch.length) continue;
        // Empty lines at the end of a batch may be those at the end of the text.
        const lastLine = batch.lastIndexOf(NEWLINE) + 1;
        const end = endOfData(batch, lastLine);
        if (end > 0) parse(end);
        else {
          const { lineBytesMax } = this.#options;
          if (batch.length > lineBytesMax) throw lineTooLong(line, text.url, lineBytesMax);
          const larger = new Uint8Array(new SharedArrayBuffer(batch.length * 2));
          larger.set(batch);
          batch = larger;
        }
      }
    }
    const end = endOfData(batch, size);
    if (end > 0) parse(end);
  }

  /** @returns lines read */
  #readPart(
    text: FastText,
    source: CsvSource,
    start: number,
    end: number,
    sample: Uint8Array,
    firstLine: number,
  ): number {
    if (end <= start) return 0;
    const { format, ignoreBadLines, lineBytesMax } = this.#options;
    const lineSize = averageLineSize(sample);
    const fairSize = Math.ceil((end - start) / this.#threads.threadCount);
    const wanted = clamp(lineSize * UNIT_ROW_COUNT, UNIT_SIZE_MIN, UNIT_SIZE_MAX);
    const unitSize = Math.min(wanted, Math.max(fairSize, 4 * UNIT_SIZE_MIN));
    // Staging memory is for rows of ordinary length; shorter ones make more chunks.
    this.#chunkRowCount ||= clamp(Math.ceil((wanted / lineSize) * 1.25), 1024, CHUNK_ROW_COUNT_MAX);
    const unitCount = Math.ceil((end - start) / unitSize);
    Atomics.store(this.#control, CSV_CONTROL.lastUnit, unitCount);
    const job: CsvJob = {
      id: this.#jobId,
      source,
      start,
      end,
      unitSize,
      // Without a delimiter each line is one field, which only its end separates.
      delimiter: format.delimiter === '' ? NEWLINE : format.delimiter.charCodeAt(0),
      quote: format.quote === '' ? -1 : format.quote.charCodeAt(0),
      encoding: format.encoding === 'ascii' ? 'ascii' : 'utf-8',
      excelFormulas: format.excelFormulas,
      ignoreExtraColumns: format.ignoreExtraColumns,
      ignoreBadLines,
      lineBytesMax,
      columnCount: text.columnCount,
      columns: text.columns,
      chunkRowCount: this.#chunkRowCount,
      control: this.#control,
    };
    const results = this.#threads.parse(job, unitCount);
    Atomics.store(this.#control, CSV_CONTROL.lines, 0);
    const failed = results.findIndex((result) => !('chunks' in result));
    if (failed !== -1) {
      const failure = this.#failureOf(results, failed, text, job, firstLine);
      for (const result of results) this.#freeUnit(result);
      throw failure;
    }
    let line = firstLine;
    for (const unit of results as readonly CsvUnit[]) {
      this.#table.add(unit, line, text.fileIndex, text.ts);
      line += unit.lineCount;
    }
    this.#lineCount += line - firstLine;
    this.#threads.progress(this.#lineCount);
    return line - firstLine;
  }

  /** What ends the import: the first unit in the order of the text that has a fault. */
  #failureOf(
    results: readonly CsvUnitResult[],
    index: number,
    text: FastText,
    { source, end }: CsvJob,
    firstLine: number,
  ): unknown {
    const result = results[index] as CsvUnitResult;
    if ('error' in result) return RowanError.fromBody(result.error);
    if (!('fault' in result)) return new Error('a unit of text was skipped without a reason');
    const before = results.slice(0, index) as readonly CsvUnit[];
    const { lineIndex, offset, isTooLong } = result.fault;
    const lineNumber = before.reduce((sum, unit) => sum + unit.lineCount, firstLine) + lineIndex;
    const { format, lineBytesMax } = this.#options;
    if (isTooLong) return lineTooLong(lineNumber, text.url, lineBytesMax);
    const line = readLineAt(source, offset, end);
    const found = findFault(line, text.columnCount, new Set(text.columns), format);
    return lineFailure(found, line, lineNumber, text.url);
  }

  #freeUnit(result: CsvUnitResult): void {
    if (!('chunks' in result)) return;
    for (const { chunk } of result.chunks.flat()) freeChunk(chunk, this.#arenas);
    for (const { bytes, offsets } of result.deltas) {
      this.#arenas.free(bytes);
      this.#arenas.free(offsets);
    }
  }
}

/** Why a line is bad: the same rules, applied by hand. */
function findFault(
  line: string,
  columnCount: number,
  used: ReadonlySet<number>,
  format: TextFormat,
) {
  if (line === '') return { reason: LINE_FAULT.empty, column: 1 };
  const fields: string[] = [];
  const fault = splitRow(trimLine(line, format.delimiter), columnCount, format, fields);
  if (fault !== undefined) return fault;
  for (let i = 0; i < fields.length; i++) {
    const text = used.has(i) ? decodeField(fields[i] as string, format) : '';
    if (typeof text !== 'string') {
      return { reason: text.reason, column: line.indexOf(fields[i] as string) + 1 };
    }
  }
  throw new Error(`a line was refused without a reason: ${line.slice(0, 200)}`);
}

/** @param end of what is read of the source; the memory behind it may be larger */
function readLineAt(source: CsvSource, offset: number, end: number): string {
  if (source.kind === 'memory') return lineIn(Buffer.from(source.bytes.subarray(offset, end)));
  const file = openSync(source.path, 'r');
  try {
    for (let size = SAMPLE_SIZE; ; size *= 4) {
      const buffer = Buffer.alloc(size);
      const count = readSync(file, buffer, 0, size, offset);
      if (count < size || buffer.includes(NEWLINE)) return lineIn(buffer.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}

function lineIn(bytes: Buffer): string {
  const newline = bytes.indexOf(NEWLINE);
  const line = bytes.toString('latin1', 0, newline === -1 ? bytes.length : newline);
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** The end of the data of a file, empty lines at its end left out, and some of its first bytes. */
function inspectFile(path: string, start: number): { size: number; sample: Uint8Array } {
  const file = openSync(path, 'r');
  try {
    const sample = new Uint8Array(SAMPLE_SIZE);
    const sampleSize = readSync(file, sample, 0, SAMPLE_SIZE, start);
    let size = fstatSync(file).size;
    const tail = new Uint8Array(SAMPLE_SIZE);
    while (size > start) {
      const from = Math.max(start, size - SAMPLE_SIZE);
      const count = readSync(file, tail, 0, size - from, from);
      const end = endOfData(tail, count);
      if (end > 0) return { size: from + end, sample: sample.subarray(0, sampleSize) };
      size = from;
    }
    return { size: start, sample };
  } finally {
    closeSync(file);
  }
}

/** The end of `bytes` without the empty lines at their end. */
function endOfData(bytes: Uint8Array, size: number): number {
  let end = size;
  // A carriage return that nothing follows ends a line as well.
  if (bytes[end - 1] === RETURN && (end === 1 || bytes[end - 2] === NEWLINE)) end--;
  while (end > 0 && bytes[end - 1] === NEWLINE) {
    let lineEnd = end - 1;
    if (bytes[lineEnd - 1] === RETURN) lineEnd--;
    if (lineEnd > 0 && bytes[lineEnd - 1] !== NEWLINE) break;
    end = lineEnd;
  }
  return end;
}

function averageLineSize(sample: Uint8Array): number {
  let count = 0;
  for (const byte of sample) if (byte === NEWLINE) count++;
  return Math.max(1, sample.length / Math.max(1, count));
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.ceil(value)));
}
