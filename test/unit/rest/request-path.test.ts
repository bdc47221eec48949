// However the bytes of requests are cut and grouped, the replies are the same.
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  APPLICATION_PATH,
  type PreparedServer,
  startPreparedServer,
} from '../../support/prepared-server.ts';

let server: PreparedServer;

beforeAll(async () => {
  server = await startPreparedServer();
});

afterAll(() => server?.close());

const HOST = 'Host: localhost\r\n';

const get = (input: string) =>
  `GET ${APPLICATION_PATH}?input=${encodeURIComponent(input)} HTTP/1.1\r\n${HOST}\r\n`;

/** One character stands for one byte. */
const bytesAsText = (text: string) => Buffer.from(text).toString('latin1');
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

function post(body: string): string {
  const text = bytesAsText(body);
  return `POST ${APPLICATION_PATH} HTTP/1.1\r\n${HOST}Content-Length: ${text.length}\r\n\r\n${text}`;
}

/** @param size of the chunks in bytes */
function chunked(body: string, size: number): string {
  const content = bytesAsText(body);
  let text = `POST ${APPLICATION_PATH} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
  for (let at = 0; at < content.length; at += size) {
    const part = content.slice(at, at + size);
    text += `${part.length.toString(16)}\r\n${part}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

/** Sends pieces one by one on one connection and waits for so many replies. */
async function replies(pieces: readonly Uint8Array[], count: number): Promise<string[]> {
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true });
  let received = Buffer.alloc(0);
  socket.on('data', (part) => {
    received = Buffer.concat([received, part]);
  });
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  let found = split(received);
  while (found.length < count && !socket.closed) {
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    found = split(received);
  }
  socket.destroy();
  return found;
}

/** Status and body of each reply, without the id of the request. */
function split(received: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; ; ) {
    const end = received.indexOf('\r\n\r\n', at);
    if (end < 0) return found;
    const head = received.toString('latin1', at, end);
    const size = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (received.length < end + 4 + size) return found;
    const body = received.toString('utf8', end + 4, end + 4 + size);
    const isLast = /^connection: close/im.test(head) ? ' (last)' : '';
    found.push(`${head.slice(9, 12)}${isLast} ${body.replace(/"requestId":"\w+"/, '')}`);
    at = end + 4 + size;
  }
}

const BODIES = [
  '{"input":{"x":1}}',
  '{"input":{"x":"aäö😀"}}',
  '{"input":',
  '{"inputs":{}}',
  ' \n',
];

test.each(BODIES)('a body may be cut anywhere: %j', async (body) => {
  const bytes = bytesOf(post(body));
  const [whole] = await replies([bytes], 1);
  const start = bytes.indexOf('\r\n\r\n');
  for (let at = start; at <= bytes.length; at++) {
    const cut = [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0);
    expect(await replies(cut, 1), `cut at ${at}`).toEqual([whole]);
  }
  for (const size of [1, 2, 3, 100]) {
    expect(await replies([bytesOf(chunked(body, size))], 1)).toEqual([whole]);
  }
});

test('a refused body that was read leaves the connection open', async () => {
  const bytes = bytesOf(post('{"input":') + post('{"input":{"x":1}}'));
  const [refused, answered] = await replies([bytes], 2);
  expect(refused).toMatch(/^400 .*INVALID_JSON/);
  expect(answered).toBe('200 {"output":{"y":1}}');
});

const request = fc.integer({ min: 0, max: 99 }).chain((x) => {
  const input = JSON.stringify({ x });
  const body = `{"input":${input}}`;
  return fc
    .constantFrom(get(input), post(body), chunked(body, 4))
    .map((text) => ({ text, reply: `200 {"output":{"y":${x}}}` }));
});

test('requests may come together, and cut anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat({ max: 1500 }), { maxLength: 4 }),
      async (requests, cuts) => {
        const bytes = bytesOf(requests.map(({ text }) => text).join(''));
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
        const sent = pieces.filter(({ length }) => length > 0);
        expect(await replies(sent, requests.length)).toEqual(requests.map(({ reply }) => reply));
      },
    ),
    { numRuns: 60 },
  );
});

test('what is in flight is counted down however requests end', async () => {
  const abandoned = connect({ port: server.port, host: '127.0.0.1' });
  abandoned.write(post('{"input":{"x":1}}').slice(0, -3));
  await new Promise((resolve) => setTimeout(resolve, 30));
  abandoned.destroy();
  await replies([bytesOf(get('{"x":1}') + post('{"input":{"x":1}}'))], 2);
  await expect
    .poll(async () => (await server.rowan.get('/v1/metrics')).text)
    .toMatch(/^rowan_http_requests_in_flight 0$/m);
});
