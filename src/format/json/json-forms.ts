// Lines that have the form of a line before are read by a kernel, which takes the values of many of
// them into columns of scratch memory. From there they go to the columns of the unit.
import { JSON_CELL, JSON_PIECE, JSON_PIECE_SIZE } from '../../kernel/generated.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { ColumnBuilder } from '../../value/column/column-builder.ts';
import { type Scratch, ScratchDictionary } from '../csv/scratch.ts';
import { atomOfJson, type JsonColumns } from './json-columns.ts';

/** Rows that are collected before they go to the columns. */
const ROW_COUNT_MAX = 2048;
/** Documents of more columns than this are read one by one. */
const COLUMN_COUNT_MAX = 512;
/** Pieces that are kept; when there are more, all are forgotten. */
const PIECE_COUNT_MAX = 4096;
/** Text in front of the first cell, as the cell before it. */
const MARGIN = 8;
/** Bytes behind the text that kernels may read. */
const OVERRUN_SIZE = 64;

/** Lines that forms did not fit, after which it is looked whether they are worth their while. */
const TRIAL_LINE_COUNT = 64;
/** Lines that are read one by one before forms are tried again. */
const PAUSE_LINE_COUNT = 1024;

const ONLY_NUMBERS = 1 << JSON_CELL.number;
const ONLY_TEXTS = 1 << JSON_CELL.text;
const ESCAPED = 1 << JSON_CELL.escaped;
const ONLY_ABSENT = 1 << JSON_CELL.absent;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** What some lines have in common at a place, and what may follow. */
interface Piece {
  readonly address: number;
  readonly literal: Span;
  readonly next: Piece[];
  /** the bytes of the literal, one a character */
  readonly text: string;
}

interface Span {
  readonly address: number;
  readonly size: number;
}

/** Values of one column that have been read; `cells` say of what kind each is. */
interface Collected {
  readonly values: number;
  readonly cells: number;
  dictionary: ScratchDictionary | undefined;
  /** codes of the entries of `dictionary` in the column */
  codes: Uint32Array;
  knownCount: number;
}

/** Reads the lines of one text that are alike. */
export class JsonForms {
  readonly #scratch: Scratch;
  readonly #columns: JsonColumns;
  readonly #lineSizeMax: number;
  readonly #bytes: Buffer;
  /** the text, with room behind it */
  readonly #text: number;
  readonly #report: number;
  readonly #codes: number;
  /** cells of those rows of a column that are texts */
  readonly #pairs: number;
  readonly #collected: (Collected | undefined)[] = [];
  /** those that begin lines */
  readonly #pieces: Piece[] = [];
  #pieceCount = 0;
  readonly #pieceRoom: number;
  #rowCount = 0;
  // Since forms were last judged.
  #fitCount = 0;
  #otherCount = 0;
  /** lines that are still to be read one by one */
  #pause = 0;

  /** @param bytes valid UTF-8 */
  constructor(bytes: Buffer, columns: JsonColumns, lineSizeMax: number, scratch: Scratch) {
    this.#bytes = bytes;
    this.#columns = columns;
    this.#lineSizeMax = lineSizeMax;
    this.#scratch = scratch;
    this.#text = scratch.allocate(this.#textSize);
    this.#report = scratch.allocate(16);
    this.#pieceRoom = scratch.allocate(PIECE_COUNT_MAX * JSON_PIECE_SIZE);
    this.#codes = scratch.allocate(ROW_COUNT_MAX * 4);
    this.#pairs = scratch.allocate(ROW_COUNT_MAX * 8 + MARGIN) + MARGIN;
    scratch.arena.u8.set(bytes, this.#text);
    scratch.arena.u8[this.#text + bytes.length] = 0;
  }

  get #textSize(): number {
    return this.#bytes.length + OVERRUN_SIZE;
  }

  /**
   * Reads lines from `start` on while they have forms that are known.
   * @returns where it stopped, and how many it has read
   */
  read(start: number): { readonly position: number; readonly lineCount: number } {
    const { kernels, arena } = this.#scratch;
    const pieces = this.#pieces[0]?.address;
    if (this.#pause > 0 || pieces === undefined) return { position: start, lineCount: 0 };
    if (this.#rowCount === ROW_COUNT_MAX) this.flush();
    const end = this.#text + this.#bytes.length;
    const row = kernels.jsonLines(
      ...([this.#text + start, end, pieces, this.#rowCount, ROW_COUNT_MAX] as const),
      ...([this.#lineSizeMax, this.#report] as const),
    );
    const lineCount = row - this.#rowCount;
    this.#rowCount = row;
    const position = arena.u32[this.#report >> 2] as number;
    if (row < ROW_COUNT_MAX && position < end) this.#forgetRow(row);
    this.#fitCount += lineCount;
    return { position: position - this.#text, lineCount };
  }

  /** Learns the form of the line that the columns took last. */
  learn(start: number, end: number): void {
    if (this.#pause > 0) {
      this.#pause--;
      return;
    }
    if (++this.#otherCount === TRIAL_LINE_COUNT) {
      if (this.#fitCount < TRIAL_LINE_COUNT) this.#pause = PAUSE_LINE_COUNT;
      this.#fitCount = 0;
      this.#otherCount = 0;
    }
    const columns = this.#columns.scannedColumns();
    if (columns === undefined || this.#columns.columnCount > COLUMN_COUNT_MAX) return;
    const places = valuePlaces(this.#bytes, start, end);
    if (places.length !== columns.length * 2) return;
    if (this.#pieceCount + columns.length >= PIECE_COUNT_MAX) this.#forgetPieces();
    let parent: Piece | undefined;
    let from = start;
    for (let i = 0; i <= columns.length; i++) {
      const isLast = i === columns.length;
      const to = isLast ? trimmedEnd(this.#bytes, from, end) : (places[i * 2] as number);
      const text = this.#bytes.toString('latin1', from, to);
      const known = parent?.next ?? this.#pieces;
      const piece = known.find((each) => each.text === text && this.#hasValue(each) !== isLast);
      parent = piece ?? this.#addPiece(text, parent, isLast ? undefined : columns[i]);
      from = places[i * 2 + 1] as number;
    }
  }

  #addPiece(text: string, parent: Piece | undefined, column: number | undefined): Piece {
    const scratch = this.#scratch;
    const { u8, u32 } = scratch.arena;
    const size = text.length + OVERRUN_SIZE;
    const literal = { address: scratch.allocate(size), size };
    const address = this.#pieceRoom + this.#pieceCount++ * JSON_PIECE_SIZE;
    const collected = column === undefined ? undefined : this.#collectedOf(column);
    const piece: Piece = { address, literal, next: [], text };
    u8.set(Buffer.from(text, 'latin1'), literal.address);
    const set = (at: number, field: keyof typeof JSON_PIECE, value: number) => {
      u32[(at + JSON_PIECE[field]) >> 2] = value;
    };
    set(address, 'literal', literal.address);
    set(address, 'literalSize', text.length);
    set(address, 'values', collected?.values ?? 0);
    set(address, 'cells', collected?.cells ?? 0);
    set(address, 'next', 0);
    set(address, 'other', 0);
    const known = parent?.next ?? this.#pieces;
    const before = known.at(-1);
    if (before !== undefined) set(before.address, 'other', address);
    else if (parent !== undefined) set(parent.address, 'next', address);
    known.push(piece);
    return piece;
  }

  #hasValue({ address }: Piece): boolean {
    return this.#scratch.arena.u32[(address + JSON_PIECE.values) >> 2] !== 0;
  }

  #forgetPieces(): void {
    const free = (pieces: readonly Piece[]) => {
      for (const { literal, next } of pieces) {
        this.#scratch.free(literal.address, literal.size);
        free(next);
      }
    };
    free(this.#pieces.splice(0));
    this.#pieceCount = 0;
  }

  /** Takes back what was read of a line of another form. */
  #forgetRow(row: number): void {
    const { u8 } = this.#scratch.arena;
    for (const collected of this.#collected) {
      if (collected !== undefined) u8[collected.cells + row] = JSON_CELL.absent;
    }
  }

  /** Moves the rows that were read to the columns. */
  flush(): void {
    const rowCount = this.#rowCount;
    if (rowCount === 0) return;
    const { arena, kernels } = this.#scratch;
    for (const [number, collected] of this.#collected.entries()) {
      if (collected === undefined) continue;
      const seen = kernels.jsonCells(collected.cells, rowCount);
      if (seen === ONLY_ABSENT) continue;
      this.#flushColumn(this.#columns.columnForRows(number), collected, seen, rowCount);
      arena.u8.fill(JSON_CELL.absent, collected.cells, collected.cells + rowCount);
    }
    this.#columns.endRows(rowCount);
    this.#rowCount = 0;
  }

  release(): void {
    const scratch = this.#scratch;
    scratch.free(this.#text, this.#textSize);
    scratch.free(this.#report, 16);
    scratch.free(this.#codes, ROW_COUNT_MAX * 4);
    scratch.free(this.#pairs - MARGIN, ROW_COUNT_MAX * 8 + MARGIN);
    scratch.free(this.#pieceRoom, PIECE_COUNT_MAX * JSON_PIECE_SIZE);
    this.#forgetPieces();
    for (const collected of this.#collected) {
      if (collected === undefined) continue;
      scratch.free(collected.values - MARGIN, ROW_COUNT_MAX * 8 + MARGIN);
      scratch.free(collected.cells, ROW_COUNT_MAX);
      collected.dictionary?.release();
    }
  }

  #collectedOf(column: number): Collected {
    let collected = this.#collected[column];
    if (collected === undefined) {
      const cells = this.#scratch.allocate(ROW_COUNT_MAX);
      this.#scratch.arena.u8.fill(JSON_CELL.absent, cells, cells + ROW_COUNT_MAX);
      collected = {
        values: this.#scratch.allocate(ROW_COUNT_MAX * 8 + MARGIN) + MARGIN,
        cells,
        dictionary: undefined,
        codes: new Uint32Array(0),
        knownCount: 0,
      };
      this.#collected[column] = collected;
    }
    return collected;
  }

  #flushColumn(column: ColumnBuilder, collected: Collected, seen: number, rowCount: number): void {
    const { arena, kernels } = this.#scratch;
    const { f64, u8 } = arena;
    const { values, cells } = collected;
    const first = values >> 3;
    if (seen === ONLY_NUMBERS) {
      column.appendNumbers(f64.subarray(first, first + rowCount));
      return;
    }
    if (seen === ONLY_TEXTS) {
      column.appendKnownCodes(this.#codesOf(values, rowCount, column, collected));
      return;
    }
    if ((seen & ESCAPED) !== 0) {
      kernels.jsonUnescape(values, cells, rowCount);
      const rest = kernels.jsonCells(cells, rowCount);
      this.#flushColumn(column, collected, rest, rowCount);
      return;
    }
    const hasTexts = (seen & ONLY_TEXTS) !== 0;
    const codes = hasTexts ? this.#codesOfTexts(column, collected, rowCount) : NO_CODES;
    let textCount = 0;
    for (let row = 0; row < rowCount; row++) {
      switch (u8[cells + row]) {
        case JSON_CELL.number:
          column.appendNumber(f64[first + row] as number);
          break;
        case JSON_CELL.text:
          column.appendCode(codes[textCount++] as number);
          break;
        case JSON_CELL.integer:
          column.append(atomOfJson(parseJson(this.#textAt(first + row))));
          break;
        default:
          column.appendNulls(1);
      }
    }
  }

  /** The codes of those rows whose cells are texts. */
  #codesOfTexts(column: ColumnBuilder, collected: Collected, rowCount: number): Uint32Array {
    const { u8, u32 } = this.#scratch.arena;
    const { values, cells } = collected;
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      if (u8[cells + row] !== JSON_CELL.text) continue;
      const from = (values >> 2) + row * 2;
      const to = (this.#pairs >> 2) + count++ * 2;
      u32[to] = u32[from] as number;
      u32[to + 1] = u32[from + 1] as number;
    }
    return this.#codesOf(this.#pairs, count, column, collected);
  }

  /** The codes in the column of texts, each of which is two addresses. */
  #codesOf(pairs: number, count: number, column: ColumnBuilder, collected: Collected): Uint32Array {
    const { arena, kernels } = this.#scratch;
    collected.dictionary ??= new ScratchDictionary(this.#scratch);
    const { dictionary } = collected;
    for (let done = 0; done < count; ) {
      const cell = pairs + done * 8 + 4;
      done += kernels.csvCodes(cell, 8, count - done, this.#codes + done * 4, dictionary.address);
      if (done === count) break;
      const at = (pairs >> 2) + done * 2;
      dictionary.grow((arena.u32[at + 1] as number) - (arena.u32[at] as number));
    }
    this.#learnCodes(column, collected);
    const { codes } = collected;
    const out = arena.u32.subarray(this.#codes >> 2, (this.#codes >> 2) + count);
    // The dictionary has no empty text.
    if (codes[0] === 0 && kernels.csvZeros(this.#codes, count) > 0) {
      codes[0] = column.textCode(arena.u8, 0, 0);
    }
    for (let i = 0; i < count; i++) out[i] = codes[out[i] as number] as number;
    return out;
  }

  /** Gives new entries of the dictionary codes in the column; code 0 is that of the empty text. */
  #learnCodes(column: ColumnBuilder, collected: Collected): void {
    const dictionary = collected.dictionary as ScratchDictionary;
    const { count } = dictionary;
    if (count >= collected.codes.length) {
      const codes = new Uint32Array(Math.max(256, (count + 1) * 2));
      codes.set(collected.codes);
      collected.codes = codes;
    }
    const { codes } = collected;
    const offsets = dictionary.offsets();
    const bytes = dictionary.bytes();
    for (let code = collected.knownCount + 1; code <= count; code++) {
      codes[code] = column.textCode(bytes, offsets[code] as number, offsets[code + 1] as number);
    }
    collected.knownCount = count;
  }

  #textAt(value: number): string {
    const { u8, u32 } = this.#scratch.arena;
    const start = u32[value * 2] as number;
    return Buffer.from(u8.buffer, start, (u32[value * 2 + 1] as number) - start).toString('utf8');
  }
}

const NO_CODES = new Uint32Array(0);

/** Where the values of a line begin and end, in turns. @param bytes a valid document in [start, end) */
function valuePlaces(bytes: Uint8Array, start: number, end: number): number[] {
  const places: number[] = [];
  for (let position = start; position < end; ) {
    const byte = bytes[position] as number;
    if (byte === QUOTE) {
      let close = position + 1;
      while (bytes[close] !== QUOTE) close += bytes[close] === BACKSLASH ? 2 : 1;
      let next = close + 1;
      while (next < end && isSpace(bytes[next] as number)) next++;
      if (bytes[next] !== COLON) places.push(position, close + 1);
      position = close + 1;
    } else if (isBetweenValues(byte)) position++;
    else {
      let last = position;
      while (last < end && !isBetweenValues(bytes[last] as number)) last++;
      places.push(position, last);
      position = last;
    }
  }
  return places;
}

/** Space, or one of `,:[]{}`. */
function isBetweenValues(byte: number): boolean {
  return isSpace(byte) || byte === 0x2c || byte === COLON || BRACKETS.has(byte);
}

const BRACKETS: ReadonlySet<number> = new Set([0x5b, 0x5d, 0x7b, 0x7d]);

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 9 || byte === 13;
}

function trimmedEnd(bytes: Uint8Array, start: number, end: number): number {
  let last = end;
  while (last > start && isSpace(bytes[last - 1] as number)) last--;
  return last;
}
