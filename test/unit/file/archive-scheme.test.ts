import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectBytes } from '../../../src/file/byte-stream.ts';
import { FileSystem } from '../../../src/file/file-system.ts';
import { rar4, rar5 } from '../../support/rar.ts';
import { S3Server } from '../../support/s3-server.ts';

// Written by 7-Zip: x.csv and in/y.csv, each with "content of " and its name; the second locked.
const SEVEN_ZIP =
  'N3q8ryccAAT2fsn5ewAAAAAAAAAgAAAAAAAAAPEzO+vgABcAEl0AMZvKGdrtpPK7fFv90CvVSjggAAAAgTMHrg/PpC64D+vqnL82Pf512+dl1UY/4vRhTl+S/raY4KHw2KjyjDPwmbGKHqSRhkr8rWjIvVyb60nxypPRBrk6JYIWNOuFXgJyb5SKL96438cFUawYsc9HPOAAAAAXBhoBCWEABwsBAAEjAwEBBV0AEAAADHYKAaLTcSIAAA==';
const LOCKED_SEVEN_ZIP =
  'N3q8ryccAAQKLV1LEAAAAAAAAABiAAAAAAAAADnwrWg5eQNxDI57Fnyg73PDfoftAQQGAAEJEAAHCwEAAiQG8QcBElMPHx6Rban86WbHaLV4ZTYUhSEhAQABAAwQDAAICgGsyOFzAAAFARkBABENAHgALgBjAHMAdgAAABQKAQAAl1xLGcHVARUGAQAggKSBAAA=';
/** x.csv and y.csv, each with "content of " and its name. */
const ZIP =
  'UEsDBBQAAAAIAIMYIlA6DySAEgAAABAAAAAFAAAAeC5jc3ZLzs8rSc0rUchPU6jQSy4uAwBQSwMEFAAAAAgAgxgiUIomRL0SAAAAEAAAAAUAAAB5LmNzdkvOzytJzStRyE9TqNRLLi4DAFBLAQIUAxQAAAAIAIMYIlA6DySAEgAAABAAAAAFAAAAAAAAAAAAAACAAQAAAAB4LmNzdlBLAQIUAxQAAAAIAIMYIlCKJkS9EgAAABAAAAAFAAAAAAAAAAAAAACAATUAAAB5LmNzdlBLBQYAAAAAAgACAGYAAABqAAAAAAA=';

let dir: string;
const files = new FileSystem();

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'rowan-archive-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function keep(name: string, content: string | Buffer): string {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'base64') : content;
  writeFileSync(join(dir, name), bytes);
  return `archive+file://${dir}/${name}`;
}

async function read(url: string, from = files): Promise<string> {
  return Buffer.from(await collectBytes((await from.open(url)).stream())).toString();
}

describe('7z files', () => {
  test('are listed and read', async () => {
    const archive = keep('t.7z', SEVEN_ZIP);
    const listing = await files.list(archive);
    expect(listing.files).toEqual([`${archive}#in/y.csv`, `${archive}#x.csv`]);
    expect(listing.facts?.get(`${archive}#x.csv`)).toEqual({
      sizeBytes: 12,
      lastModified: 1577934246,
    });
    expect(await read(`${archive}#in/y.csv`)).toBe('content of y');
    expect(await read(`${archive}#x.csv`)).toBe('content of x');
    expect(await files.expand([`${archive}#*.csv`])).toEqual([`${archive}#x.csv`]);
    await expect(files.open(`${archive}#z.csv`)).rejects.toThrow(
      `Couldn't find resource z.csv in archive file://${dir}/t.7z`,
    );
  });

  test('that are cut, locked or something else are refused', async () => {
    const cut = keep('cut.7z', Buffer.from(SEVEN_ZIP, 'base64').subarray(0, 150));
    await expect(files.list(cut)).rejects.toMatchObject({
      code: 'DATA_ERROR',
      message: expect.stringContaining(`cannot read archive file://${dir}/cut.7z: `),
    });
    const locked = keep('locked.7z', LOCKED_SEVEN_ZIP);
    await expect(read(`${locked}#x.csv`)).rejects.toThrow('is encrypted');
    const other = keep('other.7z', Buffer.from('a,b\n1,2\n'));
    await expect(files.list(other)).rejects.toThrow('its content is no 7z or rar file');
  });

  test('tell damaged content', async () => {
    const bytes = Buffer.from(SEVEN_ZIP, 'base64');
    bytes.writeUInt8((bytes[45] as number) ^ 0xff, 45);
    const archive = keep('damaged.7z', bytes);
    await expect(read(`${archive}#x.csv`)).rejects.toMatchObject({ code: 'DATA_ERROR' });
  });
});

test.each([
  ['4', rar4],
  ['5', rar5],
])('rar files of version %s are listed and read', async (version, pack) => {
  const content = pack({ 'x.csv': 'a,b\n', 'in/y.csv': 'y' });
  const archive = keep(`t${version}.rar`, content);
  expect((await files.list(archive)).files).toEqual([`${archive}#x.csv`, `${archive}#in/y.csv`]);
  expect(await read(`${archive}#in/y.csv`)).toBe('y');
  expect(await read(`${archive}#x.csv`)).toBe('a,b\n');
});

test('unknown kinds of archives are refused, with those that are known', async () => {
  const archive = keep('x.arj', 'AAAA');
  await expect(files.list(archive)).rejects.toThrow(/unknown kind of archive: .*accepted are .zip/);
});

test('members of archives on HTTP servers are read', async () => {
  const tar = await packTar([{ header: { name: 'a.csv', size: 2 }, body: 'A\n' }]);
  const server = createServer((request, response) => {
    response.end(request.url === '/t.tar' ? tar : Buffer.from(ZIP, 'base64'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await read(`archive+${origin}/t.tar#a.csv`)).toBe('A\n');
    expect(await read(`archive+${origin}/t.zip#y.csv`)).toBe('content of y.csv');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('of a zip file on S3 only the parts that are needed are read', async () => {
  const server = await S3Server.start();
  try {
    // Before its first member a zip file may hold anything.
    const zip = Buffer.concat([Buffer.alloc(3_000_000), shifted(3_000_000)]);
    server.put('data/t.zip', zip);
    const from = new FileSystem({
      credentials: { find: () => server.account },
      environment: { AWS_ENDPOINT_URL: server.origin },
    });
    expect(await read('archive+s3://data/t.zip#y.csv', from)).toBe('content of y.csv');
    const ranges = server.calls.flatMap(({ method, headers }) =>
      method === 'GET' ? [headers.range ?? 'all'] : [],
    );
    expect(ranges).not.toContain('all');
    const sizes = ranges.map((range) => {
      const [start = 0, end = 0] = range.slice('bytes='.length).split('-').map(Number);
      return end - start + 1;
    });
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
  } finally {
    server.stop();
  }
});

/** The zip file as it lies behind so many bytes. */
function shifted(offset: number): Buffer {
  const zip = Buffer.from(ZIP, 'base64');
  const end = zip.length - 22;
  const directory = zip.readUInt32LE(end + 16);
  zip.writeUInt32LE(directory + offset, end + 16);
  for (let entry = directory; entry < end; ) {
    zip.writeUInt32LE(zip.readUInt32LE(entry + 42) + offset, entry + 42);
    entry += 46 + zip.readUInt16LE(entry + 28);
  }
  return zip;
}
