// Aggregates as SQL of ClickHouse, of equal meaning over the rows of a group. Rowan aggregates the
// one value that comes for each group again, so that what no rows give is said by Rowan.
import type { AggregateCall } from '../../plan/plan.ts';
import { Scalar } from '../../value/value.ts';
import { lower } from './clickhouse-expression.ts';
import {
  canonical,
  double,
  holds,
  isNumeric,
  type Lowering,
  type Sql,
  truthOf,
} from './clickhouse-sql.ts';

export interface AggregateSql {
  readonly value: Sql;
  /** the aggregate of Rowan that gives the only value that it sees */
  readonly again: string;
}

export function lowerAggregate(call: AggregateCall, to: Lowering): AggregateSql | undefined {
  const { name, args, modifiers } = call;
  if (modifiers !== undefined && modifiers.orderBy.length > 0) return undefined;
  let condition: string | undefined;
  if (modifiers?.filter !== undefined) {
    const filter = lower(modifiers.filter, to);
    const test = filter && truthOf(filter);
    if (test === undefined) return undefined;
    condition = holds(test);
  }
  const isDistinct = modifiers?.distinct === true;
  const [arg, ...more] = args;
  if (name === 'count' && (arg === undefined || isWholeRow(arg.kind))) {
    if (isDistinct) return undefined;
    return counting(condition === undefined ? 'count()' : `countIf(${condition})`);
  }
  const bare = arg && lower(arg, to);
  if (bare === undefined) return undefined;
  if (bare.isInexact === true && (isDistinct || !ADDING.has(name))) return undefined;
  const x: Sql =
    condition === undefined
      ? bare
      : { ...bare, text: `if(${condition}, ${bare.text}, NULL)`, isNullable: true };
  switch (name) {
    case 'count':
      return counting(isDistinct ? differentOf(x) : `count(${x.text})`);
    case 'count_distinct':
      return counting(differentOf(x));
    case 'min':
    case 'max':
      return extreme(name, x);
  }
  if (isDistinct || !isNumeric(x)) return undefined;
  switch (name) {
    case 'sum':
      return numeric(orElse(sumOf(x), '0.', x), 'sum', false);
    case 'avg':
      return numeric(orElse(`(${sumOf(x)} / count(${x.text}))`, 'nan', x), 'avg', false);
    case 'variance':
    case 'stddev': {
      const apply = name === 'variance' ? 'varSamp' : 'stddevSamp';
      return numeric(`if(count(${x.text}) < 2, nan, ${apply}(${double(x)}))`, 'max');
    }
    case 'median':
      return quantile(x, 0.5, true);
    case 'quantile_cont':
    case 'quantile_disc': {
      const [share] = more;
      if (share?.kind !== 'constant' || !(share.value instanceof Scalar)) return undefined;
      const { atom } = share.value;
      if (typeof atom !== 'number' || !(atom >= 0 && atom <= 1)) return undefined;
      return quantile(x, atom, name === 'quantile_cont');
    }
    default:
      return undefined;
  }
}

/** Those for which last bits matter no more than the order of the rows does. */
const ADDING: ReadonlySet<string> = new Set(['count', 'sum', 'avg', 'variance', 'stddev']);

/** NaN is one value here. */
function differentOf(x: Sql): string {
  if (x.mayBeNan !== true) return `uniqExact(${canonical(x)})`;
  const isNan = `ifNull(isNaN(${x.text}), 0)`;
  return `(uniqExactIf(${canonical(x)}, NOT ${isNan}) + (countIf(${isNan}) > 0))`;
}

function isWholeRow(kind: string): boolean {
  return kind === 'row' || kind === 'constant';
}

function counting(text: string): AggregateSql {
  const value: Sql = { text, kind: 'integer', isNullable: false };
  return { value, again: 'sum' };
}

function numeric(text: string, again: string, isNullable = true): AggregateSql {
  const value: Sql = { text, kind: 'number', isNullable, mayBeNan: true };
  return { value, again };
}

/** What a group gives whose values are all null. */
function orElse(text: string, none: string, x: Sql): string {
  return x.isNullable ? `ifNull(${text}, ${none})` : text;
}

/** Sums of integers are exact before they become doubles, as long as they cannot overflow. */
function sumOf(x: Sql): string {
  if (x.isSmall === true) return `toFloat64(sum(toInt64(${x.text})))`;
  return `sum(${double(x)})`;
}

function extreme(name: 'min' | 'max', x: Sql): AggregateSql {
  const none = `count(${x.text}) = 0`;
  let text = `if(${none}, NULL, ${name}(${x.text}))`;
  if (x.mayBeNan === true) {
    // NaN is the least number here.
    const isNan = `ifNull(isNaN(${x.text}), 0)`;
    const best = `${name}If(${x.text}, NOT ${isNan})`;
    const when = name === 'min' ? `countIf(${isNan}) > 0` : `countIf(${isNan}) = count(${x.text})`;
    text = `multiIf(${none}, NULL, ${when}, nan, ${best})`;
  }
  const { kind, isSmall = false, isUnsigned = false, mayBeNan = false } = x;
  return { value: { text, kind, isNullable: true, isSmall, isUnsigned, mayBeNan }, again: name };
}

/** The values in their order, in memory of the server: its own quantiles do not interpolate. */
function quantile(x: Sql, share: number, isBetween: boolean): AggregateSql {
  const value = double(x);
  const there = x.isNullable ? `assumeNotNull(${value})` : value;
  const keep = x.isNullable ? `isNull(${x.text}) = 0` : '1';
  const numbers = `arraySort(groupArrayIf(${there}, ${keep} AND NOT isNaN(${there})))`;
  const lacking = x.mayBeNan === true ? `countIf(${keep} AND isNaN(${there}))` : '0';
  const numberCount = `length(${numbers})`;
  const count = `(toInt64(${numberCount}) + toInt64(${lacking}))`;
  // NaN stands behind the numbers.
  const at = (index: string) =>
    `if(${index} > ${numberCount}, nan, arrayElement(${numbers}, toInt64(${index})))`;
  let text: string;
  if (isBetween) {
    const place = `(${share} * (${count} - 1))`;
    const low = `floor(${place})`;
    const a = at(`${low} + 1`);
    const b = at(`least(${low} + 2, toFloat64(${count}))`);
    text = `if(${a} = ${b}, ${a}, ${a} + (${b} - ${a}) * (${place} - ${low}))`;
  } else text = at(`greatest(1., ceil(${share} * ${count}))`);
  return numeric(`if(count(${x.text}) = 0, NULL, ${text})`, 'max');
}
