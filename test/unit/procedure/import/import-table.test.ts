// Parquet and Arrow files that other programs have written, and our own read back.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { projectRoot } from '../../../support/project.ts';

const TABLES = join(projectRoot, 'test/fixture/tables');

let rowan: Rowan;
let directory: string;
let count = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-tables-'));
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

function typeOf(file: string): string {
  return file.endsWith('.parquet') ? 'import.parquet' : 'import.arrow';
}

async function importFile(path: string, params: Record<string, unknown> = {}) {
  const id = `t${++count}`;
  const reply = await rowan.put(`/v1/procedures/p${count}`, {
    type: typeOf(path),
    params: { dataFileUrl: `file://${path}`, outputDataset: id, runOnCreation: true, ...params },
  });
  return { id, reply };
}

async function imported(file: string, params?: Record<string, unknown>): Promise<string> {
  const { id, reply } = await importFile(join(TABLES, file), params);
  expect(reply.status, reply.text).toBe(201);
  return id;
}

const rowsOf = (id: string) =>
  rowan.query(`SELECT * FROM ${id} ORDER BY rowPath()`, { format: 'aos', rowNames: false });

describe('values of every type', () => {
  const first = {
    b: 1,
    i8: -1,
    u32: 0,
    i64: 9007199254740993n,
    u64: 18446744073709551615n,
    f32: 0.5,
    f64: 1e300,
    d0: 12345,
    d2: 1.1,
    dbig: '12345678901234567890.123',
    s: 'héllo',
    bin: { blob: [0, 255] },
    day: { ts: '2020-01-02T00:00:00Z' },
    ms: { ts: '2020-01-02T03:04:05.678Z' },
    us: { ts: '2020-01-02T03:04:05.678901Z' },
    t: { interval: '1H 2M 3.5S' },
    cat: 'x',
  };
  const second = {
    b: 0,
    i8: 127,
    u32: 4294967295,
    i64: -5,
    u64: 7,
    f32: -2.25,
    f64: 0.1,
    d0: -1,
    d2: -0.01,
    dbig: 0.001,
    s: '',
    bin: { blob: [97] },
    day: { ts: '1969-12-31T00:00:00Z' },
    ms: { ts: '1960-01-01T00:00:00Z' },
    us: { ts: '1960-01-01T00:00:00Z' },
    t: { interval: '0S' },
    cat: 'y',
  };

  test.each(['plain.parquet', 'plain.arrow'])('are read from %s', async (file) => {
    const [a, b, c] = (await rowsOf(await imported(file))) as Record<string, unknown>[];
    expect(a).toEqual(first);
    expect(b).toEqual(second);
    expect(Object.values(c ?? {}).every((value) => value === null)).toBe(true);
  });

  test('timestamps of 96 bits are read', async () => {
    const id = await imported('plain-int96.parquet', { select: 'ms' });
    expect(await rowsOf(id)).toMatchObject([
      { ms: { ts: '2020-01-02T03:04:05.678Z' } },
      { ms: { ts: '1960-01-01T00:00:00Z' } },
      {},
    ]);
  });

  test.each(['nested.parquet', 'nested.arrows'])(
    'nested ones are columns below (%s)',
    async (file) => {
      const id = await imported(file);
      const rows = (await rowsOf(id)) as Record<string, unknown>[];
      const values = rows.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
      );
      expect(values).toEqual([
        {
          'list.0': 1,
          'list.1': 2,
          'deep.0.0': 'a',
          'deep.1.0': 'b',
          'deep.1.1': 'c',
          'struct.x': 1,
          'struct.y': 'p',
          'rows.0.k': 1,
          'rows.0.v.0': 'z',
          'rows.1.k': 2,
          'map.a': 1,
        },
        { 'struct.y': 'q', 'map.c': 3 },
        {},
      ]);
    },
  );

  test.each(['nested.parquet', 'nested.arrows'])(
    'atoms of lists may be names (%s)',
    async (file) => {
      const id = await imported(file, { arrays: 'encode', select: 'list' });
      expect(await rowsOf(id)).toMatchObject([{ 'list.1': 1, 'list.2': 1 }, {}, {}]);
    },
  );
});

describe('the same table of every writer', () => {
  const expected = Array.from({ length: 300 }, (_, n) => ({
    n,
    w: `w${n % 7}`,
    x: n % 3 === 0 ? null : n / 4,
  }));

  test.each([
    ...['none', 'snappy', 'gzip', 'brotli', 'zstd', 'lz4'].map((codec) => `many-${codec}.parquet`),
    ...['v2', 'delta', 'duckdb', 'polars', 'pandas'].map((kind) => `many-${kind}.parquet`),
    ...['many-lz4.feather', 'many-zstd.feather'],
  ])('%s', async (file) => {
    const id = await imported(file);
    const names = ((await rowsOf(id)) as Record<string, unknown>[]).map(({ n, w, x = null }) => ({
      n,
      w,
      x,
    }));
    names.sort((a, b) => (a.n as number) - (b.n as number));
    expect(names).toEqual(expected);
    expect((await rowan.get(`/v1/datasets/${id}`)).json).toMatchObject({
      status: { rowCount: 300 },
    });
  });

  test('rows go through expressions, several files are numbered', async () => {
    const id = await imported('many-zstd.parquet', {
      select: 'n + 1 AS m, lineNumber() AS l',
      where: 'n >= 250',
      named: "w + '/' + CAST (n AS STRING)",
      limit: 252,
      offset: 1,
      timestamp: "'2020-01-01'",
    });
    expect(await rowan.query(`SELECT * FROM ${id}`, { format: 'full' })).toEqual(
      [250, 251, 252].map((n) => ({
        rowName: `w${n % 7}/${n}`,
        columns: [
          ['l', n + 1, '2020-01-01T00:00:00Z'],
          ['m', n + 1, '2020-01-01T00:00:00Z'],
        ],
      })),
    );
    const both = await importFile(`${TABLES}/many-{gzip,zstd}.parquet`);
    expect(both.reply.json).toMatchObject({ status: { firstRun: { status: { rowCount: 600 } } } });
    const names = await rowan.query(`SELECT n FROM ${both.id} WHERE rowName() = '1.300'`, {
      format: 'atom',
    });
    expect(names).toBe(299);
  });
});

describe('what we write', () => {
  test.each([
    ['export.parquet', 'o.parquet', { compression: 'snappy', rowGroupSize: 2 }],
    ['export.parquet', 'z.parquet', { compression: 'zstd' }],
    ['export.parquet', 'g.parquet', { compression: 'gzip' }],
    ['export.parquet', 'n.parquet', { compression: 'none' }],
    ['export.arrow', 'o.arrow', { format: 'file' }],
    ['export.arrow', 'o.arrows', { format: 'stream' }],
    ['export.arrow', 'z.arrow', { compression: 'zstd' }],
    ['export.arrow', 'l.arrow', { compression: 'lz4' }],
    ['export.json', 'o.json', {}],
    ['export.json', 'o.json.gz', { structured: false }],
  ])('%s %s %j is what we read', async (type, file, more) => {
    const id = `w${++count}`;
    await rowan.put(`/v1/datasets/${id}`, { type: 'tabular', params: { unknownColumns: 'add' } });
    await rowan.post(`/v1/datasets/${id}/multirows`, [
      [
        'a',
        [
          ['i', 1, 0],
          ['d', 0.5, 0],
          ['s', 'x', 0],
          ['m', 1, 0],
          ['n.a', 7, 0],
          ['n.b', 'é', 0],
        ],
      ],
      [
        'b',
        [
          ['i', -3, 0],
          ['m', 'text', 0],
          ['n.a', 8, 0],
        ],
      ],
      [
        'c',
        [
          ['d', 1e100, 0],
          ['s', '"q"', 0],
          ['i', 9007199254740993n, 0],
        ],
      ],
    ]);
    await rowan.post(`/v1/datasets/${id}/commit`);
    const path = join(directory, file);
    const select = `SELECT * FROM ${id} ORDER BY rowName()`;
    const written = await rowan.put('/v1/procedures/e', {
      type,
      params: {
        exportData: select,
        dataFileUrl: `file://${path}`,
        rowNameColumn: 'rn',
        runOnCreation: true,
        ...more,
      },
    });
    expect(written.status, written.text).toBe(201);
    const read = await rowan.put('/v1/procedures/i', {
      type: type.replace('export', 'import'),
      params: {
        dataFileUrl: `file://${path}`,
        outputDataset: `${id}o`,
        named: 'rn',
        select: '* EXCLUDING (rn)',
        runOnCreation: true,
      },
    });
    expect(read.status, read.text).toBe(201);
    const strip = (rows: unknown) =>
      JSON.parse(JSON.stringify(rows, (_k, v: unknown) => (typeof v === 'bigint' ? String(v) : v)));
    const structured = (row: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name.replaceAll('"', ''), value]),
      );
    const ours = strip(
      await rowan.query(`SELECT i, d, s, n.a AS na, n.b AS nb FROM ${id} ORDER BY rowName()`, {
        format: 'aos',
      }),
    );
    const nested = !('structured' in more) && type === 'export.json';
    const [na, nb] = nested ? ['n.a', 'n.b'] : ['"n.a"', '"n.b"'];
    const theirs = strip(
      await rowan.query(`SELECT i, d, s, ${na} AS na, ${nb} AS nb FROM ${id}o ORDER BY rowName()`, {
        format: 'aos',
      }),
    );
    expect(theirs.map(structured)).toEqual(ours.map(structured));
  });
});

describe('damaged files', () => {
  test.each(['many-snappy.parquet', 'nested.parquet', 'plain.arrow', 'many-zstd.feather'])(
    '%s, cut anywhere, is refused and leaves nothing',
    async (file) => {
      const whole = readFileSync(join(TABLES, file));
      for (let share = 0; share < 100; share += 4) {
        const path = join(directory, file);
        writeFileSync(path, whole.subarray(0, Math.floor((whole.length * share) / 100)));
        const { id, reply } = await importFile(path);
        expect([share, reply.status]).toEqual([share, 400]);
        expect((await rowan.get(`/v1/datasets/${id}`)).status).toBe(404);
      }
    },
  );

  test.each(['many-snappy.parquet', 'nested.parquet', 'many-lz4.feather'])(
    '%s with flipped bits is read or refused',
    async (file) => {
      const whole = readFileSync(join(TABLES, file));
      for (let i = 0; i < 60; i++) {
        const bytes = Buffer.from(whole);
        const place = Math.floor((whole.length * (i * 61 + 7)) / 3700) % whole.length;
        bytes[place] = (bytes[place] as number) ^ (1 << (i % 8));
        const path = join(directory, file);
        writeFileSync(path, bytes);
        const { reply } = await importFile(path);
        expect([place, [201, 400].includes(reply.status), reply.text.slice(0, 300)]).toMatchObject([
          place,
          true,
          expect.anything(),
        ]);
      }
    },
  );
});
