// Requests whose end could be read in two ways, each followed by another request that a proxy in
// front might never have seen: it must not be carried out.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  APPLICATION_PATH,
  type PreparedServer,
  startPreparedServer,
} from '../../../support/prepared-server.ts';

let server: PreparedServer;

beforeAll(async () => {
  server = await startPreparedServer();
});

afterAll(() => server?.close());

const BODY = '{"input":{"x":1}}';
const START = `POST ${APPLICATION_PATH} HTTP/1.1\r\nHost: localhost\r\n`;
const CHUNKS = `11\r\n${BODY}\r\n0\r\n\r\n`;
const CODED = `${START}Transfer-Encoding: chunked\r\n\r\n`;
const SIZE = `Content-Length: ${BODY.length}`;

const CONFIG = '{"type":"sql.expression","params":{"expression":"1 AS x"}}';
const HIDDEN = `PUT /v1/functions/hidden HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${CONFIG.length}\r\n\r\n${CONFIG}`;

/** Everything the server answers until it closes the connection. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    let received = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stays open: ${received}`));
    }, 5000);
    socket.on('data', (part) => {
      received += part.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
    socket.write(text, 'latin1');
  });
}

test.each([
  ['coding before chunked', `${START}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`],
  ['coding after chunked', `${START}Transfer-Encoding: chunked, gzip\r\n\r\n${CHUNKS}`],
  ['chunked twice', `${START}Transfer-Encoding: chunked, chunked\r\n\r\n${CHUNKS}`],
  [
    'two fields of codings',
    `${START}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
  ],
  [
    'identity, then chunked',
    `${START}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
  ],
  ['empty item before chunked', `${START}Transfer-Encoding: ,chunked\r\n\r\n${CHUNKS}`],
  ['empty coding with a length', `${START}Transfer-Encoding: \r\n${SIZE}\r\n\r\n${BODY}`],
  ['quoted coding', `${START}Transfer-Encoding: "chunked"\r\n\r\n${CHUNKS}`],
  ['coding behind a vertical tab', `${START}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`],
  ['coding with a parameter', `${START}Transfer-Encoding: chunked;q=1\r\n\r\n${CHUNKS}`],
  ['length, then chunks', `${START}${SIZE}\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
  ['chunks, then length', `${START}Transfer-Encoding: chunked\r\n${SIZE}\r\n\r\n${CHUNKS}`],
  ['two equal lengths', `${START}${SIZE}\r\n${SIZE}\r\n\r\n${BODY}`],
  ['two lengths', `${START}${SIZE}\r\nContent-Length: 0\r\n\r\n${BODY}`],
  ['list of lengths', `${START}Content-Length: 17, 17\r\n\r\n${BODY}`],
  ['length with a sign', `${START}Content-Length: +17\r\n\r\n${BODY}`],
  ['hexadecimal length', `${START}Content-Length: 0x11\r\n\r\n${BODY}`],
  ['length beyond all bounds', `${START}Content-Length: 18446744073709551633\r\n\r\n${BODY}`],
  ['space before a colon', `${START}Content-Length : 17\r\n\r\n${BODY}`],
  ['folded coding', `${START}Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKS}`],
  ['folded field', `${START}X-A: a\r\n\tContent-Length: 0\r\n${SIZE}\r\n\r\n${BODY}`],
  ['field folded into the first line', `GET /ping HTTP/1.1\r\n Host: localhost\r\n\r\n`],
  ['bare CR in a value', `${START}X-A: a\rContent-Length: 3\r\n${SIZE}\r\n\r\n${BODY}`],
  ['bare LF behind a field', `${START}X-A: a\n${SIZE}\r\n\r\n${BODY}`],
  ['bare LF behind the first line', 'GET /ping HTTP/1.1\nHost: localhost\r\n\r\n'],
  ['bare LF before the body', `${START}${SIZE}\r\n\n${BODY}`],
  ['bare CRs only', 'GET /ping HTTP/1.1\rHost: localhost\r\r'],
  ['bare LF behind a chunk size', `${CODED}11\n${BODY}\r\n0\r\n\r\n`],
  ['bare LF behind a chunk', `${CODED}11\r\n${BODY}\n0\r\n\r\n`],
  ['bare LF behind the last chunk', `${CODED}11\r\n${BODY}\r\n0\n\n`],
  ['chunk size with a prefix', `${CODED}0x11\r\n${BODY}\r\n0\r\n\r\n`],
  ['negative chunk size', `${CODED}-11\r\n${BODY}\r\n0\r\n\r\n`],
  ['space before a chunk size', `${CODED} 11\r\n${BODY}\r\n0\r\n\r\n`],
  ['space behind a chunk size', `${CODED}11 \r\n${BODY}\r\n0\r\n\r\n`],
  ['chunk size that wraps around', `${CODED}10000000000000011\r\n${BODY}\r\n0\r\n\r\n`],
  ['bare CR in a chunk extension', `${CODED}11;a\rb\r\n${BODY}\r\n0\r\n\r\n`],
  ['bare LF in a chunk extension', `${CODED}11;a\nb\r\n${BODY}\r\n0\r\n\r\n`],
  ['chunk longer than its size', `${CODED}10\r\n${BODY}\r\n0\r\n\r\n`],
  ['chunk without a size', `${CODED}\r\n${BODY}\r\n0\r\n\r\n`],
  ['length among the trailers', `${CODED}11\r\n${BODY}\r\n0\r\nContent-Length: 3\r\n\r\n`],
])('%s: 400, and nothing behind it is carried out', async (_, text) => {
  const received = await exchange(text + HIDDEN);
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  expect(statuses).toEqual(['400']);
  expect(received).toMatch(/^connection: close\r$/im);
  expect((await server.rowan.get('/v1/functions')).json).toEqual(['f']);
});

test.each(['chunked', 'Chunked', '\tchunked'])('the coding %j is taken', async (coding) => {
  const close = 'GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const received = await exchange(`${START}Transfer-Encoding:${coding}\r\n\r\n${CHUNKS}${close}`);
  expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
});
