import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parsePeriod } from '../../../src/dataset/continuous.ts';
import { Rowan } from '../../../src/index.ts';

let directory: string;
let rowan: Rowan;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rowan-stream-'));
  rowan = await Rowan.open({ dataDir: join(directory, 'data'), workers: 1 });
});
afterEach(async () => {
  await rowan.close();
  await rm(directory, { recursive: true });
});

const script = (source: string) => ({
  type: 'script.run',
  params: { language: 'javascript', scriptConfig: { source } },
});

/** Pieces of a type are saved to files named after them. */
const streamOf = (type: string, more: object = {}) => ({
  type: 'continuous',
  params: {
    metadataDataset: {
      id: 'list',
      type: 'sqliteSparse',
      params: { dataFileUrl: `file://${directory}/list.sqlite` },
    },
    createStorageDataset: script(`({ config: { type: '${type}' } })`),
    saveStorageDataset: script(`
      const url = 'file://${directory}/' + args.datasetId + '.piece';
      const reply = rowan.perform('POST', '/v1/datasets/' + encodeURIComponent(args.datasetId)
        + '/routes/saves', [], { dataFileUrl: url });
      if (reply.responseCode !== 200) throw new Error(reply.response);
      ({ config: JSON.parse(reply.response), metadata: { country: 'fr', shop: { number: 7 } } })`),
    ...more,
  },
});

async function ok(reply: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await reply;
  expect(`${status} ${status < 300 ? '' : text}`).toMatch(/^20/);
}

const record = (...rows: unknown[]) => ok(rowan.post('/v1/datasets/s/multirows', rows));
const commit = () => ok(rowan.post('/v1/datasets/s/commit', {}));
const names = async (from: string) =>
  ((await rowan.query(`SELECT 1 AS x FROM ${from}`, { format: 'aos' })) as { _rowName: string }[])
    .map(({ _rowName }) => _rowName)
    .sort();

const window = (from: string, to: string, datasetFilter?: string) =>
  rowan.put('/v1/datasets/w', {
    type: 'continuous.window',
    params: {
      metadataDataset: 'list',
      from,
      to,
      ...(datasetFilter === undefined ? {} : { datasetFilter }),
    },
  });

test.each(['tabular', 'beh.binary.mutable'])(
  'pieces of %s are saved, listed and found again, also after a restart',
  async (type) => {
    await ok(rowan.put('/v1/datasets/s', streamOf(type)));
    await record(['a', [['x', 1, 10]]], ['b', [['x', 1, 20]]]);
    await commit();
    await record(['c', [['x', 1, 100]]]);
    await commit();
    expect(await names('s')).toEqual([]);
    expect(
      await rowan.query(
        'SELECT earliest, latest, metadata.country, metadata.shop.number FROM list ORDER BY earliest',
        { format: 'table', headers: false, rowNames: false },
      ),
    ).toEqual([
      ['1970-01-01T00:00:10Z', '1970-01-01T00:00:20Z', 'fr', 7],
      ['1970-01-01T00:01:40Z', '1970-01-01T00:01:40Z', 'fr', 7],
    ]);
    // The pieces are gone from memory.
    const { json } = await rowan.get('/v1/datasets');
    expect((json as string[]).filter((id) => id !== 's' && id !== 'list')).toHaveLength(1);
    await rowan.close();
    rowan = await Rowan.open({ dataDir: join(directory, 'data'), workers: 1 });
    await record(['d', [['x', 1, 1000]]]);
    await ok(window('1970-01-01', '1970-01-02'));
    expect(await names('w')).toEqual(['a', 'b', 'c']);
    await ok(window('1970-01-01T00:00:15', '1970-01-01T00:01:00'));
    expect(await names('w')).toEqual(['a', 'b']);
    await ok(window('1970-01-01', '1970-01-02', "metadata.country = 'fr' AND config.type <> 'x'"));
    await commit();
    await ok(window('1970-01-01T00:10:00', '1970-01-02'));
    expect(await names('w')).toEqual(['d']);
  },
);

test('queries see the rows of the live piece at once', async () => {
  await ok(rowan.put('/v1/datasets/s', streamOf('sparse.mutable')));
  await record(['a', [['x', 1, 10]]]);
  expect(await names('s')).toEqual(['a']);
  expect((await rowan.get('/v1/datasets/s')).json).toMatchObject({ status: { rowCount: 1 } });
});

test('rows that were not saved come back after a restart', async () => {
  await ok(rowan.put('/v1/datasets/s', streamOf('sparse.mutable')));
  await record(['a', [['x', 1, 10]]]);
  await rowan.close();
  rowan = await Rowan.open({ dataDir: join(directory, 'data'), workers: 1 });
  expect(await names('s')).toEqual(['a']);
});

test('a piece that cannot be saved waits for the next commit', async () => {
  const saving = `
    if (rowan.perform('GET', '/v1/datasets/allowed').responseCode !== 200) throw new Error('not yet');
    ({ config: { type: 'tabular', params: { dataFileUrl: 'file://${directory}/none' } } })`;
  await ok(
    rowan.put('/v1/datasets/s', streamOf('sparse.mutable', { saveStorageDataset: script(saving) })),
  );
  await record(['a', [['x', 1, 10]]]);
  const reply = await rowan.post('/v1/datasets/s/commit', {});
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('not yet')]);
  expect(await names('list')).toEqual([]);
  await ok(rowan.put('/v1/datasets/allowed', { type: 'sparse.mutable' }));
  await commit();
  expect(await names('list')).toHaveLength(1);
  // Its file was never written.
  const missing = await window('1970-01-01', '1970-01-02');
  expect([missing.status, missing.text]).toEqual([
    400,
    expect.stringContaining('No such file or directory'),
  ]);
});

test('no row is lost or written twice while pieces change', async () => {
  await ok(rowan.put('/v1/datasets/s', streamOf('tabular', { commitInterval: '5ms' })));
  const expected: string[] = [];
  for (let i = 0; i < 60; i++) {
    expected.push(`r${i}`);
    await record([`r${i}`, [['x', i, i]]]);
    if (i % 20 === 10) await commit();
  }
  await commit();
  await ok(window('1970-01-01', '1970-01-02'));
  expect(await names('w')).toEqual(expected.sort());
  const count = await rowan.query('SELECT count(*) AS n FROM w', { format: 'atom' });
  expect(count).toBe(60);
});

test('what is wrong says in which part', async () => {
  const reply = async (more: object) => {
    const { status, text } = await rowan.put('/v1/datasets/s', streamOf('sparse.mutable', more));
    return `${status} ${text}`;
  };
  expect(await reply({ metadataDataset: 'nobody' })).toMatch(
    /^400.*Error initializing continuous dataset in metadata initialization: Attempt to refer/,
  );
  expect(await reply({ createStorageDataset: { id: 'nobody' } })).toMatch(
    /^400.*continuous dataset in createStorageDataset initialization: /,
  );
  expect(await reply({ createStorageDataset: script('({})') })).toMatch(
    /^400.*createStorageDataset initialization: .*must be/,
  );
  expect(await reply({ saveStorageDataset: { id: 'nobody' } })).toMatch(
    /^400.*saveStorageDataset procedure initialization: /,
  );
  expect(await reply({ commitInterval: '5 fortnights' })).toMatch(/^400.*commitInterval/);
});

test('a window of nothing is refused', async () => {
  await ok(rowan.put('/v1/datasets/s', streamOf('sparse.mutable')));
  const reply = await window('1970-01-01', '1970-01-02');
  expect([reply.status, reply.text]).toEqual([
    400,
    expect.stringContaining('Attempt to merge no datasets together'),
  ]);
  expect((await window('someday', '1970-01-02')).status).toBe(400);
});

test.each([
  ['0s', 0],
  ['250ms', 250],
  ['1.5m', 90_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['1w', 604_800_000],
])('period %s', (text, milliseconds) => {
  expect(parsePeriod(text)).toBe(milliseconds);
});
