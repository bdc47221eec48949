// What every dataset type that records keeps, whatever its form of storage. Where a type differs by
// design, the case says how.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PerformedReply, QueryFormat } from '../../src/index.ts';
import { Rowan } from '../../src/index.ts';

const TYPES = [
  'sparse.mutable',
  'sqliteSparse',
  'tabular',
  'embedding',
  'structured.mutable',
] as const;
type TypeName = (typeof TYPES)[number];

/** Types that show rows without a commit. */
const AT_ONCE: readonly TypeName[] = ['structured.mutable', 'sqliteSparse'];
/** Types that refuse a row name that they already have, and when. */
const REFUSES_DUPLICATES: Readonly<Partial<Record<TypeName, 'record' | 'commit'>>> = {
  tabular: 'commit',
  embedding: 'record',
  'structured.mutable': 'record',
};
/** Types that keep one timestamp a row: the latest. */
const ONE_TIMESTAMP: readonly TypeName[] = ['tabular', 'embedding'];

let rowan: Rowan;
let count = 0;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan.close());

class Dataset {
  readonly path: string;
  readonly id: string;

  constructor(id: string) {
    this.id = id;
    this.path = `/v1/datasets/${id}`;
  }

  static async create(type: TypeName): Promise<Dataset> {
    const dataset = new Dataset(`d${++count}`);
    const reply = await rowan.put(dataset.path, { type });
    expect(reply.status).toBe(201);
    return dataset;
  }

  record(...rows: unknown[]): Promise<PerformedReply> {
    return rowan.post(`${this.path}/multirows`, rows);
  }

  commit(): Promise<PerformedReply> {
    return rowan.post(`${this.path}/commit`, {});
  }

  async ok(reply: Promise<PerformedReply>): Promise<void> {
    expect((await reply).text).toBe('');
  }

  rows(format: QueryFormat = 'aos'): Promise<unknown> {
    return rowan.query(`SELECT * FROM ${this.id} ORDER BY rowName()`, { format });
  }

  async rowCount(): Promise<number> {
    return (await rowan.query(`SELECT count(*) AS n FROM ${this.id}`, {
      format: 'atom',
    })) as number;
  }

  async get(subPath: string): Promise<unknown> {
    return (await rowan.get(this.path + subPath)).json;
  }
}

const ROW_A = [
  'a',
  [
    ['x', 1, 0],
    ['y', 2.5, 0],
  ],
];
const ROW_B = [
  'b',
  [
    ['x', 3, 10],
    ['y', 4, 20],
  ],
];

describe.each(TYPES)('%s', (type) => {
  test('has no rows when it is new', async () => {
    const dataset = await Dataset.create(type);
    expect(await dataset.rowCount()).toBe(0);
    expect(await dataset.get('/columns')).toEqual([]);
    expect(await dataset.get('/rows')).toEqual([]);
    expect(await dataset.get('/timestampRange')).toEqual([null, null]);
    await dataset.ok(dataset.commit());
  });

  test('shows rows when it should: at once or after the commit', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    expect(await dataset.rowCount()).toBe(AT_ONCE.includes(type) ? 1 : 0);
    await dataset.ok(dataset.commit());
    expect(await dataset.rows()).toEqual([{ _rowName: 'a', x: 1, y: 2.5 }]);
  });

  test('records and commits again and again', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.ok(dataset.commit());
    await dataset.ok(dataset.record(ROW_B));
    await dataset.ok(dataset.commit());
    await dataset.ok(dataset.commit());
    expect(await dataset.rows()).toEqual([
      { _rowName: 'a', x: 1, y: 2.5 },
      { _rowName: 'b', x: 3, y: 4 },
    ]);
    expect(await dataset.get('/columns')).toEqual(['x', 'y']);
    expect(await dataset.get('/columns/x/values')).toEqual([1, 3]);
    expect(await dataset.get('/columns/x/valuecounts?offset=1')).toEqual([[3, 1]]);
  });

  test('takes columns as it takes rows', async () => {
    const dataset = await Dataset.create(type);
    const columns = [
      [
        'x',
        [
          ['a', 1, 0],
          ['b', 2, 0],
        ],
      ],
      [
        'y',
        [
          ['a', 3, 0],
          ['b', 4, 0],
        ],
      ],
    ];
    await dataset.ok(rowan.post(`${dataset.path}/multicolumns`, columns));
    await dataset.ok(dataset.commit());
    expect(await dataset.rows()).toEqual([
      { _rowName: 'a', x: 1, y: 3 },
      { _rowName: 'b', x: 2, y: 4 },
    ]);
  });

  test('keeps timestamps: of each cell, or the latest of the row', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_B));
    await dataset.ok(dataset.commit());
    const first = ONE_TIMESTAMP.includes(type) ? 20 : 10;
    expect(await dataset.get('/timestampRange')).toEqual([
      `1970-01-01T00:00:${first}Z`,
      '1970-01-01T00:00:20Z',
    ]);
  });

  test('records everything of a request or nothing', async () => {
    const dataset = await Dataset.create(type);
    const reply = await dataset.record(ROW_A, ['b', [['x', { wrong: 1 }, 0]]]);
    expect(reply.status).toBe(400);
    await dataset.ok(dataset.commit());
    expect(await dataset.rowCount()).toBe(0);
  });

  test.each([
    [[[], [['x', 1, 0]]], 'empty row names are not allowed'],
    [['a', [[[], 1, 0]]], 'empty column names are not allowed'],
    [['a', [['x', 1]]], 'not enough elements'],
    [['a', [['x', 1, 0, 0]]], 'too many elements'],
    [['a'], 'expected 2 element array'],
    [[null, []], 'Unparseable JSON Path value'],
    [['a', [['x', [1], 0]]], 'is not an atom'],
    [['a', [['x', 1, 'someday']]], 'timestamp "someday"'],
  ])('refuses %j', async (row, message) => {
    const dataset = await Dataset.create(type);
    const reply = await dataset.record(row);
    expect(reply.status).toBe(400);
    expect((reply.json as { error: string }).error).toContain(message);
  });

  test('has its own way with row names that repeat', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    const again = await dataset.record(ROW_A);
    const when = REFUSES_DUPLICATES[type];
    expect(again.status).toBe(when === 'record' ? 400 : 200);
    expect((await dataset.commit()).status).toBe(when === 'commit' ? 400 : 200);
    expect(await dataset.rowCount()).toBe(when === 'commit' ? 0 : 1);
  });

  test('refuses a repeated name after a commit as before it', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.ok(dataset.commit());
    const again = await dataset.record(ROW_A);
    const when = REFUSES_DUPLICATES[type];
    expect(again.status).toBe(when === 'record' ? 400 : 200);
    expect((await dataset.commit()).status).toBe(when === 'commit' ? 400 : 200);
    expect(await dataset.rowCount()).toBe(1);
  });

  test('pages through rows and columns', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A, ROW_B));
    await dataset.ok(dataset.commit());
    const all = (await dataset.get('/rows')) as string[];
    expect([...all].sort()).toEqual(['a', 'b']);
    expect(await dataset.get('/rows?start=1&limit=5')).toEqual(all.slice(1));
    expect(await dataset.get('/rows?start=7')).toEqual([]);
    expect(await dataset.get('/columns?offset=1&limit=1')).toEqual(['y']);
    expect((await rowan.get(`${dataset.path}/columns?offset=-1`)).status).toBe(400);
  });

  test('stays readable for a view after it is gone', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.ok(dataset.commit());
    const view = `v${++count}`;
    const config = { type: 'merged', params: { datasets: [dataset.id] } };
    expect((await rowan.put(`/v1/datasets/${view}`, config)).status).toBe(201);
    expect((await rowan.delete(dataset.path)).status).toBe(204);
    expect(await rowan.query(`SELECT x FROM ${view}`, { format: 'atom' })).toBe(1);
    expect((await rowan.get(dataset.path)).status).toBe(404);
  });

  test('is empty again when it is put again', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.ok(dataset.commit());
    expect((await rowan.put(dataset.path, { type })).status).toBe(201);
    expect(await dataset.rowCount()).toBe(0);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.ok(dataset.commit());
    expect(await dataset.rowCount()).toBe(1);
  });
});
