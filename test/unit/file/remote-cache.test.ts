import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collectBytes } from '../../../src/file/byte-stream.ts';
import type { Credential } from '../../../src/file/credential.ts';
import { FileSystem } from '../../../src/file/file-system.ts';
import { S3Server } from '../../support/s3-server.ts';

interface Page {
  readonly body: string | Buffer;
  readonly headers: Record<string, string>;
}

let directory: string;
let server: Server;
let origin: string;
let pages: Map<string, Page>;
/** path and status of each reply, for instance `/x 304` */
let log: string[];
/** what a caller must show */
let authorization: string | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-cache-'));
  pages = new Map();
  log = [];
  authorization = undefined;
  server = createServer((request, response) => {
    const path = request.url ?? '';
    const page = pages.get(path);
    const reply = (status: number) => {
      log.push(`${path} ${status}`);
      return response.writeHead(status, page?.headers);
    };
    const { 'if-none-match': tag, 'if-modified-since': since } = request.headers;
    const validator = tag === undefined ? 'last-modified' : 'etag';
    const isKnown = (tag ?? since) !== undefined && page?.headers[validator] === (tag ?? since);
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      reply(401).end();
    } else if (page === undefined) reply(404).end();
    else if (isKnown) reply(304).end();
    else reply(200).end(page.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Setting {
  readonly sizeBytesMax?: number;
  readonly credential?: Credential;
  readonly allowPrivateUrls?: boolean;
}

function files({ sizeBytesMax = 1e6, credential, ...more }: Setting = {}): FileSystem {
  return new FileSystem({
    cache: { directory, sizeBytesMax },
    credentials: { find: () => credential },
    environment: {},
    ...more,
  });
}

async function read(url: string, from = files()): Promise<string> {
  return Buffer.from(await collectBytes((await from.open(url)).stream())).toString();
}

function copies(): string[] {
  return readdirSync(directory).map((name) => join(directory, name));
}

describe('a file over HTTP', () => {
  test('is fetched once, and asked about at each use', async () => {
    pages.set('/x', { body: 'one', headers: { etag: '"1"' } });
    expect(await read(`${origin}/x`)).toBe('one');
    expect(await read(`${origin}/x`)).toBe('one');
    pages.set('/x', { body: 'two', headers: { etag: '"2"' } });
    expect(await read(`${origin}/x`)).toBe('two');
    expect(await read(`${origin}/x`)).toBe('two');
    expect(log).toEqual(['/x 200', '/x 304', '/x 200', '/x 304']);
    expect(copies()).toHaveLength(1);
  });

  test('is known by its age where there is no ETag, with what it says of itself', async () => {
    const age = 'Wed, 21 Oct 2015 07:28:00 GMT';
    const headers = { 'last-modified': age, 'content-encoding': 'gzip' };
    pages.set('/x.csv', { body: gzipSync('a,b\n'), headers });
    expect(await read(`${origin}/x.csv`)).toBe('a,b\n');
    const file = await files().open(`${origin}/x.csv`);
    expect(file.lastModified).toBe(1445412480);
    expect(Buffer.from(await collectBytes(file.stream())).toString()).toBe('a,b\n');
    expect(log).toEqual(['/x.csv 200', '/x.csv 304']);
  });

  test('is not served when it is gone, or not to be had', async () => {
    pages.set('/x', { body: 'one', headers: { etag: '"1"' } });
    await read(`${origin}/x`);
    await expect(read(`${origin}/x`, files({ allowPrivateUrls: false }))).rejects.toMatchObject({
      httpCode: 403,
    });
    pages.delete('/x');
    await expect(read(`${origin}/x`)).rejects.toThrow('HTTP code 404');
  });

  test('is not kept when nothing tells its versions apart, or the reply says so', async () => {
    const etag = '"1"';
    pages.set('/plain', { body: 'x', headers: {} });
    pages.set('/no-store', { body: 'x', headers: { etag, 'cache-control': 'private, No-Store' } });
    pages.set('/vary', { body: 'x', headers: { etag, vary: 'Accept-Encoding, Cookie' } });
    for (const path of pages.keys()) await read(origin + path);
    expect(copies()).toEqual([]);
  });

  test('is not kept when it is for somebody in particular, unless it is public', async () => {
    const credential = { id: 'ann', secret: 'lozenge' };
    authorization = `Basic ${Buffer.from('ann:lozenge').toString('base64')}`;
    pages.set('/mine', { body: 'x', headers: { etag: '"1"' } });
    pages.set('/ours', { body: 'x', headers: { etag: '"1"', 'cache-control': 'public' } });
    await read(`${origin}/mine`, files({ credential }));
    await read(`${origin.replace('//', '//ann:lozenge@')}/mine`);
    expect(copies()).toEqual([]);
    await read(`${origin}/ours`, files({ credential }));
    expect(copies()).toHaveLength(1);
    await expect(read(`${origin}/ours`)).rejects.toThrow('HTTP code 401');
  });

  test('leaves no address behind, and a copy for its owner alone', async () => {
    pages.set('/x?token=lozenge', { body: 'x', headers: { etag: '"1"' } });
    await read(`${origin}/x?token=lozenge`);
    const [copy = ''] = copies();
    expect(copy + readFileSync(copy, 'latin1')).not.toContain('lozenge');
    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  test('is not kept when it was not read to its end', async () => {
    pages.set('/x', { body: Buffer.alloc(900_000), headers: { etag: '"1"' } });
    const file = await files().open(`${origin}/x`);
    for await (const part of file.stream()) {
      expect(part.length).toBeGreaterThan(0);
      break;
    }
    await expect.poll(copies).toEqual([]);
  });
});

describe('a copy', () => {
  test.each([
    ['of which a byte is wrong', (bytes: Buffer) => bytes.fill('X', 0, 1)],
    ['that is cut', (bytes: Buffer) => bytes.subarray(0, -3)],
    ['that is cut within its content', (bytes: Buffer) => bytes.subarray(1)],
    ['that is empty', () => Buffer.alloc(0)],
    ['that is something else', () => Buffer.from('{"keyHash": 1}'.repeat(20))],
  ])('%s is fetched anew', async (_name, damage) => {
    pages.set('/x', { body: 'content', headers: { etag: '"1"' } });
    await read(`${origin}/x`);
    const [copy = ''] = copies();
    writeFileSync(copy, damage(readFileSync(copy)));
    expect(await read(`${origin}/x`)).toBe('content');
    expect(log.at(-1)).toBe('/x 200');
    expect(await read(`${origin}/x`)).toBe('content');
    expect(log.at(-1)).toBe('/x 304');
  });

  test('that disappears while it is used is fetched anew', async () => {
    pages.set('/x', { body: 'content', headers: { etag: '"1"' } });
    await read(`${origin}/x`);
    const file = await files().open(`${origin}/x`);
    for (const copy of copies()) rmSync(copy);
    expect(Buffer.from(await collectBytes(file.stream())).toString()).toBe('content');
  });

  test('that was used longest ago makes room', async () => {
    for (const path of ['/a', '/b', '/c', '/d']) {
      pages.set(path, { body: Buffer.alloc(1000), headers: { etag: '"1"' } });
    }
    const small = files({ sizeBytesMax: 4000 });
    for (const path of ['/a', '/b', '/c']) {
      await read(origin + path, small);
      // Each a minute before the next.
      for (const copy of copies()) {
        const { mtimeMs } = statSync(copy);
        utimesSync(copy, mtimeMs / 1000 - 60, mtimeMs / 1000 - 60);
      }
    }
    await read(`${origin}/a`, small);
    await read(`${origin}/d`, small);
    log.length = 0;
    for (const path of ['/a', '/c', '/d', '/b']) await read(origin + path, small);
    expect(log).toEqual(['/a 304', '/c 304', '/d 304', '/b 200']);
  });

  test('larger than all that may be kept is not made', async () => {
    pages.set('/x', { body: Buffer.alloc(5000), headers: { etag: '"1"' } });
    expect(await read(`${origin}/x`, files({ sizeBytesMax: 4000 }))).toHaveLength(5000);
    expect(copies()).toEqual([]);
  });

  test('that could not be made costs nothing but the copy', async () => {
    pages.set('/x', { body: 'content', headers: { etag: '"1"' } });
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file in the way');
    expect(await read(`${origin}/x`)).toBe('content');
  });

  test('that a process left unfinished is cleared away', async () => {
    const draft = join(directory, '0123.part');
    writeFileSync(draft, 'half');
    utimesSync(draft, 1e9, 1e9);
    pages.set('/x', { body: 'content', headers: { etag: '"1"' } });
    await read(`${origin}/x`);
    expect(copies()).not.toContain(draft);
  });

  test('may be made and used by many at the same time', async () => {
    const body = 'content'.repeat(1000);
    pages.set('/x', { body, headers: { etag: '"1"' } });
    const all = await Promise.all(Array.from({ length: 20 }, () => read(`${origin}/x`, files())));
    expect(new Set(all)).toEqual(new Set([body]));
    expect(copies()).toHaveLength(1);
  });
});

test('an object of S3 is kept by its ETag', async () => {
  const s3 = await S3Server.start();
  try {
    const credential = { ...s3.account, extra: { endpoint: s3.origin } };
    s3.put('data/x', 'one');
    expect(await read('s3://data/x', files({ credential }))).toBe('one');
    expect(await read('s3://data/x', files({ credential }))).toBe('one');
    expect(s3.log).toEqual(['HEAD', 'GET', 'HEAD']);
    s3.put('data/x', 'two');
    expect(await read('s3://data/x', files({ credential }))).toBe('two');
    expect(copies()).toHaveLength(1);
    const other = { ...credential, secret: 'wrong' };
    await expect(read('s3://data/x', files({ credential: other }))).rejects.toThrow(
      'the secret of its credential is wrong',
    );
  } finally {
    s3.stop();
  }
});
