// Aggregates that no kernel accumulates, alone and beside those that kernels do, give over batches what
// the reference gives: random tables of a few small chunks, every such function, modifiers, shapes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
const row: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(fc.integer({ min: -3, max: 12 })),
  j: fc.integer({ min: 0, max: 9 }),
  d: orNull(fc.constantFrom(0.5, -0, 1e9, 2)),
  s: orNull(fc.constantFrom('', 'a', 'B', 'abc', 'zoé')),
  t: fc.constantFrom('a', 'B', 'abc'),
});
const table = fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });

const CALLS = [
  "string_agg(s, ',')",
  "string_agg(s, '-', j)",
  "string_agg(s, ',' ORDER BY i DESC, t)",
  "string_agg(DISTINCT t, '+' ORDER BY t DESC)",
  "string_agg(t, ',' ORDER BY i NULLS LAST) FILTER (WHERE j > 3)",
  'first(s)',
  'last(i ORDER BY d, j)',
  'any_value(i)',
  'mode(j)',
  'entropy(t)',
  'arg_min(s, i)',
  'arg_max(t, d ORDER BY j)',
  'bool_and(j > 2)',
  'bool_or(i = 3) FILTER (WHERE t <> $$)',
  'count_if(i > 3)',
  'product(j)',
  'geomean(j + 1)',
  'bit_xor(j)',
  'var_pop(d)',
  'covar_samp(i, j)',
  'corr(i, j)',
  'regr_slope(j, i)',
  'skewness(j)',
  'approx_count_distinct(i)',
  'median(DISTINCT i)',
  'sum(j ORDER BY i)',
  'sum(DISTINCT i ORDER BY t)',
  'min(CASE WHEN j > 4 THEN s ELSE i END)',
].map((call) => call.replace('$$', "'a'"));

const QUERIES = [
  ...CALLS.map((call) => `SELECT t, ${call} AS a FROM data GROUP BY t`),
  ...CALLS.filter((_, index) => index % 3 === 0).map(
    (call) => `SELECT sum(j) AS b, ${call} AS a, count(*) AS n FROM data WHERE i > 2`,
  ),
  ...CALLS.filter((_, index) => index % 3 === 1).map(
    (call) => `SELECT s, j % 3 AS k, ${call} AS a, max(i) AS m FROM data GROUP BY s, j % 3`,
  ),
  "SELECT t, string_agg(s, ',') AS a, count(*) AS n FROM data GROUP BY t ORDER BY n DESC, t LIMIT 2",
  "SELECT t, string_agg(s, ',') AS a FROM data GROUP BY t ORDER BY a DESC",
  "SELECT t, count(*) AS n FROM data GROUP BY t HAVING string_agg(s, '') > 'a' ORDER BY t",
  'SELECT n, count(*) AS m FROM (SELECT j, string_agg(s, t) AS n FROM data GROUP BY j) AS g GROUP BY n',
  'SELECT other.t AS t, first(data.j ORDER BY data.j, data.i) AS a, sum(data.j) AS b FROM data JOIN other ON data.j = other.j GROUP BY other.t',
  'SELECT t, array_agg(i ORDER BY j, i) AS a, sum(j) AS b FROM data GROUP BY t ORDER BY t DESC',
  'SELECT t, pivot(s, j) AS * FROM data WHERE j > 2 AND s IS NOT NULL GROUP BY t LIMIT 2',
  'SELECT array_agg(DISTINCT t) AS a FROM data',
  'SELECT count_if(i > 3) AS n, bool_and(j > 1) AS b FROM data WHERE j > 40',
  "SELECT string_agg(s, ',') AS a, sum(i) AS b FROM data WHERE j > 40",
  "SELECT t, string_agg(s, ',') AS a FROM data WHERE j > 40 GROUP BY t",
  'SELECT t, median(DISTINCT i) AS a, median(j) AS b, count(DISTINCT d) AS c, mode(s) AS e FROM data GROUP BY t',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, fc.boolean(), (rows, others, exactTimestamps) =>
      bothAgree(rows, sql, { others, exactTimestamps }),
    ),
    { numRuns: 4 },
  );
});

test('several groupings of the same rows', () => {
  const sql = 'SELECT t, s, bool_or(j > 5) AS a, count(*) AS n FROM data GROUP BY ROLLUP (t, s)';
  fc.assert(
    fc.property(table, (rows) => bothAgree(rows, sql, { exactTimestamps: false })),
    { numRuns: 4 },
  );
});

test('errors of functions are those of the reference', () => {
  const rows = [
    { t: 'a', s: 'x', j: 1 },
    { t: 'b', s: 'y', j: 2 },
  ];
  for (const sql of [
    'SELECT t, product(s) AS a FROM data GROUP BY t',
    'SELECT t, count(*) AS n, bit_and(j / 3) AS a FROM data GROUP BY t',
  ]) {
    const messages = [true, false].map((accelerated) => {
      try {
        return run(rows, sql, { accelerated, isCounted: false });
      } catch (thrown) {
        const { message, details } = thrown as { message: string; details: unknown };
        return { message, details };
      }
    });
    expect(messages[0]).toHaveProperty('message');
    expect(messages[0]).toEqual(messages[1]);
  }
});
