import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

describe('the console', () => {
  let rowan: Rowan;
  let origin: string;

  beforeAll(async () => {
    rowan = await Rowan.open({ dataDir: null });
    origin = await rowan.listen({ host: '127.0.0.1', port: 0 });
  });

  afterAll(() => rowan?.close());

  const page = { headers: { accept: 'text/html,*/*' } };

  test('is what browsers get at /, with a policy that names no unsafe source', async () => {
    const reply = await fetch(origin, page);
    expect(reply.headers.get('content-type')).toContain('text/html');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = reply.headers.get('content-security-policy') as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const text = await reply.text();
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
    expect(text).toContain(`nonce="${nonce}"`);
    const again = await fetch(origin, page);
    expect(again.headers.get('content-security-policy')).not.toBe(policy);
  });

  test('leaves the help document to programs', async () => {
    const reply = await fetch(origin);
    expect(await reply.json()).toHaveProperty(['/v1/query GET,POST']);
  });

  test('serves its files for good, as their names change with their content', async () => {
    const text = await (await fetch(origin, page)).text();
    const names = [...text.matchAll(/(?:src|href|data-worker)="(console\/[^"]+)"/g)];
    expect(names.length).toBeGreaterThan(2);
    for (const [, name] of names) {
      const reply = await fetch(`${origin}/${name}`);
      expect([name, reply.status]).toEqual([name, 200]);
      expect(reply.headers.get('cache-control')).toContain('immutable');
    }
    const missing = await fetch(`${origin}/console/main-12345678.js`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get('cache-control')).toBeNull();
  });

  test('can be turned off', async () => {
    const other = await Rowan.open({ dataDir: null });
    const address = await other.listen({ host: '127.0.0.1', port: 0, hasConsole: false });
    const reply = await fetch(address, { ...page, redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/doc/']);
    await other.close();
  });

  test('may be loaded without a key, which its calls then need', async () => {
    const other = await Rowan.open({ dataDir: null, adminKey: 'secret' });
    const address = await other.listen({ host: '127.0.0.1', port: 0 });
    expect((await fetch(address, page)).status).toBe(200);
    expect((await fetch(address)).status).toBe(401);
    expect((await fetch(`${address}/v1/keys/current`)).status).toBe(401);
    const own = await fetch(`${address}/v1/keys/current`, { headers: { 'x-api-key': 'secret' } });
    expect(await own.json()).toEqual({ role: 'admin' });
    await other.close();
  });
});

describe('routes for consoles', () => {
  let rowan: Rowan;

  beforeAll(async () => {
    rowan = await Rowan.open({ dataDir: null });
    for (const id of ['a', 'b']) {
      await rowan.put(`/v1/procedures/${id}`, { type: 'null' });
      await rowan.post(`/v1/procedures/${id}/runs`, {});
    }
    await rowan.put('/v1/procedures/c', {
      type: 'transform',
      params: { inputData: 'SELECT nope()' },
    });
  });

  afterAll(() => rowan?.close());

  test('GET /v1/runs lists the runs of all procedures, newest first', async () => {
    const { json } = await rowan.get<Record<string, unknown>[]>('/v1/runs');
    expect(json.map(({ procedure, type, state }) => [procedure, type, state])).toEqual([
      ['b', 'null', 'finished'],
      ['a', 'null', 'finished'],
    ]);
    const one = await rowan.get<unknown[]>('/v1/runs', { procedure: 'a', state: 'finished,error' });
    expect(one.json).toMatchObject([{ procedure: 'a' }]);
    const before = json[0]?.runStarted as string;
    const older = await rowan.get<unknown[]>('/v1/runs', { before });
    expect(older.json.length).toBeLessThan(2);
    expect((await rowan.get('/v1/runs', { limit: 0 })).json).toEqual([]);
  });

  test('GET /v1/runs refuses what it does not know', async () => {
    for (const query of [{ state: 'done' }, { limit: 1001 }, { limit: -1 }, { before: 'then' }]) {
      const reply = await rowan.get('/v1/runs', query);
      expect([query, reply.status]).toEqual([query, 400]);
    }
  });

  test('GET /v1/sql tells words and functions of the language', async () => {
    const { json } = await rowan.get<{
      keywords: string[];
      functions: { name: string; signature: string; kind: string }[];
    }>('/v1/sql');
    expect(json.keywords).toContain('SELECT');
    const count = json.functions.find(({ name }) => name === 'count');
    expect(count?.kind).toBe('aggregate');
    expect(count?.signature).toMatch(/^count\(/);
  });
});
