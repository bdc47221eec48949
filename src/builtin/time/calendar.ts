// Units of the calendar: what part of an instant they name, and where they begin. All in UTC.
import { isoYearStart } from '../../value/timestamp.ts';

/** An instant cut to the second. */
interface Instant {
  /** start of the day, in seconds */
  readonly dayStart: number;
  readonly date: Date;
}

export interface CalendarUnit {
  readonly name: string;
  /** `seconds` may have a fraction. */
  part(seconds: number): number;
  /** Start of the unit that the instant lies in, in seconds. */
  trunc(seconds: number): number;
}

const DAY = 86_400;

/** In the order in which they are tried as prefixes of what the user wrote. */
export const CALENDAR_UNITS: readonly CalendarUnit[] = [
  fractionUnit('microsecond', 1e6),
  fractionUnit('millisecond', 1e3),
  clockUnit('second', 1, 60),
  clockUnit('minute', 60, 60),
  clockUnit('hour', 3600, 24),
  dayUnit('day', ({ date }) => date.getUTCDate()),
  dayUnit('dow', ({ date }) => date.getUTCDay()),
  dayUnit('doy', dayOfYear),
  dayUnit('isodow', isoDayOfWeek),
  dayUnit('isodoy', (instant) => (isoWeek(instant) - 1) * 7 + isoDayOfWeek(instant)),
  unit(
    'week',
    (instant) => Math.floor(dayOfYear(instant) / 7),
    ({ dayStart, date }) => dayStart - date.getUTCDay() * DAY,
  ),
  unit('isoweek', isoWeek, (instant) => instant.dayStart - (isoDayOfWeek(instant) - 1) * DAY),
  unit(
    'month',
    ({ date }) => date.getUTCMonth() + 1,
    ({ date }) => startOfMonth(date.getUTCFullYear(), date.getUTCMonth()),
  ),
  unit('quarter', quarter, (instant) =>
    startOfMonth(instant.date.getUTCFullYear(), (quarter(instant) - 1) * 3),
  ),
  unit(
    'year',
    ({ date }) => date.getUTCFullYear(),
    ({ date }) => startOfMonth(date.getUTCFullYear(), 0),
  ),
  unit('isoyear', isoYear, (instant) => isoYearStart(isoYear(instant))),
];

/** The largest distance from the epoch that a calendar date exists for, in seconds. */
export const CALENDAR_SECONDS_MAX = 8.64e12;

/** The unit whose name the text starts with, in any case; undefined when there is none. */
export function findCalendarUnit(text: string): CalendarUnit | undefined {
  const lower = text.toLowerCase();
  return CALENDAR_UNITS.find((candidate) => lower.startsWith(candidate.name));
}

/** `+hh`, `-hh`, `+hhmm`, `+hh:mm` in seconds; undefined for anything else. */
export function parseZoneOffset(text: string): number | undefined {
  const match = /^([+-])(\d{2})(?::?([0-5]\d))?$/.exec(text);
  if (match === null || Number(match[2]) > 23) return undefined;
  const seconds = Number(match[2]) * 3600 + Number(match[3] ?? 0) * 60;
  return match[1] === '-' ? -seconds : seconds;
}

function unit(
  name: string,
  part: (instant: Instant) => number,
  start: (instant: Instant) => number,
): CalendarUnit {
  return {
    name,
    part: (seconds) => part(instantOf(seconds)),
    trunc: (seconds) => start(instantOf(seconds)),
  };
}

function dayUnit(name: string, part: (instant: Instant) => number): CalendarUnit {
  return unit(name, part, ({ dayStart }) => dayStart);
}

function clockUnit(name: string, size: number, count: number): CalendarUnit {
  return {
    name,
    part: (seconds) => {
      const units = Math.floor(seconds / size);
      return units - Math.floor(units / count) * count;
    },
    trunc: (seconds) => Math.floor(seconds / size) * size,
  };
}

function fractionUnit(name: string, perSecond: number): CalendarUnit {
  const part = (seconds: number): number => {
    const fraction = seconds - Math.floor(seconds);
    // The double nearest to 12.345 may lie below it: half of its last bit does not count.
    const halfBit = Math.abs(seconds) * 2 ** -53;
    return Math.min(Math.floor((fraction + halfBit) * perSecond), perSecond - 1);
  };
  return { name, part, trunc: (seconds) => Math.floor(seconds) + part(seconds) / perSecond };
}

function instantOf(seconds: number): Instant {
  const whole = Math.floor(seconds);
  return {
    dayStart: Math.floor(whole / DAY) * DAY,
    date: new Date(whole * 1000),
  };
}

/** `month` counts from 0. */
function startOfMonth(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 1);
  return date.getTime() / 1000;
}

/** Days since January 1st. */
function dayOfYear({ dayStart, date }: Instant): number {
  return (dayStart - startOfMonth(date.getUTCFullYear(), 0)) / DAY;
}

/** Monday 1 to Sunday 7. */
function isoDayOfWeek({ date }: Instant): number {
  return date.getUTCDay() || 7;
}

/** The Thursday of a week decides which ISO year the week belongs to. */
function thursday(instant: Instant): Instant {
  return instantOf(instant.dayStart + (4 - isoDayOfWeek(instant)) * DAY);
}

function isoYear(instant: Instant): number {
  return thursday(instant).date.getUTCFullYear();
}

function isoWeek(instant: Instant): number {
  return Math.floor(dayOfYear(thursday(instant)) / 7) + 1;
}

function quarter({ date }: Instant): number {
  return Math.floor(date.getUTCMonth() / 3) + 1;
}
