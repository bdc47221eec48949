// Random expressions of a type over the columns of a scope.
import {
  type Column,
  type Grammar,
  type Scope,
  scopeColumns,
  TYPES,
  type Type,
} from './grammar.ts';

interface Site {
  readonly g: Grammar;
  readonly scope: Scope;
  readonly depth: number;
  readonly allowsQueries: boolean;
}

export function expression(
  g: Grammar,
  scope: Scope,
  type: Type,
  depth: number,
  allowsQueries = true,
): string {
  return ofType({ g, scope, depth, allowsQueries }, type);
}

export function condition(g: Grammar, scope: Scope, depth: number, allowsQueries = true): string {
  return ofType({ g, scope, depth, allowsQueries }, 'bool');
}

function ofType(site: Site, type: Type): string {
  const { g, depth } = site;
  if (depth <= 0 || g.choices.below(3) === 0) return leaf(site, type);
  const forms = FORMS[type];
  const form = g.choices.below(forms.length + COMMON_FORMS.length);
  const inner = { ...site, depth: depth - 1 };
  const make = form < forms.length ? forms[form] : COMMON_FORMS[form - forms.length];
  return (make as Form)(inner, type);
}

function leaf(site: Site, type: Type): string {
  const { g, scope } = site;
  const own = scopeColumns(scope, type);
  const outer = scope.outer.filter((column) => column.type === type);
  if (outer.length > 0 && g.choices.once(3)) return g.choices.pick(outer).text;
  if (own.length > 0 && !g.choices.once(6)) return g.choices.pick(own).text;
  if (type === 'bool') return simpleCondition(site);
  return literal(g, type);
}

export function literal(g: Grammar, type: Type): string {
  const { choices } = g;
  switch (type) {
    case 'int':
      return choices.pick(['1', '0', '2', '3', '(-1)', '5']);
    case 'num':
      return choices.pick(['0.5e0', '1.25e0', '(-0.75e0)', '2.5e0']);
    case 'text':
      return choices.pick(["'a'", "''", "'abc'", "'B'", "'zoé'", "'12'"]);
    case 'time':
      return choices.pick([
        "TIMESTAMP '2024-01-05'",
        "TIMESTAMP '2024-02-01 12:30:00'",
        "CAST('2023-12-31' AS timestamp)",
      ]);
    case 'bool':
      return choices.pick(['(1 = 1)', '(1 = 2)']);
  }
}

type Form = (site: Site, type: Type) => string;

const int = (site: Site) => ofType(site, 'int');
const num = (site: Site) => ofType(site, 'num');
const text = (site: Site) => ofType(site, 'text');
const time = (site: Site) => ofType(site, 'time');
const bool = (site: Site) => ofType(site, 'bool');
const pick = (site: Site, of: readonly string[]) => site.g.choices.pick(of);
const comparable = (site: Site) => site.g.choices.pick(TYPES);

/** Forms of every type. */
const COMMON_FORMS: readonly Form[] = [
  (s, type) => `coalesce(${ofType(s, type)}, ${ofType(s, type)})`,
  (s, type) => `CASE WHEN ${bool(s)} THEN ${ofType(s, type)} ELSE ${ofType(s, type)} END`,
  (s, type) => `CASE WHEN ${bool(s)} THEN ${ofType(s, type)} END`,
  (s, type) => `nullif(${ofType(s, type)}, ${ofType(s, type)})`,
  (s, type) => {
    const other = comparable(s);
    return (
      `CASE ${ofType(s, other)} WHEN ${ofType(s, other)} THEN ${ofType(s, type)} ` +
      `WHEN ${ofType(s, other)} THEN NULL ELSE ${ofType(s, type)} END`
    );
  },
  scalarQuery,
];

const FORMS: Readonly<Record<Type, readonly Form[]>> = {
  int: [
    (s) => `(${int(s)} + ${int(s)})`,
    (s) => `(${int(s)} - ${int(s)})`,
    (s) => `(${int(s)} * ${literal(s.g, 'int')})`,
    (s) => `(${int(s)} % ${pick(s, ['3', '2', '-4'])})`,
    (s) => `(${int(s)} + ${literal(s.g, 'int')} * ${int(s)} - ${literal(s.g, 'int')})`,
    (s) => `abs(${int(s)})`,
    (s) => `sign(${int(s)})`,
    (s) => `greatest(${int(s)}, ${int(s)})`,
    (s) => `least(${int(s)}, ${int(s)}, ${int(s)})`,
    (s) => `${pick(s, ['length', 'char_length', 'ascii'])}(${text(s)})`,
    (s) => `${pick(s, ['strpos', 'instr'])}(${text(s)}, ${text(s)})`,
    (s) => `POSITION(${text(s)} IN ${text(s)})`,
    (s) =>
      `EXTRACT(${pick(s, ['YEAR', 'MONTH', 'DAY', 'HOUR', 'QUARTER', 'DOY', 'DOW', 'ISODOW', 'WEEK'])} FROM ${time(s)})`,
    (s) => `${pick(s, ['year', 'month', 'day', 'hour', 'minute', 'quarter'])}(${time(s)})`,
    (s) =>
      `date_diff('${pick(s, ['day', 'month', 'hour', 'year', 'week'])}', ${time(s)}, ${time(s)})`,
    (s) => `date_sub('${pick(s, ['day', 'hour', 'month'])}', ${time(s)}, ${time(s)})`,
    (s) => `CAST(trunc(${num(s)}) AS ${pick(s, ['integer', 'bigint'])})`,
    (s) => `CAST(${bool(s)} AS integer)`,
    (s) => `TRY_CAST(${pick(s, ["'12'", "'x'", "'-3'"])} AS int)`,
    (s) => `floor(${num(s)})::int`,
    (s) => `if(${bool(s)}, ${int(s)}, ${int(s)})`,
    (s) => `(${int(s)} & ${pick(s, ['1', '3', '6'])})`,
    (s) => `ifnull(${int(s)}, ${int(s)})`,
  ],
  num: [
    (s) => `(${num(s)} + ${num(s)})`,
    (s) => `(${num(s)} - ${int(s)})`,
    (s) => `(${num(s)} * ${pick(s, ['2', '0.5e0', '-1'])})`,
    (s) => `(${int(s)} / ${pick(s, ['2', '4', '3'])})`,
    (s) => `(${num(s)} / nullif(${int(s)}, 0))`,
    (s) => `abs(${num(s)})`,
    (s) => `round(${num(s)}, ${pick(s, ['2', '1', '0'])})`,
    (s) => `${pick(s, ['floor', 'ceil', 'trunc', 'ceiling'])}(${num(s)})`,
    (s) => `sqrt(abs(${num(s)}))`,
    (s) => `greatest(${num(s)}, ${num(s)})`,
    (s) => `least(${num(s)}, ${int(s)})`,
    (s) => `CAST(${int(s)} AS double)`,
    (s) => `(${int(s)})::double`,
    (s) => `(- ${num(s)})`,
    (s) => `(epoch(${time(s)}) / 86400)`,
  ],
  text: [
    (s) => `(${text(s)} || ${text(s)})`,
    (s) =>
      `${pick(s, ['upper', 'lower', 'UPPER', 'trim', 'ltrim', 'rtrim', 'reverse'])}(${text(s)})`,
    (s) => `substr(${text(s)}, ${pick(s, ['1', '2'])}, ${pick(s, ['2', '1', '0'])})`,
    (s) => `SUBSTRING(${text(s)} FROM ${pick(s, ['1', '2'])} FOR ${pick(s, ['1', '2'])})`,
    (s) => `${pick(s, ['left', 'right'])}(${text(s)}, ${pick(s, ['1', '2', '0', '-1'])})`,
    (s) => `replace(${text(s)}, ${pick(s, ["'a'", "'b'", "'zoé'"])}, ${text(s)})`,
    (s) => `repeat(${text(s)}, ${pick(s, ['2', '0', '1'])})`,
    (s) => `${pick(s, ['lpad', 'rpad'])}(${text(s)}, ${pick(s, ['4', '2'])}, '*')`,
    (s) => `concat_ws('-', ${text(s)}, ${text(s)})`,
    (s) => `CAST(${int(s)} AS ${pick(s, ['varchar', 'text'])})`,
    (s) =>
      `strftime(${time(s)}, ${pick(s, ["'%Y-%m'", "'%d.%m.%y %H:%M'", "'%Y-%j'", "'%A %B'"])})`,
    (s) => `TRIM(${pick(s, ['BOTH', 'LEADING', 'TRAILING'])} 'a' FROM ${text(s)})`,
    (s) => `translate(${text(s)}, 'ab', 'x')`,
    (s) => `greatest(${text(s)}, ${text(s)})`,
    (s) => `least(${text(s)}, ${text(s)})`,
    (s) => `regexp_replace(${text(s)}, '[ab]+', '_')`,
    (s) => `regexp_extract(${text(s)}, '[a-z]+')`,
    (s) => `md5(${text(s)})`,
    (s) => `hex(${text(s)})`,
    (s) => `chr(CAST(97 + abs(${int(s)}) % 3 AS integer))`,
  ],
  time: [
    (s) => `(${time(s)} + INTERVAL ${pick(s, ['3 DAY', "'2' HOUR", "'90 minutes'", '1 WEEK'])})`,
    (s) => `(${time(s)} - INTERVAL ${pick(s, ["'3' DAY", '45 MINUTE'])})`,
    (s) => `date_trunc('${pick(s, ['day', 'month', 'year', 'hour', 'quarter'])}', ${time(s)})`,
    (s) => `date_add(${time(s)}, INTERVAL ${pick(s, ['3 DAY', '1 HOUR'])})`,
    (s) => `greatest(${time(s)}, ${time(s)})`,
    (s) => `last_day(${time(s)})`,
    (s) => `CAST(${time(s)} AS date)`,
    (s) => `time_bucket(INTERVAL ${pick(s, ["'7 days'", "'1 hour'", "'1 day'"])}, ${time(s)})`,
  ],
  bool: [
    simpleCondition,
    simpleCondition,
    (s) => `(${bool(s)} AND ${bool(s)})`,
    (s) => `(${bool(s)} OR ${bool(s)})`,
    (s) => `(NOT (${bool(s)}))`,
    (s) => `(${bool(s)} IS ${pick(s, ['NULL', 'NOT NULL'])})`,
    existsQuery,
    inQuery,
    quantifiedQuery,
  ],
};

/** A condition without a condition inside. */
function simpleCondition(site: Site): string {
  const inner = { ...site, depth: Math.max(0, site.depth - 1) };
  const type = site.g.choices.pick(['int', 'text', 'num', 'time'] as const);
  const a = () => ofType(inner, type);
  const simple: readonly (() => string)[] = [
    () => `(${a()} ${pick(site, ['=', '<', '>', '<=', '>=', '<>', '!='])} ${a()})`,
    () => `(${a()} ${pick(site, ['=', '<', '>='])} ${literalBeside(site.g, type)})`,
    () => `(${a()} IS ${pick(site, ['NOT NULL', 'NULL'])})`,
    () => `(${a()} IS ${pick(site, ['DISTINCT', 'NOT DISTINCT'])} FROM ${a()})`,
    // A lower bound of NULL makes BETWEEN NULL whatever the upper one is, on purpose.
    () =>
      `(${a()} ${pick(site, ['BETWEEN', 'NOT BETWEEN'])} coalesce(${a()}, ${literal(site.g, type)}) AND ${a()})`,
    () =>
      `(${a()} ${pick(site, ['IN', 'NOT IN'])} (${literalBeside(site.g, type)}, ${literalBeside(site.g, type)}))`,
    () =>
      `(${text(inner)} ${pick(site, ['LIKE', 'NOT LIKE', 'ILIKE'])} ${pick(site, ["'a%'", "'%b%'", "'_'", "'%é'", "'A_c'"])})`,
    () => `${pick(site, ['starts_with', 'contains', 'ends_with'])}(${text(inner)}, ${text(inner)})`,
    () => `regexp_matches(${text(inner)}, ${pick(site, ["'^a'", "'[0-9]+'", "'b|c'"])})`,
  ];
  return (site.g.choices.pick(simple) as () => string)();
}

/** A literal to compare with; times are also written as strings. */
function literalBeside(g: Grammar, type: Type): string {
  return type === 'time' && g.choices.once(2) ? "'2024-01-20'" : literal(g, type);
}

/** Columns that a sub-query may read. */
function readable({ scope }: Site): readonly Column[] {
  return [...scope.outer, ...scope.columns.filter(({ made }) => made === undefined)];
}

function subQuery(site: Site, types: readonly Type[]) {
  const { g, depth } = site;
  const outer = g.choices.once(3) ? [] : readable(site);
  return g.query({ types, outer, depth: depth - 1, isPlain: true });
}

/** A sub-query of at most one row: an aggregate, or the first row of all. */
function scalarQuery(site: Site, type: Type): string {
  if (!site.allowsQueries || site.depth < 1) return leaf(site, type);
  const { sql, names } = subQuery(site, [type]);
  const q = site.g.newName('q');
  const aggregate = site.g.choices.pick(['max', 'min']);
  if (type !== 'bool' && site.g.choices.once(3)) {
    return `(SELECT ${q}.${names[0]} FROM (${sql}) AS ${q} ORDER BY 1 LIMIT 1)`;
  }
  return `(SELECT ${aggregate}(${q}.${names[0]}) FROM (${sql}) AS ${q})`;
}

function existsQuery(site: Site): string {
  if (!site.allowsQueries || site.depth < 1) return simpleCondition(site);
  const { sql } = subQuery(site, [site.g.choices.pick(TYPES)]);
  return `(${pick(site, ['EXISTS', 'NOT EXISTS'])} (${sql}))`;
}

/** NULLs on the right side of IN are left out: they are skipped on purpose. */
function withoutNulls(site: Site, types: readonly Type[]): string {
  const { sql, names } = subQuery(site, types);
  const q = site.g.newName('q');
  const columns = names.map((name) => `${q}.${name}`);
  const areThere = columns.map((column) => `${column} IS NOT NULL`).join(' AND ');
  return `(SELECT ${columns.join(', ')} FROM (${sql}) AS ${q} WHERE ${areThere})`;
}

/** NULL beside a sub-query without rows is NULL on purpose. */
function present(site: Site, type: Type): string {
  return `coalesce(${ofType(site, type)}, ${literal(site.g, type)})`;
}

function inQuery(site: Site): string {
  if (!site.allowsQueries || site.depth < 1) return simpleCondition(site);
  const type = site.g.choices.pick(['int', 'text', 'num', 'time'] as const);
  const word = pick(site, ['IN', 'NOT IN']);
  if (site.g.choices.once(5)) {
    return `((${present(site, type)}, ${present(site, 'int')}) IN ${withoutNulls(site, [type, 'int'])})`;
  }
  return `(${present(site, type)} ${word} ${withoutNulls(site, [type])})`;
}

function quantifiedQuery(site: Site): string {
  if (!site.allowsQueries || site.depth < 1) return simpleCondition(site);
  const type = site.g.choices.pick(['int', 'num', 'text', 'time'] as const);
  const operator = pick(site, ['=', '<', '>', '>=', '<>']);
  return `(${present(site, type)} ${operator} ${pick(site, ['ANY', 'ALL'])} ${withoutNulls(site, [type])})`;
}
