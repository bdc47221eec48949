// How a delimited text is written, and the lines and fields of one, by all the rules.
import { parseNumber } from '../../value/number-text.ts';

export type TextEncoding = 'utf-8' | 'ascii' | 'latin1';

export interface TextFormat {
  /** one byte as a character, or '' when each line is one value */
  readonly delimiter: string;
  /** one byte as a character, or '' when there is no quoting */
  readonly quote: string;
  readonly encoding: TextEncoding;
  /** takes the place of badly encoded bytes; '' makes them faults */
  readonly replacement: string;
  /** `="text"` is the quoted field `text` */
  readonly excelFormulas: boolean;
  readonly ignoreExtraColumns: boolean;
}

/** Why a line is bad, and the 1-based byte at which that was noticed. */
export interface LineFault {
  readonly reason: string;
  readonly column: number;
}

export const LINE_FAULT = {
  empty: 'empty line',
  unclosed: 'Unclosed quoted CSV value',
  garbage: 'Garbage after closing quote',
  tooFew: 'not enough columns in row',
  tooMany: 'too many columns in row',
  utf8: 'Invalid sequence within utf-8 string',
  ascii: 'non-ASCII character in ASCII text file',
} as const;

/** Cuts white space off the end of a line, but never a delimiter. */
export function trimLine(line: string, delimiter: string): string {
  let end = line.length;
  while (end > 0 && isSpace(line.charCodeAt(end - 1)) && line[end - 1] !== delimiter) end--;
  return end === line.length ? line : line.slice(0, end);
}

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/**
 * Splits a trimmed line whose characters stand for its bytes.
 * @param fields receives the fields; where a delimiter ends the line no field follows it
 * @param countMax fields to read; what is behind them is left
 * @returns the position behind the last field read, or what is wrong
 */
export function splitLine(
  line: string,
  format: TextFormat,
  fields: string[],
  countMax = Number.POSITIVE_INFINITY,
): number | LineFault {
  const { delimiter, quote } = format;
  fields.length = 0;
  let position = 0;
  while (position < line.length && fields.length < countMax) {
    let open = position;
    if (format.excelFormulas && quote !== '' && line[open] === '=' && line[open + 1] === quote) {
      open++;
    }
    if (quote !== '' && line[open] === quote) {
      const close = closingQuote(line, open + 1, quote);
      if (close === -1) return { reason: LINE_FAULT.unclosed, column: open + 1 };
      const text = line.slice(open + 1, close);
      fields.push(text.includes(quote) ? text.replaceAll(quote + quote, quote) : text);
      position = close + 1;
      if (position < line.length && line[position] !== delimiter) {
        return { reason: LINE_FAULT.garbage, column: position + 1 };
      }
    } else {
      const end = delimiter === '' ? -1 : line.indexOf(delimiter, position);
      fields.push(end === -1 ? line.slice(position) : line.slice(position, end));
      position = end === -1 ? line.length : end;
    }
    // A delimiter at the very end of the line begins no field.
    if (position < line.length) position++;
  }
  return position;
}

function closingQuote(line: string, start: number, quote: string): number {
  for (let position = start; ; position += 2) {
    position = line.indexOf(quote, position);
    if (position === -1 || line[position + 1] !== quote) return position;
  }
}

/**
 * Splits a trimmed line into exactly `columnCount` fields; the last may be missing and is ''.
 * @returns what is wrong with the line, if anything
 */
export function splitRow(
  line: string,
  columnCount: number,
  format: TextFormat,
  fields: string[],
): LineFault | undefined {
  const end = splitLine(line, format, fields, columnCount);
  if (typeof end !== 'number') return end;
  if (end < line.length && !format.ignoreExtraColumns) {
    return { reason: LINE_FAULT.tooMany, column: end + 1 };
  }
  if (fields.length < columnCount - 1)
    return { reason: LINE_FAULT.tooFew, column: line.length + 1 };
  if (fields.length < columnCount) fields.push('');
  return undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const NOT_ASCII = /[^\u0000-\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const NOT_ASCII_ALL = /[^\u0000-\u007f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are meant
const CONTROL = /[\u0000-\u001f]/g;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether a text has ASCII characters only. */
export function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text);
}

/**
 * The text of a field whose characters stand for bytes.
 * @returns the text, or why the bytes are none
 */
export function decodeField(field: string, format: TextFormat): string | LineFault {
  if (isAscii(field)) {
    return format.replacement === '' ? field : field.replace(CONTROL, () => format.replacement);
  }
  if (format.encoding === 'latin1') return field;
  if (format.encoding === 'ascii') {
    if (format.replacement === '') return { reason: LINE_FAULT.ascii, column: 1 };
    return field.replace(NOT_ASCII_ALL, () => format.replacement);
  }
  const bytes = Buffer.from(field, 'latin1');
  try {
    return strictUtf8.decode(bytes);
  } catch {
    if (format.replacement === '') return { reason: LINE_FAULT.utf8, column: 1 };
    // A replacement character that was written as such is valid text and stays.
    return replaceInvalid(bytes, format.replacement);
  }
}

/** Replaces each maximal invalid sequence; valid text around it stays. */
function replaceInvalid(bytes: Uint8Array, replacement: string): string {
  const loose = new TextDecoder('utf-8', { ignoreBOM: true });
  const kept = Buffer.from(bytes).toString('latin1').split('\u00ef\u00bf\u00bd');
  return kept
    .map((part) => loose.decode(Buffer.from(part, 'latin1')).replaceAll('\ufffd', replacement))
    .join('\ufffd');
}

/** The value of a field: nothing is null, what reads as a number is one, the rest is text. */
export function inferAtom(text: string): null | number | bigint | string {
  if (text === '') return null;
  if (!mayBeNumber(text.charCodeAt(0))) return text;
  const short = shortInteger(text);
  if (short !== -1) return short;
  const value = parseNumber(text);
  return value === undefined ? text : value === 0 ? 0 : value;
}

/** Most numbers are a few digits; -1 for anything else. */
function shortInteger(text: string): number {
  if (text.length > 9) return -1;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Digits, sign, point, white space, and the first letters of inf and nan. */
function mayBeNumber(code: number): boolean {
  return (
    (code <= 57 && code >= 43 && code !== 44 && code !== 47) ||
    isSpace(code) ||
    (code | 32) === 105 ||
    (code | 32) === 110
  );
}
