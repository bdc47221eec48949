// Requests sent ahead on one connection wait in the sockets between, not in the service's memory.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

const REQUEST_COUNT = 1500;
/** Each is large, so that few come with one read of the connection. */
const PADDING = 'x'.repeat(4000);
/** Those that may wait, and what one read of 64 KiB holds. */
const WAITING_COUNT_MAX = 64 + 2 ** 16 / PADDING.length + 2;

let rowan: Rowan;
let port: number;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
  const origin = await rowan.listen({ heavyCountMax: 1, heavyQueueLengthMax: 2 * REQUEST_COUNT });
  port = Number(new URL(origin).port);
});

afterAll(() => rowan?.close());

function query(sql: string): string {
  const target = `/v1/query?format=atom&q=${encodeURIComponent(sql)}`;
  return `GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Padding: ${PADDING}\r\n\r\n`;
}

/** A second of work. */
const SLOW = `SELECT count(*) FROM ${Array.from(
  { length: 8 },
  (_, index) => `row_dataset({a:1,b:2,c:3,d:4,e:5,f:6}) AS t${index}`,
).join(' JOIN ')}`;

test('many of them are taken a few at a time, and answered in order', async () => {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  let waitingCount = 0;
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  const sampling = setInterval(() => {
    waitingCount = Math.max(waitingCount, rowan.web.metrics.http.inFlightCount);
  }, 5);
  try {
    socket.write(query(SLOW));
    for (let i = 0; i < REQUEST_COUNT; i++) socket.write(query(`SELECT ${i}`));
    const answers = () => [...text.matchAll(/\r\n\r\n(\d+)/g)].map(([, number]) => Number(number));
    await expect.poll(() => answers().length, { timeout: 50_000 }).toBe(REQUEST_COUNT + 1);
    expect(answers().slice(1)).toEqual(Array.from({ length: REQUEST_COUNT }, (_, i) => i));
  } finally {
    clearInterval(sampling);
    socket.destroy();
  }
  expect(waitingCount).toBeGreaterThan(32);
  expect(waitingCount).toBeLessThanOrEqual(WAITING_COUNT_MAX);
});
