// API keys, roles, and who may talk to a service without keys.

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { KeyStore } from '../../../src/rest/key/key-store.ts';
import type { Logger } from '../../../src/service/logger.ts';

const ADMIN_KEY = 'a-key-of-the-environment';
/** How a change that another process made is waited for. */
const POLLED = { timeout: 10_000, interval: 50 };

describe('a service with keys', () => {
  let folder: string;
  let rowan: Rowan;
  let origin: string;
  const keys: Record<string, string> = {};
  const logged: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rowan-keys-'));
    const log = (details: unknown, message: string) =>
      void logged.push(JSON.stringify([details, message]));
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    rowan = await Rowan.open({ dataDir: folder, adminKey: ADMIN_KEY, logger });
    origin = await rowan.listen({ hasAccessLog: true, corsOrigins: ['https://console.example'] });
    for (const role of ['reader', 'editor', 'admin']) {
      const { status, body } = await send('POST', '/v1/keys', ADMIN_KEY, { role, name: role });
      expect(status).toBe(201);
      keys[role] = (body as { key: string }).key;
    }
    await send('PUT', '/v1/datasets/d', ADMIN_KEY, { type: 'sparse.mutable' });
    const params = { expression: '1 AS y' };
    await send('PUT', '/v1/functions/f', ADMIN_KEY, { type: 'sql.expression', params });
    await send('PUT', '/v1/procedures/p', ADMIN_KEY, { type: 'null' });
  });

  afterAll(async () => {
    await rowan?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(verb: string, path: string, key?: string, body?: unknown, headers = {}) {
    const reply = await fetch(origin + path, {
      method: verb,
      headers: { ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: text && parse(text), text };
  }

  test('is open where it holds no data', async () => {
    for (const path of ['/ping', '/v1/health', '/doc/', '/openapi.json']) {
      expect([path, (await send('GET', path)).status]).toEqual([path, 200]);
    }
    expect((await send('GET', '/v1/health', 'wrong')).status).toBe(200);
  });

  test('asks for a key elsewhere', async () => {
    for (const path of ['/v1/datasets', '/v1/metrics', '/v1/nothing', '/', '/info']) {
      const reply = await send('GET', path);
      expect([path, reply.status]).toEqual([path, 401]);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
      expect(reply.body).toMatchObject({ code: 'UNAUTHENTICATED', httpCode: 401 });
    }
  });

  test('takes keys in two headers, and nowhere else', async () => {
    const key = keys.reader as string;
    expect((await send('GET', '/v1/types', key)).status).toBe(200);
    expect(
      (await send('GET', '/v1/types', undefined, undefined, { 'X-API-Key': key })).status,
    ).toBe(200);
    expect((await send('GET', `/v1/types?key=${key}`)).status).toBe(401);
    expect((await send('GET', '/v1/types', `${key}x`)).status).toBe(401);
    const basic = { Authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` };
    expect((await send('GET', '/v1/types', undefined, undefined, basic)).status).toBe(401);
  });

  test.each([
    ['GET', '/v1/datasets', 'reader', undefined],
    ['GET', '/v1/metrics', 'reader', undefined],
    ['POST', '/v1/query', 'reader', { q: 'SELECT 1' }],
    ['POST', '/v1/functions/f/application', 'reader', { input: {} }],
    ['POST', '/v1/functions/f/batch', 'reader', { input: [{}] }],
    ['POST', '/v1/redirect/get', 'reader', { target: '/v1/types', body: {} }],
    ['POST', '/v1/datasets/d/rows', 'editor', { rowName: 'r', columns: [['x', 1, 0]] }],
    ['POST', '/v1/datasets/d/commit', 'editor', undefined],
    [
      'PUT',
      '/v1/functions/g',
      'editor',
      { type: 'sql.expression', params: { expression: '1 AS x' } },
    ],
    ['DELETE', '/v1/functions/g', 'editor', undefined],
    ['POST', '/v1/procedures/p/runs', 'editor', {}],
    ['PUT', '/v1/plugins/j', 'admin', { type: 'javascript', params: { source: { main: '1' } } }],
    ['POST', '/v1/types/plugins/javascript/routes/run', 'admin', { source: '1' }],
    ['GET', '/v1/credentials', 'admin', undefined],
    ['GET', '/v1/keys', 'admin', undefined],
  ] as const)('%s %s needs %s', async (verb, path, needed, body) => {
    const roles = ['reader', 'editor', 'admin'] as const;
    for (const role of roles) {
      const reply = await send(verb, path, keys[role] as string, body);
      const isAllowed = roles.indexOf(role) >= roles.indexOf(needed);
      expect([role, reply.status < 300, reply.status], reply.text).toEqual([
        role,
        isAllowed,
        isAllowed ? reply.status : 403,
      ]);
      if (isAllowed) continue;
      expect(reply.body).toMatchObject({ code: 'FORBIDDEN', details: { requiredRole: needed } });
    }
  });

  test('checks the target of a redirect again', async () => {
    const body = { target: '/v1/keys', body: {} };
    expect((await send('POST', '/v1/redirect/get', keys.reader, body)).status).toBe(403);
  });

  test('keeps only hashes, and shows keys once', async () => {
    const stored = readFileSync(join(folder, 'keys.json'), 'utf8');
    const list = await send('GET', '/v1/keys', ADMIN_KEY);
    expect((list.body as { role: string }[]).map(({ role }) => role)).toEqual([
      'reader',
      'editor',
      'admin',
    ]);
    for (const key of Object.values(keys)) {
      expect(key).toMatch(/^rwn_[A-Za-z0-9_-]{43}$/);
      expect(stored + list.text).not.toContain(key);
    }
    expect(list.text).not.toContain('hash');
    expect(statSync(join(folder, 'keys.json')).mode & 0o077).toBe(0);
  });

  test('refuses an expired key by name', async () => {
    const made = await send('POST', '/v1/keys', ADMIN_KEY, {
      role: 'reader',
      expires: '2020-01-01',
    });
    const { id, key } = made.body as { id: string; key: string };
    const reply = await send('GET', '/v1/types', key);
    expect([reply.status, reply.body]).toMatchObject([401, { error: expect.stringContaining(id) }]);
    expect((await send('DELETE', `/v1/keys/${id}`, ADMIN_KEY)).status).toBe(204);
  });

  test('follows keys that another process makes and revokes', async () => {
    const other = new KeyStore(folder);
    const { key, stored } = await other.create({ role: 'reader' });
    const statusWith = async () => (await send('GET', '/v1/types', key)).status;
    await expect.poll(statusWith, POLLED).toBe(200);
    await other.revoke(stored.id, () => undefined);
    await expect.poll(statusWith, POLLED).toBe(401);
  });

  test('answers the origins it was told, and no others', async () => {
    const ask = (Origin: string) => send('GET', '/v1/health', undefined, undefined, { Origin });
    const known = await ask('https://console.example');
    expect(known.headers.get('access-control-allow-origin')).toBe('https://console.example');
    const unknown = await ask('https://evil.example');
    expect(unknown.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('logs requests without their secrets', async () => {
    await send('GET', '/v1/keys?secret=hidden-one', ADMIN_KEY);
    await send('PUT', '/v1/credentials/c', ADMIN_KEY, {
      store: { resourceType: 'http', resource: 'http://h/', credential: { secret: 'hidden-two' } },
    });
    const text = logged.join('\n');
    expect(text).toContain('"path":"/v1/credentials/c"');
    for (const secret of [ADMIN_KEY, 'hidden-one', 'hidden-two', ...Object.values(keys)]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('a service without keys', () => {
  let rowan: Rowan | undefined;

  afterEach(async () => {
    await rowan?.close();
    rowan = undefined;
  });

  test('does not listen on a public address', async () => {
    rowan = await Rowan.open({ dataDir: null });
    for (const host of ['0.0.0.0', '*', '']) {
      await expect(rowan.listen({ host })).rejects.toThrow(/rowan keys create/);
    }
    expect(await rowan.listen({ host: '0.0.0.0', allowUnauthenticated: true })).toMatch(/^http:/);
  });

  test('keeps its last admin key while its address is public', async () => {
    rowan = await Rowan.open({ dataDir: null });
    const { stored, key } = await rowan.web.keys.create({ role: 'admin' });
    const address = await rowan.listen({ host: '0.0.0.0' });
    const url = `http://127.0.0.1:${new URL(address).port}/v1/keys/${stored.id}`;
    const headers = { 'X-API-Key': key };
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(409);
    await rowan.web.keys.create({ role: 'admin' });
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204);
  });

  test('lets nobody in who can reach it from elsewhere, once its last key is gone', async () => {
    rowan = await Rowan.open({ dataDir: null });
    const { stored } = await rowan.web.keys.create({ role: 'admin' });
    const address = await rowan.listen({ host: '0.0.0.0' });
    const url = `http://127.0.0.1:${new URL(address).port}/v1/types`;
    await rowan.web.keys.revoke(stored.id, () => undefined);
    expect((await fetch(url)).status).toBe(401);
    const { key } = await rowan.web.keys.create({ role: 'admin' });
    expect((await fetch(url, { headers: { 'X-API-Key': key } })).status).toBe(200);
  });
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
