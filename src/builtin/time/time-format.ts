// Times as texts and back, by the letters of C's strftime.
import { failure } from '../../util/error.ts';

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
  ...['October', 'November', 'December'],
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A time that is being read. */
interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  isAfternoon: boolean | undefined;
  dayOfYear: number | undefined;
  epoch: number | undefined;
  offsetSeconds: number;
}

interface Letter {
  /** @param date the time, cut to the millisecond */
  readonly print: (date: Date, seconds: number) => string;
  /** what of a text it takes */
  readonly pattern: string;
  readonly read: (text: string, parts: Parts) => void;
}

function number(
  width: number,
  of: (date: Date) => number,
  set: (value: number, parts: Parts) => void,
): Letter {
  return {
    print: (date) => String(of(date)).padStart(width, '0'),
    pattern: width === 4 ? '\\d{4}' : `\\d{1,${width}}`,
    read: (text, parts) => set(Number(text), parts),
  };
}

function named(
  names: readonly string[],
  of: (date: Date) => number,
  set: (index: number, parts: Parts) => void,
): Letter {
  return {
    print: (date) => names[of(date)] as string,
    pattern: '[A-Za-z]+',
    read: (text, parts) => {
      const index = names.findIndex((name) => name.toLowerCase() === text.toLowerCase());
      set(index === -1 ? Number.NaN : index, parts);
    },
  };
}

const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start) / 86_400_000) + 1;
}

const LETTERS: Readonly<Record<string, Letter>> = {
  Y: number(
    4,
    (date) => date.getUTCFullYear(),
    (value, parts) => {
      parts.year = value;
    },
  ),
  y: number(
    2,
    (date) => date.getUTCFullYear() % 100,
    (value, parts) => {
      parts.year = value + (value < 69 ? 2000 : 1900);
    },
  ),
  m: number(
    2,
    (date) => date.getUTCMonth() + 1,
    (value, parts) => {
      parts.month = value;
    },
  ),
  d: number(
    2,
    (date) => date.getUTCDate(),
    (value, parts) => {
      parts.day = value;
    },
  ),
  H: number(
    2,
    (date) => date.getUTCHours(),
    (value, parts) => {
      parts.hour = value;
    },
  ),
  I: number(
    2,
    (date) => date.getUTCHours() % 12 || 12,
    (value, parts) => {
      parts.hour = value >= 1 && value <= 12 ? value : Number.NaN;
    },
  ),
  M: number(
    2,
    (date) => date.getUTCMinutes(),
    (value, parts) => {
      parts.minute = value;
    },
  ),
  S: number(
    2,
    (date) => date.getUTCSeconds(),
    (value, parts) => {
      parts.second += value;
    },
  ),
  j: number(3, dayOfYear, (value, parts) => {
    parts.dayOfYear = value;
  }),
  f: {
    print: (_, seconds) =>
      String(Math.round((seconds - Math.floor(seconds)) * 1e6)).padStart(6, '0'),
    pattern: '\\d{1,9}',
    read: (text, parts) => {
      parts.second += Number(`0.${text}`);
    },
  },
  g: {
    print: (_, seconds) =>
      String(Math.floor((seconds - Math.floor(seconds)) * 1e3)).padStart(3, '0'),
    pattern: '\\d{1,3}',
    read: (text, parts) => {
      parts.second += Number(`0.${text}`);
    },
  },
  p: {
    print: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
    pattern: '[AaPp][Mm]',
    read: (text, parts) => {
      parts.isAfternoon = text.toLowerCase() === 'pm';
    },
  },
  B: named(
    MONTHS,
    (date) => date.getUTCMonth(),
    (index, parts) => {
      parts.month = index + 1;
    },
  ),
  b: named(
    short(MONTHS),
    (date) => date.getUTCMonth(),
    (index, parts) => {
      parts.month = index + 1;
    },
  ),
  A: named(
    DAYS,
    (date) => date.getUTCDay(),
    () => {},
  ),
  a: named(
    short(DAYS),
    (date) => date.getUTCDay(),
    () => {},
  ),
  w: number(
    1,
    (date) => date.getUTCDay(),
    () => {},
  ),
  u: number(
    1,
    (date) => date.getUTCDay() || 7,
    () => {},
  ),
  s: {
    print: (_, seconds) => String(Math.floor(seconds)),
    pattern: '-?\\d+',
    read: (text, parts) => {
      parts.epoch = Number(text);
    },
  },
  z: {
    print: () => '+0000',
    pattern: 'Z|[+-]\\d{2}:?\\d{2}',
    read: (text, parts) => {
      const digits = text.replace(':', '');
      if (digits === 'Z') return;
      const size = Number(digits.slice(1, 3)) * 3600 + Number(digits.slice(3)) * 60;
      parts.offsetSeconds = digits.startsWith('-') ? -size : size;
    },
  },
};

const SHORTHANDS: Readonly<Record<string, string>> = {
  F: '%Y-%m-%d',
  T: '%H:%M:%S',
  R: '%H:%M',
  D: '%m/%d/%y',
  c: '%a %b %d %H:%M:%S %Y',
  x: '%Y-%m-%d',
  X: '%H:%M:%S',
};

/** Literal text, or a letter; `plain` numbers are without leading zeros. */
type Piece = string | { readonly letter: Letter; readonly plain: boolean };

function piecesOf(format: string): Piece[] {
  const pieces: Piece[] = [];
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== '%') {
      pieces.push(format[i] as string);
      continue;
    }
    let name = format[++i] ?? '';
    const plain = name === '-';
    if (plain) name = format[++i] ?? '';
    if (name === '%' && !plain) {
      pieces.push('%');
    } else if (Object.hasOwn(SHORTHANDS, name) && !plain) {
      pieces.push(...piecesOf(SHORTHANDS[name] as string));
    } else if (Object.hasOwn(LETTERS, name)) {
      pieces.push({ letter: LETTERS[name] as Letter, plain });
    } else {
      const accepted = [...Object.keys(LETTERS), ...Object.keys(SHORTHANDS), '%'].join(' ');
      throw failure(
        'SQL_EXECUTION',
        `unknown letter '%${plain ? '-' : ''}${name}' in the format of a time; accepted are ${accepted}`,
      );
    }
  }
  return pieces;
}

/** @throws SQL_EXECUTION for an unknown letter */
export function formatTime(seconds: number, format: string): string {
  const date = new Date(Math.floor(seconds) * 1000);
  return piecesOf(format)
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const text = piece.letter.print(date, seconds);
      return piece.plain ? text.replace(/^0+(?=\d)/, '') : text;
    })
    .join('');
}

/**
 * Seconds since the epoch; undefined when the text does not fit, or tells a day that does not
 * exist. @throws SQL_EXECUTION for an unknown letter
 */
export function parseTime(text: string, format: string): number | undefined {
  const pieces = piecesOf(format);
  const source = pieces
    .map((piece) =>
      typeof piece === 'string'
        ? piece.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s/, '\\s+')
        : `(${piece.letter.pattern})`,
    )
    .join('');
  const match = new RegExp(`^\\s*${source}\\s*$`).exec(text);
  if (match === null) return undefined;
  const parts: Parts = {
    ...{ year: 1900, month: 1, day: 1, hour: 0, minute: 0, second: 0 },
    ...{ isAfternoon: undefined, dayOfYear: undefined, epoch: undefined, offsetSeconds: 0 },
  };
  let group = 1;
  for (const piece of pieces) {
    if (typeof piece !== 'string') piece.letter.read(match[group++] as string, parts);
  }
  return secondsOfParts(parts);
}

function secondsOfParts(parts: Parts): number | undefined {
  if (parts.epoch !== undefined) return parts.epoch;
  const { year, month, day, minute, second, isAfternoon, dayOfYear: yearDay } = parts;
  const hour = isAfternoon === undefined ? parts.hour : (parts.hour % 12) + (isAfternoon ? 12 : 0);
  const fits = hour < 24 && minute < 60 && second < 60;
  if (!fits || Number.isNaN(month + hour)) return undefined;
  const date = new Date(0);
  if (yearDay === undefined) date.setUTCFullYear(year, month - 1, day);
  else date.setUTCFullYear(year, 0, yearDay);
  const exists =
    yearDay !== undefined ||
    (date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month >= 1);
  if (!exists) return undefined;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second - parts.offsetSeconds;
}
