// A service holds more datasets than its memory does: idle content gives way and is read again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const BUDGET_BYTES = 4 * 2 ** 20;
/** each takes about 1 MB: not all of them fit */
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const ROW_COUNT = 60_000;

let directory: string;
let rowan: Rowan;

const open = () => Rowan.open({ dataDir: directory, workers: 2, memoryBytes: BUDGET_BYTES });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-eviction-'));
  rowan = await open();
  for (const id of NAMES) await make(id);
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function make(id: string, options: object = {}): Promise<void> {
  const factor = NAMES.indexOf(id) + 1;
  const made = await rowan.put(`/v1/procedures/make_${id}`, {
    type: 'transform',
    params: {
      inputData: `SELECT n * ${factor} AS x, n * ${factor} + 0.5 AS y FROM generate_series(1, ${ROW_COUNT}) AS s(n)`,
      outputDataset: { id, type: 'tabular', ...options },
      runOnCreation: true,
    },
  });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
}

const sumOf = (factor: number) => (factor * ROW_COUNT * (ROW_COUNT + 1)) / 2;

async function ask(q: string): Promise<unknown> {
  return (await rowan.get('/v1/query', { q, format: 'atom' })).json;
}

/** Datasets whose content is in memory. */
const present = () =>
  [...rowan.service.datasets.live()]
    .filter((dataset) => dataset.definition().content !== undefined)
    .map(({ id }) => id);

test('datasets that together are larger than the memory answer in turn', async () => {
  for (const round of [1, 2]) {
    for (const [index, id] of NAMES.entries()) {
      expect(await ask(`SELECT sum(x) FROM ${id}`), `${id} in round ${round}`).toBe(
        sumOf(index + 1),
      );
    }
  }
  expect(present()).toContain('f');
  expect(present()).not.toContain('a');
});

test('queries at the same time get right answers while content comes and goes', async () => {
  const asked = Array.from({ length: 24 }, (_, i) => (i * 7) % NAMES.length);
  const answers = await Promise.all(
    asked.map((index) => ask(`SELECT sum(x) + min(y) FROM ${NAMES[index]}`)),
  );
  expect(answers).toEqual(asked.map((index) => sumOf(index + 1) + index + 1 + 0.5));
});

test('what was recorded is there after its dataset has given way, committed or not', async () => {
  await rowan.put('/v1/datasets/log', { type: 'sparse.mutable' });
  const record = (name: string) =>
    rowan.post('/v1/datasets/log/rows', { rowName: name, columns: [['x', 1, 0]] });
  await record('first');
  await rowan.post('/v1/datasets/log/commit');
  for (const id of NAMES) await ask(`SELECT sum(x) FROM ${id}`);
  expect(present()).not.toContain('log');
  await record('second');
  await rowan.post('/v1/datasets/log/commit');
  expect(await ask('SELECT count(*) FROM log')).toBe(2);
  await record('third');
  for (const id of NAMES) await ask(`SELECT sum(x) FROM ${id}`);
  expect(present()).not.toContain('log');
  await rowan.close();
  rowan = await open();
  await rowan.post('/v1/datasets/log/commit');
  expect(await ask('SELECT count(*) FROM log')).toBe(3);
});

test('what is kept nowhere stays', async () => {
  await make('g', { persistent: false });
  for (const id of NAMES) await ask(`SELECT sum(x) FROM ${id}`);
  expect(present()).toContain('g');
  expect(await ask('SELECT min(x) FROM g')).toBe(0);
});
