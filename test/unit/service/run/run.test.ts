// Runs over the in-process API: overrides, states, documents, cancellation, events.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await rowan.put('/v1/procedures/nothing', { type: 'null' });
  await rowan.put('/v1/procedures/slow', {
    type: 'mock',
    params: { durationMs: 60_000, refreshRateMs: 5 },
  });
  await rowan.put('/v1/datasets/source', { type: 'sparse.mutable' });
  await rowan.post('/v1/datasets/source/multirows', [
    ['r1', [['x', 1, 0]]],
    ['r2', [['x', 2, 0]]],
  ]);
  await rowan.post('/v1/datasets/source/commit', {});
});
afterAll(() => rowan.close());

async function until<Value>(read: () => Promise<Value>, wanted: (value: Value) => boolean) {
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const stateOf = async (path: string) =>
  ((await rowan.get(`${path}/state`)).json as { state: string }).state;

describe('starting', () => {
  test('an automatic id has date and 16 hex digits, and a location', async () => {
    const reply = await rowan.post('/v1/procedures/nothing/runs', {});
    const { id, state } = reply.json as { id: string; state: string };
    expect(reply.status).toBe(201);
    expect(state).toBe('finished');
    expect(id).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z-[0-9a-f]{16}$/);
    expect(reply.headers.location).toBe(`/v1/procedures/nothing/runs/${encodeURIComponent(id)}`);
    expect((await rowan.get(reply.headers.location as string)).json).toMatchObject({ id });
  });

  test('ids in path and body must agree', async () => {
    const reply = await rowan.put('/v1/procedures/nothing/runs/a', { id: 'b' });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('Ambiguous names between route and config for procedure run PUT');
  });

  test('a first run is part of the reply', async () => {
    const config = { type: 'null', params: { runOnCreation: 1 } };
    const reply = await rowan.put('/v1/procedures/first', config);
    expect(reply.status).toBe(201);
    expect(reply.json).toMatchObject({ state: 'ok', status: { firstRun: { state: 'finished' } } });
    expect((await rowan.get('/v1/procedures/first')).json).not.toHaveProperty('status');
  });

  test('a first run that fails leaves the procedure', async () => {
    const config = { type: 'transform', params: { runOnCreation: true } };
    const reply = await rowan.put('/v1/procedures/failing', config);
    expect(reply.json).toMatchObject({
      error: 'You need to define inputData (failed to create the initial run)',
      httpCode: 400,
      details: { entry: 'failing', runError: { error: 'You need to define inputData' } },
    });
    expect((await rowan.get('/v1/procedures/failing')).json).toMatchObject({ state: 'ok' });
    expect((await rowan.get('/v1/procedures/failing/runs')).json).toHaveLength(1);
  });
});

describe('overrides', () => {
  beforeAll(async () => {
    await rowan.put('/v1/procedures/copy', {
      type: 'transform',
      params: {
        inputData: { select: 'x', from: 'source', where: 'x = 1' },
        outputDataset: { id: 'copied', type: 'sparse.mutable' },
      },
    });
  });
  const copied = () => rowan.query('SELECT x FROM copied', { format: 'soa', rowNames: false });

  test('objects are merged key by key', async () => {
    const body = { params: { inputData: { where: 'x = 2' } } };
    expect((await rowan.post('/v1/procedures/copy/runs', body)).json).toMatchObject({
      state: 'finished',
      status: { rowCount: 1 },
    });
    expect(await copied()).toEqual({ x: [2] });
  });

  test('keys beside params are parameters, params wins', async () => {
    const body = {
      inputData: 'SELECT x FROM source WHERE x = 1',
      params: { inputData: 'SELECT x FROM source' },
    };
    await rowan.post('/v1/procedures/copy/runs', body);
    expect(((await copied()) as { x: number[] }).x.sort()).toEqual([1, 2]);
  });

  test('do not stay with the procedure', async () => {
    await rowan.post('/v1/procedures/copy/runs', {});
    expect(await copied()).toEqual({ x: [1] });
  });

  test('unknown parameters fail the run and leave its output as it was', async () => {
    const reply = await rowan.post('/v1/procedures/copy/runs', { inputDta: 'x' });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('unknown field params.inputDta');
    expect(await copied()).toEqual({ x: [1] });
  });

  test('a failed run registers nothing', async () => {
    const body = { params: { inputData: 'SELECT nope(x) FROM source', outputDataset: 'fresh' } };
    expect((await rowan.post('/v1/procedures/copy/runs', body)).status).toBe(400);
    expect((await rowan.get('/v1/datasets/fresh')).status).toBe(404);
    expect((await rowan.put('/v1/datasets/fresh', { type: 'tabular' })).status).toBe(201);
  });
});

describe('a run that works', () => {
  const path = '/v1/procedures/slow/runs/long';

  test('shows progress, is the state of its procedure, and can be cancelled', async () => {
    const started = await rowan.putAsync(path, {});
    expect(started.status).toBe(202);
    await until(
      () => stateOf(path),
      (state) => state === 'executing',
    );
    const shown = await until(
      async () => (await rowan.get('/v1/procedures/slow')).json as Record<string, unknown>,
      (document) => document.progress !== undefined,
    );
    expect(shown).toMatchObject({
      id: 'long',
      state: 'executing',
      config: { id: 'slow' },
      progress: {
        steps: [
          { name: 'step 1', type: 'counter' },
          { name: 'step 2', value: 0 },
        ],
      },
    });
    expect((await rowan.put(path, {})).status).toBe(409);
    expect((await rowan.get(`${path}/details`)).status).toBe(404);
    const cancelled = await rowan.put(`${path}/state`, { state: 'cancelled' });
    expect(cancelled.status).toBe(200);
    await until(
      () => stateOf(path),
      (state) => state === 'cancelled',
    );
    expect((await rowan.get(path)).json).toHaveProperty('runFinished');
    expect((await rowan.get('/v1/procedures/slow')).json).toMatchObject({
      id: 'slow',
      state: 'ok',
    });
  });

  test('answers a waiting caller with 409 when it is cancelled', async () => {
    const waiting = rowan.put(path, {});
    await until(
      () => stateOf(path),
      (state) => state === 'executing',
    );
    expect((await rowan.delete(path)).status).toBe(204);
    const reply = await waiting;
    expect(reply.status).toBe(409);
    expect(reply.text).toContain("run entry 'long' could not be obtained");
    expect((await rowan.get(path)).status).toBe(404);
  });

  test('sends its states, progress and result as events', async () => {
    await rowan.put('/v1/procedures/quick', {
      type: 'mock',
      params: { durationMs: 60, refreshRateMs: 5 },
    });
    await rowan.putAsync('/v1/procedures/quick/runs/r', {});
    const { text, contentType } = await rowan.get('/v1/procedures/quick/runs/r/events');
    expect(contentType).toBe('text/event-stream');
    const names = [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1]);
    expect(names[0]).toBe('state');
    expect(names).toContain('progress');
    expect(names.at(-1)).toBe('result');
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const rest = await rowan.get('/v1/procedures/quick/runs/r/events', { after: ids[0] });
    expect(rest.text).not.toContain(`id: ${ids[0]}\n`);
  });

  test.each([
    [{ state: 'finished' }, 'state "finished" of a run'],
    [{ stat: 'cancelled' }, 'unknown field stat'],
    [{}, 'no state of a run'],
    ['cancelled', `Object was expected; instead got '"cancelled"'`],
    [undefined, 'Object was expected; instead got no body'],
  ])('refuses the state %j', async (body, message) => {
    await rowan.put('/v1/procedures/nothing/runs/s', {});
    const reply = await rowan.put('/v1/procedures/nothing/runs/s/state', body);
    expect(reply.status).toBe(400);
    expect((reply.json as { error: string }).error).toContain(message);
  });
});

test.each([
  ['GET', 'state'],
  ['PUT', 'state'],
  ['GET', 'details'],
  ['GET', 'events'],
])('a run that is not there has no %s %s', async (verb, route) => {
  const path = `/v1/procedures/nothing/runs/absent/${route}`;
  const { status, json } = await rowan.perform(verb, path, { body: { state: 'cancelled' } });
  expect(status).toBe(404);
  expect(json).toMatchObject({
    error: "run entry 'absent' does not exist or has been deleted",
    code: 'RUN_NOT_FOUND',
    kind: 'run',
    resource: 'absent',
  });
});

test('latestrun leads to the run started last', async () => {
  await rowan.put('/v1/procedures/order', { type: 'null' });
  expect((await rowan.get('/v1/procedures/order/latestrun')).status).toBe(404);
  await rowan.put('/v1/procedures/order/runs/z', {});
  await rowan.put('/v1/procedures/order/runs/a', {});
  const reply = await rowan.get('/v1/procedures/order/latestrun');
  expect([reply.status, reply.headers.location]).toEqual([307, '/v1/procedures/order/runs/a']);
});

describe('a run of other runs is cancelled', () => {
  async function cancelOnce(procedure: string, isReady: () => Promise<boolean>): Promise<void> {
    const path = `/v1/procedures/${procedure}/runs/r`;
    expect((await rowan.putAsync(path, {})).status).toBe(202);
    await until(isReady, (ready) => ready);
    expect((await rowan.put(`${path}/state`, { state: 'cancelled' })).status).toBe(200);
    await until(
      () => stateOf(path),
      (state) => state === 'cancelled',
    );
  }

  const isExecuting = (procedure: string) => async () =>
    (await stateOf(`/v1/procedures/${procedure}/runs/r`)) === 'executing';

  test('between two of a million that a permuter makes', async () => {
    const ones = new Array<number>(1000).fill(1);
    await rowan.put('/v1/procedures/permuter', {
      type: 'permuter.run',
      params: {
        procedure: { type: 'mock' },
        permutations: { durationMs: ones, refreshRateMs: ones },
      },
    });
    await cancelOnce('permuter', isExecuting('permuter'));
  });

  test('in a step of serial, which keeps what earlier steps made and makes nothing else', async () => {
    const transform = (outputDataset: string) => ({
      type: 'transform',
      params: { inputData: 'SELECT * FROM source', outputDataset },
    });
    const steps = [
      transform('step-0'),
      { type: 'mock', params: { durationMs: 60_000, refreshRateMs: 5 } },
      transform('step-2'),
    ];
    await rowan.put('/v1/procedures/steps', { type: 'serial', params: { steps } });
    const datasets = async () => (await rowan.get('/v1/datasets')).json as string[];
    await cancelOnce('steps', async () => (await datasets()).includes('step-0'));
    expect(await datasets()).not.toContain('step-2');
    expect(await rowan.query('SELECT count(*) FROM "step-0"', { format: 'atom' })).toBe(2);
  });

  test('in an endless script', async () => {
    const scriptConfig = { source: 'for (;;) {}' };
    await rowan.put('/v1/procedures/script', { type: 'script.run', params: { scriptConfig } });
    await cancelOnce('script', isExecuting('script'));
  });
});

test('a serial procedure gives its parameters to every step and names the failing one', async () => {
  await rowan.put('/v1/procedures/chain', {
    type: 'serial',
    params: {
      steps: [{ id: 'nothing' }, { name: 'copying', type: 'transform', params: {} }],
    },
  });
  const reply = await rowan.post('/v1/procedures/chain/runs', {});
  expect(reply.json).toMatchObject({
    error: 'You need to define inputData',
    details: { step: 'copying' },
  });
});
