// What the transport adds to routes: limits, compression, streams, cancellation, CORS, shutdown.

import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { HttpClient } from '../../support/http.ts';
import { sendRaw } from '../../support/raw-http.ts';

let rowan: Rowan;
let origin: string;
let port: number;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
  origin = await rowan.listen({
    ...{ heavyCountMax: 2, heavyQueueLengthMax: 1 },
    corsOrigins: ['https://console.example'],
  });
  port = Number(new URL(origin).port);
});

afterAll(() => rowan?.close());

/** A query that takes longer than anybody waits. */
function slowQuery(): string {
  const wide = Array.from({ length: 12 }, () => '{a:1,b:2,c:3,d:4,e:5,f:6}');
  const from = wide.map((row, index) => `row_dataset(${row}) AS t${index}`).join(' JOIN ');
  return `SELECT count(*) FROM ${from}`;
}

describe('replies', () => {
  test('carry a request id, the caller’s own when it is well formed', async () => {
    const given = await fetch(`${origin}/ping`, { headers: { 'X-Request-Id': 'abc-1.2_3' } });
    expect(given.headers.get('x-request-id')).toBe('abc-1.2_3');
    const bad = await fetch(`${origin}/ping`, { headers: { 'X-Request-Id': 'a b' } });
    expect(bad.headers.get('x-request-id')).toMatch(/^[0-9a-f]{16}$/);
  });

  test('refuse what a body says without closing the connection', async () => {
    const body = JSON.stringify({ type: 'none' });
    const refused = await fetch(`${origin}/v1/functions/f`, { method: 'PUT', body });
    expect(refused.status).toBe(400);
    expect(refused.headers.get('connection')).toBe('keep-alive');
    await refused.text();
  });

  test('to HEAD have the headers of GET and no body', async () => {
    const whole = await fetch(`${origin}/v1/types`);
    const head = await fetch(`${origin}/v1/types`, { method: 'HEAD' });
    expect(head.headers.get('content-type')).toBe('application/json');
    expect(head.headers.get('content-length')).toBe(whole.headers.get('content-length'));
    expect(await head.text()).toBe('');
  });

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('are compressed by %s when they are large', async (coding, decompress) => {
    const get = `GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`;
    const { head, bytes } = await rawBytes(get);
    expect(head).toMatch(new RegExp(`^content-encoding: ${coding}\\r?$`, 'im'));
    expect(JSON.parse(decompress(dechunk(bytes)).toString()).openapi).toBe('3.1.0');
  });

  test('are left alone when they are small or the caller says so', async () => {
    for (const [path, accept] of [
      ['/ping', 'gzip'],
      ['/openapi.json', 'identity'],
      ['/openapi.json', 'gzip;q=0'],
    ] as const) {
      const get = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${accept}\r\nConnection: close\r\n\r\n`;
      const { head } = await rawBytes(get);
      expect(head).not.toMatch(/^content-encoding/im);
    }
  });

  test('name what OPTIONS can be done, and preflights are allowed', async () => {
    const options = await fetch(`${origin}/v1/datasets`, { method: 'OPTIONS' });
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST, PUT');
    expect(Object.keys((await options.json()) as object)).toEqual(['/v1/datasets GET,POST,PUT']);
    const none = await fetch(`${origin}/v1/nothing`, { method: 'OPTIONS' });
    expect([none.status, none.headers.get('allow')]).toEqual([400, '']);
    const preflight = await fetch(`${origin}/v1/datasets`, {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': 'PUT', Origin: 'https://console.example' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://console.example');
    expect(preflight.headers.get('access-control-expose-headers')).toBe(
      'Location, EntityPath, X-Request-Id, Retry-After',
    );
  });

  test('to unknown verbs name the known ones', async () => {
    const reply = await fetch(`${origin}/v1/datasets`, { method: 'PATCH' });
    expect([reply.status, reply.headers.get('allow')]).toEqual([404, 'GET, HEAD, POST, PUT']);
  });
});

describe('a stream that breaks', () => {
  const rowCount = 20_000;

  beforeAll(async () => {
    await rowan.put('/v1/datasets/broken', { type: 'sparse.mutable' });
    const rows = Array.from({ length: rowCount }, (_, i) => [
      `row ${i}`,
      [['x', i < rowCount - 10 ? i : 'no number', 0]],
    ]);
    await rowan.post('/v1/datasets/broken/multirows', rows);
    await rowan.post('/v1/datasets/broken/commit');
  });

  const QUERY = encodeURIComponent('SELECT x * 1 AS x FROM broken');

  test.each(['identity', 'gzip'])('tells why in its last line, %s', async (coding) => {
    const get = `GET /v1/query?format=ndjson&q=${QUERY} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\n\r\n`;
    const { head, bytes } = await rawBytes(get);
    const sent = dechunk(bytes);
    const text = (coding === 'gzip' ? gunzipSync(sent) : sent).toString();
    expect(JSON.parse(text.trimEnd().split('\n').at(-1) as string)).toMatchObject({
      _error: {
        httpCode: 400,
        code: 'SQL_EXECUTION',
        requestId: /^x-request-id: (\w+)/im.exec(head)?.[1],
      },
    });
    expect(bytes.toString('latin1').endsWith('\r\n0\r\n\r\n')).toBe(false);
  });

  test('is no whole reply to a client', async () => {
    const reply = await fetch(`${origin}/v1/query?format=aos&q=${QUERY}`);
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
  });
});

describe('bodies', () => {
  test('may come with GET, in chunks, and compressed', async () => {
    const json = '{"q":"SELECT 1 AS x","format":"atom"}';
    const chunks = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;
    const get = `GET /v1/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
    expect((await sendRaw(port, get)).body).toBe('1');
    const compressed = await fetch(`${origin}/v1/query`, {
      method: 'POST',
      headers: { 'Content-Encoding': 'gzip' },
      body: gzipSync(json),
    });
    expect(await compressed.text()).toBe('1');
  });

  test('arrive whole when they are large', async () => {
    const params = { expression: 'horizontal_sum(input)', raw: true, autoInput: true };
    const type = { type: 'sql.expression', params: { ...params, prepared: true } };
    expect((await rowan.put('/v1/functions/total', type)).status).toBe(201);
    const input = Array.from({ length: 600_000 }, (_, i) => [i, 1, 0.5]);
    const body = JSON.stringify({ input });
    expect(body.length).toBeGreaterThan(8e6);
    const reply = await fetch(`${origin}/v1/functions/total/batch`, { method: 'POST', body });
    expect(await reply.json()).toEqual(input.map(([i]) => (i as number) + 1.5));
  });

  test('count decompressed', async () => {
    const small = await Rowan.open({ dataDir: null });
    const address = await small.listen({ bodyBytesMax: 10_000 });
    const bomb = gzipSync(Buffer.alloc(1_000_000, 0x20));
    expect(bomb.length).toBeLessThan(10_000);
    const reply = await fetch(`${address}/v1/query`, {
      method: 'POST',
      headers: { 'Content-Encoding': 'gzip' },
      body: bomb,
    });
    expect(reply.status).toBe(413);
    await small.close();
  });
});

describe('heavy requests', () => {
  test('stop when their time is up', async () => {
    const reply = await fetch(`${origin}/v1/query?q=${encodeURIComponent(slowQuery())}`, {
      headers: { 'X-Request-Timeout': '150' },
    });
    expect(reply.status).toBe(504);
    expect(await reply.json()).toMatchObject({
      code: 'TIMEOUT',
      error: 'query exceeded its time limit of 150 ms',
    });
    await idle(2000);
  });

  test('stop when the client goes away', async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    const target = `/v1/query?q=${encodeURIComponent(slowQuery())}`;
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until(() => rowan.service.engine.activeTaskCount > 0, 5000);
    socket.destroy();
    await idle(2000);
  });

  test('wait in a line, and are refused beyond it; small calls pass them', async () => {
    const abort = new AbortController();
    await rowan.put('/v1/functions/next', {
      type: 'sql.expression',
      params: { expression: 'x + 1 AS y', prepared: true },
    });
    const ask = () =>
      fetch(`${origin}/v1/query?q=${encodeURIComponent(slowQuery())}`, { signal: abort.signal });
    const waiting = [ask(), ask(), ask()].map((reply) => reply.catch(() => undefined));
    await until(() => rowan.service.engine.activeTaskCount === 2, 5000);
    await until(() => rowan.web.metrics.http.inFlightCount === 3, 5000);
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await refused.json()) as object).toMatchObject({ code: 'OVERLOADED' });
    expect((await fetch(`${origin}/v1/types`)).status).toBe(200);
    const small = await fetch(`${origin}/v1/functions/next/application?input={"x":1}`);
    expect(await small.json()).toEqual({ output: { y: 2 } });
    abort.abort();
    await Promise.all(waiting);
    await idle(3000);
    expect((await fetch(`${origin}/v1/query?q=SELECT%201`)).status).toBe(200);
  });

  test('that create go on after their time, and say where', async () => {
    const body = { type: 'mock', params: { durationMs: 1000, runOnCreation: true } };
    const reply = await fetch(`${origin}/v1/procedures`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'X-Request-Timeout': '100' },
    });
    expect(reply.status).toBe(504);
    expect(await reply.json()).toMatchObject({ error: expect.stringContaining('goes on') });
    const location = reply.headers.get('location') as string;
    expect(location).toMatch(/^\/v1\/procedures\/auto_/);
    const shown = (await (await fetch(origin + location)).json()) as { state: string };
    expect(['initializing', 'executing', 'ok']).toContain(shown.state);
    await rowan.delete(location);
  });
});

describe('shutdown', () => {
  test('lets requests in flight finish, and refuses new ones', { timeout: 30_000 }, async () => {
    const other = await Rowan.open({ dataDir: null });
    const client = new HttpClient(await other.listen());
    await other.put('/v1/procedures/p', { type: 'mock', params: { durationMs: 600 } });
    const run = client.send('POST', '/v1/procedures/p/runs', {});
    await until(() => other.web.metrics.http.inFlightCount === 1, 5000);
    const id = (await other.get('/v1/procedures/p/runs')).json as string[];
    const events = client.send(
      'GET',
      `/v1/procedures/p/runs/${encodeURIComponent(id[0] as string)}/events`,
    );
    await client.send('GET', '/ping'); // a connection that stays open
    const closing = other.close({ waitsForRuns: true });
    const health = await client.send('GET', '/v1/health');
    expect([health.status, JSON.parse(health.text)]).toMatchObject([503, { status: 'stopping' }]);
    await expect(fetch(`${client.origin}/ping`)).rejects.toThrow();
    expect((await events).text).toContain('event: shutdown');
    expect((await run).status).toBe(201);
    await closing;
    client.close();
  });

  test('cancels runs unless it is told to wait', async () => {
    const other = await Rowan.open({ dataDir: null });
    const client = new HttpClient(await other.listen());
    await other.put('/v1/procedures/p', { type: 'mock', params: { durationMs: 60_000 } });
    const run = client.send('POST', '/v1/procedures/p/runs', {});
    await until(() => other.web.metrics.http.inFlightCount === 1, 5000);
    await other.close();
    expect((await run).status).toBe(409);
    client.close();
  });

  test('ends streams that wait for news', async () => {
    const other = await Rowan.open({ dataDir: null });
    const address = await other.listen();
    const body = '[{"channel":"names","filter":"datasets"}]';
    const watch = await fetch(`${address}/v1/watches`, { method: 'POST', body });
    expect(watch.status).toBe(200);
    await other.close();
    await watch.text();
  });

  test('is asked for over REST', async () => {
    const other = await Rowan.open({ dataDir: null });
    const ended = new Promise<void>((resolve) => {
      other.web.shutDown = () => resolve(other.close());
    });
    const reply = await fetch(`${await other.listen()}/v1/shutdown`, { method: 'POST' });
    expect(await reply.json()).toEqual({ shutdown: true });
    await ended;
  });
});

async function idle(timeoutMs: number): Promise<void> {
  await until(() => rowan.service.engine.activeTaskCount === 0, timeoutMs);
}

async function until(condition: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A reply to the end of its connection. */
function rawBytes(request: string): Promise<{ head: string; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request));
    socket.on('data', (part) => parts.push(part));
    socket.on('error', reject);
    socket.on('end', () => {
      const all = Buffer.concat(parts);
      const end = all.indexOf('\r\n\r\n');
      resolve({ head: all.subarray(0, end).toString('latin1'), bytes: all.subarray(end + 4) });
    });
  });
}

function dechunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return Buffer.concat(parts); // A broken reply has no last chunk.
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
