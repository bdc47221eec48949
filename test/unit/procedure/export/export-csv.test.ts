// export.csv over the in-process API, read back from mem:// and from a directory.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectBytes } from '../../../../src/file/byte-stream.ts';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-export-'));
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await record('d', [
    ['r1', { a: 1, b: 'x' }],
    ['r2', { a: 2.5, c: { num: 'NaN' } }],
    ['r3', { b: { blob: [255, 44, 10] } }],
  ]);
  await record('nested', [
    ['r1', { 'x.a': 1 }],
    ['r2', { 'x.b': 2, y: 3 }],
  ]);
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function record(id: string, rows: readonly [string, Record<string, unknown>][]) {
  await rowan.put(`/v1/datasets/${id}`, { type: 'sparse.mutable' });
  const body = rows.map(([name, cells]) => [
    name,
    Object.entries(cells).map(([column, value]) => [column, value, 0]),
  ]);
  await rowan.post(`/v1/datasets/${id}/multirows`, body);
  await rowan.post(`/v1/datasets/${id}/commit`);
}

let count = 0;
function runExport(exportData: unknown, params: Record<string, unknown> = {}) {
  const dataFileUrl = `mem://export-${count++}.csv`;
  const given = { exportData, dataFileUrl, runOnCreation: true, ...params };
  return {
    dataFileUrl,
    reply: rowan.put('/v1/procedures/export', { type: 'export.csv', params: given }),
  };
}

async function exported(exportData: unknown, params?: Record<string, unknown>): Promise<string> {
  const { dataFileUrl, reply } = runExport(exportData, params);
  const { status, text } = await reply;
  expect([status, status === 201 ? '' : text]).toEqual([201, '']);
  const file = await rowan.service.files.open(dataFileUrl);
  return Buffer.from(await collectBytes(file.stream())).toString('latin1');
}

describe('columns', () => {
  test('follow the select list, wildcards in natural order', async () => {
    expect(await exported('SELECT rowName() AS n, c, * EXCLUDING (c) FROM d ORDER BY n')).toBe(
      'n,c,a,b\nr1,,1,x\nr2,nan,2.5,\nr3,,,"\u00ff,\n"\n',
    );
  });

  test('that two items name are written twice, each with the value of its item', async () => {
    expect(await exported('SELECT b, *, a + 1 AS a FROM d WHERE a < 2')).toBe(
      'b,a,b,c,a\nx,1,x,,2\n',
    );
  });

  test('of rows in cells are flat, whether or not the query tells them', async () => {
    expect(await exported('SELECT y, x FROM nested ORDER BY rowName()')).toBe(
      'y,x.a,x.b\n,1,\n3,,2\n',
    );
    expect(await exported('SELECT {x} AS r, 1 AS one FROM nested ORDER BY rowName()')).toBe(
      'r.x.a,r.x.b,one\n1,,1\n,2,1\n',
    );
    expect(await exported('SELECT * FROM (SELECT x FROM nested) ORDER BY rowName()')).toBe(
      'x.a,x.b\n1,\n,2\n',
    );
  });

  test('may be groups, ordered by what is selected', async () => {
    const query = 'SELECT count(*) AS n, a IS NULL AS k FROM d GROUP BY a IS NULL ORDER BY n';
    expect(await exported(query)).toBe('n,k\n1,1\n2,0\n');
  });

  test('have names as SQL would write them', async () => {
    expect(await exported('SELECT 1 AS "a.b", 2 AS "c,d" FROM d LIMIT 1')).toBe(
      '"""a.b""","c,d"\n1,2\n',
    );
  });
});

describe('queries and values', () => {
  test('clauses are as good as text', async () => {
    const clauses = { select: 'a', from: 'd', orderBy: 'rowName()', limit: 1 };
    expect(await exported(clauses, { headers: false })).toBe('1\n');
  });

  test('no rows leave the header', async () => {
    expect(await exported('SELECT a, b FROM d WHERE false')).toBe('a,b\n');
  });

  test('the number of rows is the result', async () => {
    const { reply } = runExport('SELECT a FROM d');
    const document = (await reply).json as { status: { firstRun: { status: unknown } } };
    expect(document.status.firstRun.status).toEqual({ rowCount: 3 });
  });
});

describe('refused', () => {
  test.each([
    [{ delimiter: '' }, 'delimiter must be 1 char long.'],
    [{ delimiter: 'é' }, 'delimiter must be 1 char long.'],
    [{ quoteChar: '""' }, 'Quotechar must be 1 char long.'],
    [{ quoteChar: ',' }, 'must be different'],
    [{ dataFileUrl: '/x.csv' }, 'Cannot accept URI without scheme'],
    [{ exportData: 'SELECT 1' }, 'export.csv must contain a FROM clause'],
    [{ exportData: 'SELECT FROM' }, ''],
    [{ what: 1 }, 'unknown field'],
  ])('at its creation: %j', async (params, message) => {
    const { reply } = runExport('SELECT a FROM d', { ...params, runOnCreation: false });
    const { status, json } = await reply;
    expect(status).toBe(400);
    expect((json as { error: string }).error).toContain(message);
  });

  test('a failed run leaves the old file and no other', async () => {
    const path = join(directory, 'kept.csv');
    writeFileSync(path, 'old');
    await record('twice', [['r1', { v: 1 }]]);
    await rowan.post('/v1/datasets/twice/rows', { rowName: 'r2', columns: [['v', 2, 0]] });
    await rowan.post('/v1/datasets/twice/rows', { rowName: 'r2', columns: [['v', 3, 9]] });
    await rowan.post('/v1/datasets/twice/commit');
    const { reply } = runExport('SELECT v FROM twice ORDER BY rowName()', {
      dataFileUrl: `file://${path}`,
    });
    expect(JSON.stringify((await reply).json)).toContain("at row 'r2' for column 'v'");
    expect((await reply).status).toBeGreaterThanOrEqual(400);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['kept.csv']);
  });
});

test('a cancelled run stops and leaves no file', async () => {
  const rows = Array.from({ length: 1500 }, (_, i): [string, { v: number }] => [`r${i}`, { v: i }]);
  await record('many', rows);
  const dataFileUrl = `file://${join(directory, 'cancelled.csv.gz')}`;
  const exportData = 'SELECT x.v AS a, y.v AS b FROM many AS x JOIN many AS y';
  await rowan.put('/v1/procedures/long', {
    type: 'export.csv',
    params: { exportData, dataFileUrl },
  });
  await rowan.perform('PUT', '/v1/procedures/long/runs/1', {
    body: {},
    headers: { async: 'true' },
  });
  const path = '/v1/procedures/long/runs/1';
  for (;;) {
    const { progress } = (await rowan.get(path)).json as { progress?: { percent: number } };
    if (progress !== undefined && progress.percent > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await rowan.put(`${path}/state`, { state: 'cancelled' });
  for (;;) {
    const { state } = (await rowan.get(`${path}/state`)).json as { state: string };
    if (state === 'cancelled') break;
    expect(state).toBe('executing');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(readdirSync(directory)).not.toContain('cancelled.csv.gz');
  expect(readdirSync(directory).filter((name) => name.includes('.part'))).toEqual([]);
});

test('what is exported can be imported again', async () => {
  const dataFileUrl = 'mem://round-trip.csv.gz';
  await runExport("SELECT rowName() AS rowName, a, b FROM d WHERE rowName() != 'r3'", {
    dataFileUrl,
  }).reply;
  await rowan.put('/v1/procedures/import', {
    type: 'import.text',
    params: {
      dataFileUrl,
      named: 'rowName',
      select: '* EXCLUDING (rowName)',
      outputDataset: 'again',
      runOnCreation: true,
    },
  });
  expect(await rowan.query('SELECT a, b FROM again ORDER BY rowName()')).toEqual([
    ['_rowName', 'a', 'b'],
    ['r1', 1, 'x'],
    ['r2', 2.5, null],
  ]);
});
