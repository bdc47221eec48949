// Window functions over batches give what the reference gives: random tables of a few small chunks,
// every function, many frames, above and below other operators.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const integer = fc.integer({ min: -3, max: 6 });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
const row: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(integer),
  j: integer,
  d: orNull(fc.constantFrom(0.5, 1e9, Number.NaN, Number.POSITIVE_INFINITY, 2)),
  s: orNull(fc.constantFrom('', 'a', 'B', 'abc', 'zoé')),
  t: fc.constantFrom('a', 'B', 'abc'),
});
const table = fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });

const CALLS = [
  'row_number() OVER (PARTITION BY t ORDER BY j)',
  'row_number() OVER ()',
  'rank() OVER (ORDER BY j DESC)',
  'dense_rank() OVER (PARTITION BY s ORDER BY d, j)',
  'percent_rank() OVER (PARTITION BY t ORDER BY i)',
  'cume_dist() OVER (ORDER BY i NULLS LAST)',
  'rank() OVER (ORDER BY s DESC NULLS FIRST, j)',
  'ntile(3) OVER (PARTITION BY t ORDER BY j)',
  'lag(i) OVER (PARTITION BY t ORDER BY j)',
  'lag(s, 2) OVER (ORDER BY j)',
  'lead(d, 1) OVER (PARTITION BY j ORDER BY t)',
  'first_value(s) OVER (PARTITION BY t ORDER BY j)',
  'last_value(i) OVER (PARTITION BY t ORDER BY j)',
  'nth_value(j, 2) OVER (PARTITION BY t ORDER BY j ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING)',
  'sum(j) OVER (PARTITION BY t ORDER BY j)',
  'sum(i) OVER (ORDER BY j ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)',
  'avg(i) OVER (PARTITION BY s)',
  'sum(d) OVER (PARTITION BY t ORDER BY j ROWS UNBOUNDED PRECEDING)',
  'avg(i) OVER (PARTITION BY t ORDER BY j GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
  'count(*) OVER (PARTITION BY t)',
  'count(s) OVER (ORDER BY j ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING)',
  'min(d) OVER (PARTITION BY t ORDER BY j ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING)',
  'max(i) OVER (PARTITION BY t ORDER BY j)',
  'min(j) OVER (ORDER BY s ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING)',
  'max(i + j) OVER (PARTITION BY j % 2 ORDER BY upper(t))',
];

/** Those that no kernel knows: each partition is left to the function itself. */
const CALLS_BY_PARTITION = [
  'sum(i) OVER (PARTITION BY t ORDER BY j RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING)',
  'count(*) OVER (ORDER BY i DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)',
  'sum(j) OVER (PARTITION BY t ORDER BY j ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)',
  'count(i) OVER (ORDER BY j GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP)',
  'max(i) OVER (PARTITION BY s ORDER BY j RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES)',
  'first_value(s) OVER (ORDER BY j ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES)',
  'last_value(i IGNORE NULLS) OVER (PARTITION BY t ORDER BY j)',
  'lag(s IGNORE NULLS) OVER (PARTITION BY t ORDER BY j)',
  'lead(i, 2, -1) OVER (PARTITION BY t ORDER BY j)',
  'nth_value(i, 2) IGNORE NULLS OVER (ORDER BY j)',
  'count(*) FILTER (WHERE i > 2) OVER (PARTITION BY t ORDER BY j)',
  'count(DISTINCT i) OVER (PARTITION BY t)',
  "string_agg(s, ',') OVER (PARTITION BY t ORDER BY j, i)",
  'stddev(j) OVER (PARTITION BY t ORDER BY j ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)',
  'median(i) OVER (PARTITION BY s)',
  'ntile(j + 4) OVER (PARTITION BY t ORDER BY j)',
  'min(s) OVER (PARTITION BY t ORDER BY j)',
];

const QUERIES = [
  ...[...CALLS, ...CALLS_BY_PARTITION].map((call) => `SELECT j, ${call} AS w FROM data`),
  'SELECT t, w, count(*) AS n FROM (SELECT t, rank() OVER (ORDER BY j) AS r, count(i) OVER (ORDER BY j RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS w FROM data WHERE j > 0) AS g GROUP BY t, w',
  'SELECT t, row_number() OVER (ORDER BY j) AS r, sum(j) OVER (PARTITION BY t) AS x FROM data WHERE j > 0',
  'SELECT count(*) AS n, sum(r) AS s FROM (SELECT row_number() OVER (PARTITION BY t ORDER BY j) AS r FROM data) AS g',
  'SELECT j, t FROM (SELECT j, t, row_number() OVER (PARTITION BY t ORDER BY j DESC) AS r FROM data) AS g WHERE r <= 2 ORDER BY j, t',
  'SELECT t, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM data GROUP BY t',
  'SELECT g.r AS r, other.t AS t FROM (SELECT j, row_number() OVER (PARTITION BY j ORDER BY i) AS r FROM data) AS g JOIN other ON g.j = other.j WHERE g.r = 1 ORDER BY other.t, g.r LIMIT 6',
  'SELECT j, s, r FROM (SELECT j, s, rank() OVER (PARTITION BY s ORDER BY d, j) AS r FROM data) AS g WHERE 3 > r AND j > 0',
  'SELECT count(*) AS n, sum(a) AS x, sum(b) AS y FROM (SELECT row_number() OVER (PARTITION BY j, t ORDER BY i DESC) AS a, dense_rank() OVER (PARTITION BY j, t ORDER BY i DESC) AS b FROM data) AS g WHERE a BETWEEN 1 AND 2',
  'SELECT i, r FROM (SELECT i, row_number() OVER (ORDER BY d NULLS LAST, s) AS r FROM data WHERE j > 0) AS g WHERE r <= 2.5',
  'SELECT i, r FROM (SELECT i, row_number() OVER (PARTITION BY d ORDER BY j + 1) AS r FROM data) AS g WHERE r < 2',
  'SELECT j, r FROM (SELECT j, dense_rank() OVER (PARTITION BY t ORDER BY j) AS r FROM data) AS g WHERE r = 2',
  'SELECT j, r, x FROM (SELECT j, row_number() OVER (PARTITION BY t ORDER BY j) AS r, sum(i) OVER (PARTITION BY t) AS x FROM data) AS g WHERE r = 2',
  'SELECT count(*) AS n FROM (SELECT row_number() OVER (PARTITION BY t ORDER BY j) AS r FROM data) AS g WHERE r <= 0',
  'SELECT j FROM data QUALIFY row_number() OVER (PARTITION BY t ORDER BY j) = 1',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exact) =>
      bothAgree(rows, sql, { others, exactTimestamps: exact }),
    ),
    { numRuns: 6 },
  );
});

test('frames of many rows, which are added up by parts', () => {
  const rows = Array.from(
    { length: 900 },
    (_, n): TableRow => ({
      j: (n * 7919) % 1000,
      d: n % 13 === 0 ? null : n / 3,
      t: 'ab'[n % 2] as string,
    }),
  );
  for (const frame of [
    'ROWS BETWEEN 200 PRECEDING AND 100 FOLLOWING',
    'ROWS BETWEEN 70 FOLLOWING AND UNBOUNDED FOLLOWING',
  ]) {
    for (const name of ['sum', 'avg', 'min', 'max', 'count']) {
      bothAgree(
        rows,
        `SELECT j, ${name}(d) OVER (PARTITION BY t ORDER BY j ${frame}) AS w FROM data`,
      );
    }
  }
});

test('a call that only the reference knows is answered all the same', () => {
  const rows = Array.from({ length: 30 }, (_, n): TableRow => ({ j: n % 5, s: `${n % 3}` }));
  const sql = "SELECT j, lag(s, 1, 'x') OVER (ORDER BY j) AS w FROM data";
  const options = { isCounted: false };
  expect(run(rows, sql, { accelerated: true, ...options })).toEqual(
    run(rows, sql, { accelerated: false, ...options }),
  );
});
