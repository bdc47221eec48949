// Set operations, joins of every kind, filters of aggregates and sorts over batches give what the
// reference gives: random tables of a few small chunks, above and below other operators.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const integer = fc.integer({ min: -3, max: 6 });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
const text = fc.constantFrom('', 'a', 'B', 'abc', 'zoé');
const row: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(integer),
  j: integer,
  d: orNull(fc.constantFrom(0.5, 1e9, Number.NaN, Number.POSITIVE_INFINITY, 2)),
  s: orNull(text),
  t: text,
});
const table = fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });

const QUERIES = [
  'SELECT j, s FROM data UNION ALL SELECT j, s FROM other',
  'SELECT count(*) AS n, sum(j) AS x FROM (SELECT j FROM data UNION ALL SELECT i AS j FROM other) AS u',
  'SELECT s FROM data WHERE j > 1 UNION ALL SELECT upper(t) AS s FROM other',
  'SELECT t, d FROM data UNION SELECT t, d FROM other',
  'SELECT i FROM data UNION SELECT j AS i FROM other WHERE j > 0',
  'SELECT s FROM data EXCEPT SELECT t AS s FROM other',
  'SELECT i, s FROM data INTERSECT SELECT i, s FROM other',
  'SELECT count(*) AS n FROM (SELECT d FROM data EXCEPT SELECT d FROM other) AS u',
  'SELECT i, s FROM data EXCEPT ALL SELECT i, s FROM other',
  'SELECT d FROM data INTERSECT ALL SELECT d FROM other',
  'SELECT s, count(*) AS n FROM (SELECT s FROM data EXCEPT ALL SELECT t AS s FROM other WHERE j > 2) AS u GROUP BY s',
  'SELECT s, count(*) AS n FROM (SELECT s FROM data UNION ALL SELECT t AS s FROM other) AS u GROUP BY s',
  'SELECT DISTINCT s, j FROM data',
  'SELECT sum(data.j) AS x, count(*) AS n FROM data SEMI JOIN other ON data.j = other.j',
  'SELECT data.t AS t, data.i AS i FROM data ANTI JOIN other ON data.i = other.i AND data.s = other.s',
  'SELECT count(*) AS n FROM data SEMI JOIN other ON data.j = other.j AND data.d < other.d',
  'SELECT count(*) AS n FROM data ANTI JOIN other ON data.j = other.j AND data.i > other.i',
  "SELECT count(*) AS n FROM data ANTI JOIN other ON data.j = other.j AND data.s = 'a' AND other.t = 'a'",
  'SELECT count(*) AS n FROM data ANTI JOIN other ON data.d < other.d',
  'SELECT other.t AS t, count(data.i) AS n FROM data FULL JOIN other ON data.j = other.j GROUP BY other.t',
  'SELECT count(*) AS n, count(data.s) AS a, count(other.s) AS b FROM data FULL JOIN other ON data.i = other.i AND data.t = other.t',
  'SELECT data.j AS j, other.t AS t FROM data FULL JOIN other ON data.s = other.s ORDER BY data.j, other.t',
  'SELECT count(*) AS n, sum(other.j) AS x FROM data JOIN other ON data.j < other.j',
  'SELECT count(*) AS n FROM data, other WHERE data.d + other.j > 3',
  'SELECT data.j AS j, other.j AS k FROM data JOIN (SELECT j FROM other WHERE j > 3) AS other ON data.i >= other.j',
  'SELECT data.t AS t, count(*) AS n FROM data JOIN other ON data.j > other.j JOIN other AS o ON o.t = data.t GROUP BY data.t',
  "SELECT sum(j) FILTER (WHERE t = 'a') AS x, count(*) FILTER (WHERE i > 2) AS n FROM data",
  'SELECT t, count(i) FILTER (WHERE j > 1) AS n, max(s) FILTER (WHERE j > 1) AS m FROM data GROUP BY t',
  'SELECT t, median(j) AS m, count(*) AS n, quantile_disc(i, 0.3) AS q, quantile_cont(j, 0.9) AS r FROM data GROUP BY t',
  'SELECT median(i) AS m, quantile_cont(j * 2, 0.25) AS q FROM data WHERE j > 3',
  'SELECT s, t, median(i) FILTER (WHERE j > 1) AS m FROM data GROUP BY s, t ORDER BY median(i) FILTER (WHERE j > 1) DESC, s, t LIMIT 3',
  'SELECT t, count(CASE WHEN j > 2 THEN i END) AS n, count(i + j) AS m FROM data GROUP BY t',
  'SELECT count(*) AS n, sum(j) AS x FROM (SELECT j, t FROM data ORDER BY t, j LIMIT 20 OFFSET 3) AS g',
  'SELECT k, s FROM (SELECT j * 2 AS k, s FROM data WHERE i > 0 ORDER BY s DESC, j) AS g LIMIT 4',
  'SELECT j FROM data ORDER BY i DESC NULLS LAST, t LIMIT 9',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, (rows, others) =>
      bothAgree(rows, sql, { others, exactTimestamps: false }),
    ),
    { numRuns: 10 },
  );
});

test.each(QUERIES)('timestamps are those of the reference: %s', (sql) => {
  fc.assert(
    fc.property(table, table, (rows, others) => bothAgree(rows, sql, { others, isCounted: false })),
    { numRuns: 3 },
  );
});

test.each([
  'SELECT sum(DISTINCT j) AS x, count(DISTINCT s) AS n FROM data',
  "SELECT t, string_agg(s, ',' ORDER BY j) AS x FROM data GROUP BY t",
  'SELECT data.j AS j FROM data FULL JOIN other ON data.j = other.j AND data.i > 2',
])('what batches do not know is left to the reference: %s', (sql) => {
  const make = (seed: number): TableRow[] =>
    Array.from({ length: 40 }, (_, n) => ({
      j: (n * seed) % 7,
      i: n % 5,
      s: `${n % 3}`,
      t: 'ab'[n % 2] as string,
    }));
  const options = { others: make(3), isCounted: false };
  expect(run(make(5), sql, { accelerated: true, ...options })).toEqual(
    run(make(5), sql, { accelerated: false, ...options }),
  );
});
