// What a restart brings back. A crash is a copy of the data directory as it was at that moment.
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let root: string;
let directory: string;
let rowan: Rowan;
let crashCount: number;

async function start(): Promise<void> {
  rowan = await Rowan.open({ dataDir: directory, workers: 1 });
}

/** Goes on with what was on the disk, as if the process had been killed. */
async function crash(): Promise<void> {
  const before = directory;
  directory = join(root, `after-crash-${++crashCount}`);
  cpSync(before, directory, { recursive: true });
  rmSync(join(directory, 'lock'), { force: true });
  const old = rowan;
  await start();
  await old.close();
}

async function ok(verb: string, path: string, body?: unknown, headers = {}): Promise<unknown> {
  const reply = await rowan.perform(verb, path, { body, headers });
  expect(reply.status < 300 ? '' : reply.text).toBe('');
  return reply.json;
}

const query = (q: string, format = 'table') => ok('POST', '/v1/query', { q, format });

const files = () => readdirSync(join(directory, 'datasets'));

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'rowan-test-'));
  directory = join(root, 'data');
  crashCount = 0;
  await start();
});

afterEach(async () => {
  await rowan.close();
  rmSync(root, { recursive: true, force: true });
});

async function recordRows(type: string): Promise<void> {
  await ok('PUT', '/v1/datasets/d', { type });
  await ok('POST', '/v1/datasets/d/multirows', [
    [
      'a',
      [
        ['x', 1, 0],
        ['y', 2, 5],
      ],
    ],
  ]);
  await ok('POST', '/v1/datasets/d/commit', {});
  await ok('POST', '/v1/datasets/d/multirows', [
    [
      'b',
      [
        ['x', 3, 0],
        ['y', 4, 0],
      ],
    ],
  ]);
}

describe.each(['sparse.mutable', 'tabular', 'embedding'])('rows of %s', (type) => {
  test('come back as they were: committed, or waiting for a commit', async () => {
    await recordRows(type);
    const before = await query('SELECT * FROM d', 'full');
    await crash();
    expect(await query('SELECT * FROM d', 'full')).toEqual(before);
    await ok('POST', '/v1/datasets/d/commit', {});
    expect(await query('SELECT x FROM d ORDER BY rowName()', 'soa')).toEqual({
      _rowName: ['a', 'b'],
      x: [1, 3],
    });
    const other = await rowan.post('/v1/datasets/d/multirows', [['c', [['z', 1, 0]]]]);
    expect(other.status).toBe(type === 'sparse.mutable' ? 200 : 400);
  });
});

test('rows that are visible at once are so after a restart', async () => {
  await ok('PUT', '/v1/datasets/d', {
    type: 'sparse.mutable',
    params: { consistencyLevel: 'consistentAfterWrite' },
  });
  await ok('POST', '/v1/datasets/d/rows', { rowName: 'a', columns: [['x', 1, 0]] });
  await crash();
  expect(await query('SELECT x FROM d', 'atom')).toBe(1);
});

test('output of procedures comes back from its file', async () => {
  await recordRows('sparse.mutable');
  await ok('PUT', '/v1/procedures/p', {
    type: 'transform',
    params: { inputData: 'SELECT x + 1 AS z FROM d', outputDataset: 'out', runOnCreation: true },
  });
  expect(files()).toHaveLength(1);
  await crash();
  expect(await query('SELECT z FROM out', 'atom')).toBe(2);
  await ok('POST', '/v1/datasets/out/rows', { rowName: 'more', columns: [['z', 9, 0]] });
  await ok('POST', '/v1/datasets/out/commit', {});
  await crash();
  expect(await query('SELECT sum(z) FROM out', 'atom')).toBe(11);
  await ok('DELETE', '/v1/datasets/out');
  expect(files()).toEqual([]);
});

test('views and functions are bound again, whatever was replaced since', async () => {
  await recordRows('sparse.mutable');
  await ok('PUT', '/v1/datasets/view', { type: 'merged', params: { datasets: ['d'] } });
  await ok('PUT', '/v1/functions/inner', {
    type: 'sql.expression',
    params: { expression: 'x + 1 AS y', prepared: true },
  });
  await ok('PUT', '/v1/functions/outer', {
    type: 'serial',
    params: { steps: [{ id: 'inner' }] },
  });
  await ok('PUT', '/v1/datasets/d', { type: 'sparse.mutable' });
  await ok('PUT', '/v1/functions/inner', {
    type: 'sql.expression',
    params: { expression: 'x + 2 AS y', prepared: true },
  });
  await crash();
  expect(await query('SELECT count(*) FROM view', 'atom')).toBe(0);
  const reply = await ok('GET', '/v1/functions/outer/application', { input: { x: 1 } });
  expect(reply).toEqual({ output: { y: 3 } });
});

test('a view whose input is gone is listed with the reason', async () => {
  await recordRows('sparse.mutable');
  await ok('PUT', '/v1/datasets/view', { type: 'merged', params: { datasets: ['d'] } });
  await ok('DELETE', '/v1/datasets/d');
  await crash();
  expect(await ok('GET', '/v1/datasets')).toEqual(['view']);
  expect(await ok('GET', '/v1/datasets/view')).toMatchObject({
    state: 'error',
    progress: { exception: { error: 'Attempt to refer to nonexistant dataset with id d' } },
  });
  await ok('DELETE', '/v1/datasets/view');
  await crash();
  expect(await ok('GET', '/v1/datasets')).toEqual([]);
});

test('runs come back with results and details; interrupted ones failed', async () => {
  await recordRows('sparse.mutable');
  await ok('PUT', '/v1/procedures/p', {
    type: 'transform',
    params: { inputData: 'SELECT x FROM d', outputDataset: 'out' },
  });
  const run = await ok('PUT', '/v1/procedures/p/runs/one', {});
  await ok('PUT', '/v1/procedures/slow', { type: 'mock', params: { durationMs: 60_000 } });
  await ok('PUT', '/v1/procedures/slow/runs/two', {}, { async: 'true' });
  await crash();
  expect(await ok('GET', '/v1/procedures/p/runs/one')).toEqual(run);
  expect(await ok('GET', '/v1/procedures/slow/runs/two')).toMatchObject({
    state: 'error',
    progress: { exception: { error: 'interrupted by a restart of the server' } },
  });
  await ok('DELETE', '/v1/procedures/p');
  await ok('PUT', '/v1/procedures/p', { type: 'null' });
  await crash();
  expect(await ok('GET', '/v1/procedures/p/runs')).toEqual([]);
});

test('what is not persistent does not come back', async () => {
  await ok('PUT', '/v1/datasets/d', { type: 'sparse.mutable' });
  await ok('PUT', '/v1/datasets/d', { type: 'sparse.mutable', persistent: false });
  await ok('POST', '/v1/datasets/d/rows', { rowName: 'a', columns: [['x', 1, 0]] });
  await crash();
  expect(await ok('GET', '/v1/datasets')).toEqual([]);
});

test('rows of replaced and deleted datasets are forgotten', async () => {
  const { catalogue } = rowan.service;
  await recordRows('sparse.mutable');
  await recordRows('tabular');
  expect(catalogue.logs()).toHaveLength(1);
  await ok('DELETE', '/v1/datasets/d');
  expect(catalogue.logs()).toEqual([]);
  expect([...catalogue.list('settings', ['content'])]).toEqual([]);
});

test('a damaged file is reported by its dataset', async () => {
  await recordRows('sparse.mutable');
  const params = { inputData: 'SELECT x FROM d', outputDataset: 'out', runOnCreation: true };
  await ok('PUT', '/v1/procedures/p', { type: 'transform', params });
  await rowan.close();
  truncateSync(join(directory, 'datasets', files()[0] as string), 40);
  await start();
  expect(await ok('GET', '/v1/datasets/out')).toMatchObject({
    state: 'error',
    progress: { exception: { code: 'DATA_ERROR' } },
  });
  expect(await query('SELECT count(*) FROM d', 'atom')).toBe(1);
});

describe('content that was kept', () => {
  const isLoaded = (id: string) =>
    rowan.service.datasets.get(id).definition().content !== undefined;

  async function makeThree(): Promise<void> {
    await recordRows('sparse.mutable');
    for (const id of ['one', 'two']) {
      const params = { inputData: 'SELECT x FROM d', outputDataset: id, runOnCreation: true };
      await ok('PUT', `/v1/procedures/${id}`, { type: 'transform', params });
    }
  }

  test('is read when a query needs it, and its status before', async () => {
    await makeThree();
    const before = await ok('GET', '/v1/datasets/one');
    await crash();
    expect(rowan.service.engine.arenas.usedBytes).toBe(0);
    expect(await ok('GET', '/v1/datasets/one')).toEqual(before);
    expect(await ok('GET', '/v1/datasets/d')).toMatchObject({
      status: { rowCount: 1, columnCount: 2, valueCount: 2 },
    });
    expect(await ok('GET', '/v1/datasets')).toEqual(['d', 'one', 'two']);
    expect(['d', 'one', 'two'].filter(isLoaded)).toEqual([]);
    expect(await query('SELECT x FROM one', 'aos')).toEqual([{ _rowName: 'a', x: 1 }]);
    expect(['d', 'one', 'two'].filter(isLoaded)).toEqual(['one']);
    expect(await ok('GET', '/v1/datasets/d/rows')).toEqual(['a']);
    expect(['d', 'one', 'two'].filter(isLoaded)).toEqual(['d', 'one']);
    expect(await ok('GET', '/v1/datasets/one')).toEqual(before);
  });

  test('is read once for all who need it', async () => {
    await makeThree();
    await crash();
    const text = 'SELECT count(*) FROM one JOIN two ON one.x = two.x';
    const counts = await Promise.all(Array.from({ length: 8 }, () => query(text, 'atom')));
    expect(counts).toEqual(Array(8).fill(1));
    const { usedBytes } = rowan.service.engine.arenas;
    for (const id of ['one', 'two']) await ok('DELETE', `/v1/datasets/${id}`);
    await query('SELECT 1', 'atom');
    expect(rowan.service.engine.arenas.usedBytes).toBeLessThan(usedBytes);
  });

  test('is read before rows are committed on top of it', async () => {
    await recordRows('tabular');
    await crash();
    await ok('POST', '/v1/datasets/d/commit', {});
    expect(await query('SELECT x, y FROM d ORDER BY rowName()', 'aos')).toEqual([
      { _rowName: 'a', x: 1, y: 2 },
      { _rowName: 'b', x: 3, y: 4 },
    ]);
    await crash();
    expect(await query('SELECT count(*) FROM d', 'atom')).toBe(2);
  });

  test('harms nothing but its dataset when it is damaged', async () => {
    await makeThree();
    const { storeId } = rowan.service.datasets.get('one');
    await rowan.close();
    const file = files().find((name) => name.startsWith(`${storeId}-`)) as string;
    const path = join(directory, 'datasets', file);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x55, 8, bytes.length - 8));
    await start();
    expect(await ok('GET', '/v1/datasets/one')).toMatchObject({ state: 'ok' });
    const reply = await rowan.post('/v1/query', { q: 'SELECT * FROM one' });
    expect(reply).toMatchObject({ status: 400, json: { code: 'DATA_ERROR' } });
    expect(await ok('GET', '/v1/datasets/one')).toMatchObject({
      state: 'error',
      progress: { exception: { code: 'DATA_ERROR' } },
    });
    expect(await query('SELECT x FROM two', 'aos')).toEqual([{ _rowName: 'a', x: 1 }]);
    await ok('POST', '/v1/procedures/one/runs', {});
    expect(await query('SELECT x FROM one', 'aos')).toEqual([{ _rowName: 'a', x: 1 }]);
  });
});

test('a data directory has one process', async () => {
  await expect(Rowan.open({ dataDir: directory })).rejects.toMatchObject({ exitCode: 2 });
});
