// Values follow work through promises, and do not meet those of other work.
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { contextValue, keepContext, runWithContext } from '../../../src/util/async-context.ts';

test('work without a value has none', async () => {
  expect(contextValue()).toBeUndefined();
  await sleep(1);
  expect(contextValue()).toBeUndefined();
});

test('a value ends with its work', () => {
  expect(runWithContext('a', () => contextValue())).toBe('a');
  expect(contextValue()).toBeUndefined();
  const fail = () =>
    runWithContext('a', () => {
      throw new Error('no');
    });
  expect(fail).toThrow('no');
  expect(contextValue()).toBeUndefined();
});

test('an inner value hides the outer one while its work runs', async () => {
  await runWithContext('outer', async () => {
    const inner = runWithContext('inner', async () => {
      await sleep(1);
      return contextValue();
    });
    expect(contextValue()).toBe('outer');
    expect(await inner).toBe('inner');
    expect(contextValue()).toBe('outer');
  });
});

async function* numbers() {
  for (let i = 0; i < 3; i++) {
    await sleep(1);
    yield [i, contextValue()];
  }
}

const thenable = {
  // biome-ignore lint/suspicious/noThenProperty: objects of libraries are awaited too
  then(resolve: (value: unknown) => void) {
    setTimeout(() => resolve('made'), 1);
  },
};

const WAYS: Record<string, () => Promise<unknown>> = {
  'await of a timer': () => sleep(2),
  'await of nothing': async () => await undefined,
  'then of a promise': () => Promise.resolve().then(() => sleep(1)),
  'Promise.all': () => Promise.all([sleep(1), sleep(2)]),
  'Promise.race with a promise of others': () => Promise.race([shared, sleep(3)]),
  'a rejection': () => Promise.reject(new Error('no')).catch(() => undefined),
  'an event': async () => {
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit('go'), 1);
    await once(emitter, 'go');
  },
  'an async generator': async () => {
    for await (const [, value] of numbers()) expect(value).toBe(contextValue());
  },
  'an object with then': async () => await thenable,
};

const shared = sleep(5);

test.each(Object.keys(WAYS))('follows %s', async (name) => {
  const way = WAYS[name] as () => Promise<unknown>;
  const work = async (value: string) => {
    const seen: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      await way();
      seen.push(contextValue());
    }
    expect(seen).toEqual([value, value, value]);
  };
  const both = ['a', 'b'].map((value) => runWithContext(value, () => work(value)));
  expect(contextValue()).toBeUndefined();
  await Promise.all(both);
  expect(contextValue()).toBeUndefined();
});

test('a callback has the value of those who call it, unless it is kept', async () => {
  const seen = await runWithContext(
    'a',
    () =>
      new Promise<unknown[]>((resolve) => {
        const inContext = keepContext();
        setTimeout(() => resolve([contextValue(), inContext(() => contextValue())]), 1);
      }),
  );
  expect(seen).toEqual([undefined, 'a']);
});
