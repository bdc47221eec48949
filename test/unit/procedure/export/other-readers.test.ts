// Files that Rowan writes are what other programs take them for: DuckDB reads Parquet, delimited
// text and JSON; the sizes in compressed Arrow files are those that the format asks for.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { MessageReader } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lz4FrameDecoder } from '../../../../src/file/codec/lz4.ts';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let duck: DuckDBConnection;
let directory: string;

const ROWS = [
  [
    'r1',
    [
      ['int', 9223372036854775807n, 0],
      ['big', 18446744073709551615n, 0],
      ['number', 0.1, 0],
      ['text', 'naïve 😀', 0],
      ['moment', { ts: '2020-02-29T23:59:59.999999Z' }, 0],
      ['bytes', { blob: [0, 255] }, 0],
      ['mixed', 1, 0],
      ['a.b', 7, 0],
    ],
  ],
  [
    'r2',
    [
      ['int', -9223372036854775807n - 1n, 0],
      ['big', 0, 0],
      ['number', 1e300, 0],
      ['text', 'line\nend "q", comma', 0],
      ['moment', { ts: '1969-12-31T23:59:59.5Z' }, 0],
      ['mixed', 's', 0],
      ['none', null, 0],
    ],
  ],
  ['r3', [['moment', { ts: '9999-12-31T23:59:59Z' }, 0]]],
];
const QUERY = `SELECT rowName() AS name, int, big, number, text, moment, bytes, mixed, a.b, none
  FROM rows ORDER BY rowName()`;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-readers-'));
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  duck = await (await DuckDBInstance.create(':memory:')).connect();
  await duck.run("SET TimeZone = 'UTC'");
  await rowan.put('/v1/datasets/rows', {
    type: 'sparse.mutable',
    params: { timeQuantumSeconds: 1e-6 },
  });
  const reply = await rowan.post('/v1/datasets/rows/multirows', ROWS);
  expect(reply.status, reply.text).toBe(200);
  await rowan.post('/v1/datasets/rows/commit');
});
afterAll(async () => {
  duck.closeSync();
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function exported(type: string, file: string, params = {}, exportData = QUERY) {
  const path = join(directory, file);
  const reply = await rowan.put('/v1/procedures/export', {
    type,
    params: { exportData, dataFileUrl: `file://${path}`, runOnCreation: true, ...params },
  });
  expect(reply.status, reply.text).toBe(201);
  return path;
}

async function duckRows(sql: string): Promise<unknown[][]> {
  return (await duck.runAndReadAll(sql)).getRowsJson();
}

test.each(['snappy', 'gzip', 'zstd', 'none'])(
  'DuckDB reads Parquet with %s as it was written',
  async (compression) => {
    const path = await exported('export.parquet', `t-${compression}.parquet`, {
      compression,
      rowGroupSize: 2,
    });
    const types = await duckRows(`SELECT column_name, column_type FROM (DESCRIBE FROM '${path}')`);
    expect(types).toEqual([
      ['name', 'VARCHAR'],
      ['int', 'BIGINT'],
      ['big', 'UBIGINT'],
      ['number', 'DOUBLE'],
      ['text', 'VARCHAR'],
      ['moment', 'TIMESTAMP WITH TIME ZONE'],
      ['bytes', 'BLOB'],
      ['mixed', 'VARCHAR'],
      ['a.b', 'BIGINT'],
      ['none', 'VARCHAR'],
    ]);
    const rows = await duckRows(
      `SELECT * REPLACE (hex(bytes) AS bytes, epoch_us(moment) AS moment) FROM '${path}' ORDER BY name`,
    );
    expect(rows).toEqual([
      [
        'r1',
        '9223372036854775807',
        '18446744073709551615',
        0.1,
        'naïve 😀',
        '1583020799999999',
        '00FF',
        '1',
        '7',
        null,
      ],
      [
        'r2',
        '-9223372036854775808',
        '0',
        1e300,
        'line\nend "q", comma',
        '-500000',
        null,
        's',
        null,
        null,
      ],
      ['r3', null, null, null, null, '253402300799000000', null, null, null, null],
    ]);
    // Statistics of row groups lead to the right rows.
    expect(await duckRows(`SELECT name FROM '${path}' WHERE "a.b" = 7`)).toEqual([['r1']]);
    expect(await duckRows(`SELECT name FROM '${path}' WHERE big > 5`)).toEqual([['r1']]);
  },
);

test('DuckDB reads delimited text and JSON as they were written', async () => {
  const query = `SELECT rowName() AS name, int, number, text, mixed, a.b FROM rows ORDER BY rowName()`;
  const rows = [
    ['r1', '9223372036854775807', 0.1, 'naïve 😀', '1', '7'],
    ['r2', '-9223372036854775808', 1e300, 'line\nend "q", comma', 's', null],
    ['r3', null, null, null, null, null],
  ];
  const types = `{name: 'VARCHAR', int: 'BIGINT', number: 'DOUBLE', text: 'VARCHAR', mixed: 'VARCHAR', "a.b": 'BIGINT'}`;
  for (const file of ['t.csv', 't.csv.gz', 't.csv.zst']) {
    const path = await exported('export.csv', file, {}, query);
    expect(await duckRows(`FROM read_csv('${path}', columns = ${types}, header = true)`)).toEqual(
      rows,
    );
  }
  for (const file of ['t.ndjson', 't.ndjson.gz']) {
    const path = await exported('export.json', file, { structured: false }, query);
    expect(await duckRows(`FROM read_json('${path}', columns = ${types})`)).toEqual(rows);
  }
});

test('files without rows keep their columns', async () => {
  const none = 'SELECT int, text FROM rows WHERE int = 5';
  const parquet = await exported('export.parquet', 'none.parquet', {}, none);
  expect(await duckRows(`SELECT column_name FROM (DESCRIBE FROM '${parquet}')`)).toEqual([
    ['int'],
    ['text'],
  ]);
  const csv = await exported('export.csv', 'none.csv', {}, none);
  expect(readFileSync(csv, 'utf8')).toBe('int,text\n');
});

test('before each compressed buffer of an Arrow file stands its size without compression', async () => {
  const lines = Array.from({ length: 500 }, (_, index) => JSON.stringify({ n: index, w: 'same' }));
  const source = join(directory, 'many.ndjson');
  writeFileSync(source, lines.join('\n'));
  const made = await rowan.put('/v1/procedures/many', {
    type: 'import.json',
    params: { dataFileUrl: `file://${source}`, outputDataset: 'many', runOnCreation: true },
  });
  expect(made.status, made.text).toBe(201);
  const params = { compression: 'lz4', format: 'stream' };
  const path = await exported('export.arrow', 'many.arrows', params, 'SELECT n, w FROM many');
  const decode = await lz4FrameDecoder();
  const reader = new MessageReader(readFileSync(path));
  reader.readSchema();
  const message = reader.readMessage();
  if (message === null) throw new Error('the stream has no batch');
  const body = reader.readMessageBody(Number(message.bodyLength));
  const { buffers } = message.header() as unknown as {
    buffers: { offset: number; length: number }[];
  };
  let compressedCount = 0;
  for (const { offset, length } of buffers) {
    if (length === 0) continue;
    const bytes = Buffer.from(body.buffer, body.byteOffset + offset, length);
    const size = bytes.readBigInt64LE();
    if (size === -1n) continue;
    expect(decode(bytes.subarray(8)).length).toBe(Number(size));
    compressedCount++;
  }
  expect(compressedCount).toBeGreaterThan(0);
});
