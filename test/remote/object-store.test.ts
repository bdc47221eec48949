// Files in a real object store: parts, ranges, keys that are wrong, clocks that are, and a store
// that goes away.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { AddressGuard } from '../../src/file/address-guard.ts';
import { collectBytes } from '../../src/file/byte-stream.ts';
import type { Credential } from '../../src/file/credential.ts';
import { FileSystem } from '../../src/file/file-system.ts';
import { HttpClient } from '../../src/file/http-client.ts';
import { S3Scheme } from '../../src/file/s3/s3-scheme.ts';
import { parseFileUrl } from '../../src/file/url.ts';
import { findObjectStore, type ObjectStore, startObjectStore } from '../support/object-store.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

/** Bytes beyond which an object goes up in parts. */
const PART_SIZE = 8 << 20;

describe.runIf(canTest('object store', findObjectStore()))('an object store', () => {
  let store: ObjectStore;

  beforeAll(async () => {
    store = await startObjectStore(['data']);
  });
  afterAll(() => store?.stop());

  function credential(more: Partial<Credential> = {}): Credential {
    return { ...store.account, location: store.host, protocol: 'http', ...more };
  }

  function files(more: Partial<Credential> = {}): FileSystem {
    return new FileSystem({ credentials: { find: () => credential(more) }, environment: {} });
  }

  async function write(url: string, ...pieces: readonly Uint8Array[]): Promise<void> {
    const sink = await files().create(url);
    for (const piece of pieces) await sink.write(piece);
    await sink.commit();
  }

  async function readBytes(url: string): Promise<Uint8Array> {
    return collectBytes((await files().open(url)).stream());
  }

  const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

  /** Bytes that no part shares with another. */
  function content(length: number): Uint8Array {
    const words = new Uint32Array(length / 4);
    for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + 1, 0x9e3779b1);
    return new Uint8Array(words.buffer);
  }

  describe('by its files', () => {
    test('gives back what was written, whatever the key', async () => {
      const keys = ['a b', 'a+b', 'ä/é', "x!'()*", 'a%20b', 'a?b#c', '~-_.', '100 %', 'a=b&c'];
      for (const key of keys) {
        await write(`s3://data/keys/${key}`, Buffer.from(`content of ${key}`));
        const found = await readBytes(`s3://data/keys/${key}`);
        expect(Buffer.from(found).toString()).toBe(`content of ${key}`);
      }
      const { files: listed, dirs } = await files().list('s3://data/keys');
      const inFolder = keys.filter((key) => !key.includes('/'));
      expect([...listed].sort()).toEqual(inFolder.map((key) => `s3://data/keys/${key}`).sort());
      expect(dirs).toEqual(['s3://data/keys/ä']);
    });

    test('takes large objects in parts, and gives any range of them', async () => {
      const bytes = content(2 * PART_SIZE + 1_000_000);
      await write('s3://data/large.bin', bytes.subarray(0, 5_000_000), bytes.subarray(5_000_000));
      // The tag of an object that was put in parts ends with their number.
      const { facts } = await files().list('s3://data');
      expect(facts?.get('s3://data/large.bin')).toMatchObject({ sizeBytes: bytes.length });
      expect(facts?.get('s3://data/large.bin')?.etag).toMatch(/-3"?$/);
      expect(sha(await readBytes('s3://data/large.bin'))).toBe(sha(bytes));
      const scheme = new S3Scheme({
        http: new HttpClient(new AddressGuard(true)),
        credentials: { find: () => credential() },
        environment: {},
      });
      const file = await scheme.open(parseFileUrl('s3://data/large.bin'), {});
      for (const [start, end] of [
        [0, 1],
        [PART_SIZE - 2, PART_SIZE + 2],
        [bytes.length - 5, bytes.length],
      ] as const) {
        const part = await collectBytes(file.range?.(start, end) ?? file.stream());
        expect([...part]).toEqual([...bytes.subarray(start, end)]);
      }
    });

    test('lists more keys than fit a page', async () => {
      const folder = join(store.folder, 'data/many');
      mkdirSync(folder);
      for (let i = 0; i < 1100; i++) writeFileSync(join(folder, String(i).padStart(4, '0')), '');
      expect((await files().list('s3://data/many')).files).toHaveLength(1100);
      expect(await files().expand(['s3://data/many/*9'])).toHaveLength(110);
    });

    test('keeps no parts of what was given up', async () => {
      const sink = await files().create('s3://data/given-up.bin');
      await sink.write(content(PART_SIZE + 4));
      await sink.abort();
      await expect(files().open('s3://data/given-up.bin')).rejects.toThrow('No such file');
      expect(partsOf(store.folder)).toEqual([]);
    });
  });

  describe('by its refusals', () => {
    const url = 's3://data/refused.txt';
    beforeAll(() => write(url, Buffer.from('x')));
    afterEach(() => {
      vi.useRealTimers();
    });

    test.each([
      [{ id: 'nobody' }, 'the id of its credential is unknown there'],
      [{ secret: 'not-it' }, 'the secret of its credential is wrong'],
    ])('of %j, without its secret', async (wrong, reason) => {
      for (const refused of [
        () => files(wrong).open(url),
        () => files(wrong).create(url),
        () => files(wrong).list('s3://data'),
      ]) {
        const error = await refused().then(
          () => undefined,
          (thrown: Error) => thrown,
        );
        expect(error?.message).toContain(reason);
        expect(JSON.stringify(error)).not.toMatch(/not-it|store-secret/);
      }
    });

    test('of buckets and keys that are not there', async () => {
      await expect(files().open('s3://elsewhere/x')).rejects.toThrow('there is no bucket');
      await expect(files().create('s3://elsewhere/x')).rejects.toThrow('there is no bucket');
      await expect(files().open('s3://data/none')).rejects.toThrow('No such file or directory');
      await expect(files().list('s3://data/none')).rejects.toThrow('No such file or directory');
    });

    test('of requests from a clock that is a day slow', async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 24 * 3600 * 1000 });
      await expect(files().open(url)).rejects.toThrow(
        'RequestTimeTooSkewed): the clock of this machine is wrong',
      );
    });
  });

  describe('by a service', () => {
    let rowan: TestService;
    const { perform, put } = serviceCalls(() => rowan);

    beforeAll(async () => {
      rowan = await openRowan();
      await put('credentials/store', {
        store: {
          resourceType: 'aws:s3',
          resource: 's3://data/',
          credential: credential(),
        },
      });
    }, 60_000);
    afterAll(() => rowan?.close());

    async function run(type: string, params: object) {
      const { json } = await perform('POST', 'procedures', {
        type,
        params: { ...params, runOnCreation: true },
      });
      return json.status?.firstRun ?? json;
    }

    test.each([
      // so many that they go in parts
      { suffix: 'csv', count: 700_000, minBytes: PART_SIZE },
      { suffix: 'csv.gz', count: 10_000, minBytes: 10_000 },
      { suffix: 'parquet', count: 10_000, minBytes: 10_000 },
    ])('goes out and comes in as $suffix', async ({ suffix, count, minBytes }) => {
      const format = suffix === 'parquet' ? 'parquet' : 'csv';
      const file = `s3://data/out/rows.${suffix}`;
      const dataset = `from_${suffix.replace('.', '_')}`;
      const exported = await run(`export.${format}`, {
        exportData: `SELECT n, n * 0.5 AS half FROM generate_series(1, ${count}) AS s(n)`,
        dataFileUrl: file,
      });
      expect(exported.error).toBeUndefined();
      const { size } = statSync(join(store.folder, 'data/out', `rows.${suffix}`));
      expect(size).toBeGreaterThan(minBytes);
      const imported = await run(format === 'csv' ? 'import.text' : 'import.parquet', {
        dataFileUrl: file,
        outputDataset: dataset,
      });
      expect(imported.error).toBeUndefined();
      const { json } = await perform('GET', 'query', {
        q: `SELECT count(*) AS n, sum(n) AS total, sum(half) AS half FROM ${dataset}`,
        format: 'aos',
        rowNames: false,
      });
      const total = (count * (count + 1)) / 2;
      expect(json).toEqual([{ n: count, total, half: total / 2 }]);
    });

    test('is waited for when it is gone for a moment, and named when it stays away', async () => {
      await write('s3://data/back.csv', Buffer.from('a\n1\n2\n'));
      await store.kill();
      const params = { dataFileUrl: 's3://data/back.csv', outputDataset: 'back' };
      const gone = await run('import.text', params);
      expect(JSON.stringify(gone)).toContain('S3 error at s3://data/back.csv');
      expect(JSON.stringify(gone)).not.toContain(store.account.secret);
      expect((await perform('GET', 'datasets/back')).status).toBe(404);
      const [back] = await Promise.all([run('import.text', params), store.restart()]);
      expect(back.status ?? back).toMatchObject({ rowCount: 2 });
    });
  });
});

/** What lies in the folder of unfinished uploads. */
function partsOf(folder: string): readonly string[] {
  const unfinished = join(folder, 'data/.sgwtmp/multipart');
  if (!existsSync(unfinished)) return [];
  return readdirSync(unfinished, { recursive: true, encoding: 'utf8' }).filter(
    (name) => readFileSync(join(unfinished, name)).length > 0,
  );
}
