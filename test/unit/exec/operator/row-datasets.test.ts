// Members and atoms of values beside columns are those of the reference, whatever stands above them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const row: fc.Arbitrary<TableRow> = fc.record({
  i: fc.option(fc.integer({ min: -3, max: 6 }), { nil: null, freq: 3 }),
  j: fc.integer({ min: 0, max: 9 }),
  s: fc.constantFrom('', 'a', 'B', 'zoé', null),
});
const table = fc.array(row, { minLength: 5, maxLength: 40, size: 'max' });

const QUERIES = [
  'SELECT count(*) AS n FROM data JOIN row_dataset({x: 1, y: 2, z: null}) AS r ON data.j = r.value',
  'SELECT r.column AS c, count(*) AS n, sum(data.i) AS x FROM data JOIN atom_dataset({x: 1, y: {z: 2, w: 2}}) AS r ON data.j = r.value GROUP BY r.column',
  "SELECT data.s AS s, r.column AS c FROM data LEFT JOIN row_dataset({a: 'a', b: 'B', c: 'a'}) AS r ON data.s = r.value ORDER BY data.j, r.column",
  'SELECT count(*) AS n FROM data WHERE j IN (SELECT value FROM row_dataset({x: 1, y: 4}))',
  'SELECT sum(d.j) AS x FROM data AS d WHERE EXISTS (SELECT 1 FROM atom_dataset([1, 5, 9]) AS r WHERE r.value = d.j)',
  'SELECT j FROM data UNION ALL SELECT value AS j FROM row_dataset({x: 11, y: 12})',
  'WITH r AS (SELECT value FROM row_dataset({x: 1, y: 1, z: 3})) SELECT count(*) AS n FROM r AS a JOIN r AS b ON a.value = b.value JOIN data ON data.j = b.value',
  'SELECT r.value AS v, count(*) AS n FROM data JOIN sample(row_dataset({x: 1, y: 2, z: 3}), {rows: 2, seed: 1}) AS r ON data.j >= r.value GROUP BY r.value',
];

test.each(QUERIES)('%s', (sql) => {
  fc.assert(
    fc.property(table, (rows) => bothAgree(rows, sql, { exactTimestamps: false })),
    { numRuns: 4 },
  );
});

const few: TableRow[] = Array.from({ length: 8 }, (_, n) => ({ j: n }));

test.each([
  ['row_dataset(1 + 2)', /Argument to row_dataset must be a row/],
  ['atom_dataset(NULL)', /Argument to atom_dataset must be a row/],
])('%s beside columns fails', (source, message) => {
  const sql = `SELECT count(*) AS n FROM data JOIN ${source} AS r ON data.j = r.value`;
  for (const accelerated of [true, false]) {
    expect(() => run(few, sql, { accelerated, isCounted: false })).toThrow(message);
  }
});

test('members that are rows are left to the reference', () => {
  const sql =
    'SELECT r.value AS v FROM data JOIN row_dataset({x: {y: 1}, z: 2}) AS r ON data.j > 6 ORDER BY r.column';
  expect(run(few, sql, { accelerated: true, isCounted: false })).toEqual(
    run(few, sql, { accelerated: false }),
  );
});
