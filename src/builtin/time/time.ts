// Timestamps and dates.
import type { FunctionDeclaration, ScalarFunction } from '../../plan/function.ts';
import { ANY_TYPE, atomType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import {
  compareSeconds,
  earlierOf,
  laterOf,
  MINUS_INFINITY,
  NOT_A_DATE,
  Timestamp,
} from '../../value/timestamp.ts';
import { cellsOf, Embedding, effectiveTs, Scalar, type Value } from '../../value/value.ts';
import { family, INTEGER_TYPE, optional, parameter } from '../declare.ts';
import { castAtom } from '../operator/cast.ts';
import { setTimestamp } from '../operator/set-timestamp.ts';
import {
  CALENDAR_SECONDS_MAX,
  type CalendarUnit,
  findCalendarUnit,
  parseZoneOffset,
} from './calendar.ts';

const { scalar, value } = family('time', { isLinear: true });

const TIME = parameter('t', 'a timestamp, seconds since the epoch, or ISO 8601 text');
const UNIT = parameter(
  'unit',
  'constant text that starts with microsecond, millisecond, second, minute, hour, day, dow, doy, isodow, isodoy, week, isoweek, month, quarter, year or isoyear',
);
const ZONE = optional('tz', 'offset such as +01:00 that is subtracted from t first');

export const timeFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'to_timestamp',
    summary: 'The timestamp of a number of seconds since the epoch or of ISO 8601 text.',
    parameters: [parameter('x', 'a timestamp, a number or a text')],
    examples: [
      ['to_timestamp(86400)', '{"ts":"1970-01-02T00:00:00Z"}'],
      ["to_timestamp('2015-W01-1')", '{"ts":"2014-12-29T00:00:00Z"}'],
    ],
    result: atomType('timestamp'),
    evaluate: (x = null) => castAtom(x, 'timestamp'),
  }),
  value({
    name: 'at',
    summary: 'x with the timestamp of every value in it set to t; the same as x @ t.',
    parameters: [parameter('x', 'any value'), TIME],
    examples: [["latest_timestamp(at(5, '2015-01-01'))", '{"ts":"2015-01-01T00:00:00Z"}']],
    nulls: 'handle',
    timestamps: 'own',
    resultType: ([x]) => x?.type ?? ANY_TYPE,
    evaluate: ([x, t]) => setTimestamp(x as Value, t as Value),
  }),
  scalar({
    name: 'now',
    summary: 'The current time.',
    parameters: [],
    examples: [['now() IS TIMESTAMP', '1']],
    result: atomType('timestamp'),
    volatility: 'volatile',
    timestamps: 'constant',
    evaluate: () => new Timestamp(Date.now() / 1000),
  }),
  value({
    name: 'earliest_timestamp',
    summary: 'The smallest timestamp of the values of x, all versions of them.',
    parameters: [parameter('x', 'any value')],
    examples: [["earliest_timestamp(1 @ '2015-01-01T00:00:00Z')", '{"ts":"2015-01-01T00:00:00Z"}']],
    result: atomType('timestamp'),
    timestamps: 'own',
    versions: 'all',
    evaluatePoints: ([points]) => extremeTimestamp(points ?? [], earlierOf, Infinity),
  }),
  value({
    name: 'latest_timestamp',
    summary: 'The largest timestamp of the values of x.',
    parameters: [parameter('x', 'any value')],
    examples: [['latest_timestamp(1)', '{"ts":"-Inf"}']],
    result: atomType('timestamp'),
    timestamps: 'own',
    versions: 'all',
    evaluatePoints: ([points]) => extremeTimestamp(points ?? [], laterOf, MINUS_INFINITY),
  }),
  value({
    name: 'distinct_timestamps',
    summary: 'The different timestamps of the non-null values of x, all versions, ascending.',
    parameters: [parameter('x', 'any value')],
    examples: [
      ['print_json(distinct_timestamps(1 @ 5))', '"[{\\"ts\\":\\"1970-01-01T00:00:05Z\\"}]"'],
    ],
    result: { kind: 'embedding', shape: [-1], element: 'timestamp' },
    nulls: 'handle',
    timestamps: 'own',
    versions: 'all',
    evaluatePoints: ([points]) => distinctTimestamps(points ?? []),
  }),
  dateFunction({
    name: 'date_part',
    summary: 'A part of a timestamp, an integer; days and weeks of the year count from 0.',
    parameters: [UNIT, TIME, ZONE],
    examples: [
      ["date_part('hour', '2015-01-01T15:14:39Z')", '15'],
      ["date_part('hour', '2015-01-01T15:14:39Z', '-0100')", '16'],
      ["date_part('isoweek', '2010-01-03')", '53'],
    ],
    result: INTEGER_TYPE,
    apply: (unit, seconds) => unit.part(seconds),
  }),
  dateFunction({
    name: 'date_trunc',
    summary: 'The start of the unit that a timestamp lies in.',
    parameters: [UNIT, TIME, ZONE],
    examples: [
      ["date_trunc('month', '1969-07-24')", '{"ts":"1969-07-01T00:00:00Z"}'],
      ["date_trunc('week', '2014-12-31T15:14:39Z')", '{"ts":"2014-12-28T00:00:00Z"}'],
    ],
    result: atomType('timestamp'),
    apply: (unit, seconds) => new Timestamp(unit.trunc(seconds)),
  }),
];

type DateOptions = Pick<
  ScalarFunction,
  'name' | 'summary' | 'parameters' | 'examples' | 'result'
> & { readonly apply: (unit: CalendarUnit, seconds: number) => Atom };

function dateFunction({ apply, ...declaration }: DateOptions): ScalarFunction {
  const evaluateUnit = (unit: CalendarUnit, time: Atom, zone: Atom | undefined): Atom => {
    const offset = zone === undefined ? 0 : zoneOffset(zone);
    const timestamp = castAtom(time, 'timestamp');
    if (!(timestamp instanceof Timestamp)) return null;
    const seconds = timestamp.seconds - offset;
    return Math.abs(seconds) <= CALENDAR_SECONDS_MAX ? apply(unit, seconds) : null;
  };
  return scalar({
    ...declaration,
    timestamps: 'constant',
    evaluate: (unit = null, time = null, zone) => evaluateUnit(requireUnit(unit), time, zone),
    specialize: ([unit]) => {
      if (unit === undefined) {
        throw failure('SQL_BINDING', `the unit of ${declaration.name} must be a constant`);
      }
      if (unit === null) return () => null;
      const known = requireUnit(unit);
      return (_unit, time = null, zone) => evaluateUnit(known, time, zone);
    },
  });
}

function requireUnit(unit: Atom): CalendarUnit {
  const found = typeof unit === 'string' ? findCalendarUnit(unit) : undefined;
  if (found !== undefined) return found;
  throw failure('SQL_EXECUTION', `Invalid time unit '${unit}'; accepted are ${UNIT_LIST}`);
}

const UNIT_LIST =
  'microsecond, millisecond, second, minute, hour, day, dow, doy, isodow, isodoy, week, isoweek, month, quarter, year, isoyear';

function zoneOffset(zone: Atom): number {
  if (typeof zone !== 'string') {
    throw failure('SQL_EXECUTION', 'expected a string as third argument');
  }
  const offset = parseZoneOffset(zone);
  if (offset !== undefined) return offset;
  const message = `failed to parse timezone '${zone}'; accepted are +hh, -hh, +hhmm and +hh:mm`;
  throw failure('SQL_EXECUTION', message);
}

/** An empty row has the timestamp that no value can beat. */
function extremeTimestamp(
  points: readonly Value[],
  pick: (a: number, b: number) => number,
  empty: number,
): Scalar {
  let extreme: number | undefined;
  let latest = NOT_A_DATE;
  for (const point of points) {
    for (const { ts } of cellsOf(point)) {
      extreme = extreme === undefined ? ts : pick(extreme, ts);
      latest = laterOf(latest, ts);
    }
  }
  return new Scalar(new Timestamp(extreme ?? empty), latest);
}

function distinctTimestamps(points: readonly Value[]): Embedding {
  const seen = new Set<number>();
  let latest = NOT_A_DATE;
  for (const point of points) {
    latest = laterOf(latest, effectiveTs(point));
    for (const { atom, ts } of cellsOf(point)) if (atom !== null) seen.add(ts);
  }
  const sorted = [...seen].sort(compareSeconds);
  return new Embedding(
    [sorted.length],
    sorted.map((seconds) => new Timestamp(seconds)),
    latest,
  );
}
