// Dataset types whose rows are in files of their own: SQLite, and behavior files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;
let directory: string;
const open = () => Rowan.open({ dataDir: join(directory, 'data'), workers: 1 });
const url = (name: string) => `file://${join(directory, name)}`;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-types-'));
  rowan = await open();
});
afterEach(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function restart(): Promise<void> {
  await rowan.close();
  rowan = await open();
}

const put = (id: string, type: string, params = {}) =>
  rowan.put(`/v1/datasets/${id}`, { type, params });
const record = (id: string, ...rows: unknown[]) => rowan.post(`/v1/datasets/${id}/multirows`, rows);
const commit = (id: string) => rowan.post(`/v1/datasets/${id}/commit`);
const full = (id: string) =>
  rowan.query(`SELECT * FROM ${id} ORDER BY rowName()`, { format: 'full' });
const status = async (id: string) =>
  ((await rowan.get(`/v1/datasets/${id}`)).json as { status: unknown }).status;

const EVENTS = [
  [
    'u1',
    [
      ['buy', 1, 0],
      ['price', 2.5, 0.4],
      ['a.b', 'x', 0],
    ],
  ],
  [
    'u2',
    [
      ['buy', 1, 60],
      ['buy', 1, 120],
      ['buy', 1, 120.2],
    ],
  ],
] as const;

describe('beh.mutable', () => {
  test('is read after its commit only, and then frozen, also after a restart', async () => {
    await put('b', 'beh.mutable', { dataFileUrl: url('b.beh') });
    await record('b', ...EVENTS);
    await restart();
    const early = await rowan.get('/v1/query?q=SELECT * FROM b');
    expect([early.status, early.text]).toEqual([400, expect.stringContaining('No matrix view')]);
    expect((await commit('b')).status).toBe(200);
    const rows = await full('b');
    expect(rows).toEqual([
      {
        rowName: 'u1',
        columns: [
          ['"a.b"', 'x', '1970-01-01T00:00:00Z'],
          ['buy', 1, '1970-01-01T00:00:00Z'],
          ['price', 2.5, '1970-01-01T00:00:00Z'],
        ],
      },
      {
        rowName: 'u2',
        columns: [
          ['buy', 1, '1970-01-01T00:01:00Z'],
          ['buy', 1, '1970-01-01T00:02:00Z'],
        ],
      },
    ]);
    expect(await status('b')).toMatchObject({ rowCount: 2, valueCount: 3, eventsRecorded: 6 });
    expect((await record('b', ['u3', [['x', 1, 0]]])).status).toBe(400);
    expect((await commit('b')).status).toBe(400);
    await restart();
    expect(await full('b')).toEqual(rows);
    expect((await record('b', ['u3', [['x', 1, 0]]])).status).toBe(400);
    expect((await put('c', 'beh', { dataFileUrl: url('b.beh') })).status).toBe(201);
    expect(await full('c')).toEqual(rows);
    expect(await status('c')).toMatchObject({ rowCount: 2, columnCount: 3, valueCount: 3 });
    expect((await record('c', ['u3', [['x', 1, 0]]])).status).toBe(400);
  });

  test('commits without rows too', async () => {
    await put('b', 'beh.mutable', { dataFileUrl: url('empty.beh') });
    expect((await commit('b')).status).toBe(200);
    expect((await put('c', 'beh', { dataFileUrl: url('empty.beh') })).status).toBe(201);
    expect(await full('c')).toEqual([]);
  });
});

test('sqliteSparse truncates timestamps to milliseconds', async () => {
  await put('q', 'sqliteSparse');
  const times = [1.0019, 1.001, -1.0019, 1583020799.9999, 1583020799.123];
  await record('q', ...times.map((ts, index) => [`r${index}`, [['x', 1, ts]]]));
  const rows = (await full('q')) as { columns: [string, unknown, string][] }[];
  expect(rows.map(({ columns }) => columns[0]?.[2])).toEqual([
    '1970-01-01T00:00:01.001Z',
    '1970-01-01T00:00:01.001Z',
    '1969-12-31T23:59:58.999Z',
    '2020-02-29T23:59:59.999Z',
    '2020-02-29T23:59:59.123Z',
  ]);
});

describe('beh.binary.mutable', () => {
  test('is read while it is recorded, and frozen by saving it', async () => {
    await put('b', 'beh.binary.mutable');
    await record('b', [
      'u',
      [
        ['x', 1, 0],
        ['y', 1, 0],
        ['x', 1, 5],
      ],
    ]);
    expect(await rowan.query('SELECT temporal_count(x) AS n FROM b', { format: 'atom' })).toBe(2);
    await record('b', ['v', [['x', 1, 0]]]);
    const saved = await rowan.post('/v1/datasets/b/routes/saves', { dataFileUrl: url('b.beh.gz') });
    expect(saved.json).toEqual({ type: 'beh.binary', params: { dataFileUrl: url('b.beh.gz') } });
    expect((await record('b', ['w', [['x', 1, 0]]])).status).toBe(400);
    expect((await put('c', 'beh.binary', { dataFileUrl: url('b.beh.gz') })).status).toBe(201);
    expect(await full('c')).toEqual(await full('b'));
    expect(await status('c')).toMatchObject({ rowCount: 2, columnCount: 2, cellCount: 3 });
    const wrong = await put('d', 'beh', { dataFileUrl: url('b.beh.gz') });
    expect([wrong.status, wrong.text]).toEqual([
      400,
      expect.stringContaining('is not of type beh'),
    ]);
  });
});

test.each(['beh', 'beh.binary'])('%s refuses what is no file of its kind', async (type) => {
  expect((await put('x', type, { dataFileUrl: url('none.beh') })).status).toBe(400);
  expect((await put('x', type)).status).toBe(400);
  for (const content of ['', 'x', 'ROWAN beh\n', 'y'.repeat(5000)]) {
    writeFileSync(join(directory, 'bad.beh'), content);
    const reply = await put('x', type, { dataFileUrl: url('bad.beh') });
    expect([content.length, reply.status]).toEqual([content.length, 400]);
  }
});

describe('sqliteSparse', () => {
  test('has its rows in the file when a recording returns, once each', async () => {
    await put('s', 'sqliteSparse', { dataFileUrl: url('s.sqlite') });
    const rows = [
      [
        'r1',
        [
          ['x', 1, 10],
          ['x', 1, 10],
          ['x', 2.5, 20],
          ['s', 'é"', 0],
          ['big', 2 ** 60, 0],
        ],
      ],
      [
        'r2',
        [
          ['n', null, '-Inf'],
          ['t', { ts: '2020-01-01T00:00:00Z' }, 'NaD'],
          ['b', { blob: [1, 2] }, 'Inf'],
        ],
      ],
    ];
    expect((await record('s', ...rows)).status).toBe(200);
    expect((await record('s', ...rows)).status).toBe(200);
    const before = await full('s');
    await restart();
    expect(await full('s')).toEqual(before);
    await put('t', 'sqliteSparse', { dataFileUrl: url('s.sqlite') });
    expect(await full('t')).toEqual(before);
    expect(before).toHaveLength(2);
  });

  test('refuses databases and files of others', async () => {
    writeFileSync(join(directory, 'text.sqlite'), 'no database at all, but long enough to be one');
    const reply = await put('s', 'sqliteSparse', { dataFileUrl: url('text.sqlite') });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('SQLite')]);
  });

  test('without a file is kept like other datasets', async () => {
    await put('s', 'sqliteSparse');
    await record('s', ['r', [['x', 1, 1.2349]]]);
    await restart();
    expect(await full('s')).toEqual([
      { rowName: 'r', columns: [['x', 1, '1970-01-01T00:00:01.234Z']] },
    ]);
  });
});
