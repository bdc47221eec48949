// ORDER BY … LIMIT over chunks of thousands of rows: a few rows tell which others are wanted, and
// the statistics of chunks which of them need no look.
import { expect, test } from 'vitest';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { bothAgree, requireKernels, run, type TableRow } from '../../../support/vector-queries.ts';

requireKernels();

const SPECIAL = [Number.NaN, -0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

const rows: TableRow[] = Array.from({ length: 26_000 }, (_, index) => {
  const scattered = (index * 104_729) % 25_999;
  const special = index % 97 === 0 ? (SPECIAL[(index / 97) % 5] as number) : undefined;
  return {
    rising: index,
    falling: -index,
    scattered,
    few: index % 3,
    e: special ?? scattered / 8,
    d: index % 11 === 0 ? null : (special ?? scattered / 8),
    gaps: index % 7 === 0 ? null : scattered % 500,
    w: new Timestamp(scattered * 1000.5),
    s: ['a', 'B', 'zoé', ''][scattered % 4] as string,
    m: index % 2 === 0 ? scattered : 'text',
    rare: index % 5000 === 0 ? index : null,
  };
});

const KEYS = Object.keys(rows[0] as TableRow);
const directions = KEYS.flatMap((key) => [key, `${key} DESC`]);

test.each([
  ...directions,
  ...['few, scattered DESC', 'few DESC, e', 's, d DESC, rising', 'gaps DESC, few, s'],
  ...['e, few', 'rare DESC, gaps', 'scattered * 2 DESC', 'w DESC, d', 'few, s, m'],
])('the first rows by %s', (order) => {
  for (const [where, limit] of [
    ['', 'LIMIT 40'],
    [" WHERE s != 'a' AND falling < -9", 'LIMIT 7 OFFSET 5'],
  ]) {
    bothAgree(rows, `SELECT rising, d FROM data${where} ORDER BY ${order} ${limit}`);
  }
});

test.each(['LIMIT 0', 'LIMIT 1', 'LIMIT 3000', 'LIMIT 2 OFFSET 25999', 'LIMIT 5 OFFSET 26000'])(
  'any part of the rows: %s',
  (part) => {
    bothAgree(rows, `SELECT rising FROM data ORDER BY scattered DESC, few ${part}`);
    bothAgree(rows, `SELECT rising FROM data WHERE rising > 25990 ORDER BY few ${part}`);
  },
);

test('rows are read by kernels only', () => {
  const sql = 'SELECT rising FROM data ORDER BY e DESC, few LIMIT 3';
  expect(run(rows, sql, { accelerated: true, mayScan: false })).toHaveLength(3);
});

test.each([
  'scattered',
  'few',
  'few DESC, e',
  's, d DESC, rising',
  'gaps DESC, few, s',
  'w DESC, rare',
])('rows that do not fit together are sorted part by part: %s', (order) => {
  for (const where of ['', ' WHERE falling < -9000']) {
    const sql = `SELECT rising, d FROM data${where} ORDER BY ${order}`;
    const together = run(rows, sql, { accelerated: true });
    const parts = run(rows, sql, { accelerated: true, threadCount: 2, spanSizeMax: 220_000 });
    expect(parts).toEqual(together);
  }
  const all = `SELECT rising FROM data ORDER BY ${order}`;
  expect(() => run(rows, all, { accelerated: true, spanSizeMax: 2000 })).toThrow('no stretch');
});
