// Parses one unit of a text into chunks of columns; runs on any thread.
import { closeSync, openSync, readSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { CSV_REPORT, CSV_REPORT_SIZE, CSV_SWITCH } from '../../kernel/generated.ts';
import { errorBody, failure } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { freeChunk } from '../../value/column/snapshot-memory.ts';
import { bytesOf } from '../../value/column/span-view.ts';
import { ColumnParser } from './column-parser.ts';
import type {
  CsvJob,
  CsvUnitFault,
  CsvUnitResult,
  DictionaryDelta,
  StagedChunk,
} from './csv-job.ts';
import { CSV_CONTROL } from './csv-job.ts';
import { type Scratch, threadScratch } from './scratch.ts';

/** Text that is indexed at once; with its index it fits the L2 cache of a core. */
const BLOCK_SIZE = 1 << 18;
/** Read behind a unit to find the end of its last line, and doubled until it is found. */
const TAIL_SIZE = 1 << 14;
const NEWLINE = 10;
/** Bytes before the text, for the cell before the first. */
const MARGIN = 64;

let lastSerial = 0;

/** What a thread keeps between the units of a job. */
class CsvThread {
  /** unique in the process: a thread that was busy with another job starts dictionaries anew */
  readonly id = `${threadId}.${++lastSerial}`;
  job: CsvJob;
  readonly scratch: Scratch;
  readonly parsers: readonly ColumnParser[];
  readonly report: number;
  /** a byte for each field of a line: 1 when a column is made of it */
  used = 0;
  usedSize = 0;
  input = 0;
  inputSize = 0;
  cells = 0;
  cellsSize = 0;
  refused = 0;
  refusedSize = 0;

  constructor(job: CsvJob, scratch: Scratch) {
    this.job = job;
    this.scratch = scratch;
    this.report = scratch.allocate(CSV_REPORT_SIZE);
    this.parsers = job.columns.map(() => new ColumnParser(scratch, job.chunkRowCount));
    this.setJob(job);
  }

  /** Goes on with another part of the same import: other bytes, perhaps other columns. */
  setJob(job: CsvJob): void {
    const { scratch } = this;
    this.job = job;
    if (this.used !== 0) scratch.free(this.used, this.usedSize);
    this.usedSize = job.columnCount;
    this.used = scratch.allocate(this.usedSize);
    scratch.arena.u8.fill(0, this.used, this.used + this.usedSize);
    for (const column of job.columns) {
      if (column >= 0) scratch.arena.u8[this.used + column] = 1;
    }
  }

  /** Makes room for text and, later, its cells; what was there is lost. */
  reserveInput(size: number): void {
    if (size + MARGIN <= this.inputSize) return;
    if (this.input !== 0) this.scratch.free(this.input, this.inputSize);
    this.inputSize = size + MARGIN;
    this.input = this.scratch.allocate(this.inputSize);
  }

  /** Makes room for the cells of a block: at most one a byte, and one more for each column. */
  reserveIndex(blockSize: number): void {
    const cellCount = blockSize + this.job.columnCount + 64;
    if (cellCount * 8 <= this.cellsSize) return;
    if (this.cells !== 0) {
      this.scratch.free(this.cells, this.cellsSize);
      this.scratch.free(this.refused, this.refusedSize);
    }
    this.cellsSize = cellCount * 8;
    this.cells = this.scratch.allocate(this.cellsSize);
    this.refusedSize = blockSize * 4 + 64;
    this.refused = this.scratch.allocate(this.refusedSize);
  }

  release(): void {
    const { scratch } = this;
    for (const parser of this.parsers) parser.release();
    if (this.input !== 0) scratch.free(this.input, this.inputSize);
    if (this.cells !== 0) {
      scratch.free(this.cells, this.cellsSize);
      scratch.free(this.refused, this.refusedSize);
    }
    scratch.free(this.report, CSV_REPORT_SIZE);
    scratch.free(this.used, this.usedSize);
  }
}

let thread: CsvThread | undefined;

/** Ends what this thread keeps of a job; other threads do so when the next job comes. */
export function endCsvJob(jobId: number): void {
  if (thread?.job.id !== jobId) return;
  thread.release();
  thread = undefined;
}

function threadOf(job: CsvJob): CsvThread {
  if (thread?.job.id !== job.id) {
    thread?.release();
    thread = new CsvThread(job, threadScratch());
  } else if (thread.job !== job) thread.setJob(job);
  return thread;
}

export interface UnitContext {
  checkCancelled(): void;
}

/** Never throws: see CsvUnitResult. */
export function parseCsvUnit(
  job: CsvJob,
  unitIndex: number,
  scope: UnitContext,
  arenas: ArenaAllocator,
): CsvUnitResult {
  try {
    if (Atomics.load(job.control, CSV_CONTROL.lastUnit) < unitIndex) return { skipped: true };
    return new UnitParser(threadOf(job), unitIndex, scope, arenas).parse();
  } catch (error) {
    return { error: errorBody(error) };
  }
}

class UnitParser {
  readonly #thread: CsvThread;
  readonly #job: CsvJob;
  readonly #unitIndex: number;
  readonly #scope: UnitContext;
  readonly #arenas: ArenaAllocator;
  readonly #chunks: StagedChunk[][] = [];
  readonly #refused: number[] = [];
  #lineCount = 0;
  #rowCount = 0;
  /** position in the source minus address in the scratch memory */
  #shift = 0;

  constructor(thread: CsvThread, unitIndex: number, scope: UnitContext, arenas: ArenaAllocator) {
    this.#thread = thread;
    this.#job = thread.job;
    this.#unitIndex = unitIndex;
    this.#scope = scope;
    this.#arenas = arenas;
  }

  parse(): CsvUnitResult {
    const deltas: DictionaryDelta[] = [];
    let isDone = false;
    try {
      const [start, end] = this.#readLines();
      const tooLong = this.#longLine(start, end);
      if (tooLong !== undefined) return tooLong;
      for (const parser of this.#thread.parsers) parser.start();
      for (let position = start; position < end; ) {
        this.#scope.checkCancelled();
        const blockEnd = this.#blockEnd(position, end);
        const fault = this.#parseBlock(position, blockEnd);
        if (fault !== undefined) return fault;
        position = blockEnd;
      }
      if (this.#rowCount > 0) this.#flush();
      for (let column = 0; column < this.#thread.parsers.length; column++) {
        const delta = this.#delta(column);
        if (delta !== undefined) deltas.push(delta);
      }
      isDone = true;
    } finally {
      if (!isDone) this.#abandon(deltas);
    }
    return {
      thread: this.#thread.id,
      lineCount: this.#lineCount,
      refused: Uint32Array.from(this.#refused),
      chunks: this.#chunks,
      deltas,
    };
  }

  #abandon(deltas: readonly DictionaryDelta[]): void {
    for (const columns of this.#chunks) {
      for (const { chunk } of columns) freeChunk(chunk, this.#arenas);
    }
    for (const { bytes, offsets } of deltas) {
      this.#arenas.free(bytes);
      this.#arenas.free(offsets);
    }
  }

  /** Reads the unit's lines into the scratch memory. @returns their addresses, start and end */
  #readLines(): [start: number, end: number] {
    const { start: dataStart, end: dataEnd, unitSize } = this.#job;
    const unitStart = dataStart + this.#unitIndex * unitSize;
    const unitEnd = Math.min(unitStart + unitSize, dataEnd);
    // One byte more in front tells whether a line starts exactly here.
    const readStart = this.#unitIndex === 0 ? unitStart : unitStart - 1;
    const { lineBytesMax } = this.#job;
    for (let tail = TAIL_SIZE; ; tail = Math.min(tail * 4, Math.max(tail, lineBytesMax) + 1)) {
      const size = Math.min(unitEnd + tail, dataEnd) - readStart;
      this.#thread.reserveInput(size + 1);
      const base = this.#thread.input + MARGIN;
      this.#shift = readStart - base;
      const { u8 } = this.#thread.scratch.arena;
      const input = Buffer.from(u8.buffer, base, size + 1);
      readSource(this.#job, input.subarray(0, size), readStart);
      const start = this.#unitIndex === 0 ? 0 : input.subarray(0, size).indexOf(NEWLINE) + 1;
      if (this.#unitIndex > 0 && (start === 0 || readStart + start >= unitEnd)) {
        // No line starts in this unit.
        return [base, base];
      }
      let end = unitEnd - readStart;
      if (unitEnd === dataEnd) {
        if (input[size - 1] === NEWLINE) return [base + start, base + size];
        input[size] = NEWLINE;
        return [base + start, base + size + 1];
      }
      if (input[end - 1] !== NEWLINE) {
        const newline = input.subarray(0, size).indexOf(NEWLINE, end);
        if (newline !== -1) end = newline + 1;
        else if (tail > this.#job.lineBytesMax) end = size;
        else if (readStart + size === dataEnd) {
          input[size] = NEWLINE;
          end = size + 1;
        } else continue;
      }
      return [base + start, base + end];
    }
  }

  /** The first line that is too long; it is not read to its end. */
  #longLine(start: number, end: number): CsvUnitResult | undefined {
    const { lineBytesMax } = this.#job;
    if (end - start <= lineBytesMax) return undefined;
    const { u8 } = this.#thread.scratch.arena;
    const text = Buffer.from(u8.buffer, start, end - start);
    let position = 0;
    for (let line = 0; position < text.length; line++) {
      const newline = text.indexOf(NEWLINE, position);
      const next = newline === -1 ? text.length : newline;
      if (next - position > lineBytesMax) {
        const { fault } = this.#fault(start, line);
        return { fault: { ...fault, isTooLong: true } };
      }
      position = next + 1;
    }
    return undefined;
  }

  /** The end of a line about BLOCK_SIZE behind `position`. */
  #blockEnd(position: number, end: number): number {
    if (end - position <= BLOCK_SIZE) return end;
    const text = Buffer.from(this.#thread.scratch.arena.u8.buffer, position, end - position);
    const before = text.subarray(0, BLOCK_SIZE).lastIndexOf(NEWLINE);
    return position + (before !== -1 ? before : text.indexOf(NEWLINE, BLOCK_SIZE)) + 1;
  }

  #parseBlock(start: number, end: number): CsvUnitResult | undefined {
    const { job, scratch, report } = this.#thread;
    this.#thread.reserveIndex(end - start);
    const cells = this.#thread.cells + 16;
    const { kernels, arena } = scratch;
    const found = kernels.csvIndex(start, end, cells, job.delimiter, job.quote, report);
    let checks = 0;
    if (found !== -1) {
      const lines = arena.i32[(report + CSV_REPORT.lines) >> 2] as number;
      if (arena.i32[(report + CSV_REPORT.isHigh) >> 2] === 1) {
        checks = this.#encodingChecks(start, end);
      }
      const isRegular =
        checks === 0 &&
        found === lines * job.columnCount &&
        kernels.csvRegular(cells, lines, job.columnCount, job.delimiter) === 1;
      if (isRegular) {
        this.#lineCount += lines;
        this.#parseRows(cells, lines);
        Atomics.add(job.control, CSV_CONTROL.lines, lines);
        return undefined;
      }
    } else checks = this.#encodingChecks(start, end);
    return this.#parseIrregular(start, end, cells, checks);
  }

  /** Which fields' encoding must be looked at one by one. */
  #encodingChecks(start: number, end: number): number {
    if (this.#job.encoding === 'ascii') return CSV_SWITCH.checkAscii;
    const isValid = this.#thread.scratch.kernels.csvUtf8(start, end) === 1;
    return isValid ? 0 : CSV_SWITCH.checkUtf8;
  }

  #parseIrregular(
    start: number,
    end: number,
    cells: number,
    checks: number,
  ): CsvUnitResult | undefined {
    const { job, scratch, report, used, refused } = this.#thread;
    const { arena } = scratch;
    const switches =
      checks |
      (job.excelFormulas ? CSV_SWITCH.excelFormulas : 0) |
      (job.ignoreExtraColumns ? CSV_SWITCH.ignoreExtraColumns : 0) |
      (job.ignoreBadLines ? 0 : CSV_SWITCH.stopAtBadLine);
    const rows = scratch.kernels.csvFields(
      start,
      end,
      cells,
      job.columnCount,
      job.delimiter,
      job.quote,
      switches,
      used,
      refused,
      report,
    );
    const lines = arena.i32[(report + CSV_REPORT.lines) >> 2] as number;
    const refusedCount = arena.i32[(report + CSV_REPORT.refused) >> 2] as number;
    if (refusedCount > 0 && !job.ignoreBadLines) return this.#fault(start, lines - 1);
    for (let i = 0; i < refusedCount; i++) {
      this.#refused.push(this.#lineCount + (arena.u32[(refused >> 2) + i] as number));
    }
    this.#lineCount += lines;
    this.#parseRows(cells, rows);
    Atomics.add(job.control, CSV_CONTROL.lines, lines);
    return undefined;
  }

  /** Reports a line of the block that starts at `start`; later units need not go on. */
  #fault(start: number, lineInBlock: number): { readonly fault: CsvUnitFault } {
    const { control } = this.#job;
    for (;;) {
      const last = Atomics.load(control, CSV_CONTROL.lastUnit);
      if (last <= this.#unitIndex) break;
      if (Atomics.compareExchange(control, CSV_CONTROL.lastUnit, last, this.#unitIndex) === last) {
        break;
      }
    }
    const { u8 } = this.#thread.scratch.arena;
    let position = start;
    for (let line = 0; line < lineInBlock; line++) position = u8.indexOf(NEWLINE, position) + 1;
    return {
      fault: { lineIndex: this.#lineCount + lineInBlock, offset: position + this.#shift },
    };
  }

  #parseRows(cells: number, rowCount: number): void {
    const { job, parsers } = this.#thread;
    const stride = job.columnCount * 8;
    for (let done = 0; done < rowCount; ) {
      const count = Math.min(rowCount - done, job.chunkRowCount - this.#rowCount);
      for (let i = 0; i < parsers.length; i++) {
        const parser = parsers[i] as ColumnParser;
        const column = job.columns[i] as number;
        if (column < 0) parser.appendNulls(count);
        else parser.append(cells + done * stride + column * 8, stride, count);
      }
      this.#rowCount += count;
      done += count;
      if (this.#rowCount === job.chunkRowCount) this.#flush();
    }
  }

  #flush(): void {
    const columns: StagedChunk[] = [];
    this.#chunks.push(columns);
    for (const parser of this.#thread.parsers) columns.push(parser.flush(this.#arenas));
    this.#rowCount = 0;
  }

  #delta(column: number): DictionaryDelta | undefined {
    const parser = this.#thread.parsers[column] as ColumnParser;
    const { dictionary, reportedCount } = parser;
    if (dictionary === undefined || dictionary.count === reportedCount) return undefined;
    const { count } = dictionary;
    const offsets = dictionary.offsets().subarray(reportedCount + 1, count + 2);
    const first = offsets[0] as number;
    const spans: Span[] = [];
    try {
      const bytes = this.#arenas.allocate(dictionary.sizeBytes - first);
      spans.push(bytes);
      bytesOf(this.#arenas, bytes).set(dictionary.bytes().subarray(first));
      const offsetsSpan = this.#arenas.allocate(offsets.length * 4);
      spans.push(offsetsSpan);
      const relative = offsets.map((offset) => offset - first);
      bytesOf(this.#arenas, offsetsSpan).set(new Uint8Array(relative.buffer));
      parser.reportedCount = count;
      return { column, count: count - reportedCount, bytes, offsets: offsetsSpan };
    } catch (error) {
      for (const span of spans) this.#arenas.free(span);
      throw error;
    }
  }
}

/** Fills `target` from the source. @throws when the file has become shorter */
function readSource({ source }: CsvJob, target: Uint8Array, position: number): void {
  if (source.kind === 'memory') {
    target.set(source.bytes.subarray(position, position + target.length));
    return;
  }
  const file = openSync(source.path, 'r');
  try {
    for (let done = 0; done < target.length; ) {
      const count = readSync(file, target, done, target.length - done, position + done);
      if (count === 0) {
        throw failure('DATA_ERROR', `${source.path} became shorter while it was read`);
      }
      done += count;
    }
  } finally {
    closeSync(file);
  }
}
