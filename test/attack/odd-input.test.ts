// Attacks by input that is only just possible: bodies that hold memory, ids that no header can
// bear, members that are no members, a key that locks everybody out, links that lead out.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { BodyMemory } from '../../src/rest/body/body-memory.ts';
import { chooseRule, parseCredentialRule } from '../../src/service/credential/credential.ts';

let folder: string;
let rowan: Rowan;
let origin: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rowan-odd-'));
  rowan = await Rowan.open({ dataDir: join(folder, 'data'), workers: 1 });
  origin = await rowan.listen({ bodyMemoryBytes: 40e6 });
});
afterAll(async () => {
  await rowan?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('bodies of all requests together', () => {
  const post = (sizeBytes: number) =>
    fetch(`${origin}/v1/query`, {
      ...{ method: 'POST', body: gzipSync(Buffer.alloc(sizeBytes, 32)) },
      headers: { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' },
    });

  test('are bounded after decompressing, and given back', async () => {
    for (let i = 0; i < 3; i++) {
      const refused = await post(50e6);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await post(30e6)).status).toBe(400);
    }
    expect((await fetch(`${origin}/v1/query?q=SELECT%201`)).status).toBe(200);
  });

  test('share one bound', () => {
    const memory = new BodyMemory(100);
    const [one, other] = [memory.open(), memory.open()];
    one.hold(60);
    other.hold(40);
    expect(() => other.hold(1)).toThrow(/try again later/);
    one.release();
    one.release();
    other.hold(1);
    expect(memory.heldBytes).toBe(41);
  });
});

describe('ids', () => {
  test.each([
    ['half a surrogate pair', '\ud800'],
    ['too long', 'é'.repeat(600)],
  ])('%s are refused, and nothing exists afterwards', async (_, id) => {
    const before = (await rowan.get('/v1/datasets')).json;
    for (const [kind, type] of [
      ['datasets', 'sparse.mutable'],
      ['procedures', 'null'],
    ]) {
      const reply = await rowan.post(`/v1/${kind}`, { id, type });
      expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('an id is')]);
    }
    expect((await rowan.get('/v1/datasets')).json).toEqual(before);
    await rowan.put('/v1/procedures/p', { type: 'null' });
    expect((await rowan.post('/v1/procedures/p/runs', { id })).status).toBe(400);
  });
});

test('__proto__ in the parameters of a run is an unknown field', async () => {
  await rowan.put('/v1/procedures/p', { type: 'mock', params: { durationMs: 1 } });
  const reply = await fetch(`${origin}/v1/procedures/p/runs`, {
    method: 'POST',
    body: '{"params":{"__proto__":{"durationMs":60000}}}',
  });
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('__proto__')]);
});

test('a first key that is no administrator\u2019s is refused: it would lock everybody out', async () => {
  const post = (role: string) => rowan.post('/v1/keys', { role });
  expect((await post('reader')).status).toBe(409);
  expect(rowan.web.keys.keys).toEqual([]);
});

test('a plugin serves no folder that a link leads to', async () => {
  const plugin = join(folder, 'plugin');
  const secret = join(folder, 'secret');
  mkdirSync(plugin);
  mkdirSync(secret);
  writeFileSync(join(secret, 'x.txt'), 'hidden');
  symlinkSync(secret, join(plugin, 'static'));
  writeFileSync(join(plugin, 'main.js'), "plugin.serveStaticFolder('/s', 'static')");
  const params = { address: `file://${plugin}` };
  const reply = await rowan.put('/v1/plugins/linked', { type: 'javascript', params });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('outside')]);
});

test('the value of a script that is nested too deep is refused, whatever makes it', async () => {
  const source = 'let a = []; for (let i = 0; i < 600; i++) a = [a]; a';
  const run = await rowan.post('/v1/types/plugins/javascript/routes/run', { source });
  expect([run.status, run.text]).toEqual([400, expect.stringContaining('512 levels')]);
  const main =
    'plugin.setStatusHandler(() => { let a = []; for (let i = 0; i < 600; i++) a = [a]; return a; })';
  await rowan.put('/v1/plugins/deep', { type: 'javascript', params: { source: { main } } });
  expect((await rowan.get('/v1/plugins/deep')).status).toBe(400);
});

test('a long chain of functions works, an endless one names its members', async () => {
  const put = (id: string, expression: string) =>
    rowan.put(`/v1/functions/${id}`, { type: 'sql.expression', params: { expression } });
  await put('f0', '1 AS x');
  for (let i = 1; i <= 45; i++) await put(`f${i}`, `f${i - 1}({})[x] + 1 AS x`);
  expect((await rowan.get('/v1/functions/f45/application', { input: '{}' })).text).toContain('46');
  await put('ping', 'pong({})[x] AS x');
  await put('pong', 'ping({})[x] AS x');
  const reply = await rowan.get('/v1/functions/ping/application', { input: '{}' });
  expect(reply.text).toMatch(/'p[io]ng' calls 'p[io]ng' calls 'p[io]ng'/);
});

describe('credentials go to whole components of addresses only', () => {
  const rule = (resource: string) =>
    parseCredentialRule({ resourceType: 'http', resource, credential: { secret: 's' } });
  test.each([
    ['http://127.0.0.1:839', 'http://127.0.0.1:8391/x', false],
    ['http://127.0.0.1:839', 'http://127.0.0.1:839/x', true],
    ['http://host', 'http://host.evil/x', false],
    ['http://host', 'http://host:80/x', true],
    ['http://host', 'http://host:8080/x', false],
    ['http://host', 'https://host/x', false],
    ['http://host/data', 'http://host/data-of-others/x', false],
    ['http://host/data', 'http://host/data/x', true],
    ['http://host/data/', 'http://host/data/x', true],
    ['http://host/data', 'http://host/data/../other', false],
    ['http://host', 'http://host@evil/x', false],
    ['http://', 'http://anything/x', true],
    ['', 'http://anything/x', true],
  ])('%s for %s: %s', (resource, url, isSent) => {
    expect(chooseRule([rule(resource)], 'http', url, 0) !== undefined).toBe(isSent);
  });
});
