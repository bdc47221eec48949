// A unit of lines of JSON, read by any thread.
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { TablePart } from '../../value/column/concatenate.ts';
import { chunkRowCounts } from '../../value/column/table-builder.ts';
import { threadScratch } from '../csv/scratch.ts';
import type { ArrayMode, JsonFault } from './json-columns.ts';
import { JsonColumns } from './json-columns.ts';
import { JsonForms } from './json-forms.ts';

/** Where the bytes are: a local file, or memory that all threads see. */
export type JsonSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'memory'; readonly bytes: Uint8Array };

export interface JsonJob {
  readonly source: JsonSource;
  /** lines from here to `end` are documents; no white space lies before `end` */
  readonly start: number;
  readonly end: number;
  /** bytes of a unit; a line belongs to the unit in which it starts */
  readonly unitSize: number;
  readonly arrays: ArrayMode;
  readonly ignoreBadLines: boolean;
  readonly lineBytesMax: number;
  /** cells of JSON_CONTROL, which are shared */
  readonly control: Int32Array;
}

export const JSON_CONTROL = {
  /** units behind this one need not be read, because it has a fault */
  lastUnit: 0,
  lines: 1,
  count: 2,
} as const;

export interface JsonUnit {
  readonly lineCount: number;
  /** numbers within the unit, counted from 0, of lines that were not accepted */
  readonly refused: Uint32Array;
  readonly part: TablePart;
}

export interface JsonUnitFault {
  readonly fault: JsonFault | 'too long';
  /** counted from 0 */
  readonly lineIndex: number;
  readonly line: string;
}

export type JsonUnitResult = JsonUnit | JsonUnitFault | { readonly skipped: true };

/** Longer lines are cut in messages. */
const LINE_LENGTH_SHOWN = 10_000;
const NEWLINE = 10;
const READ_BEYOND = 1 << 16;
const LINES_PER_CHECK = 256;
/** Larger texts, of few very long lines, are not copied to be read by a kernel. */
const FORMS_SIZE_MAX = 2 ** 27;

/**
 * Reads one unit.
 * @throws what `checkCancelled` throws
 */
export function readJsonUnit(
  job: JsonJob,
  unitIndex: number,
  arenas: ArenaAllocator,
  checkCancelled: () => void,
): JsonUnitResult {
  if (unitIndex > Atomics.load(job.control, JSON_CONTROL.lastUnit)) return { skipped: true };
  const bytes = unitBytes(job, unitIndex);
  const columns = new JsonColumns(arenas, job.arrays);
  try {
    const result = readLines(bytes, columns, job, checkCancelled);
    if (!('fault' in result)) return result;
    columns.release();
    lowerTo(job.control, unitIndex);
    return result;
  } catch (thrown) {
    columns.release();
    throw thrown;
  }
}

function readLines(
  bytes: Buffer,
  columns: JsonColumns,
  job: JsonJob,
  checkCancelled: () => void,
): JsonUnit | JsonUnitFault {
  const allValid = isUtf8(bytes);
  if (!allValid || bytes.length > FORMS_SIZE_MAX) {
    return readEachLine(bytes, columns, job, { allValid, checkCancelled });
  }
  const forms = new JsonForms(bytes, columns, job.lineBytesMax, threadScratch());
  try {
    return readEachLine(bytes, columns, job, { allValid, checkCancelled, forms });
  } finally {
    forms.release();
  }
}

interface LineContext {
  /** true: all bytes are valid UTF-8 */
  readonly allValid: boolean;
  readonly forms?: JsonForms;
  checkCancelled(): void;
}

function readEachLine(
  bytes: Buffer,
  columns: JsonColumns,
  { ignoreBadLines, lineBytesMax, control }: JsonJob,
  { allValid, forms, checkCancelled }: LineContext,
): JsonUnit | JsonUnitFault {
  const refused: number[] = [];
  let lineCount = 0;
  let reportedCount = 0;
  for (let start = 0; start < bytes.length; ) {
    if (lineCount - reportedCount >= LINES_PER_CHECK) {
      checkCancelled();
      Atomics.add(control, JSON_CONTROL.lines, lineCount - reportedCount);
      reportedCount = lineCount;
    }
    const known = forms?.read(start);
    if (known !== undefined && known.lineCount > 0) {
      start = known.position;
      lineCount += known.lineCount;
      continue;
    }
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    if (end - start > lineBytesMax) return { fault: 'too long', lineIndex: lineCount, line: '' };
    forms?.flush();
    const isValid = allValid || isUtf8(bytes.subarray(start, end));
    const fault = isValid ? readLine(bytes, start, end, columns) : NO_UTF8;
    if (fault !== undefined) {
      const line = bytes.toString('utf8', start, Math.min(end, start + LINE_LENGTH_SHOWN));
      if (!ignoreBadLines) return { fault, lineIndex: lineCount, line };
      refused.push(lineCount);
    } else forms?.learn(start, end);
    start = end + 1;
    lineCount++;
  }
  forms?.flush();
  const part = { chunkRowCounts: chunkRowCounts(columns.rowCount), columns: columns.seal() };
  return { lineCount, refused: Uint32Array.from(refused), part };
}

const EMPTY: JsonFault = { reason: 'empty line', column: 1 };
const NO_UTF8: JsonFault = { reason: 'invalid UTF-8', column: 1 };

function readLine(
  bytes: Buffer,
  start: number,
  end: number,
  columns: JsonColumns,
): JsonFault | undefined {
  return isBlank(bytes, start, end) ? EMPTY : columns.add(bytes, start, end);
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  let i = start;
  while (i < end && isSpace(bytes[i] as number)) i++;
  return i === end;
}

/** Whether a byte is white space of ASCII. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 9 && byte <= 13);
}

function lowerTo(control: Int32Array, unit: number): void {
  let last = Atomics.load(control, JSON_CONTROL.lastUnit);
  while (unit < last) {
    const seen = Atomics.compareExchange(control, JSON_CONTROL.lastUnit, last, unit);
    if (seen === last) return;
    last = seen;
  }
}

/** The lines that start in a unit. */
function unitBytes(job: JsonJob, unitIndex: number): Buffer {
  const from = job.start + unitIndex * job.unitSize;
  const to = Math.min(from + job.unitSize, job.end);
  const reader = openReader(job.source);
  try {
    // A line that starts with the unit is known by the newline before it.
    const head = unitIndex === 0 ? from : from - 1;
    let bytes = reader.read(head, Math.min(to + READ_BEYOND, job.end));
    let first = 0;
    if (unitIndex > 0) {
      const newline = bytes.indexOf(NEWLINE);
      if (newline === -1 || head + newline + 1 >= to) return Buffer.alloc(0);
      first = newline + 1;
    }
    for (let size = READ_BEYOND; ; size *= 2) {
      const last = bytes.indexOf(NEWLINE, to - 1 - head);
      if (last !== -1) return bytes.subarray(first, last);
      if (head + bytes.length >= job.end) return bytes.subarray(first);
      // The last line is too long already: `readLines` says so.
      if (head + bytes.length - to > job.lineBytesMax) return bytes.subarray(first);
      bytes = Buffer.concat([
        bytes,
        reader.read(head + bytes.length, Math.min(head + bytes.length + size, job.end)),
      ]);
    }
  } finally {
    reader.close();
  }
}

function openReader(source: JsonSource): {
  read(from: number, to: number): Buffer;
  close(): void;
} {
  if (source.kind === 'memory') {
    const { buffer, byteOffset } = source.bytes;
    return {
      read: (from, to) => Buffer.from(buffer, byteOffset + from, to - from),
      close() {},
    };
  }
  const file = openSync(source.path, 'r');
  return {
    read(from, to) {
      const bytes = Buffer.allocUnsafe(to - from);
      let size = 0;
      while (size < bytes.length) {
        const count = readSync(file, bytes, size, bytes.length - size, from + size);
        if (count === 0) break;
        size += count;
      }
      return bytes.subarray(0, size);
    },
    close: () => closeSync(file),
  };
}
