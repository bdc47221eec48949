// Files that are written by column hold the same bytes as those written row by row. Names given to
// rows (NAMED) are what makes the service go row by row.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectBytes } from '../../../../src/file/byte-stream.ts';
import { Rowan } from '../../../../src/index.ts';
import { Draw } from '../../kernel/support.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
});
afterAll(async () => {
  await rowan.close();
});

const ROW_COUNT = 3000;

/** Values of every kind; a few columns have few values, some lie below others. */
function draws(draw: Draw): readonly [path: string, cell: () => unknown][] {
  const texts = ['', 'a', 'ä,"b"', 'line\nbreak', ' blank ', 'x'.repeat(70), '"', '\u0001\\'];
  const number = () => draw.pick([draw.integer(-9, 9), draw.uniform(), draw.uniform() * 1e-9]);
  return [
    ['int', () => draw.integer(-(2 ** 31), 2 ** 31 - 1)],
    ['wide', () => draw.integer(-(2 ** 52), 2 ** 52)],
    ['double', number],
    ['text', () => draw.pick(texts)],
    ['many', () => `${draw.pick(texts)}${draw.integer(0, 1e6)}`],
    ['time', () => ({ ts: new Date(draw.integer(0, 2e12)).toISOString() })],
    ['mixed', () => draw.pick([1, 'one', { num: 'NaN' }, { ts: '2020-01-01T00:00:00Z' }, 2.5])],
    ['blob', () => ({ blob: [draw.integer(65, 90), 10, 255] })],
    ['seldom', () => (draw.chance(0.02) ? draw.integer(1, 9) : undefined)],
    ['never', () => (draw.chance(0.0005) ? 'once' : undefined)],
    ['user.name', () => draw.pick(texts)],
    ['user.age', () => (draw.chance(0.5) ? draw.integer(1, 99) : undefined)],
    ['tags.0', () => draw.pick(['t', undefined])],
    ['tags.1', () => draw.pick(['u', undefined])],
    ['tags.2.deep', () => draw.pick([1, undefined])],
  ];
}

async function record(id: string, draw: Draw): Promise<void> {
  await rowan.put(`/v1/datasets/${id}`, { type: 'tabular', params: { unknownColumns: 'add' } });
  const columns = draws(draw);
  const rows = Array.from({ length: ROW_COUNT }, (_, row) => [
    `row ${row}`,
    columns
      .map(([path, cell]) => [path, draw.chance(0.1) ? undefined : cell(), 0])
      .filter(([, value]) => value !== undefined),
  ]);
  await rowan.post(`/v1/datasets/${id}/multirows`, rows);
  await rowan.post(`/v1/datasets/${id}/commit`);
}

let count = 0;
async function exportedUrl(
  type: string,
  exportData: string,
  params: Record<string, unknown> = {},
): Promise<string> {
  const dataFileUrl = `mem://lines-${count++}`;
  const { status, text } = await rowan.put('/v1/procedures/export', {
    type,
    params: { exportData, dataFileUrl, runOnCreation: true, ...params },
  });
  expect([status, status === 201 ? '' : text]).toEqual([201, '']);
  return dataFileUrl;
}

async function exported(...args: Parameters<typeof exportedUrl>): Promise<string> {
  const file = await rowan.service.files.open(await exportedUrl(...args));
  return Buffer.from(await collectBytes(file.stream())).toString('latin1');
}

describe('a table of every kind of value', () => {
  beforeAll(() => record('all', new Draw(7)));

  const scan = 'SELECT * FROM all';
  const picked =
    'SELECT wide, int + 1 AS next, text, double * 3 AS triple, user, time FROM all WHERE int > 0';
  test.each([
    ['export.csv', scan, {}],
    ['export.csv', scan, { delimiter: '\t', quoteChar: "'", headers: false }],
    ['export.csv', scan, { delimiter: ':' }],
    ['export.csv', picked.replace('user, ', ''), {}],
    ['export.json', scan, {}],
    ['export.json', scan, { structured: false }],
    ['export.json', scan, { rowNameColumn: 'name' }],
    ['export.json', picked, {}],
    ['export.json', 'SELECT int, text, seldom FROM all', { includeNulls: true }],
  ])('%s of %s %j', async (type, query, params) => {
    const byColumn = await exported(type, query, params);
    const named = query.replace(' FROM', ' NAMED rowName() FROM');
    const byRow = await exported(type, named, params);
    expect(byColumn.length).toBeGreaterThan(10_000);
    expect(byColumn === byRow, firstDifference(byColumn, byRow)).toBe(true);
  });

  test.each(['none', 'snappy', 'gzip', 'zstd'])(
    'Parquet (%s) keeps every value',
    async (compression) => {
      const items = 'int, wide, double, text, many, time, seldom, never';
      const params = { compression, rowGroupSize: 700 };
      const dataFileUrl = await exportedUrl('export.parquet', `SELECT ${items} FROM all`, params);
      const { status } = await rowan.put('/v1/procedures/import', {
        type: 'import.parquet',
        params: { dataFileUrl, outputDataset: 'back', runOnCreation: true },
      });
      expect(status).toBe(201);
      const all = async (name: string) => {
        const rows = await rowan.query(`SELECT ${items} FROM ${name}`, { format: 'aos' });
        return (rows as Record<string, unknown>[]).map(({ _rowName, ...cells }) => cells);
      };
      expect(await all('back')).toEqual(await all('all'));
    },
  );

  test('sorted and cut rows come in their order', async () => {
    const query = 'SELECT int, text FROM all WHERE int IS NOT NULL ORDER BY int LIMIT 50 OFFSET 7';
    const lines = (await exported('export.json', query)).trimEnd().split('\n');
    const sorted = await rowan.query(query, { format: 'aos' });
    expect(lines.map((line) => JSON.parse(line).int)).toEqual(
      (sorted as { int: number }[]).map(({ int }) => int),
    );
  });
});

test('a line longer than what a unit may write is written whole', async () => {
  await rowan.put('/v1/datasets/long', { type: 'tabular' });
  const cells = [1, 2, 3].map((row) => [`${row}`, [['text', '"'.repeat(row * 700_000), 0]]]);
  await rowan.post('/v1/datasets/long/multirows', cells);
  await rowan.post('/v1/datasets/long/commit');
  const text = await exported('export.json', 'SELECT * FROM long');
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).text.length),
  ).toEqual([700_000, 1_400_000, 2_100_000]);
});

function firstDifference(a: string, b: string): string {
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return `${a.slice(at - 150, at + 80)} <=> ${b.slice(at - 150, at + 80)}`;
}

test('details of a run tell whether the file was written by column, and why not', async () => {
  await record('ways', new Draw(3));
  const detailsOf = async (type: string, exportData: string, params = {}) => {
    const { json } = await rowan.put('/v1/procedures/export', {
      type,
      params: { exportData, dataFileUrl: 'mem://ways', runOnCreation: true, ...params },
    });
    const { id } = (json as { status: { firstRun: { id: string } } }).status.firstRun;
    return (await rowan.get(`/v1/procedures/export/runs/${id}/details`)).json;
  };
  const named = "SELECT * NAMED 'n' || rowName() FROM ways";
  for (const type of ['export.csv', 'export.json']) {
    expect(await detailsOf(type, 'SELECT * FROM ways')).toEqual({ writtenBy: 'columns' });
    expect(await detailsOf(type, named)).toEqual({
      writtenBy: 'rows',
      why: 'the query is computed row by row: EXPLAIN of it says why',
    });
  }
  expect(await detailsOf('export.csv', 'SELECT int FROM ways', { delimiter: '-' })).toEqual({
    writtenBy: 'rows',
    why: 'numbers and times may contain delimiter or quoteChar',
  });
});
