// The JSON of recording routes to the bytes of a batch, without objects in between: names of columns
// are found by the hash of their bytes, numbers and texts are copied. Whatever is less usual (escapes,
// dotted names, objects, decimals) is parsed piece by piece. A body that is not as it should be is
// given up: the parser of recording-json.ts refuses it, and says where.
import { isUtf8 } from 'node:buffer';
import { parseJson } from '../util/exact-json.ts';
import { ByteTable } from '../value/column/byte-table.ts';
import { atomFromJson, pathFromJson, timestampFromJson } from '../value/json.ts';
import { isPlainElement, type Path } from '../value/path.ts';
import { BatchWriter, joinBatch } from './recorded-batch.ts';
import type { RecordingForm } from './recording-json.ts';

export interface ScannedRows {
  readonly batch: Uint8Array;
  readonly rowCount: number;
}

export interface ScanOptions {
  /** what is kept of a timestamp, in seconds */
  roundedTime(ts: number): number;
  /** called every few thousand cells; what it throws ends the work */
  check(): void;
}

/** @returns undefined for other forms, and for a body that another parser must judge */
export function scanRows(
  form: RecordingForm,
  body: Uint8Array,
  options: ScanOptions,
): ScannedRows | undefined {
  if (form !== 'rows' && form !== 'multirows' && form !== 'ndjson') return undefined;
  if (!isUtf8(Buffer.from(body.buffer, body.byteOffset, body.length))) return undefined;
  try {
    return new RowScanner(body, options, form === 'ndjson').scan(form);
  } catch (thrown) {
    if (thrown === GIVEN_UP) return undefined;
    throw thrown;
  }
}

const GIVEN_UP = Symbol('another parser must judge');

const CELLS_PER_CHECK = 4096;
/** Integers of so many digits are exact as doubles. */
const DIGIT_COUNT_EXACT = 15;

/** From these the first size of the table of columns is guessed: large bodies have many. */
const CELL_SIZE_TYPICAL = 32;
const TABLE_COUNT_FIRST_MAX = 65_536;

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Marks the end of the bytes; no byte has it. */
const END = -1;

class RowScanner {
  readonly #bytes: Uint8Array;
  readonly #buffer: Buffer;
  readonly #options: ScanOptions;
  /** a line end is no space: it ends a row */
  readonly #isByLine: boolean;
  #position = 0;
  readonly #paths = new BatchWriter();
  #pathCount = 0;
  /** columns by what stands between their quotes in the body; number k is entry k + 1 */
  readonly #columns: ByteTable;
  readonly #columnNumbers: number[] = [];
  /** columns whose names were parsed, by their printed paths */
  readonly #parsedColumns = new Map<string, number>();
  readonly #rows = new BatchWriter();
  #rowCount = 0;
  #untilCheck = CELLS_PER_CHECK;
  // The last timestamp: many cells in a row have the same.
  #tsStart = 0;
  #tsEnd = -1;
  #ts = 0;

  constructor(bytes: Uint8Array, options: ScanOptions, isByLine: boolean) {
    this.#bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#options = options;
    const cellCount = Math.floor(bytes.length / CELL_SIZE_TYPICAL);
    this.#columns = new ByteTable(Math.min(cellCount + 1, TABLE_COUNT_FIRST_MAX));
    this.#isByLine = isByLine;
  }

  scan(form: 'rows' | 'multirows' | 'ndjson'): ScannedRows {
    if (form === 'rows') {
      this.#rowObject();
      this.#expectEnd();
    } else if (form === 'multirows') {
      this.#list(() => this.#rowPair());
      this.#expectEnd();
    } else this.#lines();
    return {
      batch: joinBatch(this.#paths, this.#pathCount, this.#rows, this.#rowCount),
      rowCount: this.#rowCount,
    };
  }

  #lines(): void {
    for (;;) {
      const next = this.#peek();
      if (next === END) return;
      if (next === LF) {
        this.#position++;
        continue;
      }
      if (next === OPEN_OBJECT) this.#rowObject();
      else this.#rowPair();
      const behind = this.#peek();
      if (behind !== LF && behind !== END) throw GIVEN_UP;
    }
  }

  /** `{"rowName": name, "columns": [cell, …]}`, in this order. */
  #rowObject(): void {
    this.#expect(OPEN_OBJECT);
    this.#expectKey('rowName');
    this.#rowName();
    this.#expect(COMMA);
    this.#expectKey('columns');
    this.#cells();
    this.#expect(CLOSE_OBJECT);
  }

  /** `[name, [cell, …]]` */
  #rowPair(): void {
    this.#expect(OPEN_LIST);
    this.#rowName();
    this.#expect(COMMA);
    this.#cells();
    this.#expect(CLOSE_LIST);
  }

  #rowName(): void {
    const rows = this.#rows;
    if (this.#peek() === QUOTE) {
      const start = this.#position + 1;
      const isEscaped = this.#skipText();
      const end = this.#position - 1;
      if (!isEscaped && isPlainElement(this.#bytes, start, end)) {
        rows.pathElement(this.#bytes, start, end);
      } else rows.atom(this.#pathOf(start - 1, end + 1));
    } else {
      const start = this.#position;
      this.#skipValue();
      rows.atom(this.#pathOf(start, this.#position));
    }
    this.#rowCount++;
  }

  #cells(): void {
    const place = this.#rows.reserveU32();
    let count = 0;
    this.#list(() => {
      this.#cell();
      count++;
    });
    this.#rows.setU32(place, count);
  }

  /** `[column, value, timestamp]` */
  #cell(): void {
    if (--this.#untilCheck <= 0) {
      this.#options.check();
      this.#untilCheck = CELLS_PER_CHECK;
    }
    this.#expect(OPEN_LIST);
    const column = this.#column();
    this.#expect(COMMA);
    this.#peek();
    const start = this.#position;
    const first = this.#bytes[start];
    const isInteger = this.#skipInteger();
    if (isInteger) {
      const end = this.#position;
      const ts = this.#behindValue();
      this.#integer(column, ts, start, end);
      return;
    }
    if (first === QUOTE) {
      const isEscaped = this.#skipText();
      const end = this.#position;
      const ts = this.#behindValue();
      if (isEscaped) this.#rows.cell(column, ts, this.#atomOf(start, end));
      else this.#rows.textCell(column, ts, this.#bytes, start + 1, end - 1);
      return;
    }
    this.#skipValue();
    const end = this.#position;
    const ts = this.#behindValue();
    this.#rows.cell(column, ts, this.#atomOf(start, end));
  }

  /** The rest of a cell. @returns its timestamp as it is kept */
  #behindValue(): number {
    this.#expect(COMMA);
    this.#peek();
    const start = this.#position;
    this.#skipValue();
    const ts = this.#timestamp(start, this.#position);
    this.#expect(CLOSE_LIST);
    return ts;
  }

  #timestamp(start: number, end: number): number {
    const bytes = this.#bytes;
    if (end - start === this.#tsEnd - this.#tsStart) {
      let same = 0;
      while (start + same < end && bytes[start + same] === bytes[this.#tsStart + same]) same++;
      if (start + same === end) return this.#ts;
    }
    this.#ts = this.#options.roundedTime(this.#parsed(start, end, timestampFromJson));
    this.#tsStart = start;
    this.#tsEnd = end;
    return this.#ts;
  }

  /** Digits whose number is exact; a sign before them is allowed. */
  #integer(column: number, ts: number, start: number, end: number): void {
    const bytes = this.#bytes;
    const isNegative = bytes[start] === MINUS;
    let value = 0;
    for (let i = isNegative ? start + 1 : start; i < end; i++) {
      value = value * 10 + (bytes[i] as number) - DIGIT_0;
    }
    if (isNegative) value = 0 - value;
    this.#rows.integerCell(column, ts, value | 0, Math.floor(value / 2 ** 32));
  }

  #column(): number {
    if (this.#peek() !== QUOTE) {
      const start = this.#position;
      this.#skipValue();
      return this.#parsedColumn(start, this.#position);
    }
    const start = this.#position + 1;
    const isEscaped = this.#skipText();
    const end = this.#position - 1;
    const next = this.#columnNumbers.length + 1;
    const entry = this.#columns.findOrAdd(this.#bytes, start, end, next);
    if (entry === next) {
      if (!isEscaped && isPlainElement(this.#bytes, start, end)) {
        this.#paths.pathElement(this.#bytes, start, end);
        this.#columnNumbers.push(this.#pathCount++);
      } else this.#columnNumbers.push(this.#parsedColumn(start - 1, end + 1));
    }
    return this.#columnNumbers[entry - 1] as number;
  }

  #parsedColumn(start: number, end: number): number {
    const path = this.#pathOf(start, end);
    const text = path.toString();
    const known = this.#parsedColumns.get(text);
    if (known !== undefined) return known;
    this.#paths.atom(path);
    this.#parsedColumns.set(text, this.#pathCount);
    return this.#pathCount++;
  }

  #pathOf(start: number, end: number): Path {
    const path = this.#parsed(start, end, pathFromJson);
    if (path.length === 0) throw GIVEN_UP;
    return path;
  }

  #atomOf(start: number, end: number) {
    return this.#parsed(start, end, atomFromJson);
  }

  #parsed<Made>(start: number, end: number, convert: (json: unknown) => Made): Made {
    try {
      return convert(parseJson(this.#buffer.toString('utf8', start, end)));
    } catch {
      throw GIVEN_UP;
    }
  }

  /** `[element, …]` @param element reads one */
  #list(element: () => void): void {
    this.#expect(OPEN_LIST);
    if (this.#peek() === CLOSE_LIST) {
      this.#position++;
      return;
    }
    for (;;) {
      element();
      const next = this.#peek();
      this.#position++;
      if (next === CLOSE_LIST) return;
      if (next !== COMMA) throw GIVEN_UP;
    }
  }

  /** Skips white space. @returns the byte behind it, or END */
  #peek(): number {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.#position];
      if (byte === undefined) return END;
      const isSpace =
        byte === SPACE || byte === TAB || byte === CR || (byte === LF && !this.#isByLine);
      if (!isSpace) return byte;
      this.#position++;
    }
  }

  #expect(byte: number): void {
    if (this.#peek() !== byte) throw GIVEN_UP;
    this.#position++;
  }

  #expectKey(key: string): void {
    this.#peek();
    const start = this.#position;
    const end = start + key.length + 2;
    if (this.#buffer.toString('latin1', start, end) !== `"${key}"`) throw GIVEN_UP;
    this.#position = end;
    this.#expect(COLON);
  }

  #expectEnd(): void {
    if (this.#peek() !== END) throw GIVEN_UP;
  }

  /** From a quote to behind the next one. @returns whether there are escapes between them */
  #skipText(): boolean {
    const bytes = this.#bytes;
    let isEscaped = false;
    for (let i = this.#position + 1; ; i++) {
      const byte = bytes[i];
      if (byte === QUOTE) {
        this.#position = i + 1;
        return isEscaped;
      }
      if (byte === BACKSLASH) {
        isEscaped = true;
        i++;
      } else if (byte === undefined || byte < SPACE) throw GIVEN_UP;
    }
  }

  /** Skips an integer that needs no parser. @returns false: there is none, nothing is skipped */
  #skipInteger(): boolean {
    const bytes = this.#bytes;
    const start = bytes[this.#position] === MINUS ? this.#position + 1 : this.#position;
    let end = start;
    while ((bytes[end] as number) >= DIGIT_0 && (bytes[end] as number) <= DIGIT_9) end++;
    const count = end - start;
    if (count === 0 || count > DIGIT_COUNT_EXACT) return false;
    if (bytes[start] === DIGIT_0 && count > 1) return false;
    // A fraction, an exponent or whatever else follows is for the parser.
    const behind = bytes[end];
    const isWhole =
      behind === COMMA || behind === CLOSE_LIST || behind === SPACE || behind === undefined;
    if (!isWhole) return false;
    this.#position = end;
    return true;
  }

  /** Skips a value whose text is parsed or compared later; finds its end only. */
  #skipValue(): void {
    const bytes = this.#bytes;
    let depth = 0;
    for (;;) {
      const byte = bytes[this.#position];
      if (byte === undefined) throw GIVEN_UP;
      if (byte === QUOTE) this.#skipText();
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        depth++;
        this.#position++;
        continue;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth === 0) return;
        depth--;
        this.#position++;
      } else if (byte === LF && this.#isByLine) throw GIVEN_UP;
      else if (depth === 0 && (byte === COMMA || byte <= SPACE)) return;
      else {
        this.#position++;
        continue;
      }
      if (depth === 0) return;
    }
  }
}
