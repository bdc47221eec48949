// One contract for the catalogue on disk and the one in memory, then what only the disk has.
import { fork } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Catalogue, Change } from '../../../src/store/catalogue.ts';
import { openCatalogue } from '../../../src/store/open-catalogue.ts';
import { compiledModule } from '../../support/project.ts';

const root = mkdtempSync(join(tmpdir(), 'rowan-catalogue-'));
let directoryCount = 0;

afterAll(() => rmSync(root, { recursive: true }));

function newDirectory(): string {
  return join(root, String(directoryCount++));
}

function textsOf(catalogue: Catalogue, log: string, after?: number): string[] {
  return Array.from(catalogue.entries(log, after), ({ bytes }) => Buffer.from(bytes).toString());
}

describe.each(['disk', 'memory'] as const)('a catalogue on %s', (kind) => {
  let catalogue: Catalogue;

  beforeEach(async () => {
    catalogue = await openCatalogue({ directory: kind === 'disk' ? newDirectory() : null });
  });

  afterEach(() => catalogue.close());

  test('gives records back, integers of any size included', async () => {
    const value = { id: 'x', big: 2n ** 63n, list: [1, null, 'ä'] };
    await catalogue.write([{ type: 'put', table: 'entities', key: ['dataset', 'x'], value }]);
    expect(catalogue.get('entities', ['dataset', 'x'])).toEqual(value);
    expect(catalogue.get('entities', ['dataset', 'y'])).toBeUndefined();
    expect(catalogue.get('runs', ['dataset', 'x'])).toBeUndefined();
    await catalogue.write([{ type: 'remove', table: 'entities', key: ['dataset', 'x'] }]);
    expect(catalogue.get('entities', ['dataset', 'x'])).toBeUndefined();
  });

  test('lists by leading elements whatever the keys look like', async () => {
    const element = fc.oneof(
      fc.constantFrom('', 'a', 'ab', 'a\u0000', '\u0000', '\u0000\u0001', 'ä', 'é'.repeat(300)),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    const keys = fc.uniqueArray(fc.tuple(element, element), {
      selector: (key) => JSON.stringify(key),
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(keys, async (keys) => {
        const puts = keys.map((key): Change => ({ type: 'put', table: 'runs', key, value: key }));
        await catalogue.write(puts);
        for (const [first] of keys) {
          const found = [...catalogue.list('runs', [first])].map(({ key }) => JSON.stringify(key));
          const expected = keys.filter((key) => key[0] === first).map((k) => JSON.stringify(k));
          expect(found.sort()).toEqual(expected.sort());
        }
        expect([...catalogue.list('runs')].length).toBe(keys.length);
        for (const key of keys) expect(catalogue.get('runs', key)).toEqual(key);
        await catalogue.write(keys.map((key) => ({ type: 'remove', table: 'runs', key })));
        expect([...catalogue.list('runs')]).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  test('lists in the order of keys', async () => {
    const ids = ['b', 'a', 'ab', 'A', 'ä'];
    await catalogue.write(ids.map((id) => ({ type: 'put', table: 'keys', key: [id], value: 1 })));
    expect([...catalogue.list('keys')].map(({ key }) => key[0])).toEqual([
      'A',
      'a',
      'ab',
      'b',
      'ä',
    ]);
  });

  test('keeps log entries in order until a checkpoint covers them', async () => {
    const sequences: number[] = [];
    for (const text of ['one', 'two', 'three']) {
      sequences.push(await catalogue.append('log a', Buffer.from(text)));
    }
    await catalogue.append('log', Buffer.from('other'));
    expect(sequences).toEqual([1, 2, 3]);
    expect(textsOf(catalogue, 'log a')).toEqual(['one', 'two', 'three']);
    expect(textsOf(catalogue, 'log a', 1)).toEqual(['two', 'three']);
    expect(catalogue.logs().sort()).toEqual(['log', 'log a']);
    await catalogue.write([
      { type: 'truncate', log: 'log a', through: 2 },
      { type: 'put', table: 'entities', key: ['a'], value: { through: 2 } },
    ]);
    expect(textsOf(catalogue, 'log a')).toEqual(['three']);
    expect(textsOf(catalogue, 'log')).toEqual(['other']);
    await catalogue.write([{ type: 'truncate', log: 'log a', through: 1e9 }]);
    expect(textsOf(catalogue, 'log a')).toEqual([]);
    expect(catalogue.logs()).toEqual(['log']);
    expect(await catalogue.append('log a', Buffer.from('four'))).toBe(4);
  });

  test('a dropped log begins anew', async () => {
    await catalogue.append('x', Buffer.from('one'));
    await catalogue.append('x', Buffer.from('two'));
    await catalogue.write([{ type: 'drop', log: 'x' }]);
    expect(textsOf(catalogue, 'x')).toEqual([]);
    expect(catalogue.lastSequence('x')).toBe(0);
    expect(await catalogue.append('x', Buffer.from('three'))).toBe(1);
    expect(textsOf(catalogue, 'x')).toEqual(['three']);
  });

  test('appends at the same time do not mix', async () => {
    const texts = Array.from({ length: 50 }, (_, i) => `entry ${i}`);
    const large = 'x'.repeat(5_000_000);
    await Promise.all([...texts, large].map((text) => catalogue.append('x', Buffer.from(text))));
    expect(textsOf(catalogue, 'x')).toEqual([...texts, large]);
  });

  test('an empty entry is an entry', async () => {
    await catalogue.append('x', new Uint8Array(0));
    expect(textsOf(catalogue, 'x')).toEqual(['']);
  });
});

describe('a catalogue on disk', () => {
  test('is as it was when it is opened again', async () => {
    const directory = newDirectory();
    const first = await openCatalogue({ directory });
    await first.write([{ type: 'put', table: 'keys', key: ['k'], value: [1] }]);
    await first.append('log', Buffer.from('one'));
    await first.append('log', Buffer.from('two'));
    await first.append('gone', Buffer.from('three'));
    await first.write([{ type: 'truncate', log: 'gone', through: 1 }]);
    await first.close();
    const second = await openCatalogue({ directory });
    expect(second.get('keys', ['k'])).toEqual([1]);
    expect(textsOf(second, 'log')).toEqual(['one', 'two']);
    expect(await second.append('log', Buffer.from('three'))).toBe(3);
    expect(await second.append('gone', Buffer.from('four'))).toBe(2);
    await second.close();
  });

  test('refuses a second user and names the first', async () => {
    const directory = newDirectory();
    const catalogue = await openCatalogue({ directory });
    await expect(openCatalogue({ directory })).rejects.toMatchObject({
      name: 'DataDirectoryError',
      exitCode: 2,
      message: expect.stringContaining(`is in use by process ${process.pid}`),
    });
    const beside = await openCatalogue({ directory, shared: true });
    await beside.write([{ type: 'put', table: 'keys', key: ['k'], value: 1 }]);
    await beside.close();
    expect(catalogue.get('keys', ['k'])).toBe(1);
    await catalogue.close();
    await (await openCatalogue({ directory })).close();
  });

  test.runIf(process.platform === 'linux')(
    'is not let in when the lock file of the holder was removed, by whatever path',
    async () => {
      const directory = newDirectory();
      const catalogue = await openCatalogue({ directory });
      const lock = join(directory, 'lock');
      rmSync(lock);
      const link = `${directory}-link`;
      symlinkSync(directory, link);
      for (const path of [directory, link]) {
        await expect(openCatalogue({ directory: path })).rejects.toMatchObject({
          name: 'DataDirectoryError',
          exitCode: 2,
          message: expect.stringContaining('is in use by another process, whose lock file'),
        });
      }
      expect(existsSync(lock)).toBe(false);
      await catalogue.close();
      await (await openCatalogue({ directory })).close();
    },
  );

  test('refuses a format of the future', async () => {
    const directory = newDirectory();
    await (await openCatalogue({ directory })).close();
    await editFormat(directory, 99);
    await expect(openCatalogue({ directory })).rejects.toThrow(
      'has format 99; this version reads formats up to 2',
    );
    expect(existsSync(join(directory, 'lock'))).toBe(false);
  });

  test('takes over the lock of a process that is gone', async () => {
    const directory = newDirectory();
    const catalogue = await openCatalogue({ directory });
    const lock = join(directory, 'lock');
    const holder = JSON.parse(readFileSync(lock, 'utf8')) as Record<string, unknown>;
    await catalogue.close();
    expect(existsSync(lock)).toBe(false);
    for (const stale of [
      { ...holder, startedAt: '1' },
      { ...holder, pid: 2 ** 22 + 5 },
    ]) {
      writeFileSync(lock, JSON.stringify(stale));
      await (await openCatalogue({ directory })).close();
    }
    writeFileSync(lock, JSON.stringify({ ...holder, host: 'elsewhere' }));
    await expect(openCatalogue({ directory })).rejects.toThrow('on elsewhere');
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(lock, longAgo, longAgo);
    await (await openCatalogue({ directory })).close();
  });

  test('keeps what was acknowledged before the process was killed', async () => {
    const directory = newDirectory();
    const module = compiledModule('store/open-catalogue.ts').href;
    const script = join(root, 'writer.mjs');
    writeFileSync(
      script,
      `const { openCatalogue } = await import(${JSON.stringify(module)});
       const catalogue = await openCatalogue({ directory: ${JSON.stringify(directory)} });
       for (let i = 1; ; i++) {
         const bytes = Buffer.alloc(i % 7 === 0 ? 3_000_000 : 10, i % 256);
         await Promise.all([
           catalogue.append('log', bytes),
           catalogue.write([
             { type: 'put', table: 'runs', key: ['a'], value: i },
             { type: 'put', table: 'runs', key: ['b'], value: i },
           ]),
         ]);
         process.send(i);
       }`,
    );
    const child = fork(script, { execArgv: [] });
    const acknowledged = await new Promise<number>((resolve) => {
      let last = 0;
      child.on('message', (i) => {
        last = i as number;
        if (last === 30) child.kill('SIGKILL');
      });
      child.on('exit', () => resolve(last));
    });
    expect(acknowledged).toBeGreaterThanOrEqual(30);
    const catalogue = await openCatalogue({ directory });
    const entries = [...catalogue.entries('log')];
    expect(entries.length).toBeGreaterThanOrEqual(acknowledged);
    entries.forEach(({ sequence, bytes }, index) => {
      expect(sequence).toBe(index + 1);
      expect(bytes.length).toBe(sequence % 7 === 0 ? 3_000_000 : 10);
      expect(bytes[bytes.length - 1]).toBe(sequence % 256);
    });
    const run = catalogue.get('runs', ['a']);
    expect(run).toBeGreaterThanOrEqual(acknowledged);
    expect(catalogue.get('runs', ['b'])).toBe(run);
    await catalogue.close();
  });
});

async function editFormat(directory: string, format: number): Promise<void> {
  const { open } = await import('lmdb');
  const { encodeKey } = await import('../../../src/store/record-key.ts');
  const options = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const environment = open<Buffer, Buffer>({ path: join(directory, 'catalogue.lmdb'), ...options });
  const records = environment.openDB<Buffer, Buffer>({ name: 'records', ...options });
  await records.put(encodeKey(['', 'format']), Buffer.from(JSON.stringify([['format'], format])));
  await environment.close();
}
