// Attack: JSON of many megabytes to routes that expect a few words. The thread that answers parses it
// a piece at a time, or leaves it to a worker: everybody else is served meanwhile.
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { isBodyDeferred, isParsedInTurns } from '../../src/service/route/parameter-binding.ts';
import { bytesBody } from '../../src/service/route/request-body.ts';

let rowan: Rowan;
let origin: string;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  origin = await rowan.listen();
});
afterAll(() => rowan?.close());

const PIECE_SIZE = 64 * 1024;
const BODY_SIZE = 16 * 2 ** 20;

/** More than buffers between two processes hold: what comes later finds the whole body there. */
const BUFFERED_PIECE_COUNT_MAX = 100;

/** Exact integers are not for JSON.parse, whatever else is in their piece. */
function body(element: string, before: string, after: string): Buffer {
  const count = Math.ceil(BODY_SIZE / (element.length + 1));
  return Buffer.from(`${before}${`${element},`.repeat(count)}0${after}`);
}

/** Turns of the event loop, and answers of health, from when all was sent until the reply. */
function turnsOf(path: string, bytes: Buffer) {
  return new Promise<{ status: number; turns: number; healthy: number }>((resolve, reject) => {
    let isOver = false;
    let turns = 0;
    let healthy = 0;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const ask = async () => {
      while (!isOver) if ((await fetch(`${origin}/v1/health`)).ok && !isOver) healthy++;
    };
    const sent = request(`${origin}${path}`, { method: 'POST', agent: false }, (reply) => {
      isOver = true;
      reply.resume().on('end', () => resolve({ status: reply.statusCode ?? 0, turns, healthy }));
    });
    sent.on('error', reject);
    sent.end(bytes, () => {
      setImmediate(count);
      ask().catch(reject);
    });
  });
}

test.each([
  ['/v1/query', '{"q":9007199254740993,"a":1}', '{"q":[', ']}', 400],
  ['/v1/query', '9007199254740993', '{"q":"SELECT 1","format":[', ']}', 400],
  ['/v1/redirect/get', '"text"', '{"target":"/v1/health","body":[', ']}', 200],
  ['/v1/datasets', '[9007199254740993]', '{"type":[', ']}', 400],
  ['/v1/keys', '{"role":"admin"}', '[', '', 400],
] as const)('%s, %s many times', async (path, element, before, after, status) => {
  const bytes = body(element, before, after);
  const outcome = await turnsOf(path, bytes);
  expect(outcome.status).toBe(status);
  const least = bytes.length / PIECE_SIZE - BUFFERED_PIECE_COUNT_MAX;
  expect(outcome.turns).toBeGreaterThan(path === '/v1/redirect/get' ? least / 2 : least);
  expect(outcome.healthy).toBeGreaterThan(0);
});

test('every route that takes JSON gives way while a large body is parsed', () => {
  const large = bytesBody(Buffer.alloc(PIECE_SIZE + 1, ' 1'));
  for (const route of rowan.dispatcher.routes) {
    if (route.body === undefined && route.hybrid === undefined) continue;
    const inTurns = isParsedInTurns(route, [], large);
    const byWorker = route.defersLargeBodies === true;
    expect([route.verb, route.path, inTurns]).toEqual([route.verb, route.path, !byWorker]);
    // A hybrid body is parsed where it is bound, unless a worker does that.
    if (route.hybrid === undefined) continue;
    const deferred = isBodyDeferred(route, { query: [], body: large });
    expect([route.path, deferred]).toEqual([route.path, !inTurns]);
    expect(isParsedInTurns(route, [['x', '']], large)).toBe(true);
  }
});

test('a large input of a function is parsed by a worker', async () => {
  const params = { expression: 'horizontal_count(x) AS n', prepared: true };
  await rowan.put('/v1/functions/f', { type: 'sql.expression', params });
  const input = { x: Array.from({ length: 50_000 }, (_, i) => i) };
  const post = async (sent: object) => {
    const reply = await fetch(`${origin}/v1/functions/f/application`, {
      method: 'POST',
      body: JSON.stringify(sent),
    });
    return [reply.status, await reply.json()];
  };
  expect(await post({ input })).toEqual([200, { output: { n: 50_000 } }]);
  expect(await post({ input, outputFormat: 'json' })).toEqual([200, { n: 50_000 }]);
  expect(await post({ input, keepValues: 1 })).toMatchObject([
    400,
    { code: 'INVALID_PARAMETER', error: expect.stringContaining('keepValues') },
  ]);
  expect(await post({ input, unknown: 1 })).toMatchObject([400, { code: 'UNKNOWN_PARAMETER' }]);
});
