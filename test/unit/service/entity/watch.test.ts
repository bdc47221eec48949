// Watches over the in-process API and over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { parseWatch, watchEvents } from '../../../../src/service/entity/watch.ts';
import { localRequest } from '../../../support/local-request.ts';

let rowan: Rowan;
let address: string;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ host: '127.0.0.1', port: 0 });
  await rowan.put('/v1/datasets/old', { type: 'sparse.mutable' });
});
afterAll(() => rowan.close());

/** The events of a watch, read one by one. */
async function open(levels: unknown, accept = '*/*') {
  const abort = new AbortController();
  const reply = await rowan.dispatcher.dispatch(
    localRequest('POST', '/v1/watches', {
      body: levels,
      headers: { accept },
      signal: abort.signal,
    }),
  );
  const pieces = (reply.stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return {
    async next(): Promise<string | undefined> {
      const { value } = await pieces.next();
      return value === undefined ? undefined : new TextDecoder().decode(value);
    },
    close: () => abort.abort(),
  };
}

const children = (channel: string, filter = '*') => [
  { channel: 'children', filter: 'datasets' },
  { channel, filter },
];

describe('a watch', () => {
  test('of names tells those that exist, then each that comes and goes', async () => {
    const watch = await open(children('names'));
    await rowan.put('/v1/datasets/new', { type: 'sparse.mutable' });
    await rowan.put('/v1/datasets/new', { type: 'sparse.mutable' });
    await rowan.delete('/v1/datasets/new');
    expect([await watch.next(), await watch.next(), await watch.next()]).toEqual([
      '"+old"\n',
      '"+new"\n',
      '"-new"\n',
    ]);
    watch.close();
    expect(await watch.next()).toBeUndefined();
  });

  test('of children also tells replacements', async () => {
    const watch = await open(children('elements', 'one'));
    await rowan.put('/v1/datasets/other', { type: 'sparse.mutable' });
    await rowan.put('/v1/datasets/one', { type: 'sparse.mutable' });
    await rowan.put('/v1/datasets/one', { type: 'tabular' });
    await rowan.delete('/v1/datasets/one');
    await rowan.delete('/v1/datasets/other');
    const events = [await watch.next(), await watch.next(), await watch.next()];
    expect(events.map((text) => JSON.parse(text as string))).toEqual([
      { event: 'NEW', name: 'one' },
      { event: 'UPDATED', name: 'one' },
      { event: 'DELETED', name: 'one' },
    ]);
    watch.close();
  });

  test('of configurations and states shows the documents', async () => {
    const config = await open(children('config', 'old'));
    expect(JSON.parse((await config.next()) as string)).toEqual({
      id: 'old',
      type: 'sparse.mutable',
    });
    config.close();
    const status = await open(children('status', 'made'));
    await rowan.put('/v1/datasets/made', { type: 'sparse.mutable' });
    const states = [await status.next(), await status.next()].map(
      (text) => JSON.parse(text as string).state,
    );
    expect(states).toEqual(['initializing', 'ok']);
    status.close();
  });

  test('of the root tells the collections', async () => {
    const watch = await open([{ channel: 'names', filter: 'datasets' }]);
    expect(await watch.next()).toBe('"+datasets"\n');
    watch.close();
  });

  test('comes as server-sent events where they are accepted', async () => {
    const watch = await open(children('names', 'old'), 'text/event-stream');
    expect(await watch.next()).toBe('data: "+old"\n\n');
    watch.close();
  });
});

test('a reader too far behind is cut off', async () => {
  let tell: (event: unknown) => void = () => {};
  const watched = {
    existing: [],
    watch(told: typeof tell) {
      tell = told;
      return () => {};
    },
  };
  const events = watchEvents(watched, new AbortController().signal);
  for (let i = 0; i < 10_001; i++) tell(i);
  await expect(events.next()).rejects.toThrow('too far behind');
});

test.each([
  [null, 'array'],
  [[], 'array'],
  [[{ channel: 1 }], 'watch[0]'],
  [[{ channel: 'names', filter: '*', more: 1 }], 'watch[0]'],
])('%j is refused', (json, message) => {
  expect(() => parseWatch(json)).toThrow(message);
});

test.each([
  [[{ channel: 'nomes', filter: '*' }], "unknown channel 'nomes'"],
  [[{ channel: 'names', filter: 'things' }], "no collection 'things'"],
  [[{ channel: 'status', filter: '*' }], 'no channel'],
  [[{ channel: 'names', filter: 'datasets' }, { channel: 'names' }], 'leads nowhere'],
  [[{ channel: 'children' }, { channel: 'children' }, { channel: 'names' }], 'no levels below'],
])('%j names nothing', async (levels, message) => {
  const { status, json } = await rowan.post('/v1/watches', levels);
  expect([status, (json as { error: string }).error]).toEqual([
    400,
    expect.stringContaining(message),
  ]);
});

test('over HTTP events arrive one by one until the client hangs up', async () => {
  const abort = new AbortController();
  const response = await fetch(`${address}/v1/watches`, {
    method: 'POST',
    body: JSON.stringify(children('names')),
    signal: abort.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await next()).toContain('"+old"\n');
  await rowan.put('/v1/datasets/late', { type: 'sparse.mutable' });
  let seen = '';
  while (!seen.includes('"+late"')) seen += await next();
  abort.abort();
  await expect(reader.read()).rejects.toThrow();
});

test('there are sensors, but no types of them', async () => {
  expect((await rowan.get('/v1/sensors')).json).toEqual([]);
  const { status, json } = await rowan.put('/v1/sensors/s', { type: 'thermometer' });
  expect([status, (json as { error: string }).error]).toEqual([
    400,
    "couldn't find type 'thermometer' in registry",
  ]);
});

test.each(['version', 'routes/now', 'doc/index.html', 'static/logo.png'])(
  'a sensor that is not there has no %s',
  async (path) => {
    const { status, json } = await rowan.get(`/v1/sensors/absent/${path}`);
    expect(status).toBe(404);
    expect(json).toMatchObject({
      error: "sensor entry 'absent' does not exist or has been deleted",
      kind: 'sensor',
      resource: 'absent',
    });
  },
);
