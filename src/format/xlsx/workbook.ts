// The cells of a workbook (Office Open XML, ECMA-376 part 1), sheet by sheet.
import { Parser } from 'htmlparser2';
import { zipEntries } from '../../file/archive/zip.ts';
import type { ByteStream } from '../../file/byte-stream.ts';
import type { SourceFile } from '../../file/scheme.ts';
import { failure, type RowanError } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { parseTimestamp, Timestamp } from '../../value/timestamp.ts';

export interface Sheet {
  readonly name: string;
  readonly rows: readonly SheetRow[];
}

export interface SheetRow {
  /** counted from 1 */
  readonly number: number;
  /** letters of the column, and its value */
  readonly cells: readonly (readonly [column: string, atom: Atom])[];
}

export interface Workbook {
  /** in the order of the workbook */
  readonly sheets: readonly Sheet[];
  /** the earliest time of a member of the file, in seconds */
  readonly modified: number;
}

/** Texts and cells of more bytes than this are more than a workbook has. */
const MEMBER_SIZE_MAX = 2 ** 31;

/** @param wanted names of sheets; absent: all. @throws DATA_ERROR when the file is no workbook */
export async function readWorkbook(
  file: SourceFile,
  wanted: ReadonlySet<string> | undefined,
  check: () => void,
): Promise<Workbook> {
  const texts = new Map<string, string>();
  let modified = Number.POSITIVE_INFINITY;
  let strings: string[] = [];
  for await (const entry of zipEntries(file)) {
    check();
    modified = Math.min(modified, entry.lastModified ?? modified);
    if (entry.name === 'xl/sharedStrings.xml') {
      strings = await readStrings(limited(await entry.content(), file), check);
    } else if (SMALL_MEMBERS.has(entry.name)) {
      texts.set(entry.name, await textOf(limited(await entry.content(), file)));
    }
  }
  const workbook = texts.get('xl/workbook.xml');
  if (workbook === undefined) throw noWorkbook(file, 'it has no xl/workbook.xml');
  const { sheets, date1904 } = readSheets(workbook, texts.get('xl/_rels/workbook.xml.rels') ?? '');
  const missing = [...(wanted ?? [])].find((name) => !sheets.some((sheet) => sheet.name === name));
  if (missing !== undefined) {
    throw failure(
      'INVALID_PARAMETER',
      `${file.url} has no sheet '${missing}'; there are ${sheets.map(({ name }) => name).join(', ')}`,
    );
  }
  const formats = readFormats(texts.get('xl/styles.xml') ?? '');
  const rows = new Map<string, SheetRow[]>();
  const members = new Set(
    sheets.filter(({ name }) => wanted?.has(name) ?? true).map(({ member }) => member),
  );
  for await (const entry of zipEntries(file)) {
    if (!members.has(entry.name)) continue;
    const cells = new CellReader(strings, formats, date1904);
    await parse(limited(await entry.content(), file), cells, check);
    rows.set(entry.name, cells.rows);
  }
  return {
    sheets: sheets.flatMap(({ name, member }) => {
      const found = rows.get(member);
      return found === undefined ? [] : [{ name, rows: found }];
    }),
    modified: Number.isFinite(modified) ? modified : file.lastModified,
  };
}

const SMALL_MEMBERS: ReadonlySet<string> = new Set([
  'xl/workbook.xml',
  'xl/_rels/workbook.xml.rels',
  'xl/styles.xml',
]);

/** DATA_ERROR for a file that is no workbook. */
export function noWorkbook({ url }: SourceFile, reason: string): RowanError {
  return failure('DATA_ERROR', `${url} is no workbook (.xlsx): ${reason}`, { url });
}

async function* limited(source: ByteStream, file: SourceFile): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const bytes of source) {
    size += bytes.length;
    if (size > MEMBER_SIZE_MAX) throw noWorkbook(file, 'a part of it is too large');
    yield bytes;
  }
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** The limits of the format; what is beyond them comes of no program that makes workbooks. */
const ROW_NUMBER_MAX = 1_048_576;
const COLUMN_NUMBER_MAX = 16_384;
/** The format has 32,767; texts of more than this are no texts of cells. */
const TEXT_LENGTH_MAX = 2 ** 24;

function withLimit(text: string): string {
  if (text.length > TEXT_LENGTH_MAX) {
    throw new Error(`a text has more than ${TEXT_LENGTH_MAX} characters`);
  }
  return text;
}

interface Handler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text(text: string): void;
  close(name: string): void;
}

/** Names come without their prefix. */
function parserOf(handler: Handler): Parser {
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  return new Parser(
    {
      onopentag: (name, attributes) => handler.open(local(name), attributes),
      ontext: (text) => handler.text(text),
      onclosetag: (name) => handler.close(local(name)),
    },
    { xmlMode: true },
  );
}

async function parse(
  source: AsyncIterable<Uint8Array>,
  handler: Handler,
  check: () => void,
): Promise<void> {
  const parser = parserOf(handler);
  const decoder = new TextDecoder('utf-8');
  for await (const bytes of source) {
    check();
    parser.write(decoder.decode(bytes, { stream: true }));
  }
  parser.end();
}

function parseText(text: string, handler: Partial<Handler>): void {
  const parser = parserOf({ open() {}, text() {}, close() {}, ...handler });
  parser.write(text);
  parser.end();
}

/** Rich text is joined; what is said about pronunciation is left out. */
async function readStrings(
  source: AsyncIterable<Uint8Array>,
  check: () => void,
): Promise<string[]> {
  const strings: string[] = [];
  let current = '';
  let isText = false;
  let phonetic = 0;
  await parse(
    source,
    {
      open(name) {
        if (name === 'si') current = '';
        else if (name === 't') isText = true;
        else if (name === 'rPh') phonetic++;
      },
      text(text) {
        if (isText && phonetic === 0) current = withLimit(current + text);
      },
      close(name) {
        if (name === 't') isText = false;
        else if (name === 'rPh') phonetic--;
        else if (name === 'si') strings.push(current);
      },
    },
    check,
  );
  return strings;
}

function readSheets(workbook: string, relations: string) {
  const members = new Map<string, string>();
  parseText(relations, {
    open(name, { Id: id = '', Target: target = '' }) {
      if (name !== 'Relationship') return;
      members.set(id, target.startsWith('/') ? target.slice(1) : `xl/${target}`);
    },
  });
  const sheets: { readonly name: string; readonly member: string }[] = [];
  let date1904 = false;
  parseText(workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') date1904 = /^(1|true)$/.test(attributes.date1904 ?? '');
      if (name !== 'sheet') return;
      const member = members.get(attributes['r:id'] ?? '');
      if (member !== undefined) sheets.push({ name: attributes.name ?? '', member });
    },
  });
  return { sheets, date1904 };
}

type NumberKind = 'number' | 'date' | 'time';

/** What numbers are in cells of each style. */
function readFormats(styles: string): NumberKind[] {
  const codes = new Map<number, string>();
  const kinds: NumberKind[] = [];
  let isCells = false;
  parseText(styles, {
    open(name, attributes) {
      if (name === 'numFmt') {
        codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      } else if (name === 'cellXfs') isCells = true;
      else if (name === 'xf' && isCells) {
        const id = Number(attributes.numFmtId ?? 0);
        kinds.push(kindOf(id, codes.get(id)));
      }
    },
    close(name) {
      if (name === 'cellXfs') isCells = false;
    },
  });
  return kinds;
}

function kindOf(id: number, code: string | undefined): NumberKind {
  if ((id >= 14 && id <= 17) || id === 22) return 'date';
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return 'time';
  if (code === undefined) return 'number';
  // Quoted and escaped text, and colours, say nothing of the number; [h] and the like do.
  const plain = code
    .replaceAll(/"[^"]*"|\\./g, '')
    .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .toLowerCase();
  if (/yy|mmm/.test(plain)) return 'date';
  return /h|mm|ss/.test(plain) ? 'time' : 'number';
}

const SECONDS_PER_DAY = 86_400;
/** Days from the two epochs of workbooks to 1970-01-01. */
const EPOCH_1900_DAYS = 25_569;
const EPOCH_1904_DAYS = 24_107;

/** Reads the cells of a sheet. */
class CellReader implements Handler {
  readonly rows: SheetRow[] = [];
  readonly #strings: readonly string[];
  readonly #formats: readonly NumberKind[];
  readonly #epochDays: number;
  #row = 0;
  #cells: (readonly [string, Atom])[] = [];
  #column = 0;
  #type = '';
  #style = 0;
  #value: string | undefined;
  #isValue = false;
  #phonetic = 0;

  constructor(strings: readonly string[], formats: readonly NumberKind[], date1904: boolean) {
    this.#strings = strings;
    this.#formats = formats;
    this.#epochDays = date1904 ? EPOCH_1904_DAYS : EPOCH_1900_DAYS;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    switch (name) {
      case 'row':
        this.#row = attributes.r === undefined ? this.#row + 1 : Number(attributes.r);
        if (!(Number.isInteger(this.#row) && this.#row >= 1 && this.#row <= ROW_NUMBER_MAX)) {
          throw new Error(`a row has the number ${attributes.r ?? this.#row}`);
        }
        this.#cells = [];
        this.#column = 0;
        break;
      case 'c': {
        const letters = /^[A-Z]+/.exec(attributes.r ?? '')?.[0];
        this.#column = letters === undefined ? this.#column + 1 : numberOf(letters);
        if (this.#column > COLUMN_NUMBER_MAX) {
          throw new Error(`a cell of row ${this.#row} lies beyond column XFD`);
        }
        this.#type = attributes.t ?? 'n';
        this.#style = Number(attributes.s ?? 0);
        this.#value = undefined;
        break;
      }
      case 'v':
      case 't':
        this.#isValue = true;
        this.#value ??= '';
        break;
      case 'rPh':
        this.#phonetic++;
        break;
    }
  }

  text(text: string): void {
    if (this.#isValue && this.#phonetic === 0) {
      this.#value = withLimit((this.#value ?? '') + text);
    }
  }

  close(name: string): void {
    switch (name) {
      case 'v':
      case 't':
        this.#isValue = false;
        break;
      case 'rPh':
        this.#phonetic--;
        break;
      case 'c':
        this.#cells.push([lettersOf(this.#column), this.#atom()]);
        break;
      case 'row':
        if (this.#cells.length > 0) this.rows.push({ number: this.#row, cells: this.#cells });
        break;
    }
  }

  #atom(): Atom {
    const value = this.#value;
    if (value === undefined) return null;
    switch (this.#type) {
      case 's':
        return this.#strings[Number(value)] ?? null;
      case 'inlineStr':
      case 'str':
        return value;
      case 'b':
        return value === '1' || value === 'true' ? 1 : 0;
      case 'e':
        return null;
      case 'd': {
        const seconds = parseTimestamp(value);
        return seconds === null ? value : new Timestamp(seconds);
      }
      default:
        return this.#number(value);
    }
  }

  #number(text: string): Atom {
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number)) return null;
    switch (this.#formats[this.#style] ?? 'number') {
      case 'date': {
        // Milliseconds are all that a workbook keeps.
        const ms = Math.round((number - this.#epochDays) * SECONDS_PER_DAY * 1000);
        return new Timestamp(ms / 1000);
      }
      case 'time':
        return Interval.ofSigned(0, 0, Math.round(number * SECONDS_PER_DAY));
      case 'number':
        return number + 0;
    }
  }
}

/** A is 1, Z 26, AA 27. */
function numberOf(letters: string): number {
  let number = 0;
  for (const letter of letters) number = number * 26 + letter.charCodeAt(0) - 64;
  return number;
}

function lettersOf(column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}
