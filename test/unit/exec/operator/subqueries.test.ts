// Sub-selects in expressions and GROUPING SETS over batches give what the reference gives.
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
  s: orNull(text),
  t: text,
});
const table = fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });

const QUERIES = [
  'SELECT count(*) AS n FROM data WHERE j > (SELECT avg(j) FROM other)',
  'SELECT count(*) AS n, sum(j) AS x FROM data WHERE i = (SELECT max(i) FROM other WHERE j < 0)',
  'SELECT count(*) AS n FROM data WHERE EXISTS (SELECT 1 FROM other WHERE j > 5)',
  'SELECT count(*) AS n FROM data AS d WHERE EXISTS (SELECT 1 FROM other AS o WHERE o.j = d.j AND o.i > 1)',
  'SELECT count(*) AS n FROM data AS d WHERE NOT EXISTS (SELECT 1 FROM other AS o WHERE o.s = d.s)',
  'SELECT count(*) AS n FROM data AS d WHERE d.j > 4 OR EXISTS (SELECT 1 FROM other AS o WHERE o.i = d.i AND o.t = d.t)',
  'SELECT count(*) AS n FROM data AS d WHERE d.j >= (SELECT avg(o.j) FROM other AS o WHERE o.t = d.t)',
  'SELECT sum(x) AS x FROM (SELECT (SELECT count(*) FROM other AS o WHERE o.j = d.j) AS x FROM data AS d) AS g',
  'SELECT s, t, count(*) AS n, sum(j) AS x FROM data GROUP BY ROLLUP (s, t)',
  'SELECT i, t, min(s) AS m, count(i) AS n FROM data GROUP BY GROUPING SETS ((i), (t), (i, t), ())',
  'SELECT s, GROUPING(s) AS g, count(*) AS n FROM data WHERE j > -9 GROUP BY CUBE (s, t)',
  'SELECT count(*) AS n, sum(n) AS s FROM (SELECT j % 2 AS k, count(*) AS n FROM data GROUP BY ROLLUP (j % 2)) AS g',
  'WITH g AS (SELECT t, sum(j) AS x FROM data GROUP BY t) SELECT count(*) AS n, max(a.x) AS m FROM g AS a JOIN g AS b ON a.x = b.x',
  'WITH g AS (SELECT t, sum(j) AS x FROM data GROUP BY t) SELECT t, x FROM g WHERE x = (SELECT max(x) FROM g) ORDER BY t',
  'WITH g AS (SELECT i, t FROM data WHERE j > 0) SELECT count(*) AS n FROM g WHERE t IN (SELECT t FROM g WHERE i > 2)',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, (rows, others) =>
      bothAgree(rows, sql, { others, exactTimestamps: false }),
    ),
    { numRuns: 10 },
  );
});

test('of a key that has several rows the reference tells', () => {
  const make = (seed: number): TableRow[] =>
    Array.from({ length: 40 }, (_, n) => ({ j: (n * seed) % 7, i: n % 5 }));
  const sql =
    'SELECT count(*) AS n FROM data AS d WHERE d.i > (SELECT o.i FROM other AS o WHERE o.j = d.j)';
  const options = { others: make(3), isCounted: false, exactTimestamps: false };
  for (const accelerated of [true, false]) {
    expect(() => run(make(5), sql, { accelerated, ...options })).toThrow(/more than one row/);
  }
});
