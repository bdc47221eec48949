// The runner itself, against a server whose answers are known.

import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpClient } from '../support/http.ts';
import type { ConformanceCase } from './cases.ts';
import { runCase } from './run-case.ts';

const requests: string[] = [];
let client: HttpClient;

/** Answers with the status that the path names and the body it was sent. */
const server = createServer(async (request, response) => {
  const body = await readBody(request);
  requests.push(`${request.method} ${request.url} ${body}`);
  const status = Number(request.url?.slice(1, 4));
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterAll(() => {
  client.close();
  server.close();
});

function run(part: Partial<ConformanceCase>): Promise<readonly string[]> {
  requests.length = 0;
  return runCase(client, {
    ...{ name: 'a-case', area: 'rest', request: ['GET', '/200', { a: 1 }] },
    ...{ status: 200, expect: { a: 1 }, compare: 'exact' },
    ...part,
  });
}

test('a GET carries its body and the answer is compared', async () => {
  await run({});
  expect(requests).toEqual(['GET /200 {"a":1}']);
  await expect(run({ expect: { a: 2 } })).rejects.toThrow('$.a is 1, expected 2');
});

test('integers keep all their digits both ways', async () => {
  const expected = { a: 9007199254740993n };
  await run({ request: ['POST', '/200', expected], expect: expected });
  expect(requests).toEqual(['POST /200 {"a":9007199254740993}']);
});

test('a status may be a number or a class', async () => {
  await run({ request: ['GET', '/404', null], status: '4xx', compare: 'status' });
  const wrong = run({ request: ['GET', '/404', null], status: 400, compare: 'status' });
  await expect(wrong).rejects.toThrow('expected status 400');
});

test('setup comes first and must succeed', async () => {
  await run({ setup: [['PUT', '/201', { b: 2 }]] });
  expect(requests).toEqual(['PUT /201 {"b":2}', 'GET /200 {"a":1}']);
  await expect(run({ setup: [['PUT', '/409', null]] })).rejects.toThrow('setup failed: PUT /409');
  expect(requests).toEqual(['PUT /409 ']);
});

test('an error is recognised by a part of its text', async () => {
  const request = ['GET', '/400', { error: 'Unknown column x' }] as const;
  await run({ request, status: 400, compare: 'error:unknown COLUMN' });
  const wrong = run({ request, status: 400, compare: 'error:row' });
  await expect(wrong).rejects.toThrow('expected an error with "row"');
});

test('files exist while the case runs', async () => {
  let directory = '';
  const request = ['GET', '/200', { path: '{{dir}}' }] as const;
  await run({ files: { 'deep/x.csv': '{{dir}}' }, request, compare: 'subset', expect: {} });
  directory = /"path":"(.*)"/.exec(requests[0] ?? '')?.[1] ?? '';
  expect(directory).toContain('rowan-conformance-');
  expect(existsSync(directory)).toBe(false);
});

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
