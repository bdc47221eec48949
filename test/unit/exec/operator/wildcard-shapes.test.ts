// Wildcards above joins, windows, sorts and sub-selects give over batches what the reference gives: rows
// have the columns of datasets only where these have values, and computed ones always.
import fc from 'fast-check';
import { test } from 'vitest';
import { bothAgree, requireKernels, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
const row: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(fc.integer({ min: -3, max: 6 })),
  j: fc.integer({ min: 0, max: 6 }),
  s: orNull(fc.constantFrom('', 'a', 'abc')),
  t: fc.constantFrom('a', 'B', 'abc'),
});
const table = fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });

const QUERIES = [
  'SELECT a.*, b.* FROM data AS a JOIN other AS b ON a.j = b.j',
  'SELECT * FROM data AS a JOIN other AS b ON a.j = b.j AND a.i > b.i',
  'SELECT * FROM data AS a LEFT JOIN other AS b ON a.i = b.i ORDER BY a.j, b.j',
  'SELECT b.* FROM data AS a RIGHT JOIN other AS b ON a.i = b.i AND a.j < b.j ORDER BY a.j, b.j',
  'SELECT * FROM data AS a FULL JOIN other AS b ON a.i = b.i ORDER BY a.j, b.j',
  'SELECT a.* EXCLUDING (a.i), b.s AS c FROM data AS a JOIN other AS b ON a.t = b.t WHERE a.j > b.j',
  'SELECT a.*, m.n FROM data AS a JOIN (SELECT t, count(*) AS n, max(i) AS x FROM other GROUP BY t) AS m ON a.t = m.t',
  'SELECT * FROM data AS a JOIN (SELECT t, count(*) AS n, max(i) AS x FROM other GROUP BY t) AS m ON a.t = m.t',
  'SELECT * FROM data AS a LEFT JOIN (SELECT j, count(*) AS n FROM other GROUP BY j) AS m ON a.i = m.j ORDER BY a.j, m.n',
  'SELECT a.* FROM data AS a LEFT JOIN (SELECT j, max(i) AS x FROM other GROUP BY j) AS m ON a.i = m.j ORDER BY m.x, a.j LIMIT 7',
  'SELECT * FROM data AS a WHERE EXISTS (SELECT 1 FROM other AS b WHERE b.i = a.j) ORDER BY j, i',
  'SELECT *, j * 2 AS z FROM data ORDER BY i, t',
  'SELECT *, j * 2 AS z FROM data ORDER BY z DESC, s',
  'SELECT * EXCLUDING (s), i + j AS z FROM data ORDER BY z, t LIMIT 5',
  'SELECT *, row_number() OVER (PARTITION BY t ORDER BY j, i) AS r FROM data',
  'SELECT *, sum(i) OVER (PARTITION BY t) AS x FROM data WHERE j > 2 ORDER BY j, t, i',
  'SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY t ORDER BY j, i) AS r FROM data) AS g WHERE r <= 2',
  'SELECT t, count(*) AS n, sum(z) AS x FROM (SELECT *, i * 2 AS z FROM data) AS g GROUP BY t',
  'SELECT count(*) AS n, count(i) AS m FROM (SELECT * FROM data WHERE s IS NOT NULL) AS g WHERE j > 1',
  'SELECT * FROM (SELECT a.*, b.s AS c FROM data AS a JOIN other AS b ON a.j = b.j) AS g ORDER BY g.a.t, c LIMIT 6',
  'SELECT g.*, other.t FROM (SELECT * EXCLUDING (s) FROM data WHERE i > 0) AS g JOIN other ON g.j = other.j',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps }),
    ),
    { numRuns: 4 },
  );
});

/** What may come out otherwise in columns is left to the reference, wherever it stands. */
const OTHERS = [
  'SELECT i* AS x*, s FROM data ORDER BY j * 2, t LIMIT 8 OFFSET 2',
  'SELECT *, j AS i FROM data ORDER BY j, t',
  'SELECT * FROM data AS a LEFT JOIN (SELECT j, max(i) AS x FROM other GROUP BY j) AS m ON a.i = m.j',
  'SELECT * FROM data UNION ALL SELECT * FROM other',
  'SELECT * FROM data UNION SELECT * FROM other',
  'SELECT i, t FROM (SELECT i, t FROM data UNION ALL SELECT * EXCLUDING (s, j) FROM other) AS g',
  'SELECT DISTINCT * FROM (SELECT i, s FROM data) AS g',
  'SELECT * FROM (SELECT t, array_agg(i ORDER BY i) AS l FROM data GROUP BY t) AS g ORDER BY t',
];

test.each(OTHERS)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps, isCounted: false }),
    ),
    { numRuns: 4 },
  );
});
