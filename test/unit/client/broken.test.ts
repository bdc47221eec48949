// Connections that break on the way, and services that end.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { Rowan, type RowanError } from '../../../src/index.ts';

let rowan: Rowan;
let address: string;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ host: '127.0.0.1', port: 0 });
  const params = { durationMs: 300, refreshRateMs: 10 };
  await rowan.procedures.put({ id: 'slow', type: 'mock', params });
});
afterAll(() => rowan?.close());

/** A fetch whose replies below a path break off, so many times, after their first piece or before. */
function breaking(path: string, count: number, givesPiece = true): typeof fetch {
  let leftCount = count;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes(path) || leftCount-- <= 0 || response.body === null) {
      return response;
    }
    const reader = response.body.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        if (givesPiece && value !== undefined) controller.enqueue(value as Uint8Array);
      },
      pull: (controller) => controller.error(new TypeError('cable cut')),
    });
    return new Response(body, response);
  };
}

test('a run is followed over connections that break, without repeating', async () => {
  const client = connect(address, { fetch: breaking('/events', 2) });
  const events: string[] = [];
  for await (const { event, data } of client.procedures.get('slow').run({ id: 'r' })) {
    events.push(event === 'state' ? data.state : event);
  }
  expect(events.filter((event) => event !== 'progress')).toEqual([
    ...['initializing', 'executing', 'finished', 'result'],
  ]);
});

test('a connection that always breaks is given up', async () => {
  const client = connect(address, { fetch: breaking('/events', 1000, false) });
  const run = client.procedures.get('slow').run({ params: { durationMs: 60_000 } });
  const follow = async () => {
    for await (const { event } of run) expect(event).not.toBe('result');
  };
  await expect(follow()).rejects.toMatchObject({ code: 'UNREACHABLE' });
  await run.cancel();
}, 30_000);

test('a reply that breaks off is no reply', async () => {
  const client = connect(address, { fetch: breaking('/v1/query', 1) });
  await expect(client.query('SELECT 1 AS x')).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: `the reply from ${address} broke off: cable cut`,
  });
});

test('the end of the service is the end of its runs', async () => {
  const own = await Rowan.open({ dataDir: null, workers: 1 });
  const client = connect(await own.listen({ host: '127.0.0.1', port: 0 }));
  await own.procedures.put({ id: 'slow', type: 'mock', params: { durationMs: 60_000 } });
  let closing: Promise<void> | undefined;
  const follow = async () => {
    for await (const { event, data } of client.procedures.get('slow').run()) {
      closing ??= own.close();
      if (event === 'result') return data.state;
    }
    return 'nothing';
  };
  const outcome = await follow().catch((thrown: RowanError) => thrown.code);
  expect(['cancelled', 'SHUTTING_DOWN']).toContain(outcome);
  await closing;
});
