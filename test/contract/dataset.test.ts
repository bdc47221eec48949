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
  'beh.mutable',
  'beh.binary.mutable',
  'continuous',
] as const;
type TypeName = (typeof TYPES)[number];

/** Types that are made of what others have saved. */
const READ_ONLY = ['beh', 'beh.binary', 'continuous.window'] as const;
type ReadOnlyName = (typeof READ_ONLY)[number];

/** Types that show rows without a commit. */
const AT_ONCE: readonly TypeName[] = [
  'structured.mutable',
  'sqliteSparse',
  'beh.binary.mutable',
  'continuous',
];
/** Types that refuse a row name that they already have, and when. */
const REFUSES_DUPLICATES: Readonly<Partial<Record<TypeName, 'record' | 'commit'>>> = {
  tabular: 'commit',
  embedding: 'record',
  'structured.mutable': 'record',
};
/** Types that keep one timestamp a row: the latest. */
const ONE_TIMESTAMP: readonly string[] = ['tabular', 'embedding'];
/** Types that take nothing more after a commit. */
const FREEZES: readonly TypeName[] = ['beh.mutable', 'beh.binary.mutable'];
/** Types that cannot be read before a commit. */
const UNREADABLE_BEFORE_COMMIT: readonly TypeName[] = ['beh.mutable'];
/** Types that keep no value but 1. */
const ONLY_ONES: readonly string[] = ['beh.binary.mutable', 'beh.binary'];
/** Types whose commit moves the rows elsewhere: those of a stream go to the window over it. */
const MOVES_AT_COMMIT: readonly TypeName[] = ['continuous'];

let rowan: Rowan;
let count = 0;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan.close());

const script = (source: string) => ({
  type: 'script.run',
  params: { language: 'javascript', scriptConfig: { source } },
});

/** A stream that lists its pieces in a dataset of its own. */
function streamParams(list: string): object {
  return {
    metadataDataset: { id: list, type: 'sparse.mutable' },
    createStorageDataset: script(`({ config: { type: 'sparse.mutable' } })`),
    saveStorageDataset: script(`
      const config = {
        type: 'tabular',
        params: { dataFileUrl: 'mem://contract/' + args.datasetId },
      };
      const copy = {
        inputData: 'SELECT * FROM "' + args.datasetId + '"',
        outputDataset: config,
        runOnCreation: true,
      };
      const reply = rowan.perform('PUT', '/v1/procedures/copy', [], {
        type: 'transform',
        params: copy,
      });
      if (reply.responseCode !== 201) throw new Error(reply.response);
      ({ config })`),
  };
}

class Dataset {
  readonly path: string;
  readonly id: string;
  readonly #config: { readonly type: string; readonly params?: object };

  private constructor(type: string, params?: object) {
    this.id = `d${++count}`;
    this.path = `/v1/datasets/${this.id}`;
    this.#config = { type, ...(params === undefined ? {} : { params }) };
  }

  static async create(type: TypeName): Promise<Dataset> {
    const params = type === 'continuous' ? streamParams(`list${++count}`) : undefined;
    return Dataset.#put(type, params);
  }

  /** A dataset of what another one has saved: each row by a commit of its own where that goes. */
  static async load(type: ReadOnlyName, ...rows: unknown[]): Promise<Dataset> {
    if (type === 'continuous.window') {
      const metadataDataset = `list${++count}`;
      const stream = await Dataset.#put('continuous', streamParams(metadataDataset));
      for (const row of rows) {
        await stream.ok(stream.record(row));
        await stream.ok(stream.commit());
      }
      return Dataset.#put(type, { metadataDataset, from: '1970-01-01', to: '1970-01-02' });
    }
    const dataFileUrl = `mem://contract/file${++count}`;
    const writer = await Dataset.#put(`${type}.mutable`, { dataFileUrl });
    await writer.ok(writer.record(...rows));
    await writer.ok(writer.commit());
    return Dataset.#put(type, { dataFileUrl });
  }

  static async #put(type: string, params?: object): Promise<Dataset> {
    const dataset = new Dataset(type, params);
    await dataset.putAgain();
    return dataset;
  }

  async putAgain(): Promise<void> {
    const reply = await rowan.put(this.path, this.#config);
    expect(`${reply.status} ${reply.status === 201 ? '' : reply.text}`).toBe('201 ');
  }

  /** Makes sure that the rows are seen. */
  async show(): Promise<void> {
    const { type } = this.#config;
    if (!MOVES_AT_COMMIT.includes(type as TypeName)) await this.ok(this.commit());
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

/** Two rows, of ones where a type keeps nothing else. */
function rowsOf(type: string) {
  const value = (number: number) => (ONLY_ONES.includes(type) ? 1 : number);
  const a = { _rowName: 'a', x: value(1), y: value(2.5) };
  const b = { _rowName: 'b', x: value(3), y: value(4) };
  const recorded = (row: typeof a, xTime: number, yTime: number) => [
    row._rowName,
    [
      ['x', row.x, xTime],
      ['y', row.y, yTime],
    ],
  ];
  return { A: a, B: b, ROW_A: recorded(a, 0, 0), ROW_B: recorded(b, 10, 20) };
}

describe.each(TYPES)('%s', (type) => {
  const { A, B, ROW_A, ROW_B } = rowsOf(type);

  test('has no rows when it is new', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.commit());
    expect(await dataset.rowCount()).toBe(0);
    expect(await dataset.get('/columns')).toEqual([]);
    expect(await dataset.get('/rows')).toEqual([]);
    expect(await dataset.get('/timestampRange')).toEqual([null, null]);
  });

  test('shows rows when it should: at once or after the commit', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    if (UNREADABLE_BEFORE_COMMIT.includes(type)) {
      const reply = await rowan.get(`/v1/query?q=SELECT%20*%20FROM%20${dataset.id}`);
      expect(`${reply.status} ${reply.text}`).toMatch(/^400 .*commit it first/);
    } else {
      expect(await dataset.rowCount()).toBe(AT_ONCE.includes(type) ? 1 : 0);
    }
    await dataset.show();
    expect(await dataset.rows()).toEqual([A]);
  });

  test('records and commits again and again, or says that it takes no more', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.show();
    const { status, text } = await dataset.record(ROW_B);
    expect(`${status} ${text}`).toMatch(FREEZES.includes(type) ? /^400 .*was committed/ : /^200 $/);
    if (FREEZES.includes(type)) {
      const again = await dataset.commit();
      expect(`${again.status} ${again.text}`).toMatch(/^400 .*was committed before/);
      expect(await dataset.rows()).toEqual([A]);
      return;
    }
    await dataset.show();
    await dataset.show();
    expect(await dataset.rows()).toEqual([A, B]);
    expect(await dataset.get('/columns')).toEqual(['x', 'y']);
    expect(await dataset.get('/columns/x/values')).toEqual([1, 3]);
    expect(await dataset.get('/columns/x/valuecounts?offset=1')).toEqual([[3, 1]]);
  });

  if (MOVES_AT_COMMIT.includes(type)) {
    test('has no rows after a commit, and takes more', async () => {
      const dataset = await Dataset.create(type);
      for (const row of [ROW_A, ROW_B]) {
        await dataset.ok(dataset.record(row));
        expect(await dataset.rowCount()).toBe(1);
        await dataset.ok(dataset.commit());
        expect(await dataset.rowCount()).toBe(0);
      }
    });
  }

  if (ONLY_ONES.includes(type)) {
    test.each([2, 0, 'one', null])('refuses the value %j', async (value) => {
      const dataset = await Dataset.create(type);
      const reply = await dataset.record(ROW_A, ['b', [['x', value, 0]]]);
      expect(`${reply.status} ${reply.text}`).toMatch(/^400 .*only record the value 1; row 'b'/);
      expect(await dataset.rowCount()).toBe(0);
    });
  }

  test('takes columns as it takes rows', async () => {
    const dataset = await Dataset.create(type);
    const columns = [
      [
        'x',
        [
          ['a', A.x, 0],
          ['b', B.x, 0],
        ],
      ],
      [
        'y',
        [
          ['a', A.y, 0],
          ['b', B.y, 0],
        ],
      ],
    ];
    await dataset.ok(rowan.post(`${dataset.path}/multicolumns`, columns));
    await dataset.show();
    expect(await dataset.rows()).toEqual([A, B]);
  });

  test('keeps timestamps: of each cell, or the latest of the row', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_B));
    await dataset.show();
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
    await dataset.show();
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
    if (when === 'commit') expect((await dataset.commit()).status).toBe(400);
    else await dataset.show();
    expect(await dataset.rowCount()).toBe(when === 'commit' ? 0 : 1);
  });

  test('refuses a repeated name after a commit as before it', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.show();
    const again = await dataset.record(ROW_A);
    const when = FREEZES.includes(type) ? 'record' : REFUSES_DUPLICATES[type];
    expect(again.status).toBe(when === 'record' ? 400 : 200);
    if (when === 'commit') expect((await dataset.commit()).status).toBe(400);
    else if (!FREEZES.includes(type)) await dataset.show();
    expect(await dataset.rowCount()).toBe(1);
  });

  test('pages through rows and columns', async () => {
    const dataset = await Dataset.create(type);
    await dataset.ok(dataset.record(ROW_A, ROW_B));
    await dataset.show();
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
    await dataset.show();
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
    await dataset.show();
    await dataset.putAgain();
    if (!UNREADABLE_BEFORE_COMMIT.includes(type)) expect(await dataset.rowCount()).toBe(0);
    await dataset.ok(dataset.record(ROW_A));
    await dataset.show();
    expect(await dataset.rowCount()).toBe(1);
  });
});

describe.each(READ_ONLY)('%s', (type) => {
  const { A, B, ROW_A, ROW_B } = rowsOf(type);

  test('has the rows that were saved, with their times', async () => {
    const dataset = await Dataset.load(type, ROW_A, ROW_B);
    expect(await dataset.rows()).toEqual([A, B]);
    expect(await dataset.get('/columns')).toEqual(['x', 'y']);
    expect(await dataset.get('/columns/x/values')).toEqual([...new Set([A.x, B.x])]);
    expect(await dataset.get('/timestampRange')).toEqual([
      '1970-01-01T00:00:00Z',
      '1970-01-01T00:00:20Z',
    ]);
  });

  test('pages through rows and columns', async () => {
    const dataset = await Dataset.load(type, ROW_A, ROW_B);
    const all = (await dataset.get('/rows')) as string[];
    expect([...all].sort()).toEqual(['a', 'b']);
    expect(await dataset.get('/rows?start=1&limit=5')).toEqual(all.slice(1));
    expect(await dataset.get('/rows?start=7')).toEqual([]);
    expect(await dataset.get('/columns?offset=1&limit=1')).toEqual(['y']);
  });

  test('refuses what would change it', async () => {
    const dataset = await Dataset.load(type, ROW_A);
    const row = { rowName: 'b', columns: ROW_B[1] };
    for (const reply of [
      await dataset.record(ROW_B),
      await rowan.post(`${dataset.path}/rows`, row),
      await rowan.post(`${dataset.path}/columns`, { columnName: 'z', rows: [['a', 1, 0]] }),
    ]) {
      expect(`${reply.status} ${reply.text}`).toMatch(/^400 .*doesn't allow recording/);
    }
    expect(await dataset.rows()).toEqual([A]);
  });

  test('stays readable for a view after it is gone', async () => {
    const dataset = await Dataset.load(type, ROW_A);
    const view = `v${++count}`;
    const config = { type: 'merged', params: { datasets: [dataset.id] } };
    expect((await rowan.put(`/v1/datasets/${view}`, config)).status).toBe(201);
    expect((await rowan.delete(dataset.path)).status).toBe(204);
    expect(await rowan.query(`SELECT x FROM ${view}`, { format: 'atom' })).toBe(1);
    expect((await rowan.get(dataset.path)).status).toBe(404);
  });

  test('has the same rows when it is put again', async () => {
    const dataset = await Dataset.load(type, ROW_A, ROW_B);
    await dataset.putAgain();
    expect(await dataset.rows()).toEqual([A, B]);
  });

  test('refuses to be made of nothing, and names what is missing', async () => {
    const path = `/v1/datasets/d${++count}`;
    const params =
      type === 'continuous.window'
        ? { metadataDataset: 'nowhere', from: '1970-01-01', to: '1970-01-02' }
        : { dataFileUrl: 'mem://contract/nowhere' };
    const { status, text } = await rowan.put(path, { type, params });
    expect(`${status} ${text}`).toMatch(/^4.*nowhere/);
    expect((await rowan.get(path)).json).toMatchObject({ state: 'error' });
  });
});
