// Uploads over HTTP and what is read of them: guesses, previews, imports, profiles.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { projectRoot } from '../../support/project.ts';

let rowan: Rowan;
let directory: string;
let base: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-upload-'));
  rowan = await Rowan.open({ dataDir: directory, workers: 1, uploadQuotaBytes: 100_000 });
  base = (await rowan.listen({ port: 0 })).replace(/\/$/, '');
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function put(name: string, content: Uint8Array | string, headers = {}) {
  const body = typeof content === 'string' ? content : new Uint8Array(content);
  const reply = await fetch(`${base}/v1/uploads/${name}`, { method: 'PUT', body, headers });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

async function guess(url: string, more = {}) {
  const reply = await rowan.post('/v1/imports', { url, ...more });
  expect(reply.status, reply.text).toBe(200);
  return reply.json as {
    procedure: { type: string; params: Record<string, unknown> };
    confidence: Record<string, number>;
    preview: { columns: { name: string; type: string }[]; rows: unknown[][] };
    warnings: string[];
  };
}

const CSV = 'name,born,score\nAda,1815-12-10,1.5\nBob,1900-01-01,2\n"C, D",1950-05-05,\n';

describe('uploads', () => {
  test('are kept, listed, read back in ranges, replaced and removed', async () => {
    const sha256 = createHash('sha256').update(CSV).digest('hex');
    const told = { name: 'people.csv', bytes: CSV.length, sha256, url: 'upload://people.csv' };
    expect(await put('people.csv', CSV)).toEqual({ status: 201, json: told });
    expect(await put('people.csv', CSV)).toEqual({ status: 200, json: told });
    const list = (await (await fetch(`${base}/v1/uploads`)).json()) as { name: string }[];
    expect(list).toMatchObject([{ name: 'people.csv', bytes: CSV.length }]);
    const range = { headers: { Range: 'bytes=0-3' } };
    const part = await fetch(`${base}/v1/uploads/people.csv`, range);
    expect([part.status, await part.text()]).toEqual([206, 'name']);
    expect(part.headers.get('content-disposition')).toContain('attachment');
    await put('gone.txt', 'x');
    const remove = () => fetch(`${base}/v1/uploads/gone.txt`, { method: 'DELETE' });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await fetch(`${base}/v1/uploads/gone.txt`)).status).toBe(404);
  });

  test.each(['.hidden', 'a%2Fb', 'a b', '..', 'x'.repeat(129)])(
    'refuse the name %j',
    async (name) => {
      const reply = await fetch(`${base}/v1/uploads/${encodeURI(name)}`, {
        method: 'PUT',
        body: 'x',
      });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.status).toBeLessThan(500);
    },
  );

  test('over the quota leave nothing behind', async () => {
    expect((await put('large.bin', new Uint8Array(200_000))).status).toBe(413);
    expect(readdirSync(join(directory, 'uploads'))).toEqual(['people.csv']);
  });

  test('do not come in parts', async () => {
    const headers = { 'Content-Range': 'bytes 0-0/2' };
    expect((await put('part.csv', 'x', headers)).status).toBe(400);
  });
});

describe('guessed imports', () => {
  test('of an upload are a procedure that can be put as it is', async () => {
    const { procedure, preview, confidence, warnings } = await guess('upload://people.csv');
    expect(procedure).toEqual({
      type: 'import.text',
      params: {
        dataFileUrl: 'upload://people.csv',
        outputDataset: 'people',
        inferTimestamps: true,
      },
    });
    expect(preview).toEqual({
      columns: [
        { name: 'name', type: 'string' },
        { name: 'born', type: 'timestamp' },
        { name: 'score', type: 'number' },
      ],
      rows: [
        ['Ada', '1815-12-10', 1.5],
        ['Bob', '1900-01-01', 2],
        ['C, D', '1950-05-05', null],
      ],
    });
    expect(confidence.header).toBeGreaterThan(0.6);
    expect(warnings).toEqual([]);
    const params = { ...procedure.params, runOnCreation: true };
    const reply = await rowan.put('/v1/procedures/guessed', { ...procedure, params });
    expect(reply.status).toBe(201);
    expect(
      await rowan.query("SELECT score FROM people WHERE name = 'Ada'", { format: 'atom' }),
    ).toBe(1.5);
  });

  test.each([
    ['semicolons', 'a;b\n1;2,5\n3;4,5\n', { delimiter: ';' }],
    ['tabs', 'a\tb\n1\t2\n', { delimiter: '\t' }],
    ['no header', '1,2\n3,4\n', { autoGenerateHeaders: true }],
    ['latin1', Buffer.from('a,b\né,1\n', 'latin1'), { encoding: 'latin1' }],
    ['lines', 'one line of text\nanother, with a comma\nthird\n', { delimiter: '', quoteChar: '' }],
    ['quoted line ends', 'a,b\n"x\ny",1\nz,2\n', { allowMultiLines: true }],
  ])('find %s', async (name, text, params) => {
    const path = join(directory, 'files', `${name}.txt`.replaceAll(' ', '-'));
    rmSync(path, { force: true });
    await import('node:fs/promises').then(({ mkdir }) =>
      mkdir(join(directory, 'files'), { recursive: true }),
    );
    writeFileSync(path, text);
    const { procedure } = await guess(`file://${path}`);
    expect(procedure.type).toBe('import.text');
    expect(procedure.params).toMatchObject(params);
  });

  test('of documents, compressed, show nested columns', async () => {
    await put('d.ndjson.gz', gzipSync('{"a":1,"b":{"c":"x"}}\n{"a":2.5}\nnothing\n'));
    const { procedure, preview, warnings } = await guess('upload://d.ndjson.gz', { rows: 1 });
    expect(procedure).toEqual({
      type: 'import.json',
      params: { dataFileUrl: 'upload://d.ndjson.gz', outputDataset: 'd', ignoreBadLines: true },
    });
    expect(preview).toEqual({
      columns: [
        { name: 'a', type: 'number' },
        { name: 'b.c', type: 'string' },
      ],
      rows: [[1, 'x']],
    });
    expect(warnings).toHaveLength(1);
  });

  test.each([
    ['plain.parquet', 'import.parquet'],
    ['plain.arrow', 'import.arrow'],
    ['nested.arrows', 'import.arrow'],
    ['book.xlsx', 'import.xlsx'],
  ])('of %s name the importer', async (name, type) => {
    await put(name, readFileSync(join(projectRoot, 'test/fixture/tables', name)));
    const { procedure } = await guess(`upload://${name}`);
    expect(procedure.type).toBe(type);
    const params = { ...procedure.params, runOnCreation: true };
    expect((await rowan.put('/v1/procedures/binary', { ...procedure, params })).status).toBe(201);
  });

  test('of what is no table are refused', async () => {
    await put(
      'x.bin',
      Uint8Array.from({ length: 100 }, (_, i) => i * 7),
    );
    const reply = await rowan.post('/v1/imports', { url: 'upload://x.bin' });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('neither text')]);
    expect((await rowan.post('/v1/imports', { url: 'upload://none.csv' })).status).toBe(400);
  });
});

describe('the profile of a dataset', () => {
  test('has counts, quantiles, frequent values and a histogram', async () => {
    await rowan.put('/v1/datasets/p', { type: 'sparse.mutable' });
    const rows = Array.from({ length: 40 }, (_, i) => [
      `r${i}`,
      [['n', i, 0], ['t', i % 4 === 0 ? 'x' : 'y', 0], ...(i < 10 ? [['few', i, 0]] : [])],
    ]);
    await rowan.post('/v1/datasets/p/multirows', rows);
    await rowan.post('/v1/datasets/p/commit');
    const reply = await rowan.get('/v1/datasets/p/profile');
    expect(reply.status, reply.text).toBe(200);
    const { rowCount, columns } = reply.json as { rowCount: number; columns: { name: string }[] };
    expect(rowCount).toBe(40);
    expect(columns.map(({ name }) => name)).toEqual(['few', 'n', 't']);
    expect(columns[0]).toMatchObject({ nulls: 30, distinct: 10, min: 0, max: 9, mean: 4.5 });
    expect(columns[1]).toMatchObject({
      type: 'integer',
      rows: 40,
      quantiles: { '0.25': 10, '0.5': 20, '0.75': 30 },
      histogram: { min: 0, max: 39, counts: new Array(20).fill(2) },
    });
    expect(columns[2]).toMatchObject({
      type: 'string',
      mostFrequent: [
        ['y', 30],
        ['x', 10],
      ],
    });
    const again = await rowan.get('/v1/datasets/p/profile?columns=["t","none"]');
    expect(again.json).toMatchObject({ columns: [{ name: 't' }, { name: 'none', nulls: 40 }] });
  });
});
