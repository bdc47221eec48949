import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CALENDAR_UNITS,
  findCalendarUnit,
  parseZoneOffset,
} from '../../../../src/builtin/time/calendar.ts';
import { jsonOf, resultOf } from '../../../support/builtin-query.ts';

describe('date_part', () => {
  test.each([
    ['second', '1969-12-31T23:59:58.5Z', 58],
    ['millisecond', '1969-12-31T23:59:58.5Z', 500],
    ['microsecond', '2015-01-01T00:00:00.123456Z', 123456],
    ['millisecond', '2015-01-01T00:00:00.999Z', 999],
    ['MilliSeconds', '2015-01-01T00:00:00.5Z', 500],
    ['days', '2015-01-31', 31],
    ['isodoy', '2015-01-01', 4],
    ['week', '2015-01-07', 0],
    ['week', '2015-01-08', 1],
    ['isoyear', '2012-12-31', 2013],
    ['quarter', '2015-12-31', 4],
    ['dow', '1969-12-28', 0],
  ])('%s of %s is %s', (unit, time, expected) => {
    expect(resultOf(`date_part('${unit}', '${time}')`)).toBe(expected);
  });

  test.each([
    "date_part('hour', 'nonsense')",
    "date_part('hour', 'Inf')",
    "date_part('hour', '2015-02-30')",
    "date_part('year', 1e300)",
    "date_part(null, '2015-01-01')",
    "date_part('hour', '2015-01-01', null)",
  ])('%s is null', (expression) => {
    expect(resultOf(expression)).toBeNull();
  });

  test.each([
    ["date_part('hour', '2015-01-01', 'Z')", 'failed to parse timezone'],
    ["date_part('hour', '2015-01-01', '+25')", 'failed to parse timezone'],
    ["date_part('hour', '2015-01-01', '+01:60')", 'failed to parse timezone'],
    ["date_part('hour', '2015-01-01', 5)", 'expected a string as third argument'],
    ["date_part('hou', '2015-01-01')", 'Invalid time unit'],
    ["date_part(5, '2015-01-01')", 'Invalid time unit'],
    ['date_part(u, 5) FROM row_dataset([1])', 'must be a constant'],
    ["date_part('hour')", 'expected between 2 and 3 arguments, got 1'],
  ])('%s fails', (expression, message) => {
    expect(() => resultOf(expression)).toThrow(message);
  });
});

describe('units of the calendar', () => {
  const seconds = fc.double({ min: -6e10, max: 2e11, noNaN: true });

  test('each start lies at or before the instant and is its own start', () => {
    fc.assert(
      fc.property(seconds, fc.constantFrom(...CALENDAR_UNITS), (instant, unit) => {
        const start = unit.trunc(instant);
        expect(start).toBeLessThanOrEqual(instant + 1e-4);
        // Far from the epoch a double does not tell microseconds apart.
        expect(Math.abs(unit.trunc(start) - start)).toBeLessThan(1e-4);
        expect(instant - start).toBeLessThan(372 * 86_400);
      }),
    );
  });

  test('ISO years, weeks and days name one date', () => {
    const [isoyear, isoweek, isodow] = ['isoyear', 'isoweek', 'isodow'].map(findCalendarUnit);
    fc.assert(
      fc.property(fc.integer({ min: -200_000, max: 200_000 }), (day) => {
        const instant = day * 86_400;
        const start = isoyear?.trunc(instant) as number;
        const week = isoweek?.part(instant) as number;
        const weekday = isodow?.part(instant) as number;
        expect(start + ((week - 1) * 7 + weekday - 1) * 86_400).toBe(instant);
      }),
    );
  });

  test('zones are signed hours and minutes', () => {
    expect(parseZoneOffset('+05:30')).toBe(19_800);
    expect(parseZoneOffset('-0100')).toBe(-3600);
    expect(parseZoneOffset('+1')).toBeUndefined();
  });
});

describe('timestamps of values', () => {
  test.each([
    ['earliest_timestamp({})', { ts: 'Inf' }],
    ['latest_timestamp({})', { ts: '-Inf' }],
    ['latest_timestamp({a: 1 @ 5, b: {c: null @ 7}})', { ts: '1970-01-01T00:00:07Z' }],
    ['earliest_timestamp(null)', null],
    ['latest_timestamp({a: 1, b: {c: 2}} @ 3)', { ts: '1970-01-01T00:00:03Z' }],
    ['horizontal_count(distinct_timestamps(null))', 0],
  ])('%s', (expression, expected) => {
    expect(resultOf(expression)).toEqual(expected);
  });

  test('distinct ones are ascending and skip nulls', () => {
    expect(jsonOf('distinct_timestamps({a: 1 @ 9, b: null @ 3, c: 2 @ 4, d: 5 @ 9})')).toBe(
      '[{"ts":"1970-01-01T00:00:04Z"},{"ts":"1970-01-01T00:00:09Z"}]',
    );
  });

  test('a time is needed to set one', () => {
    expect(() => resultOf('at(1, null)')).toThrow("of type 'EMPTY' to timestamp");
    expect(() => resultOf('at(1, {a: 1})')).toThrow("of type 'structured'");
  });
});
