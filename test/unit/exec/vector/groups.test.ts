// Groups by any kind of key, in any order: the vector engine gives the rows of the general evaluator.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 4 });
const double = fc.constantFrom(
  ...[0, -0, 1.5, -1.5, 1e300, 5e-324, Number.NaN],
  ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
);
const seconds = fc.constantFrom(0, 1.25, -3e9, 4e9, Number.NaN, Number.POSITIVE_INFINITY);
const tableRow: fc.Arbitrary<TableRow> = fc.record({
  d: orNull(double),
  e: double,
  w: orNull(seconds.map((value) => new Timestamp(value))),
  wide: orNull(fc.constantFrom(-2_000_000_000, -1, 0, 7, 1_999_999_999)),
  huge: orNull(fc.constantFrom(-(2 ** 52), 3, 2 ** 52, 2 ** 40 + 1)),
  i: orNull(fc.integer({ min: -2, max: 2 })),
  s: orNull(fc.constantFrom('', 'b', 'a', 'zoé')),
  m: orNull(fc.constantFrom<number | string>(2, 'a', 1.5, -7)),
  j: fc.integer({ min: 0, max: 3 }),
});
const table = fc.array(tableRow, { minLength: 8, maxLength: 50, size: 'max' });
const keys = fc.uniqueArray(
  fc.constantFrom('d', 'e', 'w', 'wide', 'huge', 'i', 's', 'm', 'upper(s)'),
  { minLength: 1, maxLength: 4 },
);
const AGGREGATES =
  'count(*) AS n, sum(j) AS total, min(w) AS early, max(d) AS top, variance(j) AS v';
const where = fc.constantFrom('', ' WHERE j > 0', " WHERE s = 'a'", ' WHERE j > 7');

test('groups of numbers, times and wide integers are the same', () => {
  fc.assert(
    fc.property(table, keys, where, (rows, by, filter) => {
      const list = by.join(', ');
      bothAgree(rows, `SELECT ${list}, ${AGGREGATES} FROM data${filter} GROUP BY ${list}`);
    }),
    { numRuns: 80 },
  );
});

test('the first groups in any order are the same', () => {
  const direction = fc.constantFrom('', ' DESC');
  const order = fc.array(
    fc.tuple(fc.constantFrom('n', 'total', 'early', 'top', 'v', 'k', 'l'), direction),
    { minLength: 1, maxLength: 3 },
  );
  const number = fc.constantFrom(0, 1, 2, 3, 8, 5000);
  const key = fc.constantFrom('d', 'e', 'w', 'wide', 'huge', 'i', 's', 'm');
  fc.assert(
    fc.property(
      ...[table, key, key, order, number, number, where],
      (rows, one, two, sort, limit, offset, filter) => {
        fc.pre(one !== two);
        const select = `SELECT ${one} AS k, ${two} AS l, ${AGGREGATES} FROM data${filter}`;
        const by = `GROUP BY ${one}, ${two}`;
        const ordered = `ORDER BY ${sort.map((parts) => parts.join('')).join(', ')}`;
        bothAgree(rows, `${select} ${by} ${ordered}`);
        bothAgree(rows, `${select} ${by} ${ordered} LIMIT ${limit} OFFSET ${offset}`);
        bothAgree(rows, `${select} ${by} ${ordered} LIMIT ${limit}`);
        bothAgree(rows, `${select} ${by} LIMIT ${limit} OFFSET ${offset}`);
        bothAgree(rows, `${select} ${by} OFFSET ${offset}`);
        bothAgree(rows, `SELECT ${one}, n * 2 FROM (${select} ${by} LIMIT ${limit}) ORDER BY n, k`);
      },
    ),
    { numRuns: 25 },
  );
});

test.each([
  ['k', 'k'],
  ['k', 'n DESC, top'],
  ['k', 'top DESC'],
  ['d, k', 'n, d DESC'],
  ['d, w, k', 'total DESC, k'],
])('tens of thousands of groups by %s are ordered by %s', (by, order) => {
  const rows = Array.from({ length: 36_000 }, (_, index) => ({
    k: (index * 7919) % 35_993,
    d: ((index * 104_729) % 9973) / 8,
    w: new Timestamp(((index * 31) % 6) * 1e6),
    j: index % 11,
  })).map((row) => ({ ...row, k: row.k * 1e5 }));
  const select = `SELECT ${by}, count(*) AS n, sum(j) AS total, max(d) AS top FROM data GROUP BY ${by}`;
  bothAgree(rows, `${select} ORDER BY ${order} LIMIT 25`);
  bothAgree(rows, `${select} ORDER BY ${order} LIMIT 30 OFFSET 6000`);
  bothAgree(rows, `${select} LIMIT 3 OFFSET 20000`);
});

test.each([
  'SELECT d, count(*) FROM data GROUP BY d',
  'SELECT w, d, sum(j) FROM data WHERE j > 0 GROUP BY w, d ORDER BY sum(j) DESC, w LIMIT 3',
  'SELECT wide, huge, s, m, count(*) FROM data GROUP BY wide, huge, s, m LIMIT 5 OFFSET 2',
  'SELECT upper(s), huge, min(d) FROM data GROUP BY upper(s), huge ORDER BY min(d)',
  'SELECT i, count(*) AS n FROM data GROUP BY i ORDER BY n DESC LIMIT 2',
])('%s runs on kernels alone', (sql) => {
  const rows = fc.sample(table, { seed: 11, numRuns: 20 }).find(({ length }) => length > 30) ?? [];
  expect(rows.length).toBeGreaterThan(30);
  const kernels = run(rows, sql, { accelerated: true, mayScan: false });
  expect(kernels).toEqual(run(rows, sql, { accelerated: false }));
});
