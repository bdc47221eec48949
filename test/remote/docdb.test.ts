// Document databases: what is read, written, asked for, and refused.
import { BSONRegExp, Decimal128, Double, Int32, Long, ObjectId, Timestamp } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type DocumentDatabase,
  findDocumentDatabase,
  startDocumentDatabase,
} from '../support/document-database.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

const IDS = Array.from(
  { length: 6 },
  (_, index) => new ObjectId(`5f00000${index}aabbccddeeff0011`),
);
const idText = (index: number) => (IDS[index] as ObjectId).toHexString();

describe.runIf(canTest('document database', findDocumentDatabase()))('document databases', () => {
  let database: DocumentDatabase;
  let rowan: TestService;
  let uri: string;

  beforeAll(async () => {
    database = await startDocumentDatabase();
    uri = `${database.address}/shop`;
    rowan = await openRowan();
    await database.client
      .db('shop')
      .collection('things')
      .insertMany([
        { _id: IDS[0] as ObjectId, n: 1, s: 'a', obj: { a: { b: 'deep' } }, arr: [1, 'two'] },
        {
          _id: IDS[1] as ObjectId,
          n: new Double(2.5),
          s: 'b',
          when: new Date('2020-01-02T03:04:05Z'),
        },
        { _id: IDS[2] as ObjectId, n: Long.fromString('9007199254740993'), s: null, flag: true },
        { _id: IDS[3] as ObjectId, n: 'text', s: 'abc', ref: IDS[0] },
        {
          _id: IDS[4] as ObjectId,
          n: new Double(Number.NaN),
          raw: Buffer.from([1, 2]),
          big: Decimal128.fromString('1.50'),
        },
        {
          _id: IDS[5] as ObjectId,
          n: new Int32(-3),
          s: 'é',
          stamp: new Timestamp({ t: 77, i: 1 }),
          empty: {},
        },
      ]);
    await put('datasets/things', {
      type: 'docdb.dataset',
      params: { uriConnectionScheme: uri, collection: 'things' },
    });
  }, 60_000);

  afterAll(async () => {
    await rowan?.close();
    await database?.stop();
  });

  const { perform, put } = serviceCalls(() => rowan);

  async function names(where: string): Promise<number[]> {
    const q = `SELECT rowName() AS name FROM things WHERE ${where}`;
    const { json } = await perform('GET', 'query', { q, format: 'aos', rowNames: false });
    if (json.error !== undefined) throw new Error(json.error);
    return json
      .map(({ name }: { name: string }) => IDS.findIndex((id) => id.toHexString() === name))
      .sort();
  }

  async function explain(query: string): Promise<string> {
    const { json } = await perform('GET', 'query', { q: `EXPLAIN ${query}`, format: 'aos' });
    return json.map(({ operator }: { operator: string }) => operator).join('\n');
  }

  test('documents are rows named by their object ids', async () => {
    const { json } = await perform('GET', 'query', { q: 'SELECT * FROM things', format: 'full' });
    const rows = Object.fromEntries(
      json.map(({ rowName, columns }: { rowName: string; columns: unknown[][] }) => [
        rowName,
        Object.fromEntries(columns.map(([name, value]) => [name, value])),
      ]),
    );
    expect(rows[idText(0)]).toEqual({
      _id: idText(0),
      n: 1,
      s: 'a',
      'obj.a.b': 'deep',
      'arr.0': 1,
      'arr.1': 'two',
    });
    expect(rows[idText(1)]).toEqual({
      _id: idText(1),
      n: 2.5,
      s: 'b',
      when: { ts: '2020-01-02T03:04:05Z' },
    });
    expect(rows[idText(2)]).toMatchObject({ s: null, flag: 1 });
    expect(rows[idText(3)]).toMatchObject({ n: 'text', ref: idText(0) });
    expect(rows[idText(4)]).toMatchObject({ n: { num: 'NaN' }, raw: { blob: [1, 2] }, big: 1.5 });
    expect(rows[idText(5)]).toMatchObject({ n: -3, stamp: 77 });
    const { columns } = json.find(({ rowName }: { rowName: string }) => rowName === idText(0));
    expect(columns[0][2]).toBe(
      new Date((IDS[0] as ObjectId).getTimestamp()).toISOString().replace('.000', ''),
    );
  });

  test('what the server is asked lets through whatever Rowan takes', async () => {
    const conditions = [
      'n = 1',
      'n > 2',
      'n >= 2.5',
      'n < 2',
      'n <= -3',
      "n = 'text'",
      "n > 'a'",
      "n < 'zzz'",
      'n IN (1, 2.5)',
      'n BETWEEN 0 AND 3',
      "s = 'a'",
      "s > 'abc'",
      's IS NULL',
      's IS NOT NULL',
      'flag = 1',
      'empty IS NULL',
      'arr IS NOT NULL',
      "obj.a.b = 'deep'",
      "n = 1 OR s = 'é'",
      'big = 1.5',
      'stamp = 77',
      'n != 1',
      `ref = '${idText(0)}'`,
      'n = 9007199254740993',
      '"when" = TIMESTAMP \'2020-01-02T03:04:05Z\'',
      '"when" > TIMESTAMP \'2020-01-01\'',
    ];
    await put('procedures/copy', {
      type: 'docdb.import',
      params: {
        uriConnectionScheme: uri,
        collection: 'things',
        outputDataset: 'copy',
        runOnCreation: true,
      },
    });
    for (const condition of conditions) {
      const q = `SELECT rowName() AS name FROM copy WHERE ${condition}`;
      const { json } = await perform('GET', 'query', { q, format: 'aos', rowNames: false });
      const expected = json.map(({ name }: { name: string }) =>
        IDS.findIndex((id) => id.toHexString() === name),
      );
      expect([condition, await names(condition)]).toEqual([condition, expected.sort()]);
    }
  });

  test('filters and projections go to the server', async () => {
    const text = await explain("SELECT s FROM things WHERE n > 5 AND s = 'a'");
    expect(text).toContain('"n":{"$gt":{"$numberDouble":"5"}}');
    expect(text).toContain('projection: ["_id","s","n"]');
    expect(await explain('SELECT n + 1 FROM things')).toContain('projection: ["_id","n"]');
  });

  test('a row is found by its name', async () => {
    expect(await names(`rowName() = '${idText(3)}'`)).toEqual([3]);
    expect(await names("rowName() = 'nobody'")).toEqual([]);
  });

  test('documents are imported', async () => {
    const made = await put('procedures/some', {
      type: 'mongodb.import',
      params: {
        connectionScheme: uri,
        collection: 'things',
        offset: 1,
        limit: 3,
        where: 'n IS NOT NULL AND flag IS NULL',
        select: 's, n',
        named: "oid() + '-x'",
        outputDataset: { id: 'some', type: 'sparse.mutable' },
        runOnCreation: true,
      },
    });
    expect(made.status.firstRun.status).toEqual({
      rowCount: 2,
      columnCount: 2,
      valueCount: 4,
      numParsingErrors: 0,
      numInsertedRows: 3,
    });
    const { json } = await perform('GET', 'datasets/some/rows');
    expect(json.sort()).toEqual([`${idText(1)}-x`, `${idText(3)}-x`]);
  });

  test('documents that cannot be rows fail, or are counted', async () => {
    await database.client
      .db('shop')
      .collection('odd')
      .insertMany([
        { _id: new ObjectId(), x: 1 },
        { _id: new ObjectId(), x: new BSONRegExp('a') },
        { _id: 'own' as unknown as ObjectId, x: 2 },
      ]);
    const params = {
      uriConnectionScheme: uri,
      collection: 'odd',
      outputDataset: 'odd_copy',
      runOnCreation: true,
    };
    const failed = await perform('PUT', 'procedures/odd', { type: 'docdb.import', params });
    expect(failed.json.details.runError.error).toMatch(
      /field x of a document has the type BSONRegExp|that are not objectIDs/,
    );
    const made = await put('procedures/odd2', {
      type: 'docdb.import',
      params: { ...params, ignoreParsingErrors: true },
    });
    expect(made.status.firstRun.status).toMatchObject({
      rowCount: 1,
      numParsingErrors: 2,
      numInsertedRows: 3,
    });
    await put('datasets/odd', {
      type: 'docdb.dataset',
      params: { uriConnectionScheme: uri, collection: 'odd' },
    });
    const query = await perform('GET', 'query', { q: 'SELECT * FROM odd' });
    expect(query.status).toBe(500);
  });

  test('rows become documents', async () => {
    await put('datasets/out', {
      type: 'mongodb.record',
      params: { uriConnectionScheme: uri, collection: 'out' },
    });
    const recorded = await perform('POST', 'datasets/out/multirows', [
      [
        'r1',
        [
          ['i', 7, 0],
          ['big', 5_000_000_000, 0],
          ['d', 1.5, 0],
          ['s', 'x', 0],
          ['z', null, 0],
          ['t', { ts: '2020-01-01T00:00:00Z' }, 0],
        ],
      ],
      ['r2', [['p', { interval: '1D' }, 0]]],
    ]);
    expect(recorded.status).toBe(200);
    const documents = await database.client
      .db('shop')
      .collection('out')
      .find({}, { promoteValues: false })
      .toArray();
    expect(documents).toMatchObject([
      {
        _id: 'r1',
        i: new Int32(7),
        big: Long.fromNumber(5e9),
        d: new Double(1.5),
        s: 'x',
        z: '',
        t: new Date('2020-01-01'),
      },
      { _id: 'r2', p: '1D' },
    ]);
    const again = await perform('POST', 'datasets/out/rows', {
      rowName: 'r1',
      columns: [['i', 1, 0]],
    });
    expect(again).toMatchObject({
      status: 400,
      json: { error: expect.stringMatching(/duplicate key/i) },
    });
    const dotted = await perform('POST', 'datasets/out/rows', {
      rowName: 'r3',
      columns: [['a.b', 1, 0]],
    });
    expect(dotted.json.error).toContain('Dotted keys cannot be recorded to MongoDB');
    const dollar = await perform('POST', 'datasets/out/rows', {
      rowName: 'r3',
      columns: [['$a', 1, 0]],
    });
    expect(dollar.json.error).toContain(
      'Keys starting with a dollar sign cannot be recorded to MongoDB',
    );
    const read = await perform('GET', 'query', { q: 'SELECT * FROM out' });
    expect(read).toMatchObject({
      status: 400,
      json: { error: 'mongodb.record dataset is record-only' },
    });
    expect((await perform('GET', 'datasets/out')).json.status).toBe('ok');
  });

  test('a procedure writes into a collection', async () => {
    await put('procedures/send', {
      type: 'transform',
      params: {
        inputData: 'SELECT n AS n FROM things WHERE n = 1 OR n = -3',
        outputDataset: {
          id: 'sent',
          type: 'docdb.record',
          params: { uriConnectionScheme: uri, collection: 'sent' },
        },
        runOnCreation: true,
      },
    });
    const documents = await database.client.db('shop').collection('sent').find().toArray();
    expect(documents.map(({ n }) => n).sort()).toEqual([-3, 1]);
  });

  test('a function finds documents', async () => {
    const params = { uriConnectionScheme: uri, collection: 'things' };
    await put('functions/first_thing', { type: 'docdb.query', params });
    await put('functions/all_of', {
      type: 'mongodb.query',
      params: { ...params, output: 'NAMED_COLUMNS' },
    });
    const apply = async (name: string, query?: object) =>
      (
        await perform('GET', `functions/${name}/application`, {
          input: query === undefined ? {} : { query: JSON.stringify(query) },
        })
      ).json;
    expect((await apply('first_thing', { s: 'b' })).output).toMatchObject({ n: 2.5 });
    expect((await apply('first_thing', { _id: idText(0) })).output).toMatchObject({ n: 1 });
    expect((await apply('first_thing', { s: 'nothing' })).output).toEqual({});
    expect(Object.keys((await apply('all_of', { n: { $lt: 2 } })).output)).toEqual([
      idText(0),
      idText(5),
    ]);
    expect((await apply('first_thing')).error).toBe('You must define the parameter "query"');
    expect((await apply('first_thing', { n: { $nonsense: 1 } })).httpCode).toBe(400);
  });

  test('what is larger than a batch arrives whole', async () => {
    const many = Array.from({ length: 2500 }, (_, index) => ({ _id: new ObjectId(), index }));
    await database.client.db('shop').collection('many').insertMany(many);
    await put('datasets/many', {
      type: 'docdb.dataset',
      params: { uriConnectionScheme: uri, collection: 'many' },
    });
    const q = 'SELECT count(*) AS n, sum(index) AS s FROM many';
    expect((await perform('GET', 'query', { q, format: 'aos', rowNames: false })).json).toEqual([
      { n: 2500, s: 3_123_750 },
    ]);
    const first = await perform('GET', 'query', {
      q: 'SELECT index FROM many LIMIT 2',
      format: 'aos',
    });
    expect(first.json).toHaveLength(2);
  });

  test('a server that is not there, and a password in the address', async () => {
    const params = {
      uriConnectionScheme: 'mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=200',
      collection: 'c',
    };
    await put('datasets/nowhere', { type: 'docdb.dataset', params });
    const reply = await perform('GET', 'query', { q: 'SELECT * FROM nowhere' });
    expect(reply).toMatchObject({ status: 400, json: { code: 'REMOTE_FAILED' } });
    const open = await perform('PUT', 'datasets/leak', {
      type: 'docdb.dataset',
      params: { ...params, uriConnectionScheme: 'mongodb://ann:lozenge@127.0.0.1/shop' },
    });
    expect(open.status).toBe(400);
    expect(JSON.stringify(open.json)).not.toContain('lozenge');
  });
});
