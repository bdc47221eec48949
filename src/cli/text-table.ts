// Rows as people read them on a terminal: aligned columns, cut to its width, and how many rows.
import type { Cell } from '../client/cell.ts';
import { stringifyJson } from '../util/exact-json.ts';

/** Rows that say how wide columns are; those after them are cut to that. */
const MEASURED_ROW_COUNT = 1000;
const GAP = '  ';
/** A column is not cut below this to make room for others. */
const COLUMN_WIDTH_MIN = 8;
const CUT = '…';

interface TextColumn {
  readonly name: string;
  readonly width: number;
  readonly isNumeric: boolean;
}

/**
 * Lines of a table, without line ends, while rows come.
 * @param rows names and values of each row; rows may have different columns
 * @param width characters of a line
 */
export async function* tableLines(
  rows: AsyncIterable<Readonly<Record<string, Cell>>>,
  width: number,
): AsyncGenerator<string, void, undefined> {
  const measured: Readonly<Record<string, Cell>>[] = [];
  let columns: readonly TextColumn[] | undefined;
  let rowCount = 0;
  const hidden = new Set<string>();
  for await (const row of rows) {
    rowCount++;
    if (columns !== undefined) {
      for (const name of Object.keys(row)) hidden.add(name);
      yield lineOf(row, columns);
      continue;
    }
    measured.push(row);
    if (measured.length < MEASURED_ROW_COUNT) continue;
    columns = layOut(measured, width);
    yield* firstLines(measured, columns);
    noteNames(measured, hidden);
  }
  if (columns === undefined) {
    columns = layOut(measured, width);
    yield* firstLines(measured, columns);
    noteNames(measured, hidden);
  }
  const rowsText = `${rowCount} ${rowCount === 1 ? 'row' : 'rows'}`;
  const isCut = hidden.size > columns.length;
  yield isCut
    ? `(${rowsText}; ${columns.length} of ${hidden.size} columns, --format csv shows all)`
    : `(${rowsText})`;
}

function noteNames(rows: readonly Readonly<Record<string, Cell>>[], names: Set<string>): void {
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
}

function* firstLines(
  rows: readonly Readonly<Record<string, Cell>>[],
  columns: readonly TextColumn[],
): Iterable<string> {
  if (columns.length > 0) {
    yield joinLine(columns.map((column) => fit(column.name, column)));
    yield joinLine(columns.map((column) => '-'.repeat(column.width)));
  }
  for (const row of rows) yield lineOf(row, columns);
}

function lineOf(row: Readonly<Record<string, Cell>>, columns: readonly TextColumn[]): string {
  return joinLine(
    columns.map((column) =>
      fit(Object.hasOwn(row, column.name) ? textOf(row[column.name]) : '', column),
    ),
  );
}

function joinLine(fields: readonly string[]): string {
  return fields.join(GAP).trimEnd();
}

/** Columns in the order of their first appearance, as many as there is room for. */
function layOut(rows: readonly Readonly<Record<string, Cell>>[], width: number): TextColumn[] {
  const widths = new Map<string, number>();
  const texts = new Set<string>();
  for (const row of rows) {
    for (const [name, cell] of Object.entries(row)) {
      const known = widths.get(name) ?? widthOf(printable(name));
      widths.set(name, Math.max(known, widthOf(textOf(cell))));
      if (typeof cell !== 'number' && typeof cell !== 'bigint' && cell !== null) texts.add(name);
    }
  }
  const columns = [...widths].map(([name, wanted]) => ({ name, width: wanted }));
  narrow(columns, width);
  while (columns.length > 1 && totalWidth(columns) > width) columns.pop();
  return columns.map(({ name, width: room }) => ({
    name,
    width: Math.min(room, Math.max(1, width)),
    isNumeric: !texts.has(name),
  }));
}

function totalWidth(columns: readonly { readonly width: number }[]): number {
  const gaps = GAP.length * Math.max(0, columns.length - 1);
  return columns.reduce((sum, column) => sum + column.width, gaps);
}

/** Takes from the widest columns first, down to the least that a column keeps. */
function narrow(columns: readonly { width: number }[], width: number): void {
  for (let excess = totalWidth(columns) - width; excess > 0; ) {
    const widest = Math.max(...columns.map((column) => column.width));
    if (widest <= COLUMN_WIDTH_MIN) return;
    const wide = columns.filter((column) => column.width === widest);
    const next = Math.max(
      COLUMN_WIDTH_MIN,
      ...columns.map((column) => column.width).filter((other) => other < widest),
    );
    const step = Math.max(1, Math.min(widest - next, Math.floor(excess / wide.length)));
    for (const column of wide) {
      if (excess <= 0) return;
      const taken = Math.min(step, excess);
      column.width -= taken;
      excess -= taken;
    }
  }
}

function textOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return 'NULL';
  if (typeof cell === 'string') return printable(cell);
  if (typeof cell === 'number' || typeof cell === 'bigint') return String(cell);
  const members = Object.values(cell as object);
  const [only] = members;
  return members.length === 1 && typeof only === 'string' ? printable(only) : stringifyJson(cell);
}

/** Line ends and what else moves the cursor, as JSON writes it. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}

function fit(text: string, { width, isNumeric }: TextColumn): string {
  const shown = printable(text);
  const excess = widthOf(shown) - width;
  if (excess <= 0) return isNumeric ? ' '.repeat(-excess) + shown : shown + ' '.repeat(-excess);
  let cut = '';
  let room = width - 1;
  for (const { segment } of graphemes.segment(shown)) {
    const size = segmentWidth(segment);
    if (size > room) break;
    cut += segment;
    room -= size;
  }
  return cut + CUT + ' '.repeat(room);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** Cells of a terminal that a text takes. */
function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is plain ASCII needs no segments
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += segmentWidth(segment);
  return width;
}

function segmentWidth(segment: string): number {
  return WIDE.test(segment) ? 2 : 1;
}
