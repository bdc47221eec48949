// What each role may do, by every way that leads there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { HttpClient } from '../support/http.ts';

let rowan: Rowan;
let client: HttpClient;
const keys: Record<string, string> = {};

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null });
  client = new HttpClient(await rowan.listen({ host: '127.0.0.1', port: 0 }));
  for (const role of ['admin', 'editor', 'reader']) {
    const reply = await rowan.post('/v1/keys', { role });
    keys[role] = (reply.json as { key: string }).key;
  }
  await rowan.put('/v1/procedures/admins', { type: 'script.run', params: SCRIPT });
});

afterAll(async () => {
  client?.close();
  await rowan?.close();
});

const SCRIPT = { scriptConfig: { source: '1' } };

function as(role: string, verb: string, path: string, body?: unknown) {
  return client.send(verb, path, body, { 'x-api-key': keys[role] as string });
}

const script = { type: 'script.run', params: SCRIPT };
const program = { type: 'javascript', params: { source: { main: '1' } } };

/** Ways to run a program, for administrators only. */
const PROGRAMS: readonly [way: string, verb: string, path: string, body: unknown][] = [
  ['a plugin', 'PUT', '/v1/plugins/x', program],
  ['script.run', 'PUT', '/v1/procedures/x', script],
  ['script.apply', 'PUT', '/v1/functions/x', { ...script, type: 'script.apply' }],
  ['a script route', 'POST', '/v1/types/plugins/javascript/routes/run', { source: '1' }],
  ['a run of a script', 'POST', '/v1/procedures/admins/runs', SCRIPT],
  ['a run of a serial', 'PUT', '/v1/procedures/x', serial([{ id: 'admins' }])],
  ['a step', 'PUT', '/v1/procedures/x', serial([script])],
  ['a serial function', 'PUT', '/v1/functions/x', steps([{ ...script, type: 'script.apply' }])],
  ['createEntity', 'PUT', '/v1/procedures/x', creation({ kind: 'plugin', ...program })],
  [
    'permutations',
    'PUT',
    '/v1/procedures/x',
    {
      type: 'permuter.run',
      params: { procedure: script, permutations: { args: [1] }, runOnCreation: true },
    },
  ],
];

function steps(list: readonly object[]): object {
  return { type: 'serial', params: { steps: list } };
}

function serial(list: readonly object[]): object {
  return { type: 'serial', params: { steps: list, runOnCreation: true } };
}

function creation(entity: object): object {
  return { type: 'createEntity', params: { ...entity, runOnCreation: true } };
}

describe.each(PROGRAMS)('by %s', (_, verb, path, body) => {
  test('an administrator runs a program and an editor does not', async () => {
    const refused = await as('editor', verb, path, body);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('FORBIDDEN')]);
    const allowed = await as('admin', verb, path, body);
    expect([allowed.status, allowed.text]).toEqual([
      expect.toSatisfy((status: number) => status === 200 || status === 201),
      expect.any(String),
    ]);
    await as('admin', 'DELETE', '/v1/procedures/x');
  });
});

test('a refused run leaves no entry', async () => {
  const before = (await as('admin', 'GET', '/v1/procedures/admins/runs')).text;
  expect((await as('editor', 'POST', '/v1/procedures/admins/runs', {})).status).toBe(403);
  expect((await as('admin', 'GET', '/v1/procedures/admins/runs')).text).toBe(before);
});

const LOCAL_FILES = [
  "SELECT fetcher('file:///etc/hostname') AS x",
  "SELECT jseval('return mldb.openStream(\"file:///etc/hostname\").readLine()', '') AS x",
  "SELECT fetcher('archive+file:///a.zip#b') AS x",
];

test.each(LOCAL_FILES)('a reader sees no local file by %s', async (q) => {
  const refused = await as('reader', 'POST', '/v1/query', { q });
  expect([refused.status, refused.text]).toEqual([
    expect.toSatisfy((status: number) => status === 403 || status === 400),
    expect.stringContaining('needs the role editor'),
  ]);
  const redirected = await as('reader', 'POST', '/v1/redirect/get', {
    target: '/v1/query',
    body: { q },
  });
  expect(redirected.text).toContain('needs the role editor');
  expect((await as('editor', 'POST', '/v1/query', { q })).text).not.toContain('needs the role');
});
