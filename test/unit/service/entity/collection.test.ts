// The state machine of entities, with constructions that end when the test says so.
import { beforeEach, describe, expect, test } from 'vitest';
import { EntityCollection, type LiveEntity } from '../../../../src/service/entity/collection.ts';
import { failure, type RowanError } from '../../../../src/util/error.ts';

interface Work {
  readonly id: string;
  readonly signal: AbortSignal;
  succeed(): void;
  fail(message: string): void;
  progress(document: unknown): void;
}

let work: Work[];
let log: string[];
let things: EntityCollection<LiveEntity>;
let nextSerial: number;
/** no entity can be kept */
let isFull: boolean;

beforeEach(() => {
  work = [];
  log = [];
  nextSerial = 1;
  isFull = false;
  things = new EntityCollection<LiveEntity>('dataset', {
    construct: (config, { signal, progress }) =>
      new Promise((resolve, reject) => {
        const serial = nextSerial++;
        signal.addEventListener('abort', () => reject(failure('CANCELLED', 'stopped')));
        work.push({
          id: config.id,
          signal,
          progress,
          succeed: () =>
            resolve({
              id: config.id,
              type: config.type ?? '',
              config,
              status: () => ({ serial }),
              dispose: () => log.push(`dispose ${serial}`),
            }),
          fail: (message) => reject(failure('INVALID_PARAMETER', message)),
        });
      }),
    publish: (id, state) =>
      log.push(`publish ${id} ${typeof state === 'object' ? 'ready' : (state ?? 'nothing')}`),
    save: async (entity) => {
      log.push(`save ${entity.id}`);
      if (isFull) throw failure('DISK_FULL', { form: 'store', path: '/disk' });
    },
    saveRequest: async ({ id }) => {
      log.push(`request ${id}`);
    },
    forget: async (id) => {
      log.push(`forget ${id}`);
    },
    onFailure: (id) => log.push(`failure ${id}`),
  });
});

async function build(id = 'a'): Promise<void> {
  const done = things.put({ id, type: 't' });
  work.at(-1)?.succeed();
  await done;
}

async function failureOf(promise: Promise<unknown> | (() => unknown)): Promise<RowanError> {
  try {
    await (typeof promise === 'function' ? promise() : promise);
  } catch (thrown) {
    return thrown as RowanError;
  }
  throw new Error('expected a failure');
}

test('an entity is absent, being built, then ok', async () => {
  expect((await failureOf(() => things.statusDocument('a'))).message).toBe(
    "dataset entry 'a' doesn't exist",
  );
  const done = things.put({ id: 'a', type: 't' });
  expect(things.statusDocument('a')).toEqual({
    id: 'a',
    type: 't',
    state: 'initializing',
    config: { id: 'a', type: 't' },
  });
  work[0]?.progress({ steps: [] });
  expect(things.statusDocument('a')).toMatchObject({ state: 'executing', progress: { steps: [] } });
  work[0]?.succeed();
  await done;
  expect(things.statusDocument('a')).toMatchObject({ state: 'ok', status: { serial: 1 } });
  expect(log).toEqual(['publish a not-ready', 'publish a ready', 'save a']);
});

test('what cannot be kept goes out of service, for what there was before', async () => {
  isFull = true;
  const first = things.put({ id: 'a', type: 't' });
  work[0]?.succeed();
  expect((await failureOf(first)).code).toBe('DISK_FULL');
  expect(things.find('a')).toBeUndefined();
  expect(things.statusDocument('a')).toMatchObject({ state: 'error' });
  isFull = false;
  await build();
  const kept = things.get('a');
  isFull = true;
  const second = things.put({ id: 'a', type: 't' });
  work[2]?.succeed();
  expect((await failureOf(second)).code).toBe('DISK_FULL');
  expect(things.get('a')).toBe(kept);
  expect(things.statusDocument('a')).toMatchObject({ state: 'error' });
  expect(log.filter((line) => line.startsWith('dispose'))).toEqual(['dispose 1', 'dispose 3']);
  expect(log.at(-1)).toBe('dispose 3');
});

test('ids are sorted by bytes', async () => {
  for (const id of ['b', 'a10', 'a2', 'é']) await build(id);
  expect(things.ids()).toEqual(['a10', 'a2', 'b', 'é']);
});

describe('while the first construction runs', () => {
  test('another is refused', async () => {
    void things.put({ id: 'a', type: 't' }).catch(() => {});
    const error = await failureOf(things.put({ id: 'a', type: 't' }));
    expect(error.httpCode).toBe(409);
    expect(error.message).toBe(
      "entry 'a' in dataset could not be overwritten because it is being constructed",
    );
  });

  test('sub-routes answer 404, uses 409', async () => {
    void things.put({ id: 'a', type: 't' }).catch(() => {});
    const error = await failureOf(() => things.get('a'));
    expect(error.message).toContain('not available as it is still being created');
    expect(error.extra).toMatchObject({ kind: 'dataset', resource: 'a', state: 'initializing' });
    expect((await failureOf(() => things.use('a'))).message).toContain('exists but is not ready');
  });

  test('a removal cancels it and waits', async () => {
    const creation = failureOf(things.put({ id: 'a', type: 't' }));
    await things.delete('a');
    expect(work[0]?.signal.aborted).toBe(true);
    expect((await creation).message).toBe("dataset entry 'a' could not be obtained");
    expect(things.ids()).toEqual([]);
  });
});

describe('over an entity that works', () => {
  beforeEach(() => build());

  test('a new one is built beside it, then takes its place', async () => {
    const done = things.put({ id: 'a', type: 'u' });
    expect(things.statusDocument('a')).toMatchObject({ state: 'initializing', type: 'u' });
    expect(things.get('a').status()).toEqual({ serial: 1 });
    work[1]?.succeed();
    await done;
    expect(things.get('a').status()).toEqual({ serial: 2 });
    expect(log).toContain('dispose 1');
  });

  test('a failed replacement leaves the old one in service', async () => {
    const done = failureOf(things.put({ id: 'a', type: 'u' }));
    work[1]?.fail('no');
    expect((await done).message).toBe('no');
    expect(things.statusDocument('a')).toMatchObject({
      state: 'error',
      type: 'u',
      progress: { exception: { error: 'no', httpCode: 400 } },
    });
    expect(things.get('a').status()).toEqual({ serial: 1 });
  });

  test('of two replacements the one that ends later stays', async () => {
    const first = things.put({ id: 'a', type: 'u' });
    const second = things.put({ id: 'a', type: 'v' });
    work[2]?.succeed();
    await second;
    work[1]?.succeed();
    await first;
    expect(things.get('a').status()).toEqual({ serial: 2 });
  });

  test('a removal is immediate and stops a replacement', async () => {
    const replacement = failureOf(things.put({ id: 'a', type: 'u' }));
    await things.delete('a');
    expect(things.find('a')).toBeUndefined();
    expect((await replacement).httpCode).toBe(409);
    expect(log.slice(-1)).toEqual(['forget a']);
    await things.delete('a');
  });

  test('creating is refused, obtaining finds it', async () => {
    const error = await failureOf(things.put({ id: 'a', type: 't' }, { mustBeNew: true }));
    expect(error.message).toBe("dataset entry 'a' already exists");
    expect((await things.obtain({ id: 'a', type: 'other' })).type).toBe('t');
  });
});

describe('after a failed construction', () => {
  beforeEach(async () => {
    const done = failureOf(things.put({ id: 'a', type: 't' }));
    work[0]?.fail('broken');
    await done;
  });

  test('the entry is listed with its error', () => {
    expect(things.ids()).toEqual(['a']);
    expect(things.statusDocument('a')).toMatchObject({ state: 'error' });
  });

  test('sub-routes say so, uses see nothing', async () => {
    expect((await failureOf(() => things.get('a'))).message).toBe(
      "dataset entry 'a' not available due to error in creation",
    );
    expect((await failureOf(() => things.use('a'))).message).toBe(
      "dataset entry 'a' doesn't exist",
    );
  });

  test('it can be built anew, also by obtaining', async () => {
    const obtained = things.obtain({ id: 'a', type: 't' });
    work[1]?.succeed();
    expect((await obtained).status()).toEqual({ serial: 2 });
  });
});

test('obtaining what is not there without a type fails and leaves nothing', async () => {
  expect((await failureOf(things.obtain({ id: 'x' }))).message).toBe(
    'Attempt to refer to nonexistant dataset with id x',
  );
  expect((await failureOf(things.obtain({}))).message).toContain("without setting 'id'");
  expect(things.ids()).toEqual([]);
});

test('an asynchronous creation answers once the request is kept', async () => {
  const id = await things.put({ type: 't' }, { isAsync: true });
  expect(id).toMatch(/^auto_[0-9a-f]{16}_[0-9a-f]{16}$/);
  expect(log).toEqual([`publish ${id} not-ready`, `request ${id}`]);
  work[0]?.fail('late');
  await things.stop();
  expect(log.slice(-2)).toEqual([`failure ${id}`, `forget ${id}`]);
});
