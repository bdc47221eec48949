// Requests that are wrong in every way: each gets a 4xx that says why, and the server goes on.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { type RawOptions, sendRaw } from '../../support/raw-http.ts';

const BODY_BYTES_MAX = 4 * 2 ** 20;
const HEADER_BYTES_MAX = 64 * 2 ** 10;
const IDLE_TIMEOUT_MS = 300;

let rowan: Rowan;
let port: number;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null });
  const address = await rowan.listen({
    bodyBytesMax: BODY_BYTES_MAX,
    headerBytesMax: HEADER_BYTES_MAX,
    headersTimeoutMs: IDLE_TIMEOUT_MS,
    bodyIdleTimeoutMs: IDLE_TIMEOUT_MS,
  });
  port = Number(new URL(address).port);
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  const params = { expression: 'x + 1 AS y', prepared: true };
  await rowan.put('/v1/functions/f', { type: 'sql.expression', params });
  await rowan.put('/v1/procedures/p', { type: 'null' });
});

afterAll(() => rowan?.close());

interface Case {
  readonly name: string;
  readonly bytes: string | Uint8Array;
  readonly status: number;
  /** part of the message */
  readonly says?: string;
  readonly options?: RawOptions;
}

function request(verb: string, target: string, body = '', headers: readonly string[] = []): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`];
  const head = [`${verb} ${target} HTTP/1.1`, 'Host: localhost', ...length, ...headers];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function put(body: string): string {
  return request('PUT', '/v1/datasets/x', body);
}

const deep = (open: string, count: number) => open.repeat(count);

const JSON_CASES: Case[] = [
  { name: 'no JSON', bytes: put('hello'), status: 400, says: 'not JSON' },
  { name: 'JSON cut off', bytes: put('{"type":'), status: 400, says: 'line 1, column 9' },
  { name: 'single quotes', bytes: put("{'type':1}"), status: 400, says: 'column 2' },
  { name: 'comma too many', bytes: put('{"type":"a",}'), status: 400, says: 'not JSON' },
  { name: 'text after JSON', bytes: put('{} {}'), status: 400, says: 'extra characters' },
  { name: 'NaN', bytes: put('{"type":NaN}'), status: 400, says: 'not JSON' },
  { name: 'comment', bytes: put('/* hi */ {}'), status: 400, says: 'not JSON' },
  { name: 'hexadecimal number', bytes: put('{"params":0x10}'), status: 400, says: 'not JSON' },
  { name: 'leading zero', bytes: put('{"params":01}'), status: 400, says: 'not JSON' },
  { name: 'control character', bytes: put('{"type":"a\u0001"}'), status: 400, says: 'control' },
  { name: 'bad escape', bytes: put('{"type":"\\x"}'), status: 400, says: 'escape' },
  { name: 'unpaired text', bytes: put('{"type":"a}'), status: 400, says: 'unterminated' },
  { name: 'invalid UTF-8', bytes: put('{"type":"\xff\xfe"}'), status: 400, says: 'UTF-8' },
  { name: 'overlong UTF-8', bytes: put('{"type":"\xc0\xaf"}'), status: 400, says: 'UTF-8' },
  { name: 'UTF-8 surrogate', bytes: put('{"type":"\xed\xa0\x80"}'), status: 400, says: 'UTF-8' },
  { name: 'UTF-16', bytes: put('\xff\xfe{\0}\0'), status: 400, says: 'UTF-8' },
  { name: '100,000 arrays', bytes: put(deep('[', 1e5)), status: 400, says: '512' },
  { name: '100,000 objects', bytes: put(deep('{"a":', 1e5)), status: 400, says: '512' },
  { name: 'closed nesting', bytes: put(deep('[', 600) + deep(']', 600)), status: 400, says: '512' },
  {
    name: 'nesting in a query parameter',
    bytes: request('GET', `/v1/functions/f/application?input=${deep('[', 9000)}`),
    status: 400,
    says: '512',
  },
  { name: 'array as configuration', bytes: put('[]'), status: 400, says: 'Object' },
  { name: 'number as configuration', bytes: put('17'), status: 400, says: 'Object' },
  { name: 'null as configuration', bytes: put('null'), status: 400 },
  { name: 'blank body', bytes: put('  \r\n '), status: 400, says: 'empty payload' },
  { name: 'no body', bytes: request('PUT', '/v1/datasets/x'), status: 400, says: 'empty payload' },
  {
    name: '__proto__ as key',
    bytes: put('{"__proto__":{"type":"tabular"}}'),
    status: 400,
    says: '__proto__',
  },
  {
    name: 'constructor as key',
    bytes: put('{"constructor":{}}'),
    status: 400,
    says: 'constructor',
  },
  {
    name: '__proto__ in params',
    bytes: put('{"type":"tabular","params":{"__proto__":1}}'),
    status: 400,
    says: '__proto__',
  },
  {
    name: 'duplicate keys, the last wrong',
    bytes: put('{"type":"tabular","type":7}'),
    status: 400,
    says: 'String',
  },
  { name: 'unknown key', bytes: put('{"typ":"tabular"}'), status: 400, says: 'unknown field' },
  { name: 'type of the wrong kind', bytes: put('{"type":{}}'), status: 400, says: 'String' },
  {
    name: 'params of the wrong kind',
    bytes: put('{"type":"tabular","params":"x"}'),
    status: 400,
    says: 'Object',
  },
  {
    name: 'id of the wrong kind',
    bytes: put('{"id":5,"type":"tabular"}'),
    status: 400,
    says: 'String',
  },
  {
    name: 'ids that differ',
    bytes: put('{"id":"y","type":"tabular"}'),
    status: 400,
    says: 'Ambiguous',
  },
  { name: 'unknown type', bytes: put('{"type":"nonsense"}'), status: 400, says: 'nonsense' },
  {
    name: 'huge number',
    bytes: put(`{"type":"tabular","persistent":${'9'.repeat(5000)}}`),
    status: 400,
  },
];

const TARGET_CASES: Case[] = [
  { name: 'unknown path', bytes: request('GET', '/v1/nothing'), status: 404, says: '/v1/nothing' },
  { name: 'unknown verb', bytes: request('FOO', '/v1/datasets'), status: 404, says: 'FOO' },
  { name: 'PATCH', bytes: request('PATCH', '/v1/datasets'), status: 404, says: 'PATCH' },
  { name: 'TRACE', bytes: request('TRACE', '/v1/datasets'), status: 404, says: 'TRACE' },
  { name: 'CONNECT', bytes: request('CONNECT', 'example.org:443'), status: 404, says: 'CONNECT' },
  { name: 'lower-case verb', bytes: request('get', '/v1/datasets'), status: 404, says: 'get' },
  { name: 'verb without target', bytes: 'GET\r\n\r\n', status: 400 },
  {
    name: 'verb that a resource does not have',
    bytes: request('DELETE', '/v1/query'),
    status: 404,
    says: 'DELETE',
  },
  {
    name: 'bad percent escape in a path',
    bytes: request('GET', '/v1/datasets/%zz'),
    status: 400,
    says: '%zz',
  },
  {
    name: 'half a percent escape',
    bytes: request('GET', '/v1/datasets/%'),
    status: 400,
    says: '%',
  },
  {
    name: 'escape of invalid UTF-8',
    bytes: request('GET', '/v1/datasets/%ff'),
    status: 400,
    says: '%ff',
  },
  { name: 'raw bytes that are not UTF-8', bytes: request('GET', '/v1/datasets/\xff'), status: 400 },
  {
    name: 'control character in an id',
    bytes: request('GET', '/v1/datasets/%00%01%1b'),
    status: 404,
  },
  { name: 'raw control character', bytes: request('GET', '/v1/datasets/a\x01b'), status: 400 },
  {
    name: 'escaped line end in an id',
    bytes: request('GET', '/v1/datasets/a%0d%0aX-Bad:%201'),
    status: 404,
  },
  {
    name: 'trailing slash',
    bytes: request('GET', '/v1/datasets/'),
    status: 404,
    says: 'trailing slash',
  },
  {
    name: 'empty id',
    bytes: request('PUT', '/v1/datasets', '{"type":"tabular","id":""}'),
    status: 400,
    says: 'empty id',
  },
  {
    name: 'path out of a folder',
    bytes: request('GET', '/doc/../../etc/passwd'),
    status: 400,
    says: '..',
  },
  {
    name: 'escaped path out of a folder',
    bytes: request('GET', '/doc/%2e%2e/%2e%2e/etc/passwd'),
    status: 400,
    says: '..',
  },
  {
    name: 'bad escape in a query string',
    bytes: request('GET', '/v1/query?q=%'),
    status: 400,
    says: 'escape',
  },
  {
    name: 'query string of invalid UTF-8',
    bytes: request('GET', '/v1/query?q=%ff'),
    status: 400,
    says: 'escape',
  },
  {
    name: 'unknown parameter',
    bytes: request('GET', '/v1/datasets?x=1'),
    status: 400,
    says: 'Unknown parameter',
  },
  {
    name: 'unknown parameter __proto__',
    bytes: request('GET', '/v1/query?__proto__=1'),
    status: 400,
    says: 'Unknown parameter',
  },
  {
    name: 'no boolean',
    bytes: request('GET', '/v1/query?q=select+1&headers=perhaps'),
    status: 400,
    says: 'boolean',
  },
  {
    name: 'no integer',
    bytes: request('GET', '/v1/datasets/d/rows?limit=1e3'),
    status: 400,
    says: 'integer',
  },
  {
    name: 'integer beyond all bounds',
    bytes: request('GET', '/v1/datasets/d/rows?limit=99999999999999999999'),
    status: 400,
    says: 'integer',
  },
  {
    name: 'unknown format',
    bytes: request('GET', '/v1/query?q=select+1&format=xml'),
    status: 400,
    says: 'xml',
  },
  {
    name: 'query string and body',
    bytes: request('GET', '/v1/query?q=select+1', '{"format":"aos"}'),
    status: 400,
    says: 'mix',
  },
  {
    name: 'array as hybrid body',
    bytes: request('POST', '/v1/query', '[1]'),
    status: 400,
    says: 'object',
  },
  { name: 'SQL that is none', bytes: request('GET', '/v1/query?q=drop+table'), status: 400 },
  {
    name: 'SQL nested 5,000 deep',
    bytes: request('POST', '/v1/query', `{"q":"select ${'('.repeat(5000)}"}`),
    status: 400,
  },
  {
    name: 'input that is no JSON',
    bytes: request('GET', '/v1/functions/f/application?input=x'),
    status: 400,
    says: 'not JSON',
  },
  {
    name: 'rows of the wrong shape',
    bytes: request('POST', '/v1/datasets/d/rows', '{"rowName":[],"columns":7}'),
    status: 400,
  },
  {
    name: 'batch of the wrong shape',
    bytes: request('POST', '/v1/functions/f/batch', '{"input":5,"inputFormat":7}'),
    status: 400,
  },
  {
    name: 'run state that is none',
    bytes: request('PUT', '/v1/procedures/p/runs/r/state', '{"state":"flying"}'),
    status: 404,
  },
  {
    name: 'redirect out of the service',
    bytes: request('POST', '/v1/redirect/get', '{"target":"http://example.org/","body":{}}'),
    status: 400,
    says: 'target',
  },
  {
    name: 'redirect to a malformed query string',
    bytes: request('POST', '/v1/redirect/get', '{"target":"/v1/query?q=%zz","body":{}}'),
    status: 400,
    says: 'failed to redirect call',
  },
  {
    name: 'key without role',
    bytes: request('POST', '/v1/keys', '{"name":"x"}'),
    status: 400,
    says: 'role',
  },
];

const HTTP_CASES: Case[] = [
  { name: 'no HTTP', bytes: 'hello world\r\n\r\n', status: 400 },
  { name: 'TLS', bytes: Buffer.from('16030100a5010000a10303', 'hex'), status: 400 },
  {
    name: 'unknown protocol version',
    bytes: 'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n',
    status: 400,
  },
  { name: 'no Host', bytes: 'GET /ping HTTP/1.1\r\n\r\n', status: 400 },
  {
    name: 'two Hosts',
    bytes: 'GET /ping HTTP/1.1\r\nHost: localhost\r\nhost: elsewhere\r\n\r\n',
    status: 400,
    says: 'Host is given twice',
  },
  { name: 'header without colon', bytes: request('GET', '/ping', '', ['nonsense']), status: 400 },
  { name: 'space before a colon', bytes: request('GET', '/ping', '', ['X-A : 1']), status: 400 },
  { name: 'folded header', bytes: request('GET', '/ping', '', ['X-A: 1', ' b: 2']), status: 400 },
  { name: 'null byte in a header', bytes: request('GET', '/ping', '', ['X-A: \0']), status: 400 },
  {
    name: 'negative length',
    bytes: request('PUT', '/v1/datasets/x', '', ['Content-Length: -5']),
    status: 400,
  },
  {
    name: 'length that is no number',
    bytes: request('PUT', '/v1/datasets/x', '', ['Content-Length: ten']),
    status: 400,
  },
  {
    name: 'two lengths',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Content-Length: 3']),
    status: 400,
  },
  {
    name: 'length and chunks',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Transfer-Encoding: chunked']),
    status: 400,
  },
  {
    name: 'chunk size that is no number',
    bytes: `${request('PUT', '/v1/datasets/x', '', ['Transfer-Encoding: chunked'])}zz\r\n{}\r\n`,
    status: 400,
  },
  {
    name: 'unknown transfer coding',
    bytes: request('PUT', '/v1/datasets/x', '', ['Transfer-Encoding: foo']),
    status: 400,
  },
  {
    name: 'unknown content coding',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Content-Encoding: lzw']),
    status: 415,
    says: 'lzw',
  },
  {
    name: 'body that is not in its coding',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Content-Encoding: gzip']),
    status: 400,
    says: 'Content-Encoding',
  },
  {
    name: 'many codings',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Content-Encoding: gzip, gzip, gzip']),
    status: 400,
    says: 'codings',
  },
  {
    name: 'unknown expectation',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Expect: miracles']),
    status: 417,
  },
  {
    name: 'time limit that is none',
    bytes: request('GET', '/v1/query?q=select+1', '', ['X-Request-Timeout: soon']),
    status: 400,
    says: 'X-Request-Timeout',
  },
  {
    name: 'foreign Host',
    bytes: 'GET /v1/types HTTP/1.1\r\nHost: evil.example\r\n\r\n',
    status: 403,
    says: 'evil.example',
  },
  {
    name: 'foreign Origin',
    bytes: request('PUT', '/v1/datasets/x', '{}', ['Origin: http://evil.example']),
    status: 403,
    says: 'evil.example',
  },
  {
    name: '1 GB declared',
    bytes: request('PUT', '/v1/datasets/x', '', ['Content-Length: 1000000000']),
    status: 413,
  },
  {
    name: '1 GB declared, asked first',
    bytes: request('PUT', '/v1/datasets/x', '', [
      'Content-Length: 1000000000',
      'Expect: 100-continue',
    ]),
    status: 413,
  },
  { name: 'more sent than is allowed', bytes: put(' '.repeat(BODY_BYTES_MAX + 1)), status: 413 },
  {
    name: 'more chunks than is allowed',
    bytes: `${request('PUT', '/v1/datasets/x', '', ['Transfer-Encoding: chunked'])}${(BODY_BYTES_MAX + 1).toString(16)}\r\n${' '.repeat(BODY_BYTES_MAX + 1)}\r\n0\r\n\r\n`,
    status: 413,
  },
  {
    name: 'long target',
    bytes: request('GET', `/v1/datasets/${'a'.repeat(2 * HEADER_BYTES_MAX)}`),
    status: 414,
  },
  {
    name: 'huge target',
    bytes: request('GET', `/v1/datasets/${'a'.repeat(2 ** 20)}`),
    status: 431,
  },
  {
    name: 'long header',
    bytes: request('GET', '/ping', '', [`X-A: ${'a'.repeat(2 * HEADER_BYTES_MAX)}`]),
    status: 431,
  },
  {
    name: 'many headers',
    bytes: request(
      'GET',
      '/ping',
      '',
      Array.from({ length: 2500 }, (_, i) => `a${i}: b`),
    ),
    status: 431,
  },
];

const SLOW_CASES: Case[] = [
  {
    name: 'headers that never end',
    bytes: 'GET /ping HTTP/1.1\r\nHost: localhost\r\n',
    status: 408,
  },
  {
    name: 'headers that trickle',
    bytes: 'GET /ping HTTP/1.1\r\n',
    status: 408,
    options: {
      trickle: { pieces: Array.from({ length: 40 }, (_, i) => `a${i}: b\r\n`), intervalMs: 100 },
    },
  },
  {
    name: 'a body that never comes',
    bytes: request('PUT', '/v1/datasets/x', '', ['Content-Length: 10']),
    status: 408,
  },
  {
    name: 'a body that stops',
    bytes: request('PUT', '/v1/datasets/x', '', ['Content-Length: 10']),
    status: 408,
    options: { trickle: { pieces: ['{', '"'], intervalMs: 100 } },
  },
];

describe.each([
  ['JSON', JSON_CASES],
  ['targets and parameters', TARGET_CASES],
  ['HTTP', HTTP_CASES],
  ['slow clients', SLOW_CASES],
] as const)('%s', (_, cases) => {
  test.concurrent.each(cases)('$name: $status', async ({ bytes, status, says, options }) => {
    const reply = await sendRaw(port, bytes, options);
    expect([reply.status, reply.body]).toEqual([status, expect.any(String)]);
    if (reply.head.includes('text/plain')) {
      expect(reply.body).toContain(says ?? '');
      return;
    }
    const { error, httpCode, code, requestId } = JSON.parse(reply.body);
    expect(httpCode).toBe(status);
    expect(error).toContain(says ?? '');
    expect(error).not.toBe('');
    expect(code).toMatch(/^[A-Z_]+$/);
    expect(requestId).toMatch(/^[A-Za-z0-9._-]+$/);
  });
});

test('there are at least 60 of them, and the server goes on', async () => {
  const count = [JSON_CASES, TARGET_CASES, HTTP_CASES, SLOW_CASES].flat().length;
  expect(count).toBeGreaterThanOrEqual(60);
  const { status } = await sendRaw(port, request('GET', '/v1/health'));
  expect(status).toBe(200);
  expect(({} as Record<string, unknown>).type).toBeUndefined();
});
