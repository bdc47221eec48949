// Times by the names that SQL has for their parts and differences. All in UTC.
import type { FunctionDeclaration, ScalarFunction } from '../../plan/function.ts';
import { atomType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { numberAtom, requireDouble, requireIndex, requireText } from '../conversion.ts';
import { family, INTEGER_TYPE, NUMBER_TYPE, parameter, STRING_TYPE } from '../declare.ts';
import { addAtoms } from '../operator/arithmetic.ts';
import { castAtom } from '../operator/cast.ts';
import { CALENDAR_SECONDS_MAX, findCalendarUnit } from './calendar.ts';
import { formatTime, parseTime } from './time-format.ts';

const { scalar } = family('time', { isLinear: true });

const TIMESTAMP_TYPE = atomType('timestamp');
const TIME = parameter('t', 'a timestamp, seconds since the epoch, or ISO 8601 text');
const UNIT = parameter(
  'unit',
  'year, quarter, month, week, day, hour, minute, second, millisecond or microsecond',
);
const DAY = 86_400;

/** The seconds of a time that has a date; undefined for what is none. */
function secondsOf(atom: Atom): number | undefined {
  const time = castAtom(atom, 'timestamp');
  if (!(time instanceof Timestamp)) return undefined;
  return Math.abs(time.seconds) <= CALENDAR_SECONDS_MAX ? time.seconds : undefined;
}

function dateOf(seconds: number): Date {
  return new Date(Math.floor(seconds) * 1000);
}

/** The parts by name, as the standard and DuckDB number them. */
const PARTS: Readonly<Record<string, (seconds: number) => number>> = {
  ...calendarParts('year', 'quarter', 'month', 'day', 'hour', 'minute', 'dow', 'isodow', 'isoyear'),
  second: (seconds) => findCalendarUnit('second')?.part(seconds) ?? 0,
  millisecond: (seconds) => Math.floor((seconds - Math.floor(seconds / 60) * 60) * 1e3 + 1e-6),
  microsecond: (seconds) => Math.floor((seconds - Math.floor(seconds / 60) * 60) * 1e6 + 1e-3),
  week: (seconds) => findCalendarUnit('isoweek')?.part(seconds) ?? 0,
  doy: (seconds) => {
    const year = dateOf(seconds).getUTCFullYear();
    return Math.floor(seconds / DAY) - Math.floor(Date.UTC(year, 0, 1) / 1000 / DAY) + 1;
  },
  epoch: (seconds) => seconds,
  decade: (seconds) => Math.floor(dateOf(seconds).getUTCFullYear() / 10),
  century: (seconds) => Math.ceil(dateOf(seconds).getUTCFullYear() / 100),
  millennium: (seconds) => Math.ceil(dateOf(seconds).getUTCFullYear() / 1000),
};

function calendarParts(...names: readonly string[]): Record<string, (seconds: number) => number> {
  return Object.fromEntries(
    names.map((name) => [name, (seconds: number) => findCalendarUnit(name)?.part(seconds) ?? 0]),
  );
}

const PART_NAMES: Readonly<Record<string, string>> = {
  dayofweek: 'dow',
  weekday: 'dow',
  dayofyear: 'doy',
  dayofmonth: 'day',
  weekofyear: 'week',
};

function partNamed(text: string): (seconds: number) => number {
  const lower = text.toLowerCase();
  const name = PART_NAMES[lower] ?? lower;
  const singular = name.endsWith('s') ? name.slice(0, -1) : name;
  const found = [name, singular].find((candidate) => Object.hasOwn(PARTS, candidate));
  if (found !== undefined) return PARTS[found] as (seconds: number) => number;
  throw failure(
    'SQL_EXECUTION',
    `unknown unit '${text}'; accepted are ${Object.keys(PARTS).join(', ')}`,
  );
}

function part(name: string, summary: string, example: string, of = name): ScalarFunction {
  const read = partNamed(of);
  return scalar({
    name,
    summary,
    parameters: [TIME],
    examples: [[`${name}(TIMESTAMP '1996-02-25 05:06:07')`, example]],
    result: NUMBER_TYPE,
    timestamps: 'constant',
    evaluate: (t = null) => {
      const seconds = secondsOf(t);
      return seconds === undefined ? null : numberAtom(read(seconds));
    },
  });
}

/** Months from year 0, and where in its month an instant lies. */
function monthsOf(seconds: number): number {
  const date = dateOf(seconds);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

interface Unit {
  readonly name: string;
  /** borders of the unit between two instants, negative when the first is after the second */
  borders(from: number, to: number): number;
  /** whole units between two instants, the first not after the second */
  whole(from: number, to: number): number;
}

const UNITS: readonly Unit[] = [
  ...[
    ['year', 12],
    ['quarter', 3],
    ['month', 1],
    ['decade', 120],
    ['century', 1200],
    ['millennium', 12_000],
  ].map(
    ([name, months]): Unit => ({
      name: name as string,
      borders: bordersOf((seconds) => Math.floor(monthsOf(seconds) / (months as number))),
      whole: (from, to) => Math.trunc(wholeMonths(from, to) / (months as number)),
    }),
  ),
  {
    name: 'week',
    // Weeks have no borders: they are seven days, whichever the first is.
    borders: (from, to) => Math.trunc((indexOf(to, DAY) - indexOf(from, DAY)) / 7),
    whole: (from, to) => Math.trunc((to - from) / (7 * DAY)),
  },
  ...[
    ['day', DAY],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
    ['millisecond', 1e-3],
    ['microsecond', 1e-6],
  ].map(
    ([name, size]): Unit => ({
      name: name as string,
      borders: bordersOf((seconds) => indexOf(seconds, size as number)),
      whole: (from, to) => indexOf(to - from, size as number),
    }),
  ),
];

/** Of units that are numbered: how far the numbers are apart. */
function bordersOf(index: (seconds: number) => number): Unit['borders'] {
  return (from, to) => index(to) - index(from);
}

/** Fractions of seconds are counted without the error of their division. */
function indexOf(seconds: number, size: number): number {
  return size >= 1 ? Math.floor(seconds / size) : Math.round(seconds / size);
}

/** Months that have passed; a month is over on its last day where that day does not exist. */
function wholeMonths(from: number, to: number): number {
  const months = monthsOf(to) - monthsOf(from);
  if (months <= 0) return 0;
  const moved = addAtoms(new Timestamp(from), new Interval(months, 0, 0)) as Timestamp;
  return moved.seconds <= to ? months : months - 1;
}

function unitNamed(text: string): Unit {
  const lower = text.toLowerCase();
  const found = UNITS.find(({ name }) => name === lower || `${name}s` === lower);
  if (found !== undefined) return found;
  throw failure(
    'SQL_EXECUTION',
    `unknown unit '${text}'; accepted are ${UNITS.map(({ name }) => name).join(', ')}`,
  );
}

function difference(
  name: string,
  aliases: readonly string[],
  summary: string,
  example: readonly [string, string],
  between: (unit: Unit, from: number, to: number) => number,
) {
  return scalar({
    name,
    aliases,
    summary,
    parameters: [
      UNIT,
      parameter('a', 'the time to begin with'),
      parameter('b', 'the time to end with'),
    ],
    examples: [example],
    result: INTEGER_TYPE,
    evaluate: (unit = null, a = null, b = null) => {
      const known = unitNamed(requireText(unit));
      const [from, to] = [secondsOf(a), secondsOf(b)];
      return from === undefined || to === undefined ? null : numberAtom(between(known, from, to));
    },
    specialize: ([unit]) => {
      const known = typeof unit === 'string' ? unitNamed(unit) : undefined;
      return (each = null, a = null, b = null) => {
        const [from, to] = [secondsOf(a), secondsOf(b)];
        if (from === undefined || to === undefined) return null;
        return numberAtom(between(known ?? unitNamed(requireText(each)), from, to));
      };
    },
  });
}

export const dateFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'extract',
    summary:
      'A part of a timestamp, as EXTRACT(unit FROM t) has it: days of the week from 0 (Sunday), weeks by ISO 8601.',
    parameters: [parameter('unit', Object.keys(PARTS).join(', ')), TIME],
    examples: [
      ["EXTRACT(YEAR FROM DATE '1996-02-25')", '1996'],
      ["EXTRACT(dow FROM DATE '1996-02-25')", '0'],
    ],
    result: NUMBER_TYPE,
    timestamps: 'constant',
    evaluate: (unit = null, t = null) => {
      const read = partNamed(requireText(unit));
      const seconds = secondsOf(t);
      return seconds === undefined ? null : numberAtom(read(seconds));
    },
    specialize: ([unit]) => {
      const known = typeof unit === 'string' ? partNamed(unit) : undefined;
      return (each = null, t = null) => {
        const seconds = secondsOf(t);
        if (seconds === undefined) return null;
        return numberAtom((known ?? partNamed(requireText(each)))(seconds));
      };
    },
  }),
  part('year', 'The year of a time.', '1996'),
  part('quarter', 'The quarter, 1 to 4.', '1'),
  part('month', 'The month, 1 to 12.', '2'),
  part('week', 'The week of ISO 8601, 1 to 53.', '8'),
  part('day', 'The day of the month.', '25'),
  part('hour', 'The hour, 0 to 23.', '5'),
  part('minute', 'The minute, 0 to 59.', '6'),
  part('second', 'The second, 0 to 59.', '7'),
  part('dayofweek', 'The day of the week, 0 (Sunday) to 6.', '0'),
  part('isodow', 'The day of the week, 1 (Monday) to 7.', '7'),
  part('dayofyear', 'The day of the year, from 1.', '56'),
  part('epoch', 'Seconds since 1970-01-01T00:00:00Z.', '825224767'),
  scalar({
    name: 'epoch_ms',
    summary: 'Milliseconds since 1970-01-01T00:00:00Z.',
    parameters: [TIME],
    examples: [["epoch_ms(TIMESTAMP '1996-02-25 05:06:07')", '825224767000']],
    result: INTEGER_TYPE,
    timestamps: 'constant',
    evaluate: (t = null) => {
      const seconds = secondsOf(t);
      return seconds === undefined ? null : Math.floor(seconds * 1000);
    },
  }),
  scalar({
    name: 'last_day',
    summary: 'The last day of the month of a time.',
    parameters: [TIME],
    examples: [["last_day(DATE '1996-02-25')", '{"ts":"1996-02-29T00:00:00Z"}']],
    result: TIMESTAMP_TYPE,
    evaluate: (t = null) => {
      const seconds = secondsOf(t);
      if (seconds === undefined) return null;
      const date = dateOf(seconds);
      return new Timestamp(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0) / 1000);
    },
  }),
  scalar({
    name: 'strftime',
    summary:
      'A time as text, in a format of letters behind %: Y m d H M S f j b B a A y p I and %%.',
    parameters: [TIME, parameter('format', 'a text')],
    examples: [
      ["strftime(TIMESTAMP '1995-03-04 05:06:07', '%d/%m/%Y %I %p')", '"04/03/1995 05 AM"'],
    ],
    result: STRING_TYPE,
    evaluate: (t = null, format = null) => {
      // DuckDB takes the arguments in either order.
      const swapped = typeof t === 'string' && t.includes('%');
      const [time, how] = swapped ? [format, t] : [t, format];
      const seconds = secondsOf(time);
      return seconds === undefined ? null : formatTime(seconds, requireText(how));
    },
    specialize: ([, format]) => {
      if (typeof format === 'string') formatTime(0, format);
      return (t = null, each = null) => {
        const swapped = typeof t === 'string' && t.includes('%');
        const [time, how] = swapped ? [each, t] : [t, each];
        const seconds = secondsOf(time);
        return seconds === undefined ? null : formatTime(seconds, requireText(how));
      };
    },
  }),
  scalar({
    name: 'strptime',
    summary:
      'The time that a text tells in a format; null when the text does not fit. Letters as in strftime.',
    parameters: [parameter('s', 'a text'), parameter('format', 'a text')],
    examples: [["strptime('04/03/1995 17:30', '%d/%m/%Y %H:%M')", '{"ts":"1995-03-04T17:30:00Z"}']],
    result: TIMESTAMP_TYPE,
    evaluate: (s = null, format = null) => {
      const seconds = parseTime(requireText(s), requireText(format));
      return seconds === undefined ? null : new Timestamp(seconds);
    },
  }),
  scalar({
    name: 'make_date',
    summary: 'Midnight of a day; null when there is no such day.',
    parameters: [
      parameter('year', 'an integer'),
      parameter('month', '1 to 12'),
      parameter('day', '1 to 31'),
    ],
    examples: [['make_date(1995, 3, 4)', '{"ts":"1995-03-04T00:00:00Z"}']],
    result: TIMESTAMP_TYPE,
    evaluate: (year = null, month = null, day = null) => makeTime(year, month, day, 0, 0, 0),
  }),
  scalar({
    name: 'make_timestamp',
    summary: 'A time of its parts; null when there is no such time.',
    parameters: [
      parameter('year', 'an integer'),
      parameter('month', '1 to 12'),
      parameter('day', '1 to 31'),
      parameter('hour', '0 to 23'),
      parameter('minute', '0 to 59'),
      parameter('second', '0 up to 60, with a fraction'),
    ],
    examples: [['make_timestamp(1995, 3, 4, 5, 6, 7.5)', '{"ts":"1995-03-04T05:06:07.5Z"}']],
    result: TIMESTAMP_TYPE,
    evaluate: (year = null, month = null, day = null, hour = null, minute = null, second = null) =>
      makeTime(year, month, day, hour, minute, second),
  }),
  difference(
    'date_diff',
    ['datediff'],
    'How many borders of a unit lie between two times; of weeks, how many times seven days.',
    ["date_diff('month', DATE '1995-01-31', DATE '1995-02-01')", '1'],
    (unit, from, to) => unit.borders(from, to),
  ),
  difference(
    'date_sub',
    ['datesub'],
    'How many whole units lie between two times.',
    ["date_sub('month', DATE '1995-01-31', DATE '1995-03-01')", '1'],
    (unit, from, to) => (from <= to ? unit.whole(from, to) : -unit.whole(to, from)),
  ),
  scalar({
    name: 'date_add',
    summary: 'A time and an interval later.',
    parameters: [TIME, parameter('interval', 'an interval')],
    examples: [["date_add(DATE '1995-01-01', INTERVAL 10 DAY)", '{"ts":"1995-01-11T00:00:00Z"}']],
    result: TIMESTAMP_TYPE,
    evaluate: (t = null, interval = null) => {
      const time = castAtom(t, 'timestamp');
      return time === null ? null : addAtoms(time, interval);
    },
  }),
  scalar({
    name: 'age',
    summary:
      'The interval from a second time to the first, in months and days and the rest of the day.',
    parameters: [
      parameter('a', 'the later time'),
      { ...parameter('b', 'the earlier time; default: today'), optional: true },
    ],
    examples: [["age(DATE '1996-03-20', DATE '1995-01-15')", '{"interval":"1Y 2 MONTH 5D"}']],
    result: atomType('interval'),
    volatility: 'volatile',
    evaluate: (a = null, b) => {
      const today = Math.floor(Date.now() / 1000 / DAY) * DAY;
      // With one argument it is the age today.
      const [late, early] = b === undefined ? [today, secondsOf(a)] : [secondsOf(a), secondsOf(b)];
      return late === undefined || early === undefined ? null : ageBetween(early, late);
    },
  }),
  scalar({
    name: 'current_date',
    aliases: ['today'],
    summary: 'Midnight of the current day; stands without parentheses too.',
    parameters: [],
    examples: [['current_date <= now()', '1']],
    result: TIMESTAMP_TYPE,
    volatility: 'volatile',
    timestamps: 'constant',
    evaluate: () => new Timestamp(Math.floor(Date.now() / 1000 / DAY) * DAY),
  }),
  scalar({
    name: 'current_timestamp',
    summary: 'The current time; stands without parentheses too.',
    parameters: [],
    examples: [['current_timestamp IS TIMESTAMP', '1']],
    result: TIMESTAMP_TYPE,
    volatility: 'volatile',
    timestamps: 'constant',
    evaluate: () => new Timestamp(Date.now() / 1000),
  }),
  scalar({
    name: 'time_bucket',
    summary:
      'The start of the interval that a time lies in: months from 2000-01-01, days and times from Monday 2000-01-03.',
    parameters: [parameter('interval', 'an interval of months, or of days and seconds'), TIME],
    examples: [
      [
        "time_bucket(INTERVAL '15 minutes', TIMESTAMP '1995-03-04 05:36:07')",
        '{"ts":"1995-03-04T05:30:00Z"}',
      ],
      ["time_bucket(INTERVAL '3 months', DATE '1995-03-04')", '{"ts":"1995-01-01T00:00:00Z"}'],
    ],
    result: TIMESTAMP_TYPE,
    evaluate: (interval = null, t = null) => {
      const seconds = secondsOf(t);
      if (!(interval instanceof Interval) || interval.negative || interval.isZero()) {
        throw failure('SQL_EXECUTION', 'time_bucket takes an interval longer than nothing');
      }
      return seconds === undefined ? null : new Timestamp(bucketStart(interval, seconds));
    },
  }),
];

function bucketStart(interval: Interval, seconds: number): number {
  const { months, days, seconds: rest } = interval;
  if (months > 0) {
    if (days > 0 || rest > 0)
      throw failure('SQL_EXECUTION', 'time_bucket takes months, or days and seconds, not both');
    const start = Math.floor((monthsOf(seconds) - 24_000) / months) * months + 24_000;
    return Date.UTC(Math.floor(start / 12), start % 12, 1) / 1000;
  }
  const size = days * DAY + rest;
  const origin = Date.UTC(2000, 0, 3) / 1000;
  return origin + Math.floor((seconds - origin) / size) * size;
}

function makeTime(
  year: Atom,
  month: Atom,
  day: Atom,
  hour: Atom,
  minute: Atom,
  second: Atom,
): Timestamp | null {
  const [y, mo, d, h, mi] = [year, month, day, hour, minute].map(requireIndex) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const s = requireDouble(second);
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  const fits =
    date.getUTCFullYear() === y && date.getUTCMonth() === mo - 1 && date.getUTCDate() === d;
  if (!fits || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s >= 60) return null;
  return new Timestamp(date.getTime() / 1000 + h * 3600 + mi * 60 + s);
}

/** Months first, then days, then what is left. */
function ageBetween(early: number, late: number): Atom {
  if (early > late) {
    const { months, days, seconds } = ageBetween(late, early) as Interval;
    return new Interval(months, days, seconds, true);
  }
  const months = wholeMonths(early, late);
  const moved = addAtoms(new Timestamp(early), new Interval(months, 0, 0)) as Timestamp;
  const rest = late - moved.seconds;
  const days = Math.floor(rest / DAY);
  return new Interval(months, days, rest - days * DAY);
}
