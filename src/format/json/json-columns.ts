// JSON documents to columns: each line is scanned as bytes, members go to the columns that their
// paths name, and no object is made. Lines that need more care are read by the exact parser.

import {
  JSON_DEPTH_MAX,
  JsonSyntaxError,
  parseJson,
  stringifyJson,
} from '../../util/exact-json.ts';
import type { Atom } from '../../value/atom.ts';
import { normalizeInteger } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnBuilder } from '../../value/column/column-builder.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { atomText } from '../../value/text.ts';

/** `parse`: elements below 0, 1, …; `encode`: atoms as names of columns, objects as JSON text. */
export type ArrayMode = 'parse' | 'encode';

export interface JsonFault {
  readonly reason: string;
  /** of the character in the line, counted from 1 */
  readonly column: number;
}

/** A place in documents: a column, members below it, or both. */
class Member {
  readonly path: readonly string[];
  /** the name in UTF-8 */
  readonly name: Uint8Array;
  /** -1: no value has been seen here */
  column = -1;
  /** number of the last line that has a value here */
  row = -1;
  /** number of the last line that names this member */
  named = -1;
  /** in the order of their first use, which most rows share */
  readonly children: Member[] = [];
  readonly byName = new Map<string, Member>();

  constructor(path: readonly string[]) {
    this.path = path;
    this.name = Buffer.from(path[path.length - 1] ?? '');
  }

  child(name: string): Member {
    let child = this.byName.get(name);
    if (child === undefined) {
      child = new Member([...this.path, name]);
      this.byName.set(name, child);
      this.children.push(child);
    }
    return child;
  }

  element(index: number): Member {
    const child = this.children[index];
    // Names of elements are their positions as long as no object was here.
    if (child?.path[child.path.length - 1] === String(index)) return child;
    return this.child(String(index));
  }
}

const TEXT = 1;
const NUMBER = 2;
const NULL = 3;
const ATOM = 4;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Numbers of so many digits are exact as doubles, and so are the powers of ten below. */
const DIGIT_COUNT_MAX = 15;
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Columns of the documents of a text, one row each. */
export class JsonColumns {
  readonly #arenas: ArenaAllocator;
  readonly #mode: ArrayMode;
  readonly #root = new Member([]);
  readonly #columns: ColumnBuilder[] = [];
  #rowCount = 0;

  // The line that is being scanned.
  #bytes: Buffer = Buffer.alloc(0);
  #position = 0;
  #end = 0;
  /** counts lines, refused ones included, to tell members that occur twice in one */
  #stamp = 0;

  // What the line holds; written to the columns when it has been read to its end.
  #count = 0;
  #tapeColumns = new Int32Array(64);
  #tapeKinds = new Uint8Array(64);
  #tapeNumbers = new Float64Array(64);
  #tapeStarts = new Int32Array(64);
  #tapeEnds = new Int32Array(64);
  #tapeAtoms: Atom[] = [];
  #wasScanned = false;

  constructor(arenas: ArenaAllocator, mode: ArrayMode) {
    this.#arenas = arenas;
    this.#mode = mode;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /**
   * Adds the document in [start, end) as a row.
   * @param bytes valid UTF-8
   * @returns what is wrong with it; then there is no row
   */
  add(bytes: Buffer, start: number, end: number): JsonFault | undefined {
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
    this.#stamp++;
    this.#count = 0;
    this.#wasScanned = this.#scanDocument();
    if (!this.#wasScanned) {
      this.#stamp++;
      this.#count = 0;
      const fault = this.#parseDocument(bytes.toString('utf8', start, end));
      if (fault !== undefined) return fault;
    }
    this.#flush();
    return undefined;
  }

  get columnCount(): number {
    return this.#columns.length;
  }

  /** The columns of the values of the last row, as they stood in its text; undefined when only the parser knows. */
  scannedColumns(): Int32Array | undefined {
    return this.#wasScanned ? this.#tapeColumns.subarray(0, this.#count) : undefined;
  }

  /** A column to which values of rows behind the last are appended; `endRows` says how many rows. */
  columnForRows(number: number): ColumnBuilder {
    const column = this.#columns[number] as ColumnBuilder;
    column.appendNulls(this.#rowCount - column.rowCount);
    return column;
  }

  endRows(count: number): void {
    this.#rowCount += count;
  }

  /** Ends the columns; this is used up. */
  seal(): ColumnSnapshot[] {
    return this.#columns.map((column) => {
      column.appendNulls(this.#rowCount - column.rowCount);
      return column.seal();
    });
  }

  /** Gives up. */
  release(): void {
    for (const column of this.#columns) column.release();
  }

  #flush(): void {
    const row = this.#rowCount++;
    for (let i = 0; i < this.#count; i++) {
      const column = this.#columns[this.#tapeColumns[i] as number] as ColumnBuilder;
      // A column catches up on rows without it only when it is needed again.
      if (column.rowCount < row) column.appendNulls(row - column.rowCount);
      switch (this.#tapeKinds[i]) {
        case TEXT:
          column.appendText(
            this.#bytes,
            this.#tapeStarts[i] as number,
            this.#tapeEnds[i] as number,
          );
          break;
        case NUMBER:
          column.appendNumber(this.#tapeNumbers[i] as number);
          break;
        case NULL:
          column.appendNulls(1);
          break;
        default:
          column.append(this.#tapeAtoms[i] as Atom);
      }
    }
  }

  /** @returns the position of a new entry of the tape; -1 when the member has one in this row */
  #enter(member: Member, kind: number): number {
    if (member.row === this.#stamp) return -1;
    member.row = this.#stamp;
    if (member.column === -1) {
      member.column = this.#columns.push(new ColumnBuilder(member.path, this.#arenas)) - 1;
    }
    const index = this.#count++;
    if (index === this.#tapeColumns.length) this.#growTape();
    this.#tapeColumns[index] = member.column;
    this.#tapeKinds[index] = kind;
    return index;
  }

  #growTape(): void {
    const size = this.#tapeColumns.length * 2;
    const grow = <T extends Int32Array | Float64Array | Uint8Array>(old: T, larger: T): T => {
      larger.set(old);
      return larger;
    };
    this.#tapeColumns = grow(this.#tapeColumns, new Int32Array(size));
    this.#tapeKinds = grow(this.#tapeKinds, new Uint8Array(size));
    this.#tapeNumbers = grow(this.#tapeNumbers, new Float64Array(size));
    this.#tapeStarts = grow(this.#tapeStarts, new Int32Array(size));
    this.#tapeEnds = grow(this.#tapeEnds, new Int32Array(size));
  }

  // The scan. Every step says false where the exact parser must look at the line.

  #scanDocument(): boolean {
    const first = this.#next();
    if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return false;
    if (!this.#scanValue(this.#root, 0)) return false;
    this.#next();
    return this.#position === this.#end;
  }

  /** Skips white space. @returns the byte there, -1 at the end of the line */
  #next(): number {
    const bytes = this.#bytes;
    let position = this.#position;
    const end = this.#end;
    while (position < end) {
      const byte = bytes[position] as number;
      if (byte > SPACE || (byte !== SPACE && byte !== 9 && byte !== 13)) {
        this.#position = position;
        return byte;
      }
      position++;
    }
    this.#position = position;
    return -1;
  }

  #scanValue(member: Member, depth: number): boolean {
    const byte = this.#next();
    switch (byte) {
      case QUOTE:
        return this.#scanText(member);
      case OPEN_OBJECT:
        return depth < JSON_DEPTH_MAX && this.#scanObject(member, depth + 1);
      case OPEN_ARRAY:
        return (
          this.#mode === 'parse' && depth < JSON_DEPTH_MAX && this.#scanArray(member, depth + 1)
        );
      case 0x74:
        return this.#scanWord(member, 'true', 1);
      case 0x66:
        return this.#scanWord(member, 'false', 0);
      case 0x6e:
        return this.#scanWord(member, 'null', undefined);
      default:
        return this.#scanNumber(member);
    }
  }

  #scanObject(member: Member, depth: number): boolean {
    this.#position++;
    if (this.#next() === CLOSE_OBJECT) {
      this.#position++;
      return true;
    }
    for (let index = 0; ; index++) {
      if (this.#next() !== QUOTE) return false;
      const start = this.#position + 1;
      const child = this.#memberAt(member, index, start);
      // Of members that occur twice the last counts, which is more than a scan can tell.
      if (child === undefined || child.named === this.#stamp) return false;
      child.named = this.#stamp;
      if (this.#next() !== COLON) return false;
      this.#position++;
      if (!this.#scanValue(child, depth)) return false;
      const byte = this.#next();
      this.#position++;
      if (byte === CLOSE_OBJECT) return true;
      if (byte !== COMMA) return false;
    }
  }

  /** The member whose name starts here; goes behind its closing quote. */
  #memberAt(member: Member, index: number, start: number): Member | undefined {
    const bytes = this.#bytes;
    const likely = member.children[index];
    if (likely !== undefined) {
      const { name } = likely;
      const end = start + name.length;
      if (end < this.#end && bytes[end] === QUOTE) {
        let i = 0;
        while (i < name.length && name[i] === bytes[start + i]) i++;
        if (i === name.length) {
          this.#position = end + 1;
          return likely;
        }
      }
    }
    const end = this.#plainTextEnd(start);
    if (end === -1) return undefined;
    this.#position = end + 1;
    return member.child(bytes.toString('utf8', start, end));
  }

  /** The position of the closing quote of a text without escapes; -1 when there is none. */
  #plainTextEnd(start: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      if (byte === QUOTE) return i;
      if (byte === BACKSLASH || byte < SPACE) return -1;
    }
    return -1;
  }

  #scanArray(member: Member, depth: number): boolean {
    this.#position++;
    if (this.#next() === CLOSE_ARRAY) {
      this.#position++;
      return true;
    }
    for (let index = 0; ; index++) {
      if (!this.#scanValue(member.element(index), depth)) return false;
      const byte = this.#next();
      this.#position++;
      if (byte === CLOSE_ARRAY) return true;
      if (byte !== COMMA) return false;
    }
  }

  #scanText(member: Member): boolean {
    const start = this.#position + 1;
    const end = this.#plainTextEnd(start);
    if (end === -1) return this.#scanEscapedText(member, start);
    const index = this.#enter(member, TEXT);
    if (index === -1) return false;
    this.#tapeStarts[index] = start;
    this.#tapeEnds[index] = end;
    this.#position = end + 1;
    return true;
  }

  #scanEscapedText(member: Member, start: number): boolean {
    const bytes = this.#bytes;
    let end = start;
    while (end < this.#end && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
    if (end >= this.#end) return false;
    let text: string;
    try {
      text = JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;
    } catch {
      return false;
    }
    const index = this.#enter(member, ATOM);
    if (index === -1) return false;
    this.#tapeAtoms[index] = text;
    this.#position = end + 1;
    return true;
  }

  #scanWord(member: Member, word: string, value: number | undefined): boolean {
    const end = this.#position + word.length;
    if (end > this.#end) return false;
    for (let i = 1; i < word.length; i++) {
      if (this.#bytes[this.#position + i] !== word.charCodeAt(i)) return false;
    }
    this.#position = end;
    const index = this.#enter(member, value === undefined ? NULL : NUMBER);
    if (index === -1) return false;
    if (value !== undefined) this.#tapeNumbers[index] = value;
    return true;
  }

  #scanNumber(member: Member): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    const start = this.#position;
    let position = start;
    const isNegative = bytes[position] === MINUS;
    if (isNegative) position++;
    const digitsStart = position;
    let mantissa = 0;
    let byte = position < end ? (bytes[position] as number) : 0;
    while (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      position++;
      byte = position < end ? (bytes[position] as number) : 0;
    }
    let digitCount = position - digitsStart;
    // No digit, or a zero in front of others.
    if (digitCount === 0 || (digitCount > 1 && bytes[digitsStart] === ZERO)) return false;
    let fractionCount = 0;
    if (byte === POINT) {
      const fractionStart = ++position;
      byte = position < end ? (bytes[position] as number) : 0;
      while (byte >= ZERO && byte <= NINE) {
        mantissa = mantissa * 10 + (byte - ZERO);
        position++;
        byte = position < end ? (bytes[position] as number) : 0;
      }
      fractionCount = position - fractionStart;
      if (fractionCount === 0) return false;
      digitCount += fractionCount;
    }
    const isHard = digitCount > DIGIT_COUNT_MAX || byte === 0x65 || byte === 0x45;
    if (isHard) return this.#scanHardNumber(member, start);
    const index = this.#enter(member, NUMBER);
    if (index === -1) return false;
    const value =
      fractionCount === 0 ? mantissa : mantissa / (POWERS_OF_TEN[fractionCount] as number);
    this.#tapeNumbers[index] = isNegative && value !== 0 ? -value : value;
    this.#position = position;
    return true;
  }

  /** Many digits, or an exponent. */
  #scanHardNumber(member: Member, start: number): boolean {
    const bytes = this.#bytes;
    let end = start;
    while (end < this.#end && isNumberByte(bytes[end] as number)) end++;
    let atom: Atom;
    try {
      atom = atomOfJson(parseJson(bytes.toString('latin1', start, end)));
    } catch {
      return false;
    }
    const index = this.#enter(member, ATOM);
    if (index === -1) return false;
    this.#tapeAtoms[index] = atom;
    this.#position = end;
    return true;
  }

  // The exact way.

  #parseDocument(text: string): JsonFault | undefined {
    let document: unknown;
    try {
      document = parseDocument(text);
    } catch (thrown) {
      if (thrown instanceof JsonSyntaxError) return jsonFault(thrown, text);
      throw thrown;
    }
    if (typeof document !== 'object' || document === null) return NO_DOCUMENT;
    visitJson(document, this.#mode, (path, atom) => {
      let member = this.#root;
      for (const name of path) member = member.child(name);
      const index = this.#enter(member, ATOM);
      // Elements of one text are one column.
      if (index !== -1) this.#tapeAtoms[index] = atom;
    });
    return undefined;
  }
}

const NO_DOCUMENT: JsonFault = { reason: 'expected an object or an array', column: 1 };

function isNumberByte(byte: number): boolean {
  return (
    (byte >= ZERO && byte <= NINE) ||
    byte === MINUS ||
    byte === POINT ||
    byte === 0x2b ||
    byte === 0x65 ||
    byte === 0x45
  );
}

/** @throws JsonSyntaxError */
export function parseDocument(text: string): unknown {
  return parseJson(text);
}

/** What the parser says of a line. */
export function jsonFault({ message, column }: JsonSyntaxError, text: string): JsonFault {
  const reason = message.replace(/ at line \d+, column \d+$/, '');
  // Whatever stands behind a whole document is one fault.
  const head = text.slice(0, column - 1);
  if (isWhole(head)) return { reason: `extra characters at end of line`, column };
  return { reason, column };
}

function isWhole(text: string): boolean {
  if (text.trim() === '') return false;
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** The atom of a JSON value that is neither object nor array. */
export function atomOfJson(value: unknown): Atom {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') return normalizeInteger(value);
  if (typeof value === 'number') return value + 0;
  return value as string | null;
}

/** Visits the atoms of a document at any depth, arrays as the mode says. */
export function visitJson(
  value: unknown,
  mode: ArrayMode,
  visit: (path: readonly string[], atom: Atom) => void,
  path: readonly string[] = [],
): void {
  if (typeof value !== 'object' || value === null) visit(path, atomOfJson(value));
  else if (Array.isArray(value)) visitArray(value, mode, visit, path);
  else {
    for (const [name, member] of Object.entries(value)) {
      visitJson(member, mode, visit, [...path, name]);
    }
  }
}

function visitArray(
  elements: readonly unknown[],
  mode: ArrayMode,
  visit: (path: readonly string[], atom: Atom) => void,
  path: readonly string[],
): void {
  if (mode === 'encode' && elements.every((element) => !isStructured(element))) {
    for (const element of elements) {
      const atom = atomOfJson(element);
      if (atom !== null) visit([...path, atomText(atom)], 1);
    }
    return;
  }
  const isText = mode === 'encode' && elements.every((element) => isObject(element));
  for (const [index, element] of elements.entries()) {
    const place = [...path, String(index)];
    if (isText) visit(place, stringifyJson(sortedMembers(element)));
    else visitJson(element, mode, visit, place);
  }
}

function isStructured(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isObject(value: unknown): boolean {
  return isStructured(value) && !Array.isArray(value);
}

function sortedMembers(value: unknown): unknown {
  if (!isStructured(value)) return value;
  if (Array.isArray(value)) return value.map(sortedMembers);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortedMembers(member)]));
}
