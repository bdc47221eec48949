// Recursions in rounds give the rows of the reference: what repeats, what two rounds have in common,
// and what does not suit.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, run, type TableRow } from '../../../support/vector-queries.ts';

const node = fc.integer({ min: 0, max: 9 });
const edge: fc.Arbitrary<TableRow> = fc.record({
  a: node,
  b: node,
  d: fc.constantFrom(0.5, -0, 0, 1e9, Number.NaN, null),
  s: fc.constantFrom('', 'a', 'B', null),
});
const edges = fc.array(edge, { minLength: 1, maxLength: 24 });

const REACH = 'SELECT r.a AS a, data.b AS b FROM r JOIN data ON r.b = data.a';
const QUERIES = [
  `WITH RECURSIVE r(a, b) AS (SELECT a, b FROM data UNION ${REACH}) SELECT count(*) AS n, sum(b - a) AS s FROM r`,
  `WITH RECURSIVE r(a, b) AS (SELECT a, b FROM data UNION ${REACH}) SELECT a, count(*) AS n FROM r WHERE b > 2 GROUP BY a`,
  'WITH RECURSIVE r(a, n) AS (SELECT a, 0 FROM data UNION ALL SELECT data.b, r.n + 1 FROM r JOIN data ON r.a = data.a WHERE r.n < 3) SELECT n, count(*) AS c FROM r GROUP BY n',
  'WITH RECURSIVE r(d, s) AS (SELECT d, s FROM data UNION SELECT data.d, r.s FROM r JOIN data ON r.d = data.a) SELECT s, count(*) AS n, max(d) AS m FROM r GROUP BY s',
  'WITH RECURSIVE r(a, s) AS (SELECT a, s FROM data UNION SELECT b, data.s FROM r JOIN (SELECT a, b, max(s) AS s FROM data GROUP BY a, b) AS data ON r.a = data.a) SELECT a, count(s) AS n, min(s) AS m FROM r GROUP BY a',
  "WITH RECURSIVE r(a, s) AS (SELECT a, s FROM data UNION SELECT a, s + 'x' FROM r WHERE length(s) < 4) SELECT s, count(*) AS n FROM r GROUP BY s",
  'WITH RECURSIVE r(x) AS (SELECT d FROM data UNION SELECT CASE WHEN x IS NULL THEN NULL ELSE x * 1 END FROM r) SELECT x, count(*) AS n FROM r GROUP BY x',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(edges, (rows) => bothAgree(rows, sql, { exactTimestamps: false })),
    { numRuns: 6 },
  );
});

const chain: TableRow[] = Array.from({ length: 60 }, (_, n) => ({
  a: n,
  b: n + 1,
  d: n / 2,
  s: `s${n % 3}`,
}));

test.each(QUERIES)('no row is made for %s', (sql) => {
  const options = { exactTimestamps: false, isCounted: false };
  const expected = run(chain, sql, { accelerated: false, ...options });
  expect(run(chain, sql, { accelerated: true, mayScan: false, ...options })).toEqual(expected);
});

test.each([
  'WITH RECURSIVE r(a) AS (SELECT a FROM data UNION ALL SELECT a + 1 FROM r) SELECT a FROM r LIMIT 70',
  'WITH RECURSIVE r(a) AS (SELECT a FROM data UNION ALL SELECT a + 1 FROM r) SELECT a FROM r WHERE a > 70 LIMIT 3',
  'WITH RECURSIVE r(a) AS (SELECT a FROM data UNION SELECT a + 1 FROM r) SELECT a FROM r WHERE a > 70 LIMIT 3',
])('what never ends is read as far as needed: %s', (sql) => {
  const options = { exactTimestamps: false, isCounted: false };
  expect(run(chain, sql, { accelerated: true, ...options })).toEqual(
    run(chain, sql, { accelerated: false, ...options }),
  );
});
