// import.text as a client sees it: one helper imports a text and reads the dataset back.
import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let dir: string;
let count = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rowan-import-'));
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
});
afterAll(async () => {
  await rowan.close();
  rmSync(dir, { recursive: true });
});

interface RunError {
  readonly error: string;
  readonly details?: Record<string, unknown>;
}

interface Imported {
  readonly result: { rowCount: number; numLineErrors: number };
  /** the dataset in table form, rows in stored order */
  readonly table: readonly (readonly unknown[])[];
  readonly id: string;
}

function write(text: string | Uint8Array, name = `f${++count}.csv`): string {
  const path = join(dir, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return `file://${path}`;
}

async function run(dataFileUrl: unknown, params: object = {}): Promise<Imported | RunError> {
  const id = `d${++count}`;
  const reply = await rowan.put(`/v1/procedures/${id}`, {
    type: 'import.text',
    params: { dataFileUrl, outputDataset: id, ...params, runOnCreation: true },
  });
  if (reply.status !== 201) {
    expect(reply.status).toBe(400);
    const body = reply.json as RunError & { details?: { runError?: RunError } };
    return body.details?.runError ?? body;
  }
  const created = reply.json as { status: { firstRun: { status: Imported['result'] } } };
  const query = await rowan.get('/v1/query', { q: `SELECT * FROM ${id}`, format: 'table' });
  return {
    id,
    result: created.status.firstRun.status,
    table: query.json as Imported['table'],
  };
}

async function rows(text: string | Uint8Array, params: object = {}): Promise<Imported['table']> {
  const imported = await run(write(text), params);
  if ('error' in imported) throw new Error(imported.error);
  return imported.table;
}

async function fault(text: string | Uint8Array, params: object = {}): Promise<RunError> {
  const imported = await run(write(text), params);
  if ('error' in imported) return imported;
  throw new Error(`imported ${JSON.stringify(imported.table)}`);
}

/** Makes the general way necessary without changing what is imported. */
const GENERAL = { where: '1 = 1' };

describe('both ways', () => {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(',', ',', '\n', '\n', '\r\n') },
    { weight: 2, arbitrary: fc.constantFrom('"', '""', '="', ' ', '\t', 'é', '日本') },
    {
      weight: 4,
      arbitrary: fc.constantFrom('a', 'bc', 'carrier name', '12', '-7', '1.5', '-', 'nan'),
    },
  );
  const textOf = fc.array(piece, { maxLength: 50 }).map((parts) => parts.join(''));

  test('import the same table', async () => {
    await fc.assert(
      fc.asyncProperty(
        textOf,
        fc.record({
          ignoreExtraColumns: fc.boolean(),
          ignoreBadLines: fc.boolean(),
          processExcelFormulas: fc.boolean(),
          offset: fc.nat(2),
          select: fc.constantFrom('*', 'c, a', 'b AS x', '* EXCLUDING (a)'),
        }),
        async (text, params) => {
          const url = write(text, 'same.csv');
          const headers = ['a', 'b', 'c'];
          const fast = await run(url, { headers, ...params });
          const general = await run(url, { headers, ...params, ...GENERAL });
          expect({ ...fast, id: '' }).toEqual({ ...general, id: '' });
        },
      ),
      { numRuns: 120 },
    );
  }, 60_000);

  test('import compressed text and plain text alike', async () => {
    const text = `a,b\n${Array.from({ length: 3000 }, (_, i) => `${i},x${i % 7}\n`).join('')}`;
    const plain = await run(write(text));
    const packed = await run(write(gzipSync(text), 'packed.csv.gz'));
    expect({ ...packed, id: '' }).toEqual({ ...plain, id: '' });
  });
});

describe('inferTimestamps', () => {
  const text = [
    'id,day,at,mixed,rare,number,never',
    '1,2013-06-01,2013-06-01T05:00:00Z,2013-01-01,,20130601,',
    '2,2013-06-02,2013-06-01 06:30,soon,,20130602,',
    '3,,2013-06-01T05:00:00Z,2013-01-02,2014-02-03,20130603,',
    '',
  ].join('\n');

  test.each([
    ['by column', {}],
    ['by row', GENERAL],
    ['of computed columns', { select: '* EXCLUDING (id), id AS id', ...GENERAL }],
    ['recorded', { outputDatasetType: 'sparse.mutable' }],
  ])('makes columns of dates timestamps, %s', async (_, { outputDatasetType, ...way }: Way) => {
    const params = {
      ...way,
      inferTimestamps: true,
      ...(outputDatasetType === undefined
        ? {}
        : { outputDataset: { id: `typed${++count}`, type: outputDatasetType } }),
    };
    const { id } = (await run(write(text), params)) as Imported;
    const dataset = params.outputDataset?.id ?? id;
    const types = await rowan.query(
      `SELECT typeof(day), typeof(at), typeof(mixed), typeof(rare), typeof(number), typeof(never) FROM ${dataset} WHERE id = 3`,
      { rowNames: false },
    );
    expect((types as unknown[][])[1]).toEqual([
      'null',
      'timestamp',
      'string',
      'timestamp',
      'integer',
      'null',
    ]);
    const hits = `SELECT id FROM ${dataset} WHERE day >= '2013-06-02' OR rare > '2014'`;
    const ids = await rowan.query(`${hits} ORDER BY id`, { rowNames: false });
    expect(ids).toEqual([['id'], [2], [3]]);
  });

  test('is off unless asked for', async () => {
    const { id } = (await run(write(text))) as Imported;
    const type = `SELECT typeof(day) FROM ${id} WHERE id = 1`;
    expect(await rowan.query(type, { format: 'atom' })).toBe('string');
  });

  test('reads every chunk', async () => {
    const count = 70_000;
    const lines = Array.from({ length: count }, (_, i) =>
      i === 69_999 ? '2020-01-01,x' : `2020-01-01,${i % 2 === 0 ? '2021-02-03' : ''}`,
    );
    const { id } = (await run(write(`a,b\n${lines.join('\n')}\n`), {
      inferTimestamps: true,
    })) as Imported;
    const answer = await rowan.query(`SELECT count(a), min(a), max(a), typeof(max(b)) FROM ${id}`, {
      rowNames: false,
    });
    const day = '2020-01-01T00:00:00Z';
    expect((answer as unknown[][])[1]).toEqual([count, day, day, 'string']);
  });
});

interface Way {
  readonly outputDatasetType?: string;
  readonly where?: string;
  readonly select?: string;
}

test('the result names a dataset that the caller did not', async () => {
  const procedure = `p${++count}`;
  await rowan.put(`/v1/procedures/${procedure}`, {
    type: 'import.text',
    params: { dataFileUrl: write('a\n1\n') },
  });
  const reply = await rowan.post(`/v1/procedures/${procedure}/runs`, {});
  const { status } = reply.json as { status: { outputDataset: string } };
  expect(status).toMatchObject({ rowCount: 1, numLineErrors: 0 });
  const sum = `SELECT sum(a) FROM "${status.outputDataset}"`;
  expect(await rowan.query(sum, { format: 'atom' })).toBe(1);
});

describe('lines', () => {
  test.each([{}, GENERAL])('drop a byte order mark (%o)', async (way) => {
    expect(await rows('\ufeffa\n1\n', way)).toEqual([
      ['_rowName', 'a'],
      ['2', 1],
    ]);
  });

  test.each([{}, GENERAL])('of UTF-16 are refused with what to do (%o)', async (way) => {
    const little = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('a,b\n1,2\n', 'utf16le')]);
    for (const text of [little, Buffer.from(little).swap16()]) {
      const refused = await run(write(text), way);
      expect((refused as RunError).error).toMatch(/csv is text in UTF-16; convert it to UTF-8/);
    }
  });

  test.each([{}, GENERAL])('that are empty are bad unless they end the text (%o)', async (way) => {
    expect(await fault('a\n\n1\n', way)).toMatchObject({
      error: expect.stringContaining('Error parsing CSV row: empty line'),
      details: { lineNumber: 2, columnNumber: 1, line: '', context: { error: 'empty line' } },
    });
    expect(await rows('a\n1\n\r\n\n', way)).toEqual([
      ['_rowName', 'a'],
      ['2', 1],
    ]);
  });

  test('that are empty can be skipped by the regular expression', async () => {
    const table = await rows('a\n\n1\n\n2\n', { skipLineRegex: '\\s*' });
    expect(table).toEqual([
      ['_rowName', 'a'],
      ['3', 1],
      ['5', 2],
    ]);
  });

  test('skipped before the header count', async () => {
    const table = await rows('# x\na\n1\n', { skipLineRegex: '#.*' });
    expect(table).toEqual([
      ['_rowName', 'a'],
      ['3', 1],
    ]);
  });

  test('skipped before generated headers are no data', async () => {
    const imported = await run(write('# x\n1,2\n3,4\n'), {
      skipLineRegex: '#.*',
      autoGenerateHeaders: true,
    });
    expect(imported).toMatchObject({
      table: [
        ['_rowName', '0', '1'],
        ['2', 1, 2],
        ['3', 3, 4],
      ],
      result: { rowCount: 3, numLineErrors: 0 },
    });
  });
});

describe('headers', () => {
  test('that several lines make are one line', async () => {
    const table = await rows('a,"b\nc"\n1,2\n', { allowMultiLines: true });
    expect(table).toEqual([
      ['_rowName', 'a', 'b c'],
      ['2', 1, 2],
    ]);
  });

  test.each([
    ['by column', {}],
    ['row by row', { select: '*, 1 AS one' }],
  ])('without any line below them are columns, %s', async (_way, params) => {
    const { id, result } = (await run(write('b,a\n'), params)) as Imported;
    expect(result.rowCount).toBe(0);
    const columns = (await rowan.get<string[]>(`/v1/datasets/${id}/columns`)).json;
    expect(columns.filter((name) => name !== 'one').sort()).toEqual(['a', 'b']);
  });

  test('without a name cannot be stored', async () => {
    expect(await rows('a,,c\n1,2,3\n')).toEqual([
      ['_rowName', 'a', 'c'],
      ['2', 1, 3],
    ]);
  });

  test('that are paths nest', async () => {
    const table = await rows('x.y,x.z\n1,2\n', { structuredColumnNames: true, select: 'x.z AS q' });
    expect(table).toEqual([
      ['_rowName', 'q'],
      ['2', 2],
    ]);
  });

  test('that repeat are named', async () => {
    expect(await fault('a,b,a\n')).toMatchObject({
      error: expect.stringContaining('Duplicate column name in CSV file'),
      details: { columnName: 'a' },
    });
  });
});

describe('encodings', () => {
  const bad = Buffer.concat([Buffer.from('a,b\n1,x'), Buffer.of(0xff), Buffer.from('y\n2,z\n')]);

  test.each([{}, GENERAL])('invalid UTF-8 is a bad line (%o)', async (way) => {
    expect(await fault(bad, way)).toMatchObject({
      error: expect.stringContaining('Invalid sequence within utf-8 string'),
      details: { lineNumber: 2 },
    });
    expect(await rows(bad, { ...way, ignoreBadLines: true })).toEqual([
      ['_rowName', 'a', 'b'],
      ['3', 2, 'z'],
    ]);
  });

  test.each([{}, GENERAL])('is not noticed in columns that nothing reads (%o)', async (way) => {
    const table = await rows(bad, { ...way, select: 'a' });
    expect(table).toEqual([
      ['_rowName', 'a'],
      ['2', 1],
      ['3', 2],
    ]);
  });

  test('bad bytes and control characters can be replaced', async () => {
    const text = Buffer.concat([bad, Buffer.from('3,p\u0001q\n')]);
    expect(await rows(text, { replaceInvalidCharactersWith: '?' })).toEqual([
      ['_rowName', 'a', 'b'],
      ['2', 1, 'x?y'],
      ['3', 2, 'z'],
      ['4', 3, 'p?q'],
    ]);
  });

  test('latin1 bytes are code points', async () => {
    const text = Buffer.from('a\ncaf\u00e9\n', 'latin1');
    expect(await rows(text, { encoding: 'ISO8859-1' })).toEqual([
      ['_rowName', 'a'],
      ['2', 'café'],
    ]);
  });
});

describe('expressions', () => {
  test('see the functions of the line', async () => {
    const url = write('a\n5\n');
    const imported = await run(url, {
      select: 'lineNumber() AS a, fileIndex() AS b, lineOffset() AS c, dataFileUrl() AS d',
    });
    expect(imported).toMatchObject({
      table: [
        ['_rowName', 'a', 'b', 'c', 'd'],
        ['2', 2, 0, 0, url],
      ],
    });
  });

  test('rowHash() is the hash of the row name, but not while it is made', async () => {
    const imported = await run(write('a\n5\n'), { named: "'r'", select: 'rowHash() AS h' });
    const { id } = imported as Imported;
    const query = `SELECT h = rowHash() AS same FROM ${id}`;
    expect((await rowan.get('/v1/query', { q: query, format: 'atom' })).json).toBe(1);
    expect((await fault('a\n5\n', { named: 'rowHash()' })).error).toContain(
      'rowHash() not available in this scope',
    );
  });

  test.each([
    ['zz', 'Unknown column name in import.text procedure', 'zz'],
    ['t.a', 'Unknown table name in import.text procedure', 't.a'],
  ])('refuse %s', async (select, message, columnName) => {
    expect(await fault('a,b\n1,2\n', { select })).toMatchObject({
      error: expect.stringContaining(message),
      details: { columnName, knownColumnNames: ['a', 'b'] },
    });
  });

  test.each(['{a, b} AS x', 'CASE WHEN a > 0 THEN {a} ELSE a END AS x', '[a, b] AS x'])(
    'refuse the row %s as a column',
    async (select) => {
      expect((await fault('a,b\n1,2\n', { select })).error).toContain(
        'Import select expression cannot have row-valued columns.',
      );
    },
  );

  test.each(['a AS x, b AS x', '*, a', '*, b AS a'])('refuse names twice: %s', async (select) => {
    expect((await fault('a,b\n1,2\n', { select })).error).toContain(
      'Duplicate column name in select expression',
    );
  });

  test('that fail end the run even if bad lines are ignored', async () => {
    const error = await fault('a,b\n,1\n', { ignoreBadLines: true, named: 'a' });
    expect(error.error).toContain("Can't create a row with a null name");
  });

  test('name rows with numbers, paths and texts', async () => {
    const table = await rows('a\n1.5\nx.y\n', { named: 'a' });
    expect(table.slice(1).map(([name]) => name)).toEqual(['"1.5"', '"x.y"']);
    expect((await fault('a,b\n,1\n', { named: 'a' })).error).toContain(
      "Can't create a row with a null name",
    );
    expect((await fault('a,b\n1,1\n', { named: '{a, b}' })).error).toContain(
      'Row names must be either a simple atom',
    );
  });

  test('write nested columns', async () => {
    const table = await rows('a,b\n1,2\n', { select: 'b + 1 AS z.y, a AS z.x' });
    expect(table).toEqual([
      ['_rowName', 'z.y', 'z.x'],
      ['2', 3, 1],
    ]);
  });
});

describe('several files', () => {
  test('fit by the names of their columns', async () => {
    const first = write('a,b\n1,x\n', 'm/1.csv');
    const second = write('b,a\ny,2\n', 'm/2.csv');
    const third = write('a\n3\n', 'm/3.csv');
    for (const way of [{}, GENERAL]) {
      expect(await run([first, second, third], way)).toMatchObject({
        table: [
          ['_rowName', 'a', 'b'],
          ['0.2', 1, 'x'],
          ['1.2', 2, 'y'],
          ['2.2', 3, null],
        ],
        result: { rowCount: 3, numLineErrors: 0 },
      });
    }
  });

  test('with other columns are refused, and named', async () => {
    const first = write('a\n1\n', 'n/1.csv');
    const second = write('a,c\n2,3\n', 'n/2.csv');
    expect(await run([first, second])).toMatchObject({
      error: expect.stringContaining(`Columns of file '${second}' do not match the first file`),
      details: { dataFileUrl: second },
    });
    const ignoring = await run([first, second], { ignoreExtraColumns: true });
    expect(ignoring).toMatchObject({
      table: [
        ['_rowName', 'a'],
        ['0.2', 1],
        ['1.2', 2],
      ],
    });
  });

  test('share limit and offset, and keep their own times', async () => {
    const first = write('a\n1\n2\n', 'o/1.csv');
    const second = write('a\n3\n4\n', 'o/2.csv');
    utimesSync(join(dir, 'o/1.csv'), 1000, 1000);
    const limited = await run(`file://${dir}/o/*.csv`, { offset: 1, limit: 2 });
    expect(limited).toMatchObject({
      table: [
        ['_rowName', 'a'],
        ['0.3', 2],
        ['1.2', 3],
      ],
    });
    const { id } = (await run([first, second])) as Imported;
    const q = `SELECT latest_timestamp(a) AS t FROM ${id} ORDER BY rowName() LIMIT 1`;
    const { json } = await rowan.get('/v1/query', { q, format: 'aos' });
    expect(JSON.stringify(json)).toContain('1970-01-01T00:16:40Z');
  });
});

describe('outputs', () => {
  test('that keep nulls get them', async () => {
    const outputDataset = { id: `s${++count}`, type: 'sparse.mutable' };
    await run(write('a,b\n1,\n'), { outputDataset });
    const reply = await rowan.get(`/v1/datasets/${outputDataset.id}`, {});
    expect(reply.json).toMatchObject({ status: { rowCount: 1, columnCount: 2, valueCount: 2 } });
  });

  test('get the columns that expressions make', async () => {
    const outputDataset = { id: `s${++count}`, type: 'sparse.mutable' };
    await run(write('t\nx y x\n'), {
      outputDataset,
      select: "tokenize(t, {splitChars: ' '}) AS *",
    });
    const query = { q: `SELECT x, y FROM ${outputDataset.id}`, format: 'table' };
    expect((await rowan.get('/v1/query', query)).json).toEqual([
      ['_rowName', 'x', 'y'],
      ['2', 2, 1],
    ]);
  });
});

/** What is read of the document of a run. */
interface Document {
  readonly state?: string;
  readonly progress?: { readonly steps: readonly { readonly value?: number }[] };
}

describe('runs', () => {
  test('stop while they wait for a server that sends no more', async () => {
    let hasSent = false;
    const server = createServer((_, reply) => {
      reply.write('a,b\n1,2\n', () => {
        hasSent = true;
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const id = `p${++count}`;
    const params = { dataFileUrl: `http://127.0.0.1:${port}/x.csv`, outputDataset: `${id}_out` };
    await rowan.put(`/v1/procedures/${id}`, { type: 'import.text', params });
    const running = rowan.put(`/v1/procedures/${id}/runs/1`, {});
    while (!hasSent) await new Promise((resolve) => setTimeout(resolve, 2));
    await rowan.put(`/v1/procedures/${id}/runs/1/state`, { state: 'cancelled' });
    expect((await running).status).toBe(409);
    expect((await rowan.get(`/v1/datasets/${id}_out`, {})).status).toBe(404);
    server.closeAllConnections();
    server.close();
  });

  test('stop when they are cancelled and leave nothing', async () => {
    const url = write('a,b\n'.concat('1,2\n'.repeat(400_000)), 'long.csv');
    const id = `p${++count}`;
    const params = { dataFileUrl: url, outputDataset: `${id}_out`, named: "'r' + lineNumber()" };
    await rowan.put(`/v1/procedures/${id}`, { type: 'import.text', params });
    const run = `/v1/procedures/${id}/runs/1`;
    const document = async () => (await rowan.get(run, {})).json as Document;
    const running = rowan.put(run, {});
    const isReading = ({ progress }: Document) => (progress?.steps[0]?.value ?? 0) > 0;
    while (!isReading(await document())) await new Promise((resolve) => setTimeout(resolve, 2));
    await rowan.put(`${run}/state`, { state: 'cancelled' });
    expect((await running).status).toBe(409);
    const { state, progress } = await document();
    expect(state).toBe('cancelled');
    expect(progress?.steps[0]?.value).toBeLessThan(400_000);
    expect((await rowan.get(`/v1/datasets/${id}_out`, {})).status).toBe(404);
    expect(statSync(join(dir, 'long.csv')).size).toBeGreaterThan(1_000_000);
  });
});

describe('lines that are too long', () => {
  /** The second of three data lines has 200 kB: it goes over the ends of units and of what is read at once. */
  const text = `x,y\n1,a\n2,${'long '.repeat(40_000)}\n3,c\n`;
  const ways: readonly [string, () => string, object][] = [
    ['a file', () => write(text), {}],
    ['a compressed file', () => write(gzipSync(text), `long${++count}.csv.gz`), {}],
    ['a file row by row', () => write(text), { where: 'true AND x > 0' }],
    [
      'a compressed file row by row',
      () => write(gzipSync(text), `long${++count}.csv.gz`),
      { named: 'x' },
    ],
  ];
  test.each(ways)('%s: the import ends with the number of the line', async (_name, url, params) => {
    for (const ignoreBadLines of [false, true]) {
      const refused = await run(url(), { ...params, maxLineBytes: 150_000, ignoreBadLines });
      expect((refused as RunError).error).toMatch(/line 3 of .* is longer than 150000 bytes/);
    }
    expect(await run(url(), { ...params, maxLineBytes: 200_002 })).toMatchObject({
      result: { rowCount: 3 },
    });
    expect(await run(url(), { ...params, maxLineBytes: 200_001 })).toMatchObject({
      details: { lineNumber: 3, maxLineBytes: 200_001 },
    });
  });

  test('a header is a line as well', async () => {
    const refused = await run(write(`${'x'.repeat(100)}\n1\n`), { maxLineBytes: 99 });
    expect((refused as RunError).error).toContain('line 1 of');
  });

  test('what is read of them is bounded by the limit, not by the line', async () => {
    const path = join(dir, 'endless.csv');
    const lineBytes = 512 * 2 ** 20;
    writeFileSync(path, 'x,y\n1,a\n2,');
    truncateSync(path, lineBytes);
    for (const params of [{}, { where: 'true AND x > 0' }]) {
      const before = process.resourceUsage().maxRSS;
      const refused = await run(`file://${path}`, { ...params, maxLineBytes: 2 ** 20 });
      expect((refused as RunError).error).toContain('line 3 of');
      expect(process.resourceUsage().maxRSS - before).toBeLessThan(lineBytes / 1024 / 4);
    }
  });
});
