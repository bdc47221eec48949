// Attack: an editor leaves code where an administrator, or the service at its next start, runs it.
// Scripts and URLs in an entity get the lower of two roles: the caller's and its maker's.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import type { LocalClient } from '../../src/service/rowan.ts';

let dataDir: string;
let rowan: Rowan;
let editor: LocalClient;
let reader: LocalClient;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rowan-roles-'));
  await open();
});
afterEach(async () => {
  await rowan.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(): Promise<void> {
  rowan = await Rowan.open({ dataDir, workers: 1 });
  editor = rowan.as('editor');
  reader = rowan.as('reader');
}

/** SQL that makes an admin key, when it may. */
const MAKES_KEY = `jseval('return mldb.perform("POST", "/v1/keys", [], {role: "admin"}).responseCode', 'x', 1)`;

const keyCount = () => rowan.web.keys.keys.length;

async function put(client: LocalClient, path: string, type: string, params: object): Promise<void> {
  const reply = await client.put(path, { type, params });
  expect(reply.status, reply.text).toBe(201);
}

test('the code does what it is meant to, where it may', async () => {
  const reply = await rowan.get('/v1/query', { q: `SELECT ${MAKES_KEY} AS y`, format: 'aos' });
  expect(reply.text).toContain('201');
  expect(keyCount()).toBe(1);
});

test('a function of an editor that an administrator calls', async () => {
  await put(editor, '/v1/functions/f', 'sql.expression', { expression: `${MAKES_KEY} AS y` });
  await put(editor, '/v1/functions/g', 'sql.expression', {
    expression: `jseval('return mldb.perform("POST", "/v1/keys", [], {role: "admin"}).responseCode', 'x', x) AS y`,
    prepared: true,
  });
  await put(editor, '/v1/functions/h', 'sql.query', { query: `SELECT ${MAKES_KEY} AS y` });
  // What an administrator makes of it does not lift its rights.
  await put(rowan, '/v1/functions/outer', 'sql.expression', { expression: 'g({x: x}) AS y' });
  const calls = [
    rowan.get('/v1/functions/f/application', { input: '{}' }),
    rowan.get('/v1/functions/g/application', { input: '{"x":1}' }),
    rowan.get('/v1/functions/h/application', { input: '{}' }),
    rowan.get('/v1/functions/outer/application', { input: '{"x":1}' }),
    rowan.get('/v1/functions/g/batch', { input: '[{"x":1}]' }),
    rowan.get('/v1/query', { q: 'SELECT f({}), g({x: 1}), h({})', format: 'aos' }),
    rowan.get('/v1/functions/f'),
    rowan.get('/v1/functions/f/info'),
  ];
  for (const reply of await Promise.all(calls)) {
    expect(reply.text).not.toContain('201');
  }
  expect(keyCount()).toBe(0);
  // The limit ends with the call.
  const q = `SELECT g({x: 1})[y] AS a, ${MAKES_KEY} AS b`;
  const mixed = await rowan.get('/v1/query', { q, format: 'aos' });
  expect(JSON.parse(mixed.text)).toMatchObject([{ a: 403, b: 201 }]);
});

test('a function of an administrator that a reader calls', async () => {
  await put(rowan, '/v1/functions/f', 'sql.expression', { expression: `${MAKES_KEY} AS y` });
  await reader.get('/v1/functions/f/application', { input: '{}' });
  expect(keyCount()).toBe(0);
});

test('a procedure of an editor that an administrator runs', async () => {
  await put(editor, '/v1/procedures/p', 'transform', {
    inputData: `SELECT ${MAKES_KEY} AS y FROM (SELECT 1)`,
    outputDataset: 'out',
  });
  expect((await rowan.post('/v1/procedures/p/runs', {})).status).toBe(201);
  expect(keyCount()).toBe(0);
});

test('a dataset of an editor that the next start brings back', async () => {
  for (const id of ['a', 'b']) {
    await put(editor, `/v1/datasets/${id}`, 'sparse.mutable', {});
    await editor.post(`/v1/datasets/${id}/rows`, { rowName: '1', columns: [['x', 1, 0]] });
    await editor.post(`/v1/datasets/${id}/commit`);
  }
  await put(editor, '/v1/datasets/joined', 'joined', {
    left: 'a',
    right: 'b',
    on: `a.x = b.x AND ${MAKES_KEY} != 0`,
  });
  await put(editor, '/v1/functions/kept', 'sql.expression', {
    expression: `jseval('return mldb.perform("POST", "/v1/keys", [], {role: "admin"}).responseCode', 'x', x) AS y`,
  });
  await rowan.close();
  await open();
  expect((await rowan.get('/v1/datasets/joined')).json).toMatchObject({ state: 'ok' });
  const reply = await rowan.get('/v1/functions/kept/application', { input: '{"x":1}' });
  expect(reply.text).toContain('403');
  expect(keyCount()).toBe(0);
});

test('a file that readers may not read, by way of a function of an editor', async () => {
  const path = join(dataDir, 'files-of-users.txt');
  writeFileSync(path, 'content');
  await put(editor, '/v1/functions/read', 'sql.expression', {
    expression: `fetcher(url)[content] AS c`,
  });
  const input = JSON.stringify({ url: `file://${path}` });
  const reply = await reader.get('/v1/functions/read/application', { input });
  expect(reply.text).toContain('needs the role editor');
});
