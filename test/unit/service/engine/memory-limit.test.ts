// What a query may hold is refused before the machine has no memory left.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const BUDGET_BYTES = 80 * 2 ** 20;

let rowan: Rowan;
beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1, memoryBytes: BUDGET_BYTES });
  const made = await rowan.put('/v1/procedures/make', {
    type: 'transform',
    params: {
      inputData: `SELECT 1 AS x FROM row_dataset([${'1,'.repeat(999)}1]) AS a JOIN row_dataset([${'1,'.repeat(999)}1]) AS b`,
      outputDataset: { id: 'million', type: 'tabular' },
      runOnCreation: true,
    },
  });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
});
afterAll(() => rowan.close());

const ask = (q: string) =>
  rowan.get<{ error?: string; code?: string }>('/v1/query', { q, format: 'atom' });

test('rows that are held are refused, and the service goes on', async () => {
  const { status, json } = await ask(
    `SELECT string_agg(rowName() + '${'x'.repeat(60)}', ',') FROM million`,
  );
  expect([status, json.code]).toEqual([400, 'OUT_OF_MEMORY']);
  expect(json.error).toMatch(
    /^Out of memory\. The rows that the query holds take \d+ MB.*--memory/,
  );
  expect((await ask('SELECT count(*) FROM million')).json).toBe(1_000_000);
});

test('rows that pass through are not', async () => {
  const { status } = await ask("SELECT count(rowName() + 'x') FROM million");
  expect(status).toBe(200);
});

test('a text that would be too long names the limit', async () => {
  const long = "CAST(TIMESTAMP '2024-01-01' AS string) + '" + 'x'.repeat(200_000) + "'";
  const { status, json } = await ask(
    `SELECT string_agg(${long}, '') FROM (SELECT * FROM million LIMIT 400)`,
  );
  expect([status, json.code]).toEqual([400, 'OUT_OF_MEMORY']);
  expect(json.error).toContain('string_agg makes a text of at most 67108864 characters');
});
