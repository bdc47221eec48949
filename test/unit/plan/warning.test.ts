// What a query that runs says is probably wrong, as a client sees it, and how strict queries fail.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await rowan.put('/v1/datasets/flights', { type: 'tabular' });
  await rowan.post('/v1/datasets/flights/multirows', [
    [
      'a',
      [
        ['origin', 'EWR', 0],
        ['month', 1, 0],
        ['delay', 5, 0],
      ],
    ],
    [
      'b',
      [
        ['origin', 'JFK', 0],
        ['month', 2, 0],
        ['delay', null, 0],
      ],
    ],
  ]);
  await rowan.post('/v1/datasets/flights/commit');
});

afterAll(() => rowan.close());

function warningsOf({ headers }: { readonly headers: object }): unknown {
  const entries = Object.entries(headers);
  const found = entries.find(([name]) => name.toLowerCase() === 'x-rowan-warnings');
  return JSON.parse(String(found?.[1] ?? '[]'));
}

const WARNED: readonly [code: string, sql: string, suggestion: string | null][] = [
  ['UNKNOWN_COLUMN', 'SELECT orign FROM flights', 'origin'],
  ['NAME_CASE', 'SELECT Origin FROM flights', 'origin'],
  ['TYPES_NEVER_EQUAL', "SELECT delay FROM flights WHERE month = '1'", 'month = 1'],
  ['PRECEDENCE', 'SELECT delay FROM flights WHERE NOT month IN (1)', 'month NOT IN (1)'],
  ['NULL_CAST', "SELECT CAST('soon' AS timestamp) AS t", null],
];

test.each(WARNED)('%s of %s', async (code, q, suggestion) => {
  const reply = await rowan.get('/v1/query', { q, format: 'table' });
  expect(reply.status).toBe(200);
  expect(warningsOf(reply)).toMatchObject([{ code, suggestion, line: 1 }]);
  const refused = await rowan.get('/v1/query', { q, format: 'table', strict: true });
  expect(refused.status).toBe(400);
  expect(refused.json).toMatchObject({ details: { line: 1, warning: code } });
});

describe('a sparse dataset', () => {
  beforeAll(async () => {
    await rowan.put('/v1/datasets/loose', { type: 'sparse.mutable' });
    const row = [
      'r',
      [
        ['amount', 1, 0],
        ['a.b', 2, 0],
      ],
    ];
    await rowan.post('/v1/datasets/loose/multirows', [row]);
    await rowan.post('/v1/datasets/loose/commit', {});
  });

  test.each([
    ['SELECT amuont FROM loose', 'amount'],
    ['SELECT l.amuont FROM loose AS l', 'amount'],
    ['SELECT l.amuont FROM loose AS l JOIN flights AS f ON l.amount = f.month', 'amount'],
    ['SELECT amount FROM loose WHERE b IS NULL', null],
    // What is recorded next may have another case: nothing else is read instead.
    ['SELECT Amount FROM loose', 'amount'],
  ])('has no such column: %s', async (q, suggestion) => {
    const reply = await rowan.get('/v1/query', { q, format: 'table' });
    expect(reply.status).toBe(200);
    expect(warningsOf(reply)).toMatchObject([{ code: 'UNKNOWN_COLUMN', suggestion }]);
  });

  test('gives no warning of what it has', async () => {
    const q = 'SELECT amount, a, a.b FROM loose';
    expect(warningsOf(await rowan.get('/v1/query', { q, format: 'table' }))).toEqual([]);
  });
});

test.each([
  'SELECT origin, month FROM flights WHERE delay IS NULL ORDER BY 1',
  "SELECT * FROM flights WHERE origin NOT IN ('EWR') AND NOT (month = 3)",
  'SELECT f.origin, count(*) FROM flights f GROUP BY f.origin',
])('no warning of %s', async (q) => {
  const reply = await rowan.get('/v1/query', { q, format: 'table', strict: true });
  expect(reply.status).toBe(200);
  expect(warningsOf(reply)).toEqual([]);
});

test('answers in the process have their warnings', async () => {
  const query = rowan.query('SELECT Origin FROM flights');
  await query;
  expect(query.warnings).toMatchObject([{ code: 'NAME_CASE', line: 1, column: 8 }]);
  const fine = rowan.query('SELECT origin FROM flights');
  await fine;
  expect(fine.warnings).toEqual([]);
});

test('so have the details of a run', async () => {
  const run = async (inputData: string) => {
    const params = { inputData, outputDataset: 'copy' };
    const made = await rowan.put('/v1/procedures/copying', { type: 'transform', params });
    expect(made.status).toBe(201);
    expect((await rowan.put('/v1/procedures/copying/runs/r', {})).status).toBe(201);
    return (await rowan.get('/v1/procedures/copying/runs/r/details')).json;
  };
  expect(await run('SELECT orign FROM flights')).toMatchObject({
    warnings: [{ code: 'UNKNOWN_COLUMN', suggestion: 'origin' }],
  });
  expect(JSON.stringify(await run('SELECT origin FROM flights'))).not.toContain('warnings');
});
