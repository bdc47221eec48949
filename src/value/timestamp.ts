// Timestamps: seconds since the epoch as a double, their ISO 8601 text and its parser.

/** An instant; `seconds` may be NaN (not a date) or infinite. */
export class Timestamp {
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  toString(): string {
    return printTimestamp(this.seconds);
  }
}

export const NOT_A_DATE = Number.NaN;
export const MINUS_INFINITY = Number.NEGATIVE_INFINITY;

/** Not-a-date first, then by value. */
export function compareTimestamps(a: Timestamp, b: Timestamp): number {
  return compareSeconds(a.seconds, b.seconds);
}

/** The order of bare timestamps: NaD is earlier than everything. */
export function compareSeconds(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}

/** The later of two times in seconds. */
export function laterOf(a: number, b: number): number {
  return compareSeconds(a, b) >= 0 ? a : b;
}

/** The earlier of two times in seconds. */
export function earlierOf(a: number, b: number): number {
  return compareSeconds(a, b) <= 0 ? a : b;
}

const YEAR_1_SECONDS = Date.UTC(2000, 0, 1) / 1000 - 730_119 * 86_400;
const YEAR_10000_SECONDS = Date.UTC(10_000, 0, 1) / 1000;

/** ISO 8601 in UTC with the fewest fractional digits that reproduce the double. */
export function printTimestamp(seconds: number): string {
  if (Number.isNaN(seconds)) return 'NaD';
  if (seconds >= YEAR_10000_SECONDS) return 'Inf';
  if (seconds < YEAR_1_SECONDS) return '-Inf';
  const whole = Math.floor(seconds);
  const base = new Date(whole * 1000).toISOString().slice(0, 19);
  if (whole === seconds) return `${base}Z`;
  for (let digits = 1; digits <= 17; digits++) {
    const fraction = (seconds - whole).toFixed(digits);
    if (fraction.startsWith('1')) continue;
    if (whole + Number(fraction) === seconds) return `${base}${fraction.slice(1)}Z`;
  }
  return `${base}${(seconds - whole).toFixed(17).slice(1)}Z`;
}

/**
 * Parses ISO 8601 text. Anything that is not a date is NaD (NaN);
 * an impossible month or day of month is `null`.
 */
export function parseTimestamp(text: string): number | null {
  const trimmed = text.trim();
  switch (trimmed) {
    case 'NaD':
    case 'NaN':
      return NOT_A_DATE;
    case 'Inf':
      return Number.POSITIVE_INFINITY;
    case '-Inf':
      return MINUS_INFINITY;
  }
  const date = parseDate(trimmed);
  if (date === null || date === undefined) return date === null ? null : NOT_A_DATE;
  const rest = trimmed.slice(date.length);
  if (rest === '') return date.seconds;
  const time = TIME.exec(rest);
  if (time === null) return NOT_A_DATE;
  return addTime(date.seconds, time);
}

/** As parseTimestamp, but `null` for whatever is not a date: what a comparison with a time reads. */
export function readTimestamp(text: string): number | null {
  const seconds = parseTimestamp(text);
  if (seconds === null || !Number.isNaN(seconds)) return seconds;
  const trimmed = text.trim();
  return trimmed === 'NaD' || trimmed === 'NaN' ? NOT_A_DATE : null;
}

/** The seconds of a text that begins with a date like 2015-01-31; undefined for any other. */
export function readIsoDate(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(?!\d)/.test(text)) return undefined;
  const seconds = parseTimestamp(text);
  return seconds === null || Number.isNaN(seconds) ? undefined : seconds;
}

const TIME = /^[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

function addTime(dateSeconds: number, time: RegExpExecArray): number {
  const hours = Number(time[1]);
  const minutes = Number(time[2] ?? 0);
  const wholeSeconds = Number(time[3] ?? 0);
  if (hours > 24 || minutes > 59 || wholeSeconds > 60) return NOT_A_DATE;
  const base = dateSeconds + hours * 3600 + minutes * 60 + wholeSeconds - zoneOffset(time[5]);
  return time[4] === undefined ? base : Number(addFraction(base, time[4]));
}

/** Adds a decimal fraction so that the text `…:01.1` is the double nearest to base + 1.1. */
function addFraction(base: number, fraction: string): number {
  return base + Number(`0.${fraction}`);
}

function zoneOffset(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const seconds = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2) || 0) * 60;
  return zone.startsWith('-') ? -seconds : seconds;
}

interface ParsedDate {
  readonly seconds: number;
  /** characters of the text that the date took */
  readonly length: number;
}

/** `undefined`: not a date; `null`: an impossible month or day. */
function parseDate(text: string): ParsedDate | null | undefined {
  let match = /^(\d{4})-?W(\d{2})(?:-?(\d))?(?![\d])/.exec(text);
  if (match !== null) return isoWeekDate(match);
  match = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? /^(\d{4})(\d{2})(\d{2})(?!\d)/.exec(text);
  if (match !== null) return calendarDate(match);
  match = /^(\d{4})-?(\d{3})(?!\d)/.exec(text);
  if (match !== null) return ordinalDate(match);
  match = /^(\d{4})-(\d{2})(?![\d-])/.exec(text);
  if (match !== null) return calendarDate(match);
  match = /^(\d{4})(?![\d-])/.exec(text);
  return match === null ? undefined : calendarDate(match);
}

function yearInRange(year: number): boolean {
  return year >= 1400 && year <= 9999;
}

function calendarDate(match: RegExpExecArray): ParsedDate | null | undefined {
  const year = Number(match[1]);
  const month = Number(match[2] ?? 1);
  const day = Number(match[3] ?? 1);
  if (!yearInRange(year)) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  return { seconds: Date.UTC(year, month - 1, day) / 1000, length: match[0].length };
}

function ordinalDate(match: RegExpExecArray): ParsedDate | undefined {
  const year = Number(match[1]);
  const day = Number(match[2]);
  if (!yearInRange(year) || day < 1 || day > (daysInMonth(year, 2) === 29 ? 366 : 365)) {
    return undefined;
  }
  return { seconds: Date.UTC(year, 0, day) / 1000, length: match[0].length };
}

function isoWeekDate(match: RegExpExecArray): ParsedDate | undefined {
  const year = Number(match[1]);
  const week = Number(match[2]);
  const day = Number(match[3] ?? 1);
  if (!yearInRange(year) || week < 1 || week > isoWeeksInYear(year) || day < 1 || day > 7) {
    return undefined;
  }
  return {
    seconds: isoYearStart(year) + ((week - 1) * 7 + day - 1) * 86_400,
    length: match[0].length,
  };
}

/** The Monday of ISO week 1, in seconds. */
export function isoYearStart(year: number): number {
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  const january4 = new Date(0).setUTCFullYear(year, 0, 4) / 1000;
  const weekday = (new Date(january4 * 1000).getUTCDay() + 6) % 7;
  return january4 - weekday * 86_400;
}

/** 52 or 53, by ISO 8601. */
export function isoWeeksInYear(year: number): number {
  return Math.round((isoYearStart(year + 1) - isoYearStart(year)) / (7 * 86_400));
}

/**
 * Days of a month.
 * @param month 1 to 12
 */
export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
