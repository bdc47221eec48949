// Rows that lie in columns are reshaped as typed arrays. What comes out must be what comes out of
// rows that do not, and what SQL says of the same rows.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const ROW_COUNT = 1500;

let rowan: Rowan;

/** A few numbers, so that keys tie; nulls; texts; texts beside numbers; times. */
function cellsOf(i: number): [string, unknown, number][] {
  const cells: [string, unknown, number][] = [
    ['id', i, 0],
    ['price', ((i * 7919) % 97) / 4, 0],
    ['city', `c${(i * 31) % 11}`, 0],
    ['big', i % 2 === 0 ? i * 1e10 : -i, 0],
    ['at', { ts: new Date(i * 1000).toISOString() }, 0],
  ];
  if (i % 3 !== 0) cells.push(['few', i % 5, 0]);
  if (i % 4 === 1) cells.push(['note', `n${i % 6}`, 0]);
  if (i % 7 !== 2) cells.push(['mix', i % 2 === 0 ? i % 9 : `t${i % 9}`, 0]);
  return cells;
}

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
  const names = (form: string, i: number) => (form === 'path' ? ['n', `${i * 3}.x`] : String(i));
  for (const form of ['number', 'path']) {
    const rows = Array.from({ length: ROW_COUNT }, (_, i) => [names(form, i), cellsOf(i)]);
    for (const [id, type, params] of [
      [`columns_${form}`, 'tabular', { unknownColumns: 'add' }],
      [`rows_${form}`, 'sparse.mutable', {}],
    ] as const) {
      await ok(rowan.put(`/v1/datasets/${id}`, { type, params }));
      await ok(rowan.post(`/v1/datasets/${id}/multirows`, rows));
      await ok(rowan.post(`/v1/datasets/${id}/commit`, {}));
    }
  }
});
afterAll(() => rowan.close());

async function ok(reply: Promise<{ status: number; text: string }>): Promise<string> {
  const { status, text } = await reply;
  expect(`${status} ${status < 300 ? '' : text}`).toMatch(/^20/);
  return text;
}

async function run(type: string, params: object): Promise<unknown> {
  const text = await ok(
    rowan.put('/v1/procedures/p', { type, params: { ...params, runOnCreation: true } }),
  );
  return JSON.parse(text).status.firstRun.status;
}

/** Shows the first row that differs: all of them would take minutes to print. */
function expectSame(actual: readonly unknown[], expected: readonly unknown[]): void {
  for (let i = 0; i < Math.max(actual.length, expected.length); i++) {
    if (JSON.stringify(actual[i]) !== JSON.stringify(expected[i])) {
      expect({ row: i, is: actual[i] }).toEqual({ row: i, is: expected[i] });
    }
  }
}

const table = (id: string, sql = `SELECT * FROM ${id} ORDER BY rowName()`) =>
  rowan.query(sql, { format: 'full' });

describe.each(['number', 'path'])('rows named by a %s', (form) => {
  /** Runs a procedure over both forms of the same rows. */
  async function both(type: string, inputOf: (from: string) => object, output = 'sparse.mutable') {
    const results: unknown[] = [];
    for (const source of ['columns', 'rows']) {
      const outputDataset = { id: `${source}_out`, type: output };
      results.push(await run(type, { ...inputOf(`${source}_${form}`), outputDataset }));
    }
    expect(results[0]).toEqual(results[1]);
    const made = (await table('columns_out')) as readonly unknown[];
    expectSame(made, (await table('rows_out')) as readonly unknown[]);
    return made;
  }

  test.each([
    'ORDER BY price',
    'ORDER BY price DESC, city',
    'ORDER BY few',
    'WHERE few > 2 ORDER BY city, price DESC',
    'WHERE id < 0 ORDER BY city',
    'ORDER BY price LIMIT 700 OFFSET 33',
    'ORDER BY at DESC LIMIT 5',
    'ORDER BY price + 1',
    'ORDER BY nothing',
  ])('ranking %s', async (clauses) => {
    await both('ranking', (from) => ({ inputData: `SELECT * FROM ${from} ${clauses}` }));
    await both('ranking', (from) => ({ inputData: `SELECT * FROM ${from} ${clauses}` }), 'tabular');
  });

  test('ranks are those of a window', async () => {
    await run('ranking', {
      inputData: `SELECT * FROM columns_${form} ORDER BY city, id DESC`,
      outputDataset: 'ranks',
    });
    const window = 'row_number() OVER (ORDER BY city, id DESC) - 1 AS rank';
    const ranks = (from: string) =>
      rowan.query(from, { format: 'table', headers: false }) as Promise<unknown[]>;
    expectSame(
      await ranks('SELECT rank FROM ranks ORDER BY rank'),
      await ranks(`SELECT rank FROM (SELECT ${window} FROM columns_${form}) ORDER BY rank`),
    );
  });

  test.each([
    [{ low: [0, 50], high: [50, 100] }],
    [{ thin: [10.5, 11], 'a "name"': [99, 100] }],
    [{}],
  ])('bucketize %j', async (percentileBuckets) => {
    const made = await both('bucketize', (from) => ({
      inputData: `SELECT * FROM ${from} ORDER BY price, city DESC`,
      percentileBuckets,
    }));
    const shares = Object.values(percentileBuckets as Record<string, [number, number]>);
    const share = shares.reduce((sum, [low, high]) => sum + (high - low), 0);
    expect(Math.abs(made.length - (share * ROW_COUNT) / 100)).toBeLessThanOrEqual(1);
  });

  test.each([
    ['{id} AS to_fix, {price, big} AS to_melt', ''],
    ['{id, city} AS to_fix, {price, few} AS to_melt', ''],
    ['{id, few} AS to_fix, {city, note, city AS again} AS to_melt', ''],
    ['{id} AS to_fix, {price, city, mix, at} AS to_melt', ''],
    ['{id} AS to_fix, {at, at AS later} AS to_melt', ''],
    ['{id} AS to_fix, {note} AS to_melt', 'WHERE note IS NULL'],
    ['{id} AS to_fix, {* EXCLUDING (id, mix)} AS to_melt', 'WHERE price > 3'],
    ['{id} AS to_fix, {price + 1 AS more} AS to_melt', ''],
    ['{id} AS to_fix, {price, nothing} AS to_melt', ''],
    ['{id} AS to_fix, {price} AS to_melt', 'ORDER BY price LIMIT 10'],
    ['{id} AS to_fix, {price} AS to_melt', 'WHERE id < 0'],
  ])('melt %s %s', async (select, where) => {
    const inputOf = (from: string) => ({ inputData: `SELECT ${select} FROM ${from} ${where}` });
    await both('melt', inputOf, 'tabular');
  });

  test('columns of many chunks are melted into chunks of their own', async () => {
    // More than fit one chunk of the output, of a source with chunks of several sizes.
    const names = Array.from({ length: 70 }, (_, i) => `c${i}`);
    const list = names.map((name, i) => `id * 70 + ${i} AS ${name}`).join(', ');
    const output = (id: string) => ({ id, type: 'tabular', params: { unknownColumns: 'add' } });
    await run('transform', {
      inputData: `SELECT id, ${list} FROM columns_${form}`,
      outputDataset: output('wide'),
    });
    for (const [where, lacking] of [
      ['', 0],
      ['WHERE id % 3 = 1', 1000],
    ] as const) {
      await run('melt', {
        inputData: `SELECT {id} AS to_fix, {${names}} AS to_melt FROM wide ${where}`,
        outputDataset: output('long'),
      });
      const key = "'c' || CAST(value - id * 70 AS STRING)";
      const name = form === 'number' ? "CAST(id AS STRING) || '.' || key" : 'rowName()';
      const [[count, distinct, right]] = (await rowan.query(
        `SELECT count(*), count(DISTINCT value), sum(key = ${key} AND rowName() = ${name}) FROM long`,
        { format: 'table', headers: false, rowNames: false },
      )) as [[number, number, number]];
      const cellCount = (ROW_COUNT - lacking) * 70;
      expect([count, distinct, right]).toEqual([cellCount, cellCount, cellCount]);
    }
  });

  test('melted rows are those of a union', async () => {
    await run('melt', {
      inputData: `SELECT {id} AS to_fix, {price, city} AS to_melt FROM columns_${form}`,
      outputDataset: 'melted',
    });
    const sql = (from: string) =>
      rowan.query(`SELECT id, key, value FROM ${from} ORDER BY id, key`, {
        format: 'table',
        headers: false,
        rowNames: false,
      }) as Promise<unknown[]>;
    const part = (key: string) =>
      `SELECT id, '${key}' AS key, ${key} AS value FROM columns_${form}`;
    expect(await sql('melted')).toEqual(await sql(`(${part('price')} UNION ALL ${part('city')})`));
  });

  test.each(['id, city', 'note, few', '*', 'price WHERE id >= 1000', 'nothing'])(
    'split by %s',
    async (labels) => {
      const [select, where = ''] = labels.split(' WHERE ');
      const outputs: unknown[] = [];
      for (const source of ['columns', 'rows']) {
        const result = await run('split', {
          labels: `SELECT ${select} FROM ${source}_${form} ${where && `WHERE ${where}`}`,
          outputDatasets: ['a', 'b', 'c'].map((id) => ({
            id,
            type: 'tabular',
            params: { unknownColumns: 'add' },
          })),
          splits: [0.5, 0.3, 0.2],
        });
        const parts = await Promise.all(['a', 'b', 'c'].map((id) => table(id)));
        // Tables keep the order of the columns that they had.
        const rows = parts.flat() as unknown as { columns: [string][] }[];
        for (const { columns } of rows) columns.sort(([a], [b]) => (a < b ? -1 : 1));
        outputs.push([result, ...rows]);
      }
      expectSame(outputs[0] as unknown[], outputs[1] as unknown[]);
    },
  );
});

test('tables of few rows are split with all their columns, as large ones are', async () => {
  for (const limit of [40, 2000]) {
    const from = `(SELECT * FROM columns_number WHERE id < ${limit})`;
    await run('transform', {
      inputData: `SELECT * FROM ${from}`,
      outputDataset: { id: 'part', type: 'tabular', params: { unknownColumns: 'add' } },
    });
    await run('split', {
      labels: 'SELECT city FROM part',
      outputDatasets: ['a', 'b'],
      splits: [0.5, 0.5],
    });
    const columnsOf = async (id: string) => (await rowan.get(`/v1/datasets/${id}/columns`)).json;
    expect(await columnsOf('b')).toEqual(await columnsOf('part'));
  }
});
