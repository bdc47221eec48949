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
      expect(
        await ask(`SELECT sum(x) + min(y) - min(y) FROM ${id}`),
        `${id} in round ${round}`,
      ).toBe(sumOf(index + 1));
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
  for (const id of NAMES) await ask(`SELECT sum(x + y) FROM ${id}`);
  expect(present()).not.toContain('log');
  await record('second');
  await rowan.post('/v1/datasets/log/commit');
  expect(await ask('SELECT count(*) FROM log')).toBe(2);
  await record('third');
  for (const id of NAMES) await ask(`SELECT sum(x + y) FROM ${id}`);
  expect(present()).not.toContain('log');
  await rowan.close();
  rowan = await open();
  await rowan.post('/v1/datasets/log/commit');
  expect(await ask('SELECT count(*) FROM log')).toBe(3);
});

test('of a dataset that is larger than the memory the columns that are asked for are read, or their chunks', async () => {
  await rowan.close();
  rowan = await Rowan.open({ dataDir: directory, workers: 2 });
  const columns = Array.from({ length: 12 }, (_, i) => `n * ${i + 1} + 0.5 AS c${i}`);
  await rowan.put('/v1/procedures/make_wide', {
    type: 'transform',
    params: {
      inputData: `SELECT ${columns} FROM generate_series(1, ${ROW_COUNT}) AS s(n)`,
      outputDataset: { id: 'wide', type: 'tabular' },
      runOnCreation: true,
    },
  });
  const totals = `SELECT ${columns.map((_, i) => `sum(c${i})`)} FROM wide`;
  const whole = await rowan.get('/v1/query', { q: totals, format: 'table', headers: false });
  await rowan.close();
  rowan = await open();
  for (const [i] of columns.entries()) {
    expect(await ask(`SELECT sum(c${i}) FROM wide`)).toBe(sumOf(i + 1) + ROW_COUNT / 2);
  }
  expect(await ask('SELECT sum(c1 - c0) FROM wide WHERE c5 > c4')).toBe(sumOf(1));
  const paged = await rowan.get('/v1/query', { q: totals, format: 'table', headers: false });
  expect([whole.status, paged.json]).toEqual([200, whole.json]);
});

test('what is kept nowhere stays', async () => {
  await make('g', { persistent: false });
  for (const id of NAMES) await ask(`SELECT sum(x + y) FROM ${id}`);
  expect(present()).toContain('g');
  expect(await ask('SELECT min(x) FROM g')).toBe(0);
});
