// Tables of SQLite files as other programs write them.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let directory: string;
let path: string;
let database: InstanceType<typeof sqlite.Database>;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan.close());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-test-sqlite-'));
  path = join(directory, 'file.sqlite');
  database = new sqlite.Database(path);
});
afterEach(() => {
  if (database.isOpen) database.close();
  rmSync(directory, { recursive: true, force: true });
});

async function importTable(params: object = {}) {
  const reply = await rowan.put('/v1/procedures/x', {
    type: 'import.sqlite',
    params: {
      dataFileUrl: `file://${path}`,
      outputDataset: 'made',
      runOnCreation: true,
      ...params,
    },
  });
  return { status: reply.status, error: (reply.json as { error?: string }).error };
}

const rows = (sql = 'SELECT * FROM made') => rowan.query(sql, { format: 'aos' });

test('values of all kinds come as they are', async () => {
  database.exec(`
    CREATE TABLE things ("a b" INTEGER, x REAL, s TEXT, raw BLOB, big INTEGER, any);
    INSERT INTO things VALUES (1, 0.5, 'é"', x'0102', 9007199254740993, 'text'), (NULL, -2, '', NULL, -3, 7.5);
  `);
  database.close();
  expect(await importTable()).toMatchObject({ status: 201 });
  expect(await rows()).toEqual([
    {
      _rowName: '1',
      'a b': 1,
      x: 0.5,
      s: 'é"',
      raw: { blob: [1, 2] },
      big: 9007199254740993n,
      any: 'text',
    },
    { _rowName: '2', x: -2, s: '', big: -3, any: 7.5 },
  ]);
});

test('expressions, a view and a part of the rows', async () => {
  database.exec(`
    CREATE TABLE n (i INTEGER PRIMARY KEY, odd);
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300000)
      INSERT INTO n SELECT i, i % 2 FROM c;
    CREATE VIEW squares AS SELECT i, i * i AS square FROM n;
  `);
  database.close();
  expect(await importTable({ table: 'Squares' })).toMatchObject({ status: 201 });
  const sums = 'SELECT count(*) AS n, sum(square) AS s FROM made';
  expect(await rows(sums)).toMatchObject([{ n: 300_000, s: 9_000_045_000_050_000 }]);
  const some = {
    table: 'n',
    select: 'i * 2 AS twice',
    where: 'odd = 1',
    named: "'r' || i",
    offset: 10,
    limit: 4,
  };
  expect(await importTable(some)).toEqual({ status: 201, error: undefined });
  expect(await rows()).toEqual([
    { _rowName: 'r11', twice: 22 },
    { _rowName: 'r13', twice: 26 },
  ]);
});

test('what is in the log of a program that still writes is read, and nothing is left behind', async () => {
  database.exec(`
    PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;
    CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);
  `);
  expect(existsSync(`${path}-wal`)).toBe(true);
  const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('rowan-sqlite-'));
  const before = copies();
  expect(await importTable()).toMatchObject({ status: 201 });
  expect(await rows('SELECT sum(a) AS s FROM made')).toMatchObject([{ s: 3 }]);
  expect(await importTable({ where: 'a.b' })).toMatchObject({ status: 201 });
  expect(await importTable({ table: 'gone' })).toMatchObject({ status: 400 });
  expect(copies()).toEqual(before);
});

test('which table is to be said when there are several or none', async () => {
  expect((await importTable()).error).toContain(
    'the parameter table says which table to read; it has none',
  );
  database.exec('CREATE TABLE a (x); CREATE TABLE b (x)');
  database.close();
  expect((await importTable()).error).toContain('says which table to read; accepted are a, b');
  expect((await importTable({ table: 'c' })).error).toContain('has no table c; accepted are a, b');
  expect(await importTable({ table: 'B' })).toMatchObject({ status: 201 });
});

test('a file that is cut off is refused, and leaves no dataset', async () => {
  database.exec(`
    CREATE TABLE n (i, s);
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000)
      INSERT INTO n SELECT i, 'a text of some length ' || i FROM c;
  `);
  database.close();
  truncateSync(path, statSync(path).size >> 1);
  const { status, error } = await importTable({ outputDataset: 'cut' });
  expect(status).toBe(400);
  expect(error).toContain('file.sqlite is no SQLite database that can be read');
  expect((await rowan.perform('GET', '/v1/datasets/cut')).status).toBe(404);
});

test('other files are refused with the reason', async () => {
  database.exec('CREATE TABLE a (x); INSERT INTO a VALUES (1)');
  database.close();
  writeFileSync(path, 'a text that is no database'.repeat(100));
  const { status, error } = await importTable();
  expect(status).toBe(400);
  expect(error).toMatch(/file\.sqlite is no SQLite database that can be read: .*not a database/);
  rmSync(path);
  expect((await importTable()).error).toContain('No such file or directory');
});
