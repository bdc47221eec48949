// The vector engine gives the rows of the general evaluator: random tables, queries of every shape
// that it takes, small chunks so that each table has several.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const integer = fc.integer({ min: -3, max: 40 });
const double = fc.oneof(
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
const text = fc.constantFrom('', 'a', 'B', 'abc', 'zoé', 'x y');
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });

const tableRow: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(integer),
  j: integer,
  d: orNull(double),
  s: orNull(text),
  t: text,
  m: orNull(fc.oneof(integer, text)),
  w: orNull(fc.integer({ min: 0, max: 1e9 }).map((seconds) => new Timestamp(seconds))),
  rare: fc.option(integer, { nil: null, freq: 1 }),
});
/** Rows enough that no column is without any value, which is left to the general evaluator. */
const table = fc.array(tableRow, { minLength: 12, maxLength: 60, size: 'max' });
const smallTable = fc.array(tableRow, { minLength: 1, maxLength: 12 });

const condition: fc.Arbitrary<string> = fc.oneof(
  { maxDepth: 3 },
  ...[
    'i > 3',
    'i = 4',
    'j != 7',
    'd <= 1.5',
    'd >= i',
    '5 < j',
    "s = 'a'",
    "s LIKE 'a%'",
    's IS NULL',
    's IS NOT NULL',
    'i IS NULL',
    'i',
    's',
    "upper(t) = 'ABC'",
    "t IN ('a', 'B')",
    'i BETWEEN 2 AND 9',
    'i NOT BETWEEN 2 AND 9',
    'j * 2 + 1 > 20',
    'd / j < 1',
    'm = 4',
    'm > 3',
    "w > TIMESTAMP '1985-01-01'",
    'rare = 3',
    'CASE WHEN i > 5 THEN j > 3 ELSE d END',
    'CASE WHEN i > 5 THEN j ELSE d END > 3',
    'length(s) > 1 OR i = 2',
    'nowhere IS NULL',
    'nowhere > 3 OR j > 3',
  ].map((sql) => ({ weight: 3, arbitrary: fc.constant(sql) })),
  fc
    .tuple(
      fc.constantFrom('i < 9', "s = 'abc'", 'd > 0'),
      fc.constantFrom('AND', 'OR'),
      fc.constantFrom("t = 'a'", 'i IS NULL', 'd < 5'),
    )
    .map(([a, operator, b]) => `(${a} ${operator} NOT (${b}))`),
);
const where = fc.option(condition, { nil: undefined }).map((sql) => (sql ? ` WHERE ${sql}` : ''));

const AGGREGATES = [
  'count(*)',
  'count(s)',
  'count(i)',
  'sum(i)',
  'sum(j)',
  'sum(d)',
  'sum(j * 2 + 1)',
  'avg(i)',
  'avg(j)',
  'min(j)',
  'max(d)',
  'min(d)',
  'min(w)',
  'max(rare)',
  'count_distinct(s)',
  'count_distinct(i)',
  'count_distinct(lower(t))',
  'variance(j)',
  'stddev(i)',
  'sum(CASE WHEN i > 9 THEN j ELSE d END)',
  'sum(CASE WHEN i > 9 THEN j * 2 WHEN d < 0 THEN 1 END)',
  "avg(CASE t WHEN 'a' THEN i WHEN 'B' THEN 7 ELSE NULL END)",
  'count_distinct(j)',
  'sum(CASE WHEN s IS NULL THEN 1 ELSE 0 END)',
  'sum(CASE i WHEN 4 THEN d WHEN j THEN 2 ELSE i END * 2)',
  'min(CASE WHEN i > 9 THEN j ELSE d END)',
  'sum(CASE WHEN i > 9 THEN 4 ELSE d END + j)',
  'stddev(CASE WHEN i > 9 THEN 4 ELSE j END)',
];
const aggregates = fc
  .uniqueArray(fc.constantFrom(...AGGREGATES), { minLength: 1, maxLength: 4 })
  .map((list) => list.join(', '));
const keys = fc.uniqueArray(
  fc.constantFrom('s', 't', 'i', 'j', 'm', 'upper(t)', "t = 'a'", 'rare'),
  { minLength: 1, maxLength: 3 },
);

test('filters select the same rows', () => {
  fc.assert(
    fc.property(table, condition, (rows, sql) => {
      bothAgree(rows, `SELECT * FROM data WHERE ${sql}`);
    }),
    { numRuns: 40 },
  );
});

test('groups and their aggregates are the same', () => {
  fc.assert(
    fc.property(table, keys, aggregates, where, (rows, by, list, filter) => {
      bothAgree(
        rows,
        `SELECT ${by.join(', ')}, ${list} FROM data${filter} GROUP BY ${by.join(', ')}`,
      );
    }),
    { numRuns: 40 },
  );
});

test('one group over everything is the same', () => {
  fc.assert(
    fc.property(table, aggregates, where, (rows, list, filter) => {
      bothAgree(rows, `SELECT ${list} FROM data${filter}`);
    }),
    { numRuns: 40 },
  );
});

test('rows in an order, or the first of them, are the same', () => {
  const key = fc
    .tuple(
      fc.constantFrom(
        ...['i', 'j', 'd', 's', 't', 'm', 'w', 'rare', 'nowhere'],
        ...['j * 2', 'upper(s)', 'CASE WHEN i > 5 THEN j ELSE d END'],
      ),
      fc.constantFrom('', ' DESC'),
    )
    .map(([expression, direction]) => expression + direction);
  const order = fc.array(key, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(table, order, where, fc.nat({ max: 12 }), (rows, sort, filter, limit) => {
      const select = `FROM data${filter} ORDER BY ${sort.join(', ')}`;
      bothAgree(rows, `SELECT i, s ${select} LIMIT ${limit}`);
      bothAgree(rows, `SELECT i, upper(s) ${select}`);
      bothAgree(rows, `SELECT d, m, i AS "a.b" ${select} LIMIT ${limit} OFFSET 5`);
      bothAgree(rows, `SELECT * ${select} LIMIT 5000`);
    }),
    { numRuns: 40 },
  );
});

test.each(['j', 'u DESC, t', 'u, d, m', 't, j DESC', 'd DESC', 'w, j, m', 's', 'm DESC, rare'])(
  'thousands of rows are sorted by %s',
  (keys) => {
    const rows = Array.from({ length: 3000 }, (_, index) => ({
      j: (index * 7919) % 41,
      u: (index * 7919) % 1009,
      d: index % 3 === 0 ? null : ((index * 104_729) % 1000) / 7,
      t: ['a', 'B', 'zoé'][(index * 31) % 3] as string,
      s: index % 5 === 0 ? null : `s${(index * 13) % 700}`,
      m: index % 2 === 0 ? index % 11 : 'text',
      w: new Timestamp((index * 7) % 90),
      rare: index % 400 === 0 ? index : null,
    }));
    bothAgree(rows, `SELECT j, d FROM data ORDER BY ${keys}`);
    bothAgree(rows, `SELECT t FROM data WHERE j < 30 ORDER BY ${keys}`);
    bothAgree(rows, `SELECT * FROM data ORDER BY ${keys} LIMIT 3`);
    bothAgree(rows, `SELECT * FROM data WHERE j > 2 ORDER BY ${keys} LIMIT 40`);
  },
);

test('the first rows of groups are the same', () => {
  const key = fc.constantFrom('s', 't', 'j', 'm', 'i');
  const direction = fc.constantFrom('', ' DESC');
  const rest = fc.constantFrom('', ', j DESC', ', i, s DESC', ', t');
  fc.assert(
    fc.property(table, key, key, direction, rest, where, (rows, one, two, down, then, filter) => {
      const from = `FROM data${filter}`;
      bothAgree(rows, `SELECT DISTINCT ON (${one}) i, d, t ${from} ORDER BY ${one}${down}${then}`);
      bothAgree(
        rows,
        `SELECT DISTINCT ON (${one}, ${two}) * ${from} ORDER BY ${one}, ${two}${down}${then}`,
      );
      bothAgree(
        rows,
        `SELECT DISTINCT ON (${one}) d ${from} ORDER BY ${one}, ${two}${then} LIMIT 3`,
      );
    }),
    { numRuns: 40 },
  );
});

test('groups in another order, or a part of them, are the same', () => {
  const key = fc
    .tuple(fc.constantFrom('n', 'low', 'high', 'key', 'j'), fc.constantFrom('', ' DESC'))
    .map(([name, direction]) => name + direction);
  const order = fc.array(key, { minLength: 1, maxLength: 3 });
  const keyColumn = fc.constantFrom('j', 'i', 's', 'm');
  fc.assert(
    fc.property(
      table,
      keyColumn,
      order,
      fc.nat({ max: 5 }),
      fc.nat({ max: 9 }),
      (rows, column, sort, offset, limit) => {
        const select = `SELECT ${column} AS key, j, count(i) AS n, min(i) AS low, max(d) AS high`;
        const tail = `FROM data GROUP BY ${column}, j`;
        bothAgree(rows, `${select} ${tail} ORDER BY ${sort.join(', ')}`);
        bothAgree(rows, `${select} ${tail} ORDER BY ${sort.join(', ')} LIMIT ${limit}`);
        bothAgree(rows, `${select} ${tail} LIMIT ${limit} OFFSET ${offset}`);
      },
    ),
    { numRuns: 40 },
  );
});

test('groups of joined rows are the same', () => {
  const on = fc.constantFrom(
    ...['a.i = b.j', 'a.j = b.i', 'a.s = b.s', 'a.t = b.s', 'upper(a.s) = b.t', 'a.rare = b.j'],
    ...['a.j = b.j AND b.i > 3', 'a.d = b.d'],
  );
  const joined = fc.uniqueArray(
    fc.constantFrom(
      ...[
        'count(*)',
        'count(b.s)',
        'count(b.i)',
        'count(a.j)',
        'sum(a.j)',
        'sum(b.j)',
        'sum(b.i + a.j)',
        'sum(b.d)',
        'min(b.i)',
        'max(b.w)',
        'count_distinct(b.t)',
        'count_distinct(a.j)',
        'avg(CASE WHEN b.i > a.j THEN b.j ELSE 1 END)',
      ],
    ),
    { minLength: 1, maxLength: 4 },
  );
  const by = fc.constantFrom('', ' GROUP BY a.t', ' GROUP BY b.s', ' GROUP BY b.i, a.s');
  const filter = fc.constantFrom(
    '',
    ' WHERE b.j > 3',
    ' WHERE a.t = b.t',
    ' WHERE a.j < b.j OR a.i = 3',
  );
  fc.assert(
    fc.property(
      ...[
        table,
        fc.array(tableRow, { minLength: 12, maxLength: 40, size: 'max' }),
        fc.constantFrom('JOIN', 'LEFT JOIN'),
      ],
      ...[on, joined, filter, by],
      (rows, others, join, condition, list, where, groups) => {
        const select = `SELECT ${list.join(', ')} FROM data AS a ${join} other AS b`;
        bothAgree(rows, `${select} ON ${condition}${where}${groups}`, { others });
      },
    ),
    { numRuns: 40 },
  );
});

/** Where kernels leave it to the general evaluator, or have nothing to run over. */
function agreeAnyway(rows: readonly TableRow[], sql: string, others?: readonly TableRow[]): void {
  bothAgree(rows, sql, { others, isCounted: false });
}

test.each([
  'SELECT max(CASE WHEN i > 9 THEN 4 ELSE d END) FROM data',
  "SELECT s, string_agg(t, ',') FROM data GROUP BY s",
  'SELECT t, max(nowhere), min(rare) FROM data GROUP BY t',
  'SELECT DISTINCT ON (t) d FROM data ORDER BY t, d',
  'SELECT DISTINCT ON (s) d, w FROM data WHERE i > 3 ORDER BY s, j DESC, rare',
  'SELECT DISTINCT ON (s, m) d, w FROM data ORDER BY s, m, d, w',
  'SELECT sum(a.j), count(b.i) FROM data AS a JOIN other AS b ON a.i = b.m GROUP BY b.s',
  'SELECT sum(b.j), count(a.i) FROM data AS a LEFT JOIN other AS b ON a.m = b.m',
  'SELECT avg(CASE WHEN b.i > 9 THEN b.j ELSE a.j END) FROM data AS a JOIN other AS b ON a.i = b.j',
])('in part by the general evaluator: %s', (sql) => {
  fc.assert(
    fc.property(table, fc.array(tableRow, { maxLength: 12 }), (rows, others) =>
      agreeAnyway(rows, sql, others),
    ),
    { numRuns: 8 },
  );
});

test('few rows are no trouble', () => {
  const others = fc.array(tableRow, { maxLength: 3 });
  fc.assert(
    fc.property(smallTable, others, keys, aggregates, condition, (rows, few, by, list, filter) => {
      const groups = `SELECT ${by.join(', ')}, ${list} FROM data`;
      agreeAnyway(rows, `${groups} GROUP BY ${by.join(', ')}`);
      agreeAnyway(rows, `SELECT ${list} FROM data WHERE ${filter}`);
      agreeAnyway(rows, `SELECT * FROM data WHERE ${filter} ORDER BY ${by.join(', ')} LIMIT 3`);
      agreeAnyway(rows, `SELECT DISTINCT ON (j) i, d FROM data WHERE ${filter} ORDER BY j, t`);
      const join = 'SELECT b.s, count(*), sum(b.i + a.j) FROM data AS a LEFT JOIN other AS b';
      agreeAnyway(rows, `${join} ON a.i = b.j GROUP BY b.s`, few);
    }),
    { numRuns: 20 },
  );
});

test('a table of one column of nulls is no trouble', () => {
  const rows = Array.from({ length: 40 }, () => ({ i: null, j: 1 }));
  agreeAnyway(rows, 'SELECT sum(i), count(i), min(i), sum(j) FROM data WHERE i IS NULL');
  agreeAnyway(rows, 'SELECT i, count(*) FROM data GROUP BY i');
});

test.each([
  'SELECT t, count(*), sum(i), avg(d), min(j), max(w) FROM data GROUP BY t',
  'SELECT s, m, count(i), count_distinct(t), stddev(j) FROM data GROUP BY s, m',
  "SELECT upper(s), j FROM data WHERE s LIKE 'a%' AND i > 3 GROUP BY upper(s), j",
  "SELECT sum(i * 2 + j) FROM data WHERE d > 0 OR NOT (m = 4) OR w > TIMESTAMP '1985-01-01'",
  'SELECT i FROM data WHERE i BETWEEN 2 AND 9 AND s IS NOT NULL',
  'SELECT s FROM data ORDER BY d DESC, s, m LIMIT 5',
  'SELECT s FROM data ORDER BY d DESC, s, m',
  'SELECT DISTINCT ON (t, j) s FROM data WHERE j > 3 ORDER BY t DESC, j, d',
  'SELECT b.t, count(*), sum(a.j + b.j) FROM data AS a JOIN other AS b ON a.i = b.j GROUP BY b.t',
  "SELECT sum(b.d) FROM data AS a LEFT JOIN other AS b ON a.t = b.s WHERE a.j > 3 OR b.t = 'a'",
])('%s runs on kernels alone', (sql) => {
  const rows = fc.sample(table, { seed: 7, numRuns: 20 }).find(({ length }) => length > 30) ?? [];
  expect(rows.length).toBeGreaterThan(30);
  const kernels = run(rows, sql, { accelerated: true, mayScan: false, others: rows.slice(10) });
  expect(kernels).toEqual(run(rows, sql, { accelerated: false, others: rows.slice(10) }));
});
