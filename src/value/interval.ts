// Time intervals: months, days and seconds that never carry into one another.
import { failure } from '../util/error.ts';
import { compareSeconds } from './timestamp.ts';

/** One sign for the whole interval; months and days 0 to 65,535, seconds >= 0. */
export class Interval {
  readonly months: number;
  readonly days: number;
  readonly seconds: number;
  readonly negative: boolean;

  constructor(months: number, days: number, seconds: number, negative = false) {
    this.months = months;
    this.days = days;
    this.seconds = seconds;
    this.negative = negative && (months !== 0 || days !== 0 || seconds !== 0);
  }

  isZero(): boolean {
    return this.months === 0 && this.days === 0 && this.seconds === 0;
  }

  /** Makes an interval of signed parts. @throws when their signs differ */
  static ofSigned(months: number, days: number, seconds: number): Interval {
    const negative = months < 0 || days < 0 || seconds < 0;
    if (negative && (months > 0 || days > 0 || seconds > 0)) {
      throw failure(
        'SQL_EXECUTION',
        `interval parts of different signs: ${months} months, ${days} days, ${seconds} seconds`,
      );
    }
    return new Interval(Math.abs(months), Math.abs(days), Math.abs(seconds), negative);
  }

  get sign(): 1 | -1 {
    return this.negative ? -1 : 1;
  }

  toString(): string {
    return printInterval(this);
  }
}

/** Negative first, then months, days, seconds in that order; reversed among negatives. */
export function compareIntervals(a: Interval, b: Interval): number {
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  const order = a.months - b.months || a.days - b.days || compareSeconds(a.seconds, b.seconds);
  return a.negative ? 0 - order : order;
}

const UNITS: Readonly<
  Record<string, { months?: number; days?: number; seconds?: number; name: string }>
> = {
  second: { seconds: 1, name: 'second' },
  s: { seconds: 1, name: 'second' },
  minute: { seconds: 60, name: 'minute' },
  m: { seconds: 60, name: 'minute' },
  hour: { seconds: 3600, name: 'hour' },
  h: { seconds: 3600, name: 'hour' },
  day: { days: 1, name: 'day' },
  d: { days: 1, name: 'day' },
  week: { days: 7, name: 'week' },
  w: { days: 7, name: 'week' },
  month: { months: 1, name: 'month' },
  quarter: { months: 3, name: 'quarter' },
  year: { months: 12, name: 'year' },
  y: { months: 12, name: 'year' },
};

/** Parses interval text such as `3 MONTH 14D 1.5S`. @throws INVALID_PARAMETER */
export function parseInterval(text: string): Interval {
  const trimmed = text.trim();
  const negative = trimmed.startsWith('-');
  let rest = negative ? trimmed.slice(1).trimStart() : trimmed;
  let months = 0;
  let days = 0;
  let seconds = 0;
  if (rest === '') throw unexpectedSymbol(text);
  while (rest !== '') {
    const match = /^(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+|[A-Z]+)\s*/.exec(rest);
    if (match === null) throw unexpectedSymbol(text);
    const unit = unitNamed((match[2] as string).toLowerCase());
    if (unit === undefined) throw unexpectedSymbol(text);
    const count = Number(match[1]);
    if (unit.name !== 'second' && !Number.isInteger(count)) {
      throw failure(
        'INVALID_PARAMETER',
        `Fractional ${unit.name}s not accepted in interval: '${text}'`,
      );
    }
    months += count * (unit.months ?? 0);
    days += count * (unit.days ?? 0);
    seconds += count * (unit.seconds ?? 0);
    rest = rest.slice(match[0].length);
  }
  if (months > 65_535 || days > 65_535) {
    throw failure(
      'INVALID_PARAMETER',
      `interval out of range: '${text}' (at most 65535 months and days)`,
    );
  }
  return new Interval(months, days, seconds, negative);
}

/** A unit by its name, its plural or its letter. */
function unitNamed(name: string): (typeof UNITS)[string] | undefined {
  const singular = name.length > 2 && name.endsWith('s') ? name.slice(0, -1) : name;
  return Object.hasOwn(UNITS, singular) ? UNITS[singular] : undefined;
}

function unexpectedSymbol(text: string): Error {
  return failure(
    'INVALID_PARAMETER',
    `Unexpected symbol parsing time interval: '${text}'; accepted are numbers with second, minute, hour, day, week, month, year`,
  );
}

function printInterval(interval: Interval): string {
  const parts: string[] = [];
  const years = Math.floor(interval.months / 12);
  const months = interval.months % 12;
  if (years > 0) parts.push(`${years}Y`);
  if (months > 0) parts.push(`${months} MONTH`);
  if (interval.days > 0) parts.push(`${interval.days}D`);
  if (interval.seconds > 0) parts.push(printSeconds(interval.seconds));
  if (parts.length === 0) return '0S';
  return (interval.negative ? '-' : '') + parts.join(' ');
}

function printSeconds(total: number): string {
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total - hours * 3600) / 60);
  // The difference has no more true digits than the total, which has 15.
  const decimals = Math.min(100, Math.max(0, 14 - Math.floor(Math.log10(total))));
  const rest = Number((total - hours * 3600 - minutes * 60).toFixed(decimals));
  const seconds = withoutExponent(Number(rest.toPrecision(6)));
  if (hours > 0) return `${hours}H ${minutes}M ${seconds}S`;
  return minutes > 0 ? `${minutes}M ${seconds}S` : `${seconds}S`;
}

/** Literals of intervals have no exponents. */
function withoutExponent(number: number): string {
  const text = String(number);
  return text.includes('e-') ? number.toFixed(100).replace(/0+$/, '') : text;
}
