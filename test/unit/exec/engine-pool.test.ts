import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { EnginePool, type EnginePoolOptions } from '../../../src/exec/pool/engine-pool.ts';

const entry = new URL('../../fixture/pool-worker.mjs', import.meta.url);
let pool: EnginePool | undefined;

function open(options: Partial<EnginePoolOptions> = {}): EnginePool {
  pool = new EnginePool({
    entry,
    threadCount: 2,
    taskCountMax: 3,
    initialMessages: () => [],
    ...options,
  });
  return pool;
}

afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

test('a task answers with its result, synchronous or not', async () => {
  const engine = open();
  expect(await engine.run('echo', { a: [1, 2n] })).toEqual({ a: [1, 2n] });
  expect(await engine.run('later', 'x')).toBe('x');
});

test('tasks that all wait for urgent ones get them, one after the other', async () => {
  const engine = open({
    taskCountMax: 2,
    onHostCall: (request) => engine.run('later', request, { isUrgent: true }),
  });
  const waiting = Array.from({ length: 8 }, async (_, i) => {
    expect(await engine.run('ask', i)).toBe(i);
    return engine.run('ask', i + 100);
  });
  expect(await Promise.all(waiting)).toEqual(waiting.map((_, i) => i + 100));
});

test('a task of whose result a part is out has no other attempt', async () => {
  const engine = open();
  const onChunk = async () => undefined;
  expect(await engine.run('frugal', 0, { isFrugal: false, onChunk })).toEqual([false, true]);
  expect(await engine.run('frugal', 0, { onChunk })).toEqual([true, true]);
});

test('units come back in order on any number of threads', async () => {
  const expected = Array.from({ length: 40 }, (_, i) => (i + 1) ** 2);
  for (const threadCount of [1, 2, 3]) {
    const engine = open({ threadCount });
    engine.warmUp();
    await Promise.all([1, 2, 3].map(() => engine.run('echo', 0)));
    expect(await engine.run('squares', { offset: 1, count: 40 })).toEqual(expected);
    await engine.close();
  }
});

test('short jobs of several leaders never get units of one another', async () => {
  const engine = open({ threadCount: 3 });
  engine.warmUp();
  const offsets = Array.from({ length: 400 }, (_, i) => i);
  const results = await Promise.all(
    offsets.map((offset) => engine.run('squares', { offset, count: 3 })),
  );
  expect(results).toEqual(offsets.map((o) => [o ** 2, (o + 1) ** 2, (o + 2) ** 2]));
  await engine.close();
});

test('the first failing unit in order is the failure of the job', async () => {
  const engine = open();
  engine.warmUp();
  await expect(engine.run('squares', { offset: 0, count: 40, failAt: 7 })).rejects.toMatchObject({
    code: 'DATA_ERROR',
    message: 'unit 7 is bad',
  });
  expect(await engine.run('squares', { offset: 0, count: 3 })).toEqual([0, 1, 4]);
});

test('errors keep code, status and details; defects are reported', async () => {
  const onDefect = vi.fn();
  const engine = open({ onDefect });
  await expect(engine.run('fail', null)).rejects.toMatchObject({
    code: 'SQL_EXECUTION',
    httpCode: 400,
    details: { line: 3 },
  });
  await expect(engine.run('defect', null)).rejects.toMatchObject({
    code: 'INTERNAL',
    httpCode: 500,
  });
  expect(onDefect).toHaveBeenCalledOnce();
});

test('a worker knows every broadcast sent before its task', async () => {
  const past: unknown[] = ['start'];
  const engine = open({ initialMessages: () => past, taskCountMax: 1 });
  await engine.run('echo', 0);
  engine.broadcast('later');
  expect(await engine.run('heard', null)).toEqual(['start', 'later']);
});

test('more tasks than workers wait their turn', async () => {
  const engine = open({ taskCountMax: 2 });
  const results = await Promise.all(Array.from({ length: 20 }, (_, i) => engine.run('later', i)));
  expect(results).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test('a signal forgets tasks that have ended', async () => {
  const engine = open();
  const { signal } = new AbortController();
  for (let i = 0; i < 5; i++) await engine.run('echo', i, { signal });
  await expect(engine.run('fail', null, { signal })).rejects.toThrow();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('cancelling stops a task that checks, and replaces one that does not', async () => {
  const engine = open({ taskCountMax: 1 });
  for (const kind of ['spin', 'hang']) {
    const controller = new AbortController();
    const running = engine.run(kind, null, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await engine.run('echo', 'alive')).toBe('alive');
  }
});

test('cancelling ends all threads that cannot notice it, long before their time is up', async () => {
  const ended: number[] = [];
  const onDefect = vi.fn();
  const termination = { begin() {}, end: (thread: number) => ended.push(thread) };
  const engine = open({ taskCountMax: 2, termination, onDefect });
  await Promise.all([engine.run('later', 1), engine.run('later', 2)]);
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const controller = new AbortController();
  const running = engine.run('stuck', { begun }, { signal: controller.signal });
  await expect.poll(() => begun[0], { timeout: 5000 }).toBe(2);
  const rejected = expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  controller.abort();
  vi.advanceTimersByTime(100);
  vi.useRealTimers();
  await rejected;
  await expect.poll(() => new Set(ended).size, { timeout: 5000 }).toBe(2);
  const results = await Promise.all([
    engine.run('echo', 1),
    engine.run('squares', { count: 3, offset: 0 }),
  ]);
  expect(results).toEqual([1, [0, 1, 4]]);
  expect(onDefect).not.toHaveBeenCalled();
});

test('a dead worker fails its task only', async () => {
  const engine = open({ taskCountMax: 1 });
  await expect(engine.run('exit', null)).rejects.toThrow('ended');
  expect(await engine.run('echo', 1)).toBe(1);
});

test('a stream waits for its reader', async () => {
  const engine = open();
  const taken: number[] = [];
  const count = await engine.run(
    'stream',
    { count: 50 },
    {
      async onChunk(bytes) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        taken.push(bytes[0] as number);
      },
    },
  );
  expect(count).toBe(50);
  expect(taken).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test('a task blocks on the host and gets its answer or error', async () => {
  const engine = open({
    onHostCall: async (request) => {
      if (request === 'bad') throw new Error('refused');
      return { heard: request };
    },
  });
  expect(await engine.run('ask', 'good')).toEqual({ heard: 'good' });
  await expect(engine.run('ask', 'bad')).rejects.toThrow('refused');
});

test('progress arrives, the last document always', async () => {
  const seen: unknown[] = [];
  await open().run('progress', null, { onProgress: (document) => seen.push(document) });
  expect(seen).toEqual([{ done: 1 }, { done: 2 }]);
});
