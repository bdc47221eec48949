// Attack: clients that ask for large results and take them slowly or not at all, and clients that
// wait for long runs. Workers and places are for work: everybody else is served meanwhile.
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import type { ListenOptions } from '../../src/rest/server.ts';

const ROW_COUNT = 200_000;
const TEXT = 'x'.repeat(100);

let rowan: Rowan;
let origin: string;
let sockets: Socket[];

beforeEach(() => {
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await rowan.close();
});

async function start(listening: ListenOptions, spoolBytes?: number): Promise<void> {
  rowan = await Rowan.open({
    dataDir: null,
    workers: 1,
    ...(spoolBytes === undefined ? {} : { spoolBytes }),
  });
  origin = await rowan.listen(listening);
  const rows = Array.from({ length: ROW_COUNT }, (_, i) => `${i},${TEXT}`).join('\n');
  await rowan.service.files.create('mem://rows.csv').then(async (sink) => {
    await sink.write(Buffer.from(`n,t\n${rows}\n`));
    await sink.commit();
  });
  const made = await rowan.post('/v1/procedures', {
    type: 'import.text',
    params: { dataFileUrl: 'mem://rows.csv', outputDataset: 'rows', runOnCreation: true },
  });
  expect(made.status, made.text).toBe(201);
}

/** Asks for all rows, and takes nothing of them. */
function askAndWait(): Socket {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.pause();
  const q = encodeURIComponent('SELECT n, t FROM rows ORDER BY n');
  socket.write(
    `GET /v1/query?format=csv&q=${q} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
  );
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part) => parts.push(part));
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts).toString('latin1');
}

const isIdle = () => rowan.service.engine.activeTaskCount === 0;

describe('clients that take nothing of their results', () => {
  test('hold neither workers nor places', { timeout: 60_000 }, async () => {
    await start({ heavyCountMax: 4, heavyQueueLengthMax: 0 });
    const readers = Array.from({ length: 8 }, () => undefined).map((_, i) => i);
    const slow: Socket[] = [];
    for (const _ of readers) {
      slow.push(askAndWait());
      const behind = () => rowan.service.spool.sizeBytes;
      await expect.poll(behind, { timeout: 20_000 }).toBeGreaterThan(slow.length * 15e6);
      await expect.poll(isIdle, { timeout: 20_000 }).toBe(true);
    }
    const reply = await fetch(`${origin}/v1/query?format=aos&q=SELECT%20count(*)%20FROM%20rows`);
    expect(reply.status).toBe(200);
    const put = await fetch(`${origin}/v1/datasets/d`, {
      method: 'PUT',
      body: '{"type":"sparse.mutable"}',
    });
    expect(put.status).toBe(201);
    const text = (await readAll(slow[0] as Socket)).replaceAll(/\r\n[0-9a-f]+\r\n/g, '');
    expect(text.split('\n').filter((line) => line.endsWith(`,${TEXT}`))).toHaveLength(ROW_COUNT);
  });

  test('lose what makes too much for the disk, the oldest first', async () => {
    await start({}, 30e6);
    const first = askAndWait();
    const behind = () => rowan.service.spool.sizeBytes;
    await expect.poll(behind, { timeout: 20_000 }).toBeGreaterThan(15e6);
    await expect.poll(isIdle, { timeout: 20_000 }).toBe(true);
    let lost = 0;
    const { spool } = rowan.service;
    spool.onLoss = () => lost++;
    const second = askAndWait();
    // The first has taken its place on the disk until the second needs it.
    await expect.poll(() => lost, { timeout: 20_000 }).toBe(1);
    await expect.poll(isIdle, { timeout: 20_000 }).toBe(true);
    expect(await readAll(first)).not.toMatch(/0\r\n\r\n$/);
    expect(await readAll(second)).toMatch(/0\r\n\r\n$/);
    await expect.poll(() => rowan.service.spool.sizeBytes).toBe(0);
  });
});

test('runs that are waited for hold no place of requests', async () => {
  await start({ heavyCountMax: 2, heavyQueueLengthMax: 0 });
  await rowan.put('/v1/procedures/p', { type: 'mock', params: { durationMs: 60_000 } });
  const leaving = new AbortController();
  const runs = Array.from({ length: 8 }, () =>
    fetch(`${origin}/v1/procedures/p/runs`, {
      ...{ method: 'POST', body: '{}', signal: leaving.signal },
    }).catch(() => undefined),
  );
  await expect.poll(async () => (await rowan.get('/v1/procedures/p/runs')).json).toHaveLength(8);
  const query = await fetch(`${origin}/v1/query?q=SELECT%201`);
  expect(query.status).toBe(200);
  const put = await fetch(`${origin}/v1/datasets/d`, {
    method: 'PUT',
    body: '{"type":"sparse.mutable"}',
  });
  expect(put.status).toBe(201);
  leaving.abort();
  await Promise.all(runs);
});

test('the time of a request counts while it waits for its turn', async () => {
  await start({ heavyCountMax: 1, heavyQueueLengthMax: 10 });
  const leaving = new AbortController();
  const endless = encodeURIComponent('SELECT count(*) FROM rows AS a JOIN rows AS b ON a.n != b.n');
  const busy = fetch(`${origin}/v1/query?q=${endless}`, { signal: leaving.signal });
  busy.catch(() => undefined);
  await expect.poll(isIdle).toBe(false);
  const late = await fetch(`${origin}/v1/query?q=SELECT%201`, {
    headers: { 'X-Request-Timeout': '100' },
  });
  expect(late.status).toBe(504);
  leaving.abort();
});
