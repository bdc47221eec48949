// Clients that take their time, take nothing, leave, or come in great numbers: others do not notice.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { sendRaw } from '../../support/raw-http.ts';

const SILENCE_MS = 400;
const CONNECTION_COUNT_MAX = 120;

let rowan: Rowan;
let origin: string;
let port: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
  origin = await rowan.listen({
    headersTimeoutMs: SILENCE_MS,
    bodyIdleTimeoutMs: SILENCE_MS,
    replyIdleTimeoutMs: SILENCE_MS,
    keepAliveTimeoutMs: SILENCE_MS,
    connectionCountMax: CONNECTION_COUNT_MAX,
    heavyCountMax: 2,
    heavyQueueLengthMax: 200,
  });
  port = Number(new URL(origin).port);
  const params = { expression: 'x AS y', prepared: true };
  await rowan.put('/v1/functions/f', { type: 'sql.expression', params });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await idle();
});

afterAll(() => rowan?.close());

function open(): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

function get(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

const query = (sql: string, format = 'table') =>
  get(`/v1/query?format=${format}&q=${encodeURIComponent(sql)}`);

/** @param power 6 to this power rows */
function rows(select: string, power: number): string {
  const six = '{a:1,b:2,c:3,d:4,e:5,f:6}';
  const parts = Array.from({ length: power }, (_, index) => `row_dataset(${six}) AS t${index}`);
  return `SELECT ${select} FROM ${parts.join(' JOIN ')}`;
}

/** A query that takes longer than anybody waits. */
const ENDLESS = query(rows('count(*)', 12));
/** Many times what sockets buffer. */
const LONG = query(rows(`'${'x'.repeat(400)}' AS x`, 7), 'csv');

const inFlightCount = () => rowan.web.metrics.http.inFlightCount;

async function idle(): Promise<void> {
  await expect
    .poll(() => [rowan.service.engine.activeTaskCount, inFlightCount()], { timeout: 5000 })
    .toEqual([0, 0]);
}

async function othersAreServed(): Promise<void> {
  const close = { headers: { Connection: 'close' } };
  expect((await fetch(`${origin}/v1/health`, close)).status).toBe(200);
  const reply = await fetch(`${origin}/v1/functions/f/application?input={"x":1}`, close);
  expect(await reply.json()).toEqual({ output: { y: 1 } });
}

describe('a client that sends slowly', () => {
  test('may send its body byte by byte, for longer than it may be silent', async () => {
    const body = '{"input":{"x":1}}';
    const head = `POST /v1/functions/f/application HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
    const start = performance.now();
    const reply = await sendRaw(port, head, { trickle: { pieces: [...body], intervalMs: 40 } });
    expect(performance.now() - start).toBeGreaterThan(SILENCE_MS);
    expect([reply.status, reply.body]).toEqual([200, '{"output":{"y":1}}']);
  });

  test('has so long for its first request, and for the next one', async () => {
    const silent = open();
    const waiting = open();
    waiting.write(get('/ping'));
    const closed = [silent, waiting].map((socket) => once(socket.resume(), 'close'));
    await Promise.all(closed);
  });
});

describe('a client that reads slowly', () => {
  test('holds its own reply back, and nothing else', async () => {
    const before = process.memoryUsage();
    const socket = open();
    socket.pause();
    socket.write(LONG);
    await expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 }).toBe(1);
    await othersAreServed();
    await idle();
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32e6);
    // What was sent is no whole reply.
    let received = '';
    socket.on('data', (part) => {
      received = (received + part.toString('latin1')).slice(-5);
    });
    await once(socket.resume(), 'close');
    expect(received).not.toBe('0\r\n\r\n');
  });

  test('is waited for while it takes something', { timeout: 30_000 }, async () => {
    const socket = open();
    const start = performance.now();
    socket.write(LONG);
    let size = 0;
    let last = '';
    socket.on('data', (part) => {
      size += part.length;
      last = (last + part.toString('latin1')).slice(-5);
      socket.pause();
      setTimeout(() => socket.resume(), 1);
    });
    await expect.poll(() => last, { timeout: 25_000 }).toBe('0\r\n\r\n');
    expect(size).toBeGreaterThan(6 ** 7 * 400);
    expect(performance.now() - start).toBeGreaterThan(SILENCE_MS);
  });
});

describe('clients that go away', () => {
  test('give back their places, whether or not they had their turn', async () => {
    const clients = Array.from({ length: 60 }, () => open());
    for (const client of clients) client.write(ENDLESS);
    await expect.poll(inFlightCount, { timeout: 5000 }).toBe(60);
    expect(rowan.service.engine.activeTaskCount).toBe(2);
    await othersAreServed();
    for (const client of clients) client.destroy();
    await idle();
    const reply = await fetch(`${origin}/v1/query?q=SELECT%201&format=atom`);
    expect(await reply.text()).toBe('1');
  });

  test('take all that they asked for at once with them', async () => {
    const client = open();
    client.write(ENDLESS.repeat(150));
    await expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 }).toBe(2);
    await othersAreServed();
    client.destroy();
  });
});

test('connections beyond the limit are told so', async () => {
  const kept = Array.from({ length: CONNECTION_COUNT_MAX }, () => open());
  await Promise.all(kept.map((socket) => once(socket, 'connect')));
  const refused = await sendRaw(port, get('/ping'));
  expect(refused.status).toBe(503);
  expect(refused.head).toMatch(/^retry-after: 1$/im);
  expect(JSON.parse(refused.body)).toMatchObject({ httpCode: 503, code: 'OVERLOADED' });
  for (const socket of kept) socket.destroy();
  await expect.poll(async () => (await sendRaw(port, get('/ping'))).status).toBe(200);
});
