// Random aggregates and window functions. What the two engines mean by an aggregate of nothing
// differs on purpose, so those that differ stand behind a count or a coalesce.
import { condition, expression } from './expression.ts';
import { type Column, type Grammar, type Scope, TYPES, type Type } from './grammar.ts';

const EXPRESSION_DEPTH = 1;

/** @param suffix what follows the call: FILTER and OVER */
type Call = (g: Grammar, argument: (type: Type) => string, suffix: string) => string;

const sum = (x: string, suffix: string) => `coalesce(sum(${x})${suffix}, 0)`;
/** An aggregate that is defined from so many values on. */
const from = (count: number, x: string, call: string, suffix: string) =>
  `CASE WHEN count(${x})${suffix} >= ${count} THEN ${call}${suffix} END`;

const extreme =
  (type: Type): Call =>
  (g, argument, suffix) =>
    `${g.choices.pick(['max', 'min', 'MAX'])}(${argument(type)})${suffix}`;

const CALLS: Readonly<Record<Type, readonly Call[]>> = {
  int: [
    (_g, _argument, suffix) => `count(*)${suffix}`,
    (g, argument, suffix) => `count(${argument(g.choices.pick(TYPES))})${suffix}`,
    (g, argument, suffix) => `count(DISTINCT ${argument(g.choices.pick(TYPES))})${suffix}`,
    (_g, argument, suffix) => sum(argument('int'), suffix),
    extreme('int'),
    (_g, argument, suffix) => sum(`DISTINCT ${argument('int')}`, suffix),
    (g, argument, suffix) =>
      `bit_${g.choices.pick(['and', 'or', 'xor'])}(${argument('int')})${suffix}`,
    (_g, argument, suffix) => `coalesce(count_if(${argument('bool')})${suffix}, 0)`,
    (_g, argument, suffix) => `quantile_disc(${argument('int')}, 0.5)${suffix}`,
  ],
  num: [
    (_g, argument, suffix) => {
      const x = argument('num');
      return from(1, x, `avg(${x})`, suffix);
    },
    (_g, argument, suffix) => {
      const x = argument('int');
      return from(1, x, `avg(${x})`, suffix);
    },
    (_g, argument, suffix) => sum(argument('num'), suffix),
    extreme('num'),
    (g, argument, suffix) => {
      const x = argument('int');
      const name = g.choices.pick(['stddev', 'var_samp', 'stddev_samp', 'variance']);
      return `round(${from(2, x, `${name}(${x})`, suffix)}, 4)`;
    },
    (g, argument, suffix) => {
      const x = argument('int');
      return `round(${from(1, x, `${g.choices.pick(['stddev_pop', 'var_pop'])}(${x})`, suffix)}, 4)`;
    },
    (g, argument, suffix) => `${g.choices.pick(['median', 'MEDIAN'])}(${argument('num')})${suffix}`,
    (_g, argument, suffix) => `quantile_cont(${argument('int')}, 0.25)${suffix}`,
  ],
  text: [
    extreme('text'),
    (_g, argument, suffix) => {
      const x = argument('text');
      return from(1, x, `string_agg(${x}, '+' ORDER BY ${x})`, suffix);
    },
    (_g, argument, suffix) => {
      const x = argument('text');
      return from(1, x, `string_agg(DISTINCT ${x}, '+' ORDER BY ${x})`, suffix);
    },
    (_g, argument, suffix) => {
      const [x, y] = [argument('text'), argument('int')];
      return from(1, x, `string_agg(${x}, '-' ORDER BY ${y} DESC, ${x})`, suffix);
    },
  ],
  time: [extreme('time')],
  bool: [
    (g, argument, suffix) =>
      `${g.choices.pick(['bool_and', 'bool_or'])}(${argument('bool')})${suffix}`,
    extreme('bool'),
  ],
};

/** An aggregate over the rows of a scope; one of outer columns would belong to the query around. */
export function aggregate(g: Grammar, scope: Scope, type: Type): Column {
  const own = { ...scope, outer: [] };
  const argument = (of: Type) => expression(g, own, of, EXPRESSION_DEPTH, false);
  const filter = g.choices.once(4) ? ` FILTER (WHERE ${condition(g, scope, 1, false)})` : '';
  return { text: g.choices.pick(CALLS[type])(g, argument, filter), type, made: 'call' };
}

/**
 * A window function over the rows of a scope. Which of equal rows comes first is for each window to
 * say, so two that depend on it could disagree: only one of a select list may.
 * @param dependsOnOrder whether this one may tell equal rows apart
 */
export function windowCall(g: Grammar, scope: Scope, type: Type, dependsOnOrder: boolean): Column {
  const { choices } = g;
  const own = { ...scope, outer: [] };
  const argument = (of: Type) => expression(g, own, of, EXPRESSION_DEPTH, false);
  const partition = choices.once(2) ? `PARTITION BY ${argument(choices.pick(TYPES))} ` : '';
  const kind = choices.pick(dependsOnOrder ? [0, 1, 2, 3] : [1, 3]);
  if (kind === 0) {
    return call(type, rankingOrValue(g, type, argument), `${partition}${totalOrder(g, scope)}`);
  }
  const filter = choices.once(5) ? ` FILTER (WHERE ${condition(g, scope, 1, false)})` : '';
  const over = ` OVER (${partition}${frameOf(g, scope, kind, argument)})`;
  // Distinct and ordered arguments of windows are few: they stand last.
  const calls = CALLS[type].filter(
    (_call, index) => type === 'text' || index < 5 || choices.once(4),
  );
  return { text: choices.pick(calls)(g, argument, `${filter}${over}`), type, made: 'call' };
}

function call(type: Type, text: string, window: string): Column {
  return { text: `${text} OVER (${window})`, type, made: 'call' };
}

function rankingOrValue(g: Grammar, type: Type, argument: (type: Type) => string): string {
  const { choices } = g;
  if (type === 'int' && choices.once(2)) {
    return choices.pick(['row_number()', 'rank()', 'dense_rank()', 'ntile(3)']);
  }
  if (type === 'num' && choices.once(2)) return choices.pick(['percent_rank()', 'cume_dist()']);
  const x = argument(type);
  return choices.pick([
    `lag(${x})`,
    `lead(${x}, 2)`,
    `first_value(${x})`,
    `last_value(${x})`,
    `nth_value(${x}, 2)`,
    `lag(${x}, 1, ${x})`,
    `first_value(${x} IGNORE NULLS)`,
    `lag(${x} IGNORE NULLS)`,
  ]);
}

/** An order that only equal rows share, so the place of each row is certain. */
function totalOrder(g: Grammar, scope: Scope): string {
  const columns = scope.columns.filter(({ made }) => made !== 'call');
  if (columns.length === 0) return 'ORDER BY 1 + 0';
  const first = g.choices.below(columns.length);
  const ordered = [...columns.slice(first), ...columns.slice(0, first)];
  return `ORDER BY ${ordered.map(({ text }) => `${text}${direction(g)}`).join(', ')}`;
}

export function direction(g: Grammar): string {
  return g.choices.pick([
    '',
    ' DESC',
    ' ASC',
    ' NULLS LAST',
    ' DESC NULLS FIRST',
    ' DESC NULLS LAST',
  ]);
}

function frameOf(g: Grammar, scope: Scope, kind: number, argument: (type: Type) => string): string {
  const { choices } = g;
  if (kind === 1) {
    const form = choices.below(3);
    if (form === 0) return '';
    return form === 1
      ? `ORDER BY ${argument(choices.pick(TYPES))}${direction(g)}`
      : `${totalOrder(g, scope)}`;
  }
  const exclude = choices.once(4)
    ? choices.pick([
        ' EXCLUDE CURRENT ROW',
        ' EXCLUDE GROUP',
        ' EXCLUDE TIES',
        ' EXCLUDE NO OTHERS',
      ])
    : '';
  if (kind === 2) return `${totalOrder(g, scope)} ROWS BETWEEN ${bounds(g, '')}${exclude}`;
  if (choices.once(2)) {
    return `ORDER BY ${argument(choices.pick(TYPES))}${direction(g)} GROUPS BETWEEN ${bounds(g, '')}${exclude}`;
  }
  const isTime = choices.once(4);
  const key = argument(isTime ? 'time' : choices.pick(['int', 'num'] as const));
  const unit = isTime ? 'DAY' : '';
  const way = choices.pick(['', ' DESC']);
  return `ORDER BY ${key}${way} RANGE BETWEEN ${bounds(g, unit)}${exclude}`;
}

function bounds(g: Grammar, unit: string): string {
  const far = (count: number) => (unit === '' ? `${count}` : `INTERVAL ${count * 5} ${unit}`);
  return g.choices.pick([
    'UNBOUNDED PRECEDING AND CURRENT ROW',
    `${far(1)} PRECEDING AND ${far(1)} FOLLOWING`,
    `${far(2)} PRECEDING AND CURRENT ROW`,
    'CURRENT ROW AND UNBOUNDED FOLLOWING',
    'UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
    `${far(1)} FOLLOWING AND ${far(3)} FOLLOWING`,
    `${far(3)} PRECEDING AND ${far(1)} PRECEDING`,
    `CURRENT ROW AND ${far(2)} FOLLOWING`,
  ]);
}
