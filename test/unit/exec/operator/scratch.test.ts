// Rows that memory has no room for are sorted, grouped and joined in parts of a scratch file, with the rows of
// the reference in its order.
import fc from 'fast-check';
import { test } from 'vitest';
import { bothAgree, requireScratch, type TableRow } from '../../../support/vector-queries.ts';

const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });

const row: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(fc.integer({ min: -3, max: 12 })),
  j: fc.integer({ min: 0, max: 1000 }),
  d: orNull(fc.constantFrom(0.5, -0, 1e9, Number.NaN, Number.POSITIVE_INFINITY, 2)),
  s: orNull(fc.constantFrom('', 'a', 'B', 'abc', 'zoé')),
  t: fc.constantFrom('', 'a', 'B', 'abc', 'zoé'),
});
const table = fc.array(row, { minLength: 80, maxLength: 120, size: 'max' });

requireScratch();

const SORTS = [
  'SELECT * FROM data ORDER BY j, d, s',
  'SELECT i, t FROM data ORDER BY i, t DESC',
  'SELECT i, t, d FROM data WHERE j > 500 ORDER BY d NULLS LAST, s DESC',
  'SELECT j FROM data ORDER BY t LIMIT 5000 OFFSET 7',
  'SELECT i, j, d, s, t FROM data ORDER BY j - j % 2, d * 2 DESC',
];
const GROUPS = [
  'SELECT j, count(*) AS n, sum(d) AS s, max(i) AS m FROM data GROUP BY j',
  'SELECT j, s, t, count(d) AS n, min(s) AS a FROM data GROUP BY j, s, t',
  'SELECT d, count(*) AS n, avg(i) AS a FROM data GROUP BY d',
  'SELECT t, d, j, count(*) AS n FROM data WHERE i > 2 GROUP BY t, d, j LIMIT 11',
  'SELECT j, sum(i) AS s FROM data GROUP BY j ORDER BY s DESC, j LIMIT 9 OFFSET 2',
  'SELECT j, sum(i) AS s FROM data GROUP BY j ORDER BY s, j DESC',
  'SELECT j + 0.5 AS k, t, sum(i) AS s FROM data GROUP BY j + 0.5, t HAVING count(*) > 1',
  'SELECT n, count(*) AS m, sum(j) AS s FROM (SELECT j, d, count(*) AS n FROM data GROUP BY j, d) AS g GROUP BY n',
  'SELECT g.j AS j, g.n AS n, other.t AS t FROM (SELECT j, d, count(*) AS n FROM data GROUP BY j, d) AS g JOIN other ON other.i = g.n ORDER BY j, n, t LIMIT 20',
  'SELECT count(*) AS n FROM (SELECT DISTINCT j, d, t FROM data) AS g',
];
const JOINS = [
  'SELECT count(*) AS n, sum(data.j) AS s, sum(other.d) AS x FROM data JOIN other ON data.j = other.j',
  'SELECT other.t AS t, count(*) AS n, sum(data.i) AS s FROM data JOIN other ON data.j = other.j AND data.t = other.s GROUP BY other.t',
  'SELECT data.t AS t, count(other.i) AS n, count(*) AS m FROM data LEFT JOIN other ON data.j = other.j GROUP BY data.t',
  'SELECT other.t AS t, count(data.i) AS n, count(*) AS m FROM data RIGHT JOIN other ON data.d = other.d AND data.t = other.t GROUP BY other.t',
  'SELECT data.s AS s, count(*) AS n FROM data JOIN other ON data.j = other.j WHERE data.i < other.i AND other.d > 0 GROUP BY data.s',
  'SELECT a.t AS t, count(*) AS n, sum(b.j) AS x FROM data JOIN other AS a ON data.j = a.j JOIN other AS b ON data.i = b.i GROUP BY a.t',
  'SELECT count(*) AS n, min(g.n) AS m FROM data JOIN (SELECT j, count(*) AS n FROM other GROUP BY j) AS g ON data.j = g.j',
];

test.each([...SORTS, ...GROUPS, ...JOINS])('%s', (sql) => {
  const tables = fc.tuple(table, table);
  const options = { exactTimestamps: false, inScratch: true } as const;
  fc.assert(
    fc.property(tables, ([rows, others]) => bothAgree(rows, sql, { others, ...options })),
    { numRuns: 2 },
  );
});

test.each([
  'SELECT j, median(d) AS m, count(DISTINCT t) AS n FROM data GROUP BY j',
  'SELECT t, d, j, sum(DISTINCT i) AS a FROM data GROUP BY t, d, j',
])('%s', (sql) => {
  fc.assert(
    fc.property(table, (rows) => bothAgree(rows, sql, { exactTimestamps: false, inScratch: true })),
    { numRuns: 2 },
  );
});

test.each(['SELECT * FROM data ORDER BY j, d', 'SELECT j, max(i) AS m FROM data GROUP BY j'])(
  'timestamps are those of the reference: %s',
  (sql) => {
    fc.assert(
      fc.property(table, (rows) => bothAgree(rows, sql, { inScratch: true })),
      { numRuns: 2 },
    );
  },
);
