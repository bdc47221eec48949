// Arithmetic of timestamps and intervals.
import { failure } from '../../util/error.ts';
import { Interval } from '../../value/interval.ts';
import { Timestamp } from '../../value/timestamp.ts';

export const SECONDS_PER_DAY = 86_400;

/** The largest number of months and of days that an interval holds. */
const INTERVAL_PART_MAX = 65_535;

export function timestampPlusDays(timestamp: Timestamp, days: number): Timestamp {
  return new Timestamp(timestamp.seconds + days * SECONDS_PER_DAY);
}

/**
 * Adds seconds, then days, then months, each on the calendar that the step before led to; a
 * negative interval is subtracted in the same order. Days that are the last of their month stay so.
 */
export function timestampPlusInterval(timestamp: Timestamp, interval: Interval): Timestamp {
  const { sign } = interval;
  const seconds = timestamp.seconds + sign * interval.seconds;
  const moved = seconds + sign * interval.days * SECONDS_PER_DAY;
  return new Timestamp(interval.months === 0 ? moved : addMonths(moved, sign * interval.months));
}

/** Whole days and seconds from `b` to `a`; null when one of them is no instant. */
export function timestampDifference(a: Timestamp, b: Timestamp): Interval | null {
  const difference = a.seconds - b.seconds;
  if (!Number.isFinite(difference)) return null;
  const distance = Math.abs(difference);
  const days = Math.floor(distance / SECONDS_PER_DAY);
  const seconds = distance - days * SECONDS_PER_DAY;
  return checkedInterval(0, days, seconds, difference < 0);
}

export function negateInterval(interval: Interval): Interval {
  return new Interval(interval.months, interval.days, interval.seconds, !interval.negative);
}

/** Part by part. @throws when the parts of the result have different signs */
export function addIntervals(a: Interval, b: Interval): Interval {
  return signedInterval(
    a.sign * a.months + b.sign * b.months,
    a.sign * a.days + b.sign * b.days,
    a.sign * a.seconds + b.sign * b.seconds,
  );
}

/** A fraction of a day becomes seconds. */
export function intervalPlusDays(interval: Interval, days: number): Interval {
  const whole = Math.trunc(days);
  const { sign } = interval;
  return signedInterval(
    sign * interval.months,
    sign * interval.days + whole,
    sign * interval.seconds + (days - whole) * SECONDS_PER_DAY,
  );
}

/** Months are cut to whole ones, a fraction of a day becomes seconds. */
export function scaleInterval(interval: Interval, factor: number): Interval {
  const size = Math.abs(factor);
  const days = interval.days * size;
  const wholeDays = Math.floor(days);
  const seconds = interval.seconds * size + (days - wholeDays) * SECONDS_PER_DAY;
  const negative = interval.negative !== factor < 0;
  return checkedInterval(Math.floor(interval.months * size), wholeDays, seconds, negative);
}

function signedInterval(months: number, days: number, seconds: number): Interval {
  const interval = Interval.ofSigned(months, days, seconds);
  return checkedInterval(interval.months, interval.days, interval.seconds, interval.negative);
}

function checkedInterval(
  months: number,
  days: number,
  seconds: number,
  negative: boolean,
): Interval {
  const fits = months <= INTERVAL_PART_MAX && days <= INTERVAL_PART_MAX && Number.isFinite(seconds);
  if (fits) return new Interval(months, days, seconds, negative);
  const message = `interval out of range: ${months} months, ${days} days, ${seconds} seconds (at most ${INTERVAL_PART_MAX} months and days)`;
  throw failure('SQL_EXECUTION', message);
}

function addMonths(seconds: number, months: number): number {
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  const date = new Date(day * SECONDS_PER_DAY * 1000);
  if (Number.isNaN(date.getTime())) return seconds;
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  const dayOfMonth = date.getUTCDate();
  const last = lastDayOfMonth(year, month + months);
  const isLast = dayOfMonth === lastDayOfMonth(year, month);
  const target = isLast ? last : Math.min(dayOfMonth, last);
  date.setUTCFullYear(year, month + months, target);
  return date.getTime() / 1000 + (seconds - day * SECONDS_PER_DAY);
}

/** `month` counts from 0 and may lie outside the year. */
function lastDayOfMonth(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month + 1, 0);
  return date.getUTCDate();
}
