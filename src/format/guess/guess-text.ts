// Delimited text: which byte separates fields, how they are quoted and encoded, and whether the first
// line names the columns.
import { isUtf8 } from 'node:buffer';
import type { Atom } from '../../value/atom.ts';
import { readIsoDate } from '../../value/timestamp.ts';
import {
  decodeField,
  inferAtom,
  isAscii,
  splitLine,
  type TextFormat,
  trimLine,
} from '../csv/text-format.ts';
import type { Guess, GuessedColumn } from './guessed-import.ts';
import { type Sample, sampleLines } from './sample.ts';

const DELIMITERS = [',', '\t', ';', '|'] as const;
/** Lines that are looked at. */
const LINE_COUNT_MAX = 1000;

interface Layout {
  readonly format: TextFormat;
  readonly rows: readonly (readonly string[])[];
  /** share of lines that have as many fields as most */
  readonly regularity: number;
  readonly columnCount: number;
}

/** What import options a sample of delimited text asks for, with examples and warnings. */
export function guessText(sample: Sample, rowCount: number, suffix: string): Guess {
  const warnings: string[] = [];
  const lines = sampleLines(sample).slice(0, LINE_COUNT_MAX);
  const encoding = encodingOf(sample, lines);
  const layout = bestLayout(lines, encoding, suffix);
  if (layout === undefined) return guessLines(lines, encoding, rowCount);
  const { format, rows, columnCount, regularity } = layout;
  const values = rows
    .filter((row) => row.length === columnCount)
    .map((row) => row.map((field) => atomOf(field, format)));
  const header = headerConfidence(rows[0] ?? [], values);
  const hasHeader = header >= 0.5;
  const names = hasHeader
    ? (rows[0] ?? []).map((field) => textOf(field, format))
    : Array.from({ length: columnCount }, (_, index) => String(index));
  const data = hasHeader ? values.slice(1) : values;
  const duplicates = names.filter((name, index) => names.indexOf(name) !== index);
  if (duplicates.length > 0) warnings.push(`column names occur twice: ${duplicates.join(', ')}`);
  if (regularity < 1) {
    const irregular = Math.round((1 - regularity) * rows.length);
    warnings.push(
      `${irregular} of the first ${rows.length} lines do not have ${columnCount} fields; ignoreBadLines skips them`,
    );
  }
  if (encoding === 'latin1') warnings.push('the text is not valid UTF-8: it is read as latin1');
  const params: Record<string, unknown> = {
    ...(format.delimiter === ',' ? {} : { delimiter: format.delimiter }),
    ...(format.quote === '"' ? {} : { quoteChar: format.quote }),
    ...(encoding === 'utf-8' ? {} : { encoding }),
    ...(hasHeader ? {} : { autoGenerateHeaders: true }),
    ...(regularity < 1 ? { ignoreBadLines: true } : {}),
    ...(lines.some((line) => hasOpenQuote(line, format)) ? { allowMultiLines: true } : {}),
  };
  const columns = names.map((name, index): GuessedColumn => columnOf(name, data, index));
  if (columns.some(({ type }) => type === 'timestamp')) params.inferTimestamps = true;
  if (params.allowMultiLines === true) delete params.ignoreBadLines;
  return {
    type: 'import.text',
    params,
    confidence: {
      format: columnCount > 1 ? 0.6 + 0.4 * regularity : 0.5,
      delimiter: columnCount > 1 ? regularity : 0.5,
      header: hasHeader ? header : 1 - header,
      encoding: encoding === 'latin1' ? 0.7 : 1,
    },
    columns,
    rows: data.slice(0, rowCount),
    warnings,
  };
}

/** One value a line. */
function guessLines(
  lines: readonly string[],
  encoding: 'utf-8' | 'latin1',
  rowCount: number,
): Guess {
  const format: TextFormat = { ...PLAIN, encoding, delimiter: '', quote: '' };
  const data = lines.map((line) => [atomOf(trimLine(line, ''), format)]);
  return {
    type: 'import.text',
    params: {
      delimiter: '',
      quoteChar: '',
      ...(encoding === 'utf-8' ? {} : { encoding }),
    },
    confidence: { format: 0.5, delimiter: 0.5, header: 0.5, encoding: 1 },
    columns: [columnOf('lineText', data, 0)],
    rows: data.slice(0, rowCount),
    warnings: ['no delimiter was found: each line is one value'],
  };
}

const PLAIN: TextFormat = {
  delimiter: ',',
  quote: '"',
  encoding: 'utf-8',
  replacement: '',
  excelFormulas: true,
  ignoreExtraColumns: false,
};

function encodingOf({ bytes, isWhole }: Sample, lines: readonly string[]): 'utf-8' | 'latin1' {
  if (isUtf8(bytes)) return 'utf-8';
  // A sample may end within a character.
  const whole = isWhole ? bytes : bytes.subarray(0, bytes.lastIndexOf(10) + 1);
  return isUtf8(whole) || (!isWhole && lines.every((line) => isAscii(line))) ? 'utf-8' : 'latin1';
}

function bestLayout(
  lines: readonly string[],
  encoding: 'utf-8' | 'latin1',
  suffix: string,
): Layout | undefined {
  const layouts: Layout[] = [];
  for (const delimiter of DELIMITERS) {
    for (const quote of ['"', "'"]) {
      const found = layoutOf(lines, { ...PLAIN, encoding, delimiter, quote });
      // A quote that no field begins with tells nothing.
      if (found !== undefined && (quote === '"' || quotedCount(lines, delimiter, quote) > 0)) {
        layouts.push(found);
      }
    }
  }
  const score = ({ regularity, columnCount, format }: Layout) =>
    regularity * (columnCount > 1 ? 2 + Math.log2(columnCount) / 8 : 0) +
    (format.delimiter === (suffix === 'tsv' ? '\t' : ',') ? 0.05 : 0) +
    (format.quote === '"' ? 0.01 : 0);
  const best = layouts.sort((a, b) => score(b) - score(a))[0];
  if (best === undefined) return undefined;
  // One column that a file of this kind may well have.
  if (best.columnCount === 1 && suffix !== 'csv' && suffix !== 'tsv') return undefined;
  return best;
}

function quotedCount(lines: readonly string[], delimiter: string, quote: string): number {
  return lines.filter((line) => line.startsWith(quote) || line.includes(`${delimiter}${quote}`))
    .length;
}

function layoutOf(lines: readonly string[], format: TextFormat): Layout | undefined {
  const rows: string[][] = [];
  const counts = new Map<number, number>();
  for (const line of lines) {
    const text = trimLine(line, format.delimiter);
    if (text === '') continue;
    const fields: string[] = [];
    const end = splitLine(text, format, fields);
    if (typeof end !== 'number') continue;
    // A delimiter at the end stands before an empty field.
    if (text.endsWith(format.delimiter)) fields.push('');
    rows.push(fields);
    counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1);
  }
  if (rows.length === 0) return undefined;
  const [columnCount, count] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] as [
    number,
    number,
  ];
  return { format, rows, columnCount, regularity: count / rows.length };
}

function hasOpenQuote(line: string, format: TextFormat): boolean {
  const end = splitLine(trimLine(line, format.delimiter), format, []);
  return typeof end !== 'number' && end.reason.startsWith('Unclosed');
}

/** How likely it is that the first line names columns, in [0, 1]. */
function headerConfidence(first: readonly string[], values: readonly (readonly Atom[])[]): number {
  if (first.length === 0 || values.length === 0) return 0.5;
  const names = first.map((field) => field.trim());
  if (names.some((name) => name === '') || new Set(names).size < names.length) return 0.2;
  if (names.some((name) => typeof inferAtom(name) !== 'string')) return 0.05;
  const rest = values.slice(1);
  if (rest.length === 0) return 0.6;
  let evidence = 0;
  for (const [index, name] of names.entries()) {
    const column = rest.map((row) => row[index]).filter((atom) => atom !== null);
    if (column.length === 0) continue;
    const numberCount = column.filter((atom) => typeof atom !== 'string').length;
    // A name over numbers or dates; or a text that never occurs below.
    if (numberCount > column.length / 2 || column.every((atom) => isDate(atom ?? null))) {
      evidence += isDate(name) ? -1 : 1;
    } else if (!column.includes(name))
      evidence += /^[\p{L}_][\p{L}\p{N}_ .-]*$/u.test(name) ? 0.3 : 0.1;
    else evidence -= 0.5;
  }
  return Math.max(0.05, Math.min(0.99, 0.5 + evidence / (names.length + 1)));
}

function columnOf(name: string, rows: readonly (readonly Atom[])[], index: number): GuessedColumn {
  const values = rows.map((row) => row[index] ?? null).filter((atom) => atom !== null);
  if (values.length === 0) return { name, type: 'null' };
  if (values.every((atom) => typeof atom !== 'string')) {
    const isWhole = values.every((atom) => typeof atom === 'bigint' || Number.isInteger(atom));
    return { name, type: isWhole ? 'integer' : 'number' };
  }
  if (values.some((atom) => typeof atom !== 'string')) return { name, type: 'mixed' };
  return { name, type: values.every((atom) => isDate(atom)) ? 'timestamp' : 'string' };
}

function isDate(atom: Atom): boolean {
  return typeof atom === 'string' && readIsoDate(atom) !== undefined;
}

function textOf(field: string, format: TextFormat): string {
  const text = decodeField(field, format);
  return typeof text === 'string' ? text : field;
}

function atomOf(field: string, format: TextFormat): Atom {
  const text = textOf(field, format);
  return isAscii(text) ? inferAtom(text) : text;
}
