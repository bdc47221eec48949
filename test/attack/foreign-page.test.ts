// Attack: a web page that somebody opens on the machine of a service without keys sends requests to
// it, reads the replies, or only makes the browser follow a link. All of them must be refused,
// whatever the verb; what holds no data stays open, and nobody is sent CORS headers unasked.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { HttpClient } from '../support/http.ts';

type Headers = Readonly<Record<string, string>>;

const EVIL = 'https://evil.example';
const READS_FILES = `/v1/query?q=${encodeURIComponent("SELECT fetcher('file:///etc/passwd')")}`;

let rowan: Rowan;
let client: HttpClient;
let port: number;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const origin = await rowan.listen({ corsOrigins: ['https://console.example'] });
  client = new HttpClient(origin);
  port = Number(new URL(origin).port);
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
});

afterAll(async () => {
  client?.close();
  await rowan?.close();
});

function send(verb: string, path: string, headers: Headers) {
  const body = verb === 'PUT' || verb === 'POST' ? { type: 'sparse.mutable' } : undefined;
  return client.send(verb, path, body, headers);
}

const REQUESTS = [
  ['GET', READS_FILES],
  ['HEAD', '/v1/datasets'],
  ['GET', '/v1/nothing'],
  ['OPTIONS', '/v1/datasets'],
  ['POST', '/v1/datasets'],
  ['PUT', '/v1/datasets/made'],
  ['DELETE', '/v1/datasets/d'],
] as const;

function foreignHeaders(): [string, Headers][] {
  return [
    ['a foreign origin', { origin: EVIL }],
    ['a page of a file or a sandboxed frame', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://localhost:3000' }],
    ['the default port of this machine', { origin: 'http://localhost' }],
    ['this machine by another scheme', { origin: `ftp://localhost:${port}` }],
    ['a page of another site, without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a link', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
  ];
}

describe.each(REQUESTS)('%s %s', (verb, path) => {
  test.each(foreignHeaders().map(([name]) => name))('of %s is refused', async (name) => {
    const headers = foreignHeaders().find(([found]) => found === name)?.[1] as Headers;
    const reply = await send(verb, path, headers);
    expect(reply.status, reply.text).toBe(403);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    expect((await client.send('GET', '/v1/datasets')).text).toBe('["d"]');
  });
});

test.each(['/v1/health', '/ping', '/doc/', '/openapi.json'])(
  '%s holds no data and stays open, without CORS',
  async (path) => {
    for (const headers of [
      { origin: EVIL },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ]) {
      const reply = await send('GET', path, headers as Headers);
      expect([path, reply.status]).toEqual([path, 200]);
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    }
  },
);

test('a preflight of a foreign page allows nothing', async () => {
  const reply = await send('OPTIONS', '/v1/datasets', {
    origin: EVIL,
    'access-control-request-method': 'PUT',
  });
  expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  expect(reply.headers['access-control-allow-methods']).toBeUndefined();
});

test('its own pages, programs, and origins that were named get answers', async () => {
  for (const headers of [
    {},
    { origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' },
    { origin: `http://127.0.0.1:${port}` },
    { origin: `http://[::1]:${port}` },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { origin: 'https://console.example', 'sec-fetch-site': 'cross-site' },
  ]) {
    const reply = await send('GET', '/v1/datasets', headers as Headers);
    expect([headers, reply.status]).toEqual([headers, 200]);
    const isNamed = headers.origin === 'https://console.example';
    expect(reply.headers['access-control-allow-origin']).toBe(isNamed ? headers.origin : undefined);
  }
});

test('a name that leads here but is not ours is refused (DNS rebinding)', async () => {
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `localhost:${port + 1}`,
    `[::1].evil:${port}`,
    `[::1]evil:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost:${port}@evil`,
  ]) {
    const reply = await send('GET', '/v1/datasets', { host });
    expect([host, reply.status]).toEqual([host, 403]);
  }
  for (const host of ['localhost', `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
    expect([host, (await send('GET', '/v1/datasets', { host })).status]).toEqual([host, 200]);
  }
});

test('an open service on a public address takes pages of its own name only', async () => {
  const open = await Rowan.open({ dataDir: null, workers: 1 });
  try {
    const address = await open.listen({ host: '0.0.0.0', allowUnauthenticated: true });
    const own = `intranet.example:${new URL(address).port}`;
    const ask = async (origin: string) => {
      const other = new HttpClient(`http://127.0.0.1:${new URL(address).port}`);
      try {
        return (await other.send('GET', '/v1/datasets', undefined, { host: own, origin })).status;
      } finally {
        other.close();
      }
    };
    expect(await ask(`http://${own}`)).toBe(200);
    expect(await ask(EVIL)).toBe(403);
  } finally {
    await open.close();
  }
});

test('every origin is let in only with keys', async () => {
  const open = await Rowan.open({ dataDir: null, workers: 1 });
  const closed = await Rowan.open({ dataDir: null, workers: 1, adminKey: 'secret' });
  try {
    await expect(open.listen({ corsOrigins: ['*'] })).rejects.toThrow(/rowan keys create/);
    const other = new HttpClient(await closed.listen({ corsOrigins: ['*'] }));
    const headers = { origin: EVIL, 'x-api-key': 'secret' };
    const reply = await other.send('GET', '/v1/datasets', undefined, headers);
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([200, '*']);
    other.close();
  } finally {
    await open.close();
    await closed.close();
  }
});
