// Builtins that ClickHouse has too, each with the SQL of equal meaning.
import {
  choose,
  compare,
  computed,
  double,
  holds,
  isDouble,
  isNumeric,
  type Lowering,
  number,
  type Sql,
  smallInteger,
  testOf,
  truthOf,
} from './clickhouse-sql.ts';

type Args = readonly Sql[];
type Lower = (args: Args, to: Lowering) => Sql | undefined;

/** Old servers want a constant. */
const TEXT_LENGTH_MAX = 2 ** 31 - 1;

/** Those that are null as soon as an argument is. */
const STRICT: Readonly<Record<string, Lower>> = {
  abs: rounding((x) => `abs(${x})`),
  floor: rounding((x) => `floor(${x})`),
  ceil: rounding((x) => `ceil(${x})`),
  trunc: rounding((x) => `trunc(${x})`),
  round: (args, to) => (args.length === 1 ? nearest(args, to) : undefined),
  sqrt: rounding((x) => `sqrt(${x})`),
  // Only sums ask for these: single precision, shares of scores, and a row for each of several codes.
  float32: ([x]) => x && computed(number(`toFloat32(${double(x)})`, x.isNullable), [x]),
  softmax: ([index, ...scores]) => {
    const at = index?.constant;
    if (typeof at !== 'number' || scores.some(({ isNullable }) => isNullable)) return undefined;
    const names = scores.map((_, k) => `s${k}`);
    const powers = names.map((name) => `toFloat32(exp(toFloat32(${name} - h)))`);
    const share = `toFloat32(${powers[at]} / (${powers.map((power) => `toFloat64(${power})`).join(' + ')}))`;
    // Each part is written once, as the argument of a lambda.
    const below = `arrayElement(arrayMap(h -> ${share}, [arrayReduce('max', [${names.join(', ')}])]), 1)`;
    const own = scores.map((score) => `[${double(score)}]`).join(', ');
    const all = `arrayElement(arrayMap((${names.join(', ')}) -> ${below}, ${own}), 1)`;
    return { ...number(all, false), isInexact: true };
  },
  each: (args) =>
    args.every(({ isNullable, isInexact }) => !isNullable && isInexact !== true)
      ? {
          text: `arrayJoin([${args.map(({ text: code }) => `toUInt32(${code})`).join(', ')}])`,
          kind: 'integer',
          isNullable: false,
        }
      : undefined,
  exp: inexact((x) => `exp(${x})`),
  ln: inexact((x) => `log(${x})`),
  text_concat: ofTexts(2, ([a, b]) => ({
    text: `concat(${a?.text}, ${b?.text})`,
    kind: 'string',
    isNullable: a?.isNullable === true || b?.isNullable === true,
  })),
  length: ofTexts(1, ([s]) => smallInteger(`lengthUTF8(${s?.text})`, s?.isNullable === true)),
  octet_length: ofTexts(1, ([s]) => smallInteger(`length(${s?.text})`, s?.isNullable === true)),
  reverse: ofTexts(1, ([s]) => text(`reverseUTF8(${s?.text})`, s)),
  strpos: ofTexts(2, ([s, part]) =>
    isFilled(part)
      ? smallInteger(`positionUTF8(${s?.text}, ${part?.text})`, s?.isNullable === true)
      : undefined,
  ),
  contains: ofTexts(2, ([s, part]) =>
    isFilled(part) ? testOf(`(position(${s?.text}, ${part?.text}) > 0)`, [s as Sql]) : undefined,
  ),
  starts_with: ofTexts(2, ([s, part]) =>
    isFilled(part) ? testOf(`startsWith(${s?.text}, ${part?.text})`, [s as Sql]) : undefined,
  ),
  ends_with: ofTexts(2, ([s, part]) =>
    isFilled(part) ? testOf(`endsWith(${s?.text}, ${part?.text})`, [s as Sql]) : undefined,
  ),
  replace: ofTexts(3, ([s, from, by]) =>
    isFilled(from) && by?.constant !== undefined
      ? text(`replaceAll(${s?.text}, ${from?.text}, ${by?.text})`, s)
      : undefined,
  ),
  left: ([s, n]) => {
    if (s?.kind !== 'string' || !isCount(n, 1)) return undefined;
    return text(`substringUTF8(${s.text}, 1, ${n?.text})`, s);
  },
  substring: ([s, start, length], to) => {
    if (s?.kind !== 'string' || !isCount(start, 1)) return undefined;
    if (length === undefined) {
      return text(`substringUTF8(${s.text}, ${start?.text}, ${TEXT_LENGTH_MAX})`, s);
    }
    return isCount(length, 1) && to !== undefined
      ? text(`substringUTF8(${s.text}, ${start?.text}, ${length.text})`, s)
      : undefined;
  },
  date_part: ([unit, time]) => part(DATE_PARTS, unit, time),
  extract: ([unit, time]) => part(EXTRACTED, unit, time),
  date_trunc: ([unit, time]) => {
    const start = STARTS[String(unit?.constant).toLowerCase()];
    if (time?.calendar === undefined || start === undefined) return undefined;
    return { text: start(time.text, time.calendar), kind: 'instant', isNullable: time.isNullable };
  },
};

const PART_FUNCTIONS: readonly string[] = ['year', 'quarter', 'month', 'day', 'hour', 'minute'];

/** @param args null: NULL */
export function lowerCall(
  name: string,
  args: readonly (Sql | null)[],
  to: Lowering,
): Sql | undefined {
  if (name === 'coalesce') {
    const values = args.filter((arg) => arg !== null);
    const tests = values.slice(0, -1).map((value) => `isNull(${value.text}) = 0`);
    const chosen = choose(tests, values);
    return chosen && { ...chosen, isNullable: values.every((value) => value.isNullable) };
  }
  if (name === 'if') {
    const [condition, then, otherwise] = args;
    const test = condition && truthOf(condition);
    if (!test || then === undefined || otherwise === undefined) return undefined;
    return choose([holds(test)], [then, otherwise]);
  }
  const values = args.filter((arg) => arg !== null);
  if (values.length < args.length) return undefined;
  if (name === 'nullif') {
    const [x, y] = values;
    const equal = compare('=', x, y, to);
    return x && equal && choose([holds(equal)], [null, x]);
  }
  if (PART_FUNCTIONS.includes(name) && args.length === 1) {
    return PARTS[name]?.(values[0] as Sql);
  }
  return Object.hasOwn(STRICT, name) ? STRICT[name]?.(values, to) : undefined;
}

function rounding(apply: (x: string) => string): Lower {
  return ([x, ...more]) => {
    if (x === undefined || more.length > 0 || !isNumeric(x) || !isDouble(x)) return undefined;
    if (x.isInexact === true) return undefined;
    return number(apply(double(x)), x.isNullable, x.mayBeNan !== false);
  };
}

function inexact(apply: (x: string) => string): Lower {
  return ([x, ...more]) => {
    if (x === undefined || more.length > 0 || !isNumeric(x) || !isDouble(x)) return undefined;
    return { ...number(apply(double(x)), x.isNullable), isInexact: true };
  };
}

/** Halves away from zero. */
const nearest = rounding(
  (x) => `(trunc(${x}) + if(abs(${x} - trunc(${x})) >= 0.5, if(${x} < 0, -1., 1.), 0.))`,
);

function ofTexts(count: number, apply: (args: Args) => Sql | undefined): Lower {
  return (args) =>
    args.length === count && args.every(({ kind }) => kind === 'string') ? apply(args) : undefined;
}

function text(sql: string, of: Sql | undefined): Sql {
  return { text: sql, kind: 'string', isNullable: of?.isNullable === true };
}

/** A constant text with something in it. */
function isFilled(value: Sql | undefined): boolean {
  return typeof value?.constant === 'string' && value.constant !== '';
}

function isCount(value: Sql | undefined, least: number): boolean {
  const { constant } = value ?? {};
  return (
    Number.isSafeInteger(constant) &&
    (constant as number) >= least &&
    (constant as number) < 2 ** 31
  );
}

type Part = (time: Sql) => Sql | undefined;

const PARTS: Readonly<Record<string, Part>> = {
  year: ofCalendar((c) => `toYear(${c})`),
  quarter: ofCalendar((c) => `toQuarter(${c})`),
  month: ofCalendar((c) => `toMonth(${c})`),
  day: ofCalendar((c) => `toDayOfMonth(${c})`),
  hour: ofClock((s) => `(intDiv(${s}, 3600) % 24)`),
  minute: ofClock((s) => `(intDiv(${s}, 60) % 60)`),
  second: ofClock((s) => `(${s} % 60)`),
};

/** Days of the week from 0, Sunday; days of the year from 0. */
const DATE_PARTS: Readonly<Record<string, Part>> = {
  ...PARTS,
  dow: ofCalendar((c) => `(toDayOfWeek(${c}) % 7)`),
  isodow: ofCalendar((c) => `toDayOfWeek(${c})`),
};

const EXTRACTED: Readonly<Record<string, Part>> = {
  ...PARTS,
  dow: ofCalendar((c) => `(toDayOfWeek(${c}) % 7)`),
};

function part(
  parts: Readonly<Record<string, Part>>,
  unit: Sql | undefined,
  time: Sql | undefined,
): Sql | undefined {
  const name = String(unit?.constant).toLowerCase();
  return time !== undefined && Object.hasOwn(parts, name) ? parts[name]?.(time) : undefined;
}

function ofCalendar(apply: (calendar: string) => string): Part {
  return ({ calendar, isNullable }) =>
    calendar === undefined ? undefined : smallInteger(`toInt32(${apply(calendar)})`, isNullable);
}

function ofClock(apply: (seconds: string) => string): Part {
  return ({ text: seconds, calendar, isNullable }) =>
    calendar === undefined ? undefined : smallInteger(apply(seconds), isNullable);
}

const ofDate = (date: string) => `(toInt64(toUInt16(${date})) * 86400)`;

/** From seconds and the calendar to the seconds of the start. */
const STARTS: Readonly<Record<string, (seconds: string, calendar: string) => string>> = {
  second: (s) => s,
  minute: (s) => `(intDiv(${s}, 60) * 60)`,
  hour: (s) => `(intDiv(${s}, 3600) * 3600)`,
  day: (s) => `(intDiv(${s}, 86400) * 86400)`,
  month: (_, c) => ofDate(`toStartOfMonth(${c})`),
  quarter: (_, c) => ofDate(`toStartOfQuarter(${c})`),
  year: (_, c) => ofDate(`toStartOfYear(${c})`),
};
