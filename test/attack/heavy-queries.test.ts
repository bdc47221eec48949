// Attack: short queries that ask for endless work. Each is refused, or ends when its caller leaves;
// the one worker that there is answers the next question.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan, type RowanError } from '../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan?.close());

const TWO_ROWS = '(VALUES (1), (2))';
const tables = (count: number, between: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => `${between(n)}${TWO_ROWS} AS t${n}(x)`).join('');

test.each([
  ['a product of a billion rows', 'generate_series(1, 40000) a(x), generate_series(1, 40000) b(y)'],
  ['one with a condition', 'generate_series(1, 40000) a(x) JOIN range(40000) b(y) ON a.x < b.y'],
  ['a series without end', 'generate_series(1, 1e12) s'],
  ['a product of forty tables', tables(40, (n) => (n === 0 ? '' : ', '))],
])('%s ends when its caller leaves', async (_name, from) => {
  const leaving = new AbortController();
  const answer = rowan.query(`SELECT count(*) FROM ${from}`, { signal: leaving.signal });
  const outcome = answer.then(
    () => 'an answer',
    (error: unknown) => (error as RowanError).code,
  );
  // The one worker is with it when health has answered.
  expect((await rowan.get('/v1/health')).status).toBe(200);
  leaving.abort();
  expect(await outcome).toBe('CANCELLED');
  expect(await rowan.query('SELECT 1 AS x').value()).toBe(1);
});

test.each([
  [
    '200 tables with commas',
    `SELECT 1 FROM ${tables(200, (n) => (n === 0 ? '' : ', '))}`,
    'more than 128 tables are joined in one FROM',
  ],
  [
    '200 joined tables',
    `SELECT 1 FROM ${tables(200, (n) => (n === 0 ? '' : ' CROSS JOIN '))}`,
    'more than 128 tables are joined in one FROM',
  ],
  [
    'a list of a billion elements',
    'SELECT generate_series(1, 1e12)',
    'generate_series makes at most',
  ],
])('%s: a 400 with its place', async (_name, q, message) => {
  const reply = await rowan.get('/v1/query', { q });
  expect(reply.status).toBe(400);
  expect(reply.json).toMatchObject({
    error: expect.stringContaining(message),
    details: { line: 1, column: expect.any(Number) },
  });
});

test('of a series without end a LIMIT reads the first rows', async () => {
  const rows = await rowan.query('SELECT x FROM generate_series(1, 1e12) s(x) LIMIT 2').rows();
  expect(rows).toMatchObject([{ x: 1 }, { x: 2 }]);
});

test('a list of 100,000 constants is looked up', async () => {
  const even = Array.from({ length: 100_000 }, (_, n) => n * 2).join(', ');
  const count = (test: string) =>
    rowan.query(`SELECT count(*) FROM range(100000) r(x) WHERE x ${test} (${even})`).value();
  expect(await count('IN')).toBe(50_000);
  expect(await count('NOT IN')).toBe(50_000);
});

test('twenty tables that are joined by keys make no product', async () => {
  const keys = Array.from({ length: 19 }, (_, n) => `t${n}.x = t${n + 1}.x`).join(' AND ');
  const from = tables(20, (n) => (n === 0 ? '' : ', '));
  expect(await rowan.query(`SELECT count(*) FROM ${from} WHERE ${keys}`).value()).toBe(2);
});
