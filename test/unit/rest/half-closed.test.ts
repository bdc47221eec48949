// Clients that end their side of the connection with the request, and those that leave altogether.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;
let port: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
  port = Number(new URL(await rowan.listen({})).port);
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(() => rowan?.close());

const SIX = '{a:1,b:2,c:3,d:4,e:5,f:6}';

/** @param power 6 to this power rows */
function rows(select: string, power: number): string {
  const parts = Array.from({ length: power }, (_, index) => `row_dataset(${SIX}) AS t${index}`);
  return `SELECT ${select} FROM ${parts.join(' JOIN ')}`;
}

const ENDLESS = rows('count(*)', 12);

function post(sql: string, format: string, version = '1.1'): string {
  const body = JSON.stringify({ q: sql, format });
  return [
    `POST /v1/query HTTP/${version}`,
    ...['Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`],
    ...['', body],
  ].join('\r\n');
}

function open(): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** All that comes until the server closes the connection, after a request and its end. */
async function halfClosed(request: string): Promise<string> {
  const socket = open();
  let received = '';
  socket.on('data', (part) => {
    received += part.toString('latin1');
  });
  socket.end(request);
  await once(socket, 'end');
  return received;
}

const isRunning = () => expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 });

describe('a client that ends its side with its request', () => {
  test('gets the reply of a query, and the connection is closed', async () => {
    const reply = await halfClosed(post('SELECT 1 + 1 AS x', 'csv'));
    expect(reply).toMatch(/^HTTP\/1\.1 (102 Processing\r\n\r\nHTTP\/1\.1 )*200 OK\r\n/);
    expect(reply).toMatch(/\r\n\r\n_rowName,x\r?\nresult,2\r?\n$/);
  });

  test('gets the reply of work that takes a while, after notes that it goes on', async () => {
    const sql = rows('count(*)', 9);
    const reply = await halfClosed(post(sql, 'atom'));
    expect(reply).toMatch(/^HTTP\/1\.1 102 Processing\r\n\r\n/);
    expect(reply).toMatch(/HTTP\/1\.1 200 OK\r\n/);
    expect(reply.slice(-8)).toMatch(/10077696$/);
  });

  test('gets long replies to their end', async () => {
    const reply = await halfClosed(post(rows(`'${'x'.repeat(400)}' AS x`, 6), 'csv'));
    expect(reply.length).toBeGreaterThan(6 ** 6 * 400);
    expect(reply.slice(-5)).toBe('0\r\n\r\n');
  });

  test('gets the replies of all that it asked for at once', async () => {
    const reply = await halfClosed(
      post('SELECT 11', 'atom') + post('SELECT 22', 'atom') + post('SELECT 33', 'atom'),
    );
    const bodies = [...reply.matchAll(/\r\n\r\n(\d\d)(?=HTTP|$)/g)].map(([, body]) => body);
    expect(bodies).toEqual(['11', '22', '33']);
  });

  test('gets the reply with HTTP/1.0 too, without such notes', async () => {
    const reply = await halfClosed(post(rows('count(*)', 6), 'atom', '1.0'));
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(reply.slice(-7)).toMatch(/\n46656$/);
  });

  test('is told when its request is not whole', async () => {
    const whole = post('SELECT 1', 'atom');
    expect(await halfClosed(whole.slice(0, -3))).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a client that leaves', () => {
  test.each(['1.1', '1.0'])('takes its query with it (HTTP/%s)', async (version) => {
    const client = open();
    client.write(post(ENDLESS, 'atom', version));
    await isRunning().toBe(1);
    // To the server this looks like the end of the client's side alone.
    client.destroy();
    await expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 }).toBe(0);
  });

  test('after it had ended its side takes its query with it', async () => {
    const client = open();
    client.end(post(ENDLESS, 'atom'));
    await isRunning().toBe(1);
    await once(client, 'data');
    client.destroy();
    await expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 }).toBe(0);
  });

  test('takes with it what it asked for at once', async () => {
    const client = open();
    client.end(post(ENDLESS, 'atom').repeat(5));
    await isRunning().toBeGreaterThan(1);
    client.destroy();
    await isRunning().toBe(0);
    expect(rowan.web.metrics.http.inFlightCount).toBe(0);
  });
});
