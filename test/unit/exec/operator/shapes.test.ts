// Operators over batches give the rows of the reference, whatever the shape of the query: sub-selects,
// joins and groups above and below each other, over random tables of a few small chunks.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, run, type TableRow } from '../../../support/vector-queries.ts';

const integer = fc.integer({ min: -3, max: 12 });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
const text = fc.constantFrom('', 'a', 'B', 'abc', 'zoé');

const row: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(integer),
  j: integer,
  d: orNull(fc.constantFrom(0.5, -0, 1e9, Number.NaN, Number.POSITIVE_INFINITY, 2)),
  s: orNull(text),
  t: text,
});
const table = fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });

/** Every part of these runs on operators. */
const OPERATOR_QUERIES = [
  'SELECT sum(n) AS s FROM (SELECT t, count(*) AS n FROM data GROUP BY t) AS g',
  'SELECT sum(n) AS s FROM (SELECT j - j % 3 AS b, count(*) AS n FROM data GROUP BY j - j % 3) AS g',
  'SELECT count(*) AS n FROM (SELECT j * 2 AS d FROM data) AS g WHERE d > 6',
  'SELECT c, count(*) AS n, sum(e) AS x FROM (SELECT t AS c, j + 1 AS e FROM data WHERE j > 2) AS u GROUP BY c',
  'SELECT count(*) AS n FROM (SELECT s, t FROM data GROUP BY s, t HAVING count(*) > 1) AS g',
  "SELECT CASE WHEN j < 3 THEN 'low' WHEN j < 6 THEN 'mid' ELSE 'high' END AS p, count(*) AS n FROM data GROUP BY CASE WHEN j < 3 THEN 'low' WHEN j < 6 THEN 'mid' ELSE 'high' END",
  'SELECT s + t AS r, count(*) AS n FROM data GROUP BY s + t',
  'SELECT min(s) AS a, max(t) AS b FROM data',
  'SELECT t, min(s) AS a, max(s) AS b FROM data GROUP BY t',
  'SELECT sum(data.j) AS s FROM data JOIN other ON data.j = other.j',
  'SELECT other.t AS t, count(*) AS n, sum(data.j) AS s FROM data JOIN other ON data.j = other.j GROUP BY other.t',
  'SELECT other.t AS t, count(data.i) AS n FROM other LEFT JOIN data ON data.j = other.j GROUP BY other.t',
  'SELECT data.s AS t, count(other.i) AS n, min(other.s) AS m FROM data LEFT JOIN other ON data.i = other.i GROUP BY data.s',
  'SELECT other.t AS t, count(data.i) AS n FROM data RIGHT JOIN other ON data.t = other.s GROUP BY other.t',
  'SELECT a.t AS t, count(*) AS n, sum(b.j) AS x FROM data JOIN other AS a ON data.j = a.j JOIN other AS b ON data.t = b.t GROUP BY a.t',
  'SELECT sum(data.j * m.most) AS s FROM data JOIN (SELECT j, max(i) AS most FROM other GROUP BY j) AS m ON data.j = m.j',
  'SELECT count(*) AS n FROM (SELECT data.j AS j, other.t AS t FROM data JOIN other ON data.j = other.j) AS p WHERE j > 3',
  'SELECT count(*) AS n FROM data WHERE j IN (SELECT i FROM other WHERE j > 5)',
  'SELECT t, sum(j) AS s FROM data WHERE j > (SELECT avg(j) FROM other) GROUP BY t',
  'SELECT data.j AS j, other.s AS s FROM data JOIN other ON data.j = other.j LIMIT 5',
  'SELECT data.j AS j, other.s AS s FROM data JOIN other ON data.t = other.s LIMIT 3 OFFSET 2',
  'SELECT a.k AS k, b.t AS t FROM (SELECT j * 31 + i AS k FROM data) AS a JOIN (SELECT i * 31 + j AS k, t FROM other) AS b ON a.k = b.k LIMIT 2',
  'SELECT a.k AS k, b.k AS l FROM (SELECT j * 2 AS k, i FROM data) AS a JOIN (SELECT j * 31 + i AS k FROM other) AS b ON a.i = b.k LIMIT 4 OFFSET 1',
  'SELECT a.t AS t, b.s AS s FROM (SELECT t, j FROM data WHERE j IN (SELECT i FROM other)) AS a JOIN other AS b ON a.j = b.j LIMIT 3',
  'SELECT data.d AS d, other.d AS e FROM data JOIN other ON data.d = other.d LIMIT 4',
  'SELECT data.d AS d, other.d AS e FROM data JOIN other ON data.j = other.j',
  'SELECT avg(x) AS a, min(k) AS k FROM (SELECT t AS k, sum(j) AS x FROM data GROUP BY t) AS g',
  'SELECT x, count(*) AS n FROM (SELECT t, count(i) AS x FROM data GROUP BY t) AS g GROUP BY x',
  'SELECT data.t AS t, count(*) AS n FROM data JOIN other ON data.j = other.j AND data.t = other.t GROUP BY data.t',
  'SELECT data.t AS t, count(other.j) AS n FROM data LEFT JOIN other ON data.i = other.i AND data.t = other.s AND data.j = other.j GROUP BY data.t',
  'SELECT data.t AS t, count(*) AS n, sum(other.i) AS x FROM data JOIN other ON data.d = other.d GROUP BY data.t',
  'SELECT count(*) AS n FROM data JOIN other ON data.j * 100000000 = other.j * 100000000',
  'SELECT data.i AS i, other.t AS t FROM data JOIN other ON data.j = other.j ORDER BY other.t DESC, data.i LIMIT 6',
  'SELECT data.i AS i, other.t AS t FROM data LEFT JOIN other ON data.j = other.j ORDER BY data.i',
  'SELECT data.i AS i, other.t AS t FROM data JOIN other ON data.j = other.j ORDER BY data.i NULLS LAST, other.t DESC NULLS FIRST LIMIT 9',
  'SELECT data.i AS i, other.t AS t FROM data JOIN other ON data.j = other.j ORDER BY data.d DESC LIMIT 4 OFFSET 3',
  'SELECT data.i AS i, other.d AS d FROM data LEFT JOIN other ON data.j = other.j ORDER BY other.d, data.s DESC LIMIT 5',
  'SELECT data.i AS i, other.s AS s FROM data JOIN other ON data.t = other.t ORDER BY data.d * other.j, other.i LIMIT 7',
  'SELECT data.j AS j, other.t AS t FROM data JOIN other ON data.t = other.t WHERE data.j + other.j > 8 ORDER BY data.s + other.t, data.j LIMIT 3',
  'SELECT j, t FROM data WHERE j > 2 ORDER BY d, s LIMIT 3',
  'SELECT t, count(*) * 2 AS n FROM data GROUP BY t ORDER BY count(*) + 1 DESC, t LIMIT 2',
  'SELECT x FROM (SELECT t, max(j) AS x FROM data GROUP BY t) AS g ORDER BY x + 1 DESC',
  'SELECT count(*) AS n FROM data WHERE d IN (SELECT d FROM other)',
  'SELECT count(*) AS n FROM data WHERE d NOT IN (SELECT d FROM other WHERE j > 3)',
  'SELECT count(*) AS n FROM data WHERE NOT (d IN (SELECT i FROM other)) OR t IN (SELECT s FROM other)',
  'SELECT j, s AS a, d FROM data',
  'SELECT j, s AS a, d FROM data WHERE j > 2',
  'SELECT t, i FROM data LIMIT 7 OFFSET 18',
  'SELECT other.i * 2 AS x, other.i + other.j AS y FROM data JOIN other ON data.j = other.j',
  'SELECT i * 2 AS x, i + j AS y, j * 3 AS z, i * d - j AS w FROM data ORDER BY t',
  'SELECT x, count(*) AS n, sum(y) AS s FROM (SELECT i * 2 AS x, i * j AS y FROM data) AS g GROUP BY x',
  'SELECT t, i FROM data WHERE j > 2 LIMIT 4 OFFSET 3',
  'SELECT other.t, data.i, other.s, data.d FROM data JOIN other ON data.j = other.j',
  'SELECT data.t, other.i + 1, data.i AS z FROM data LEFT JOIN other ON data.j = other.j AND data.i < other.i ORDER BY data.t, other.i, z LIMIT 9',
  'SELECT g.other.t AS t, count(g.data.i) AS n FROM (SELECT data.i, other.t FROM data JOIN other ON data.j = other.j) AS g GROUP BY g.other.t',
  'SELECT data.t AS t, count(other.j) AS n, sum(other.i) AS s FROM data LEFT JOIN other ON data.j = other.j AND data.i < other.i GROUP BY data.t',
  'SELECT other.t AS t, count(data.j) AS n FROM data RIGHT JOIN other ON data.j = other.j AND other.i > 3 AND data.i <> other.i GROUP BY other.t',
  'SELECT data.t AS t, other.t AS u, count(*) AS n FROM data FULL JOIN other ON data.j = other.j AND data.i > 2 AND data.d <> other.i GROUP BY data.t, other.t',
  'SELECT data.t AS t, count(other.j) AS n FROM data LEFT JOIN other ON data.i < other.j GROUP BY data.t',
];

/** Each distinct value of a group counts once: nobody looks at timestamps. */
const DISTINCT_QUERIES = [
  'SELECT t, count(DISTINCT d) AS n FROM data GROUP BY t',
  'SELECT count(DISTINCT d) AS n FROM data',
  'SELECT count(DISTINCT d) AS n FROM data WHERE j > 40',
  'SELECT sum(DISTINCT i) AS n, count(*) AS m FROM data WHERE j > 9',
  'SELECT sum(DISTINCT i) AS n FROM data WHERE j > 40',
  'SELECT t, sum(DISTINCT i) AS a, avg(DISTINCT j) AS b, sum(j) AS c, count(DISTINCT s) AS e FROM data GROUP BY t',
  'SELECT t, i, count(DISTINCT j) AS a, sum(DISTINCT j) AS b, min(DISTINCT d) AS c FROM data GROUP BY t, i',
  'SELECT t, sum(DISTINCT i) FILTER (WHERE j > 3) AS a, max(j) FILTER (WHERE i > 3) AS b FROM data GROUP BY t',
  'SELECT t, median(j) AS m, sum(DISTINCT j) AS a FROM data GROUP BY t ORDER BY a DESC, t LIMIT 2',
  'SELECT t, count(DISTINCT d) AS n FROM data GROUP BY t ORDER BY n DESC, t LIMIT 2',
  'SELECT t, count(DISTINCT d) AS n, count(*) AS m FROM data GROUP BY t ORDER BY n DESC, m, t',
  'SELECT other.t AS t, sum(DISTINCT data.j) AS s FROM data JOIN other ON data.j = other.i GROUP BY other.t',
  'SELECT t, s, sum(DISTINCT j) AS a, count(*) AS n FROM data GROUP BY ROLLUP (t, s)',
];

test.each(DISTINCT_QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, (rows, others) =>
      bothAgree(rows, sql, { others, exactTimestamps: false }),
    ),
    { numRuns: 6 },
  );
});

test.each(DISTINCT_QUERIES.slice(0, 12))('timestamps are those of the reference: %s', (sql) => {
  fc.assert(
    fc.property(table, table, (rows, others) => bothAgree(rows, sql, { others, isCounted: false })),
    { numRuns: 3 },
  );
});

test.each(OPERATOR_QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps }),
    ),
    { numRuns: 12 },
  );
});

/** These have parts that only the reference knows; what is around them is the same. */
const MIXED_QUERIES = [
  'SELECT count(*) AS n FROM data WHERE EXISTS (SELECT 1 FROM other WHERE other.j = data.j)',
  'SELECT count(*) AS n, sum(j) AS s FROM data WHERE NOT EXISTS (SELECT 1 FROM other WHERE other.i = data.i AND other.j > 4)',
  'SELECT t, count(*) AS n FROM data WHERE EXISTS (SELECT 1 FROM other WHERE other.t = data.t AND other.j <> data.j) GROUP BY t',
  'SELECT count(*) AS n FROM data WHERE NOT EXISTS (SELECT 1 FROM other WHERE other.t = data.t AND other.j < data.j)',
  'SELECT count(*) AS n FROM data WHERE j > (SELECT avg(i) FROM other WHERE other.t = data.t)',
  'SELECT sum(j) AS s FROM data WHERE j = (SELECT max(j) FROM other WHERE other.t = data.t)',
  'SELECT count(*) AS n FROM data WHERE (t, j) IN (SELECT s, i FROM other)',
  'SELECT count(*) AS n FROM data JOIN other ON data.j = other.j WHERE EXISTS (SELECT 1 FROM data AS x WHERE x.t = other.t AND x.j <> data.i)',
  'SELECT t, sum(x) AS s FROM (SELECT t, d * j AS x FROM data) AS g GROUP BY t',
  'SELECT n, count(*) AS m FROM (SELECT string_agg(s, t) AS n FROM data GROUP BY j) AS g GROUP BY n',
  'SELECT upper(s) + t AS k, sum(j) AS x FROM data WHERE lower(t) + s != t GROUP BY upper(s) + t',
  'SELECT count(*) AS n FROM (SELECT t, j FROM data ORDER BY j, t LIMIT 7) AS g WHERE j > 1',
  'SELECT max(x) AS m, min(x) AS l FROM (SELECT sum(i) AS x FROM data GROUP BY t) AS g',
  'SELECT count(d) AS n, sum(z) AS z FROM (SELECT CASE WHEN d IS NULL THEN j ELSE d END AS d, CASE WHEN i IS NULL THEN 7 ELSE i END AS z FROM data) AS g WHERE z > 1',
  'SELECT other.t AS t, count(e) AS n FROM other LEFT JOIN (SELECT j, 1 AS e FROM data) AS d ON d.j = other.j GROUP BY other.t',
  'SELECT data.t AS t, count(*) AS n FROM data JOIN other ON data.j = other.j AND data.t = other.t GROUP BY data.t',
  'SELECT data.t AS t, count(*) AS n FROM data FULL JOIN other ON data.j = other.j GROUP BY data.t',
  'SELECT data.d * other.j AS x FROM data JOIN other ON data.j = other.j',
  'SELECT count(*) AS n FROM (SELECT j / 0 AS x, t FROM data) AS g WHERE t = $$',
].map((sql) => sql.replace('$$', "'a'"));

test.each(MIXED_QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps }),
    ),
    { numRuns: 12 },
  );
});

test.each([...OPERATOR_QUERIES, ...DISTINCT_QUERIES])(
  'no row is made, whoever does which part, for %s',
  (sql) => {
    const make = (seed: number): TableRow[] =>
      Array.from({ length: 50 }, (_, n) => ({
        i: n % 7 === 0 ? null : (n * seed) % 9,
        j: (n * seed) % 11,
        d: n / 4,
        s: n % 5 === 0 ? null : 'abc'.slice(n % 3),
        t: ['a', 'abc', 'zoé'][n % 3] as string,
      }));
    const options = { exactTimestamps: false, others: make(7) };
    const expected = run(make(5), sql, { accelerated: false, ...options });
    for (const threadCount of [1, 3]) {
      const accelerated = { accelerated: true, mayScan: false, threadCount } as const;
      expect(run(make(5), sql, { ...accelerated, ...options })).toEqual(expected);
    }
  },
);

/** Rows come in the order of the keys, then of the names of both sides. */
const ORDERED_JOINS = [
  'data.i AS i, other.t AS t FROM data JOIN other ON data.j = other.j',
  'data.i AS i, other.t AS t FROM data JOIN other ON data.j = other.j AND data.t = other.t',
  'data.i AS i, other.t AS t FROM data JOIN other ON data.s = other.s AND data.j > other.j WHERE data.i > 2',
  'data.j AS i, other.j AS t FROM data LEFT JOIN other ON data.i = other.i',
  'data.j AS i, other.j AS t FROM data LEFT JOIN other ON data.i = other.i AND data.j > 4 AND other.j < 9',
  'data.j AS i, other.j AS t FROM data LEFT JOIN other ON data.s = other.s AND data.i = other.i AND data.j <> other.j',
  'data.j AS i, other.j AS t FROM data RIGHT JOIN other ON data.s = other.s',
  'data.j AS i, other.j AS t FROM data RIGHT JOIN other ON data.i = other.i AND other.t > data.t AND other.j > 3',
  'data.j AS i, other.j AS t FROM data FULL JOIN other ON data.i = other.i',
  'data.j AS i, other.j AS t FROM data FULL JOIN other ON data.s = other.s AND data.i = other.i',
  'data.j AS i, other.j AS t FROM data FULL JOIN other ON data.i = other.j AND data.j > 2 AND other.i > 3 AND data.t < other.t',
  'g.n AS n, other.t AS t FROM (SELECT t, count(*) AS n FROM data GROUP BY t) AS g LEFT JOIN other ON g.t = other.s',
  'a.j AS i, b.j AS j, c.t AS t FROM data AS a LEFT JOIN other AS b ON a.i = b.j LEFT JOIN other AS c ON b.i = c.i',
].flatMap((query) => [`SELECT ${query}`, `SELECT ${query} LIMIT 4 OFFSET 1`]);

test.each(ORDERED_JOINS)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps }),
    ),
    { numRuns: 3 },
  );
});

test('rows of joins whose sides have names in no order', () => {
  const rows = Array.from({ length: 60 }, (_, n): TableRow => {
    return { j: n % 7, t: 'abc'[n % 3] as string, i: n };
  });
  for (const kind of ['', 'LEFT', 'FULL']) {
    const sql = `SELECT a.i AS i, b.i AS k FROM (SELECT i, j FROM data ORDER BY i DESC LIMIT 50) AS a ${kind} JOIN (SELECT i, j FROM other ORDER BY t, i DESC LIMIT 30) AS b ON a.j = b.j`;
    bothAgree(rows, sql, { others: rows.slice(5, 40) });
  }
});

const SELECTIVE_QUERIES = [
  'SELECT count(*) AS n, sum(j) AS s, min(d) AS m FROM data WHERE i > 7',
  'SELECT count(i) AS n FROM data',
  'SELECT count(*) AS n, count(s) AS m FROM data',
  'SELECT t, count(*) AS n FROM data WHERE i = 3 AND d >= 2 GROUP BY t',
  'SELECT t, sum(i) AS n FROM data WHERE 1 > i OR d <= 0.5 GROUP BY t',
  'SELECT i, t FROM data WHERE i <= 0 OR i > 10',
  'SELECT count(*) AS n FROM data JOIN other ON data.j = other.j WHERE data.i < 2 AND other.i > 5',
  'SELECT data.t AS t, count(other.j) AS n FROM data LEFT JOIN other ON data.j = other.j AND data.i > 5 GROUP BY data.t',
  'SELECT i, d FROM data WHERE NOT (i < 4) ORDER BY d, t LIMIT 4',
];

test.each(SELECTIVE_QUERIES)('chunks that their statistics leave out do not count: %s', (sql) => {
  const sorted = table.map((rows) => rows.toSorted((a, b) => Number(a.i) - Number(b.i)));
  fc.assert(
    fc.property(sorted, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps }),
    ),
    { numRuns: 12 },
  );
});
