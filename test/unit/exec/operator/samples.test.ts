// Samples by row numbers are those of the reference: rows, names, order, seeds and errors.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const row: fc.Arbitrary<TableRow> = fc.record({
  i: fc.option(fc.integer({ min: -3, max: 6 }), { nil: null, freq: 3 }),
  j: fc.integer({ min: 0, max: 9 }),
  s: fc.constantFrom('', 'a', 'B', 'zoé', null),
});
const table = fc.array(row, { minLength: 5, maxLength: 60, size: 'max' });

const QUERIES = [
  'SELECT * FROM sample(data, {rows: 5, seed: 3})',
  'SELECT j, s FROM sample(data, {fraction: 0.4, seed: 1}) AS d',
  'SELECT d.* FROM sample(data, {rows: 9, withReplacement: true, seed: 2}) AS d',
  'SELECT * FROM sample(data, {rows: 0})',
  'SELECT j * 2 AS x, s FROM sample(data, {fraction: 1}) WHERE j > 2',
  'SELECT s, count(*) AS n, sum(i) AS x FROM sample(data, {fraction: 0.7, seed: 8}) GROUP BY s',
  'SELECT count(*) AS n, min(s) AS m FROM sample((SELECT * FROM data WHERE j > 3), {fraction: 0.5, seed: 4})',
  'SELECT * FROM sample((SELECT s, j + 1 AS k FROM data WHERE j < 8), {fraction: 0.9, seed: 4}) ORDER BY k LIMIT 7',
  'SELECT * FROM sample(sample(data, {fraction: 0.8, seed: 5}), {fraction: 0.5, seed: 6})',
  'SELECT a.i AS i, b.s AS s FROM sample(data, {rows: 4, seed: 7}) AS a JOIN other AS b ON a.j = b.j',
  'SELECT count(*) AS n FROM data AS a LEFT JOIN sample(data, {rows: 5, seed: 7}) AS b ON a.j = b.i',
  'SELECT * FROM sample((SELECT a.j AS x, b.s AS y FROM data AS a JOIN other AS b ON a.j = b.j), {fraction: 0.5, seed: 1})',
  'SELECT * FROM sample((SELECT s, count(*) AS n FROM data GROUP BY s), {fraction: 0.5, seed: 1})',
  'SELECT * FROM sample((SELECT * FROM data ORDER BY s, i LIMIT 5), {rows: 3, seed: 1})',
  'SELECT count(*) AS n FROM data WHERE j IN (SELECT j FROM sample(data, {rows: 2, seed: 9}))',
  'SELECT i, sum(j) OVER (ORDER BY j, i, s) AS r FROM sample(data, {rows: 5, seed: 3})',
  'SELECT j FROM data UNION SELECT i AS j FROM sample(data, {rows: 3, seed: 2})',
  'SELECT * FROM data TABLESAMPLE (50 PERCENT) REPEATABLE (3)',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, table, (rows, others) =>
      bothAgree(rows, sql, { others, exactTimestamps: false }),
    ),
    { numRuns: 5 },
  );
});

test('a sample keeps timestamps', () => {
  const sql = 'SELECT * FROM sample(data, {rows: 3, seed: 1})';
  fc.assert(
    fc.property(table, (rows) => bothAgree(rows, sql)),
    { numRuns: 5 },
  );
});

const few: TableRow[] = Array.from({ length: 8 }, (_, n) => ({ j: n, s: `s${n % 3}` }));

test.each([
  ['{rows: 9}', /more rows without replacement than there are: 9 of 8/],
  ['{fraction: 2}', /fraction 2 is not in/],
  ['{row: 1}', /Unknown field 'row'/],
])('a sample with the options %s fails', (options, message) => {
  const sql = `SELECT * FROM sample(data, ${options})`;
  for (const accelerated of [true, false]) {
    expect(() => run(few, sql, { accelerated, isCounted: false })).toThrow(message);
  }
});

test('a sample of no rows fails when it wants one', () => {
  const sql =
    'SELECT count(*) AS n FROM sample((SELECT * FROM data WHERE j > 99), {rows: 1, withReplacement: 1})';
  for (const accelerated of [true, false]) {
    expect(() => run(few, sql, { accelerated, isCounted: false })).toThrow(
      /1 rows from a table without rows/,
    );
  }
});

test('a sample without a seed makes no row of what it leaves out', () => {
  const sql = 'SELECT count(*) AS n FROM sample(data, {rows: 6}) AS d';
  expect(run(few, sql, { accelerated: true, mayScan: false })).toEqual(
    run(few, sql, { accelerated: false }),
  );
});
