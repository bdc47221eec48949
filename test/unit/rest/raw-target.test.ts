// Targets with raw UTF-8, as shells send them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { sendRaw } from '../../support/raw-http.ts';

let rowan: Rowan;
let port: number;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  port = Number(new URL(await rowan.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(() => rowan?.close());

/** One reply to a request whose target is taken as it is. */
async function send(verb: string, target: string, body = '', announced = body) {
  const head = [
    `${verb} ${target} HTTP/1.1`,
    'Host: localhost',
    `Content-Length: ${Buffer.byteLength(announced)}`,
  ];
  const reply = await sendRaw(port, Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`));
  return { ...reply, body: Buffer.from(reply.body, 'latin1').toString('utf8') };
}

test('ids of any letters are taken', async () => {
  const created = await send('PUT', '/v1/datasets/été😀', '{"type":"sparse.mutable"}');
  expect([created.status, created.body]).toEqual([201, expect.stringContaining('"id":"été😀"')]);
  expect((await send('GET', '/v1/datasets/été😀')).status).toBe(200);
  expect((await send('GET', '/v1/datasets/%C3%A9té😀')).status).toBe(200);
});

test('queries may be written as they are', async () => {
  const target = "/v1/query?q=SELECT+'naïve'+AS+x&format=atom";
  expect(await send('GET', target)).toMatchObject({ status: 200, body: '"naïve"' });
});

test('a body may come after its head', async () => {
  const body = `{"type":"sparse.mutable","params":${' '.repeat(200_000)}{}}`;
  expect((await send('PUT', '/v1/datasets/ü', body)).status).toBe(201);
});

test('bytes that are no UTF-8 are refused', async () => {
  const reply = await sendRaw(port, 'GET /v1/datasets/\xff HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect([reply.status, reply.body]).toEqual([400, expect.stringContaining('UTF-8')]);
});

test('many of them leave no connection behind', async () => {
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => send('GET', '/v1/datasets/été😀')),
  );
  expect(replies.every(({ status }) => status === 200)).toBe(true);
});
