import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { collectBytes } from '../../../src/file/byte-stream.ts';
import { FileSystem } from '../../../src/file/file-system.ts';
import { patternMatcher } from '../../../src/file/glob.ts';

// Members in/one.csv; x.csv and y.csv. The content of each is "content of " and its name.
const ZIP_OF_ONE =
  'UEsDBBQAAAAIAIMYIlBR0vqwFwAAABUAAAAKAAAAaW4vb25lLmNzdkvOzytJzStRyE9TyMzTz89L1UsuLgMAUEsBAhQDFAAAAAgAgxgiUFHS+rAXAAAAFQAAAAoAAAAAAAAAAAAAAIABAAAAAGluL29uZS5jc3ZQSwUGAAAAAAEAAQA4AAAAPwAAAAAA';
const ZIP_OF_TWO =
  'UEsDBBQAAAAIAIMYIlA6DySAEgAAABAAAAAFAAAAeC5jc3ZLzs8rSc0rUchPU6jQSy4uAwBQSwMEFAAAAAgAgxgiUIomRL0SAAAAEAAAAAUAAAB5LmNzdkvOzytJzStRyE9TqNRLLi4DAFBLAQIUAxQAAAAIAIMYIlA6DySAEgAAABAAAAAFAAAAAAAAAAAAAACAAQAAAAB4LmNzdlBLAQIUAxQAAAAIAIMYIlCKJkS9EgAAABAAAAAFAAAAAAAAAAAAAACAATUAAAB5LmNzdlBLBQYAAAAAAgACAGYAAABqAAAAAAA=';

let dir: string;
const files = new FileSystem();

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'rowan-file-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

async function read(url: string, fileSystem = files): Promise<string> {
  const file = await fileSystem.open(url);
  return Buffer.from(await collectBytes(file.stream())).toString();
}

async function write(url: string, text: string): Promise<void> {
  const sink = await files.create(url);
  await sink.write(Buffer.from(text));
  await sink.commit();
}

describe('URLs', () => {
  test('need a scheme', async () => {
    await expect(files.open('/tmp/x.csv')).rejects.toMatchObject({
      message: 'Cannot accept URI without scheme (if you want a file, add file://): /tmp/x.csv',
      httpCode: 400,
    });
    await expect(files.open('')).rejects.toMatchObject({ httpCode: 400 });
  });

  test('need a scheme that is known', async () => {
    await expect(files.open('foo://x')).rejects.toThrow('Uri handler not found for scheme foo');
    await expect(files.create('http://localhost/x')).rejects.toThrow('cannot be written');
  });
});

describe('file://', () => {
  test('names the path of a missing file', async () => {
    await expect(files.open(`file://${dir}/nowhere.csv`)).rejects.toMatchObject({
      message: expect.stringContaining(`${dir}/nowhere.csv: No such file or directory`),
      httpCode: 400,
    });
  });

  test('refuses a directory', async () => {
    await expect(files.open(`file://${dir}`)).rejects.toThrow('is a directory');
    await expect(files.create(`file://${dir}`)).rejects.toThrow('is a directory');
  });

  test('decodes percent escapes and takes raw spaces', async () => {
    writeFileSync(join(dir, 'a b é.txt'), 'x');
    expect(await read(`file://${dir}/a%20b%20é.txt`)).toBe('x');
    expect(await read(`file://${dir}/a b é.txt`)).toBe('x');
  });

  test('is relative to the working directory with two slashes', async () => {
    writeFileSync(join(dir, 'relative.txt'), 'here');
    expect(await read(`file://${relative(process.cwd(), dir)}/relative.txt`)).toBe('here');
  });

  test('creates directories and replaces a file only at commit', async () => {
    const path = join(dir, 'new/deep/out.txt');
    await write(`file://${path}`, 'old');
    const sink = await files.create(`file://${path}`);
    await sink.write(Buffer.from('new'));
    expect(readFileSync(path, 'utf8')).toBe('old');
    await sink.abort();
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(join(dir, 'new/deep'))).toEqual(['out.txt']);
    await write(`file://${path}`, 'newer');
    expect(readFileSync(path, 'utf8')).toBe('newer');
  });

  test.skipIf(process.platform !== 'linux')(
    'says so where a file system has no folder to make',
    async () => {
      await expect(files.create('file:///proc/nowhere/made/x.csv')).rejects.toMatchObject({
        message: expect.stringContaining('No such file or directory'),
        httpCode: 400,
      });
    },
  );

  test('compresses by suffix and tells plain files from compressed ones', async () => {
    await write(`file://${dir}/t.csv.gz`, 'a,b\n');
    expect(readFileSync(join(dir, 't.csv.gz'))[0]).toBe(0x1f);
    expect(await read(`file://${dir}/t.csv.gz`)).toBe('a,b\n');
    expect((await files.open(`file://${dir}/t.csv.gz`)).plainPath).toBeUndefined();
    writeFileSync(join(dir, 'hidden'), gzipSync('zipped'));
    expect((await files.open(`file://${dir}/hidden`)).plainPath).toBeUndefined();
    writeFileSync(join(dir, 'plain'), 'text');
    expect((await files.open(`file://${dir}/plain`)).plainPath).toBe(join(dir, 'plain'));
  });

  test('stays inside the allowed roots, links included', async () => {
    const root = join(dir, 'root');
    mkdirSync(root);
    writeFileSync(join(root, 'in.txt'), 'in');
    writeFileSync(join(dir, 'out.txt'), 'out');
    symlinkSync(join(dir, 'out.txt'), join(root, 'link.txt'));
    const limited = new FileSystem({ fileRoots: [root] });
    expect(await read(`file://${root}/in.txt`, limited)).toBe('in');
    for (const path of [`${dir}/out.txt`, `${root}/../out.txt`, `${root}/link.txt`]) {
      await expect(limited.open(`file://${path}`)).rejects.toMatchObject({
        httpCode: 403,
        message: `file access outside the allowed roots: file://${path}`,
      });
    }
    await expect(limited.create(`file://${dir}/x.txt`)).rejects.toMatchObject({ httpCode: 403 });
    // What begins like a root is beside it.
    await write(`file://${root}-evil/in.txt`, 'evil');
    for (const use of [limited.open.bind(limited), limited.create.bind(limited)]) {
      await expect(use(`file://${root}-evil/in.txt`)).rejects.toMatchObject({ httpCode: 403 });
    }
  });

  test('lists one level', async () => {
    await write(`file://${dir}/list/b.txt`, '');
    await write(`file://${dir}/list/a.txt`, '');
    await write(`file://${dir}/list/sub/c.txt`, '');
    symlinkSync(join(dir, 'nowhere'), join(dir, 'list/broken'));
    const base = `file://${dir}/list`;
    const listing = await files.list(`${base}/`);
    expect(listing.files).toEqual([`${base}/a.txt`, `${base}/b.txt`, `${base}/broken`]);
    expect(listing.dirs).toEqual([`${base}/sub`]);
    expect(listing.facts.get(`${base}/a.txt`)).toMatchObject({ sizeBytes: 0 });
    expect(listing.facts.has(`${base}/broken`)).toBe(false);
    expect((await files.list('file:///')).dirs).toContain('file:///tmp');
    await expect(files.list(`file://${dir}/none`)).rejects.toThrow('No such file');
  });
});

describe('patterns', () => {
  test('expand in bytewise order', async () => {
    for (const name of ['p/b.csv', 'p/a.csv', 'p/q/c.csv', 'p/x.txt']) {
      await write(`file://${dir}/${name}`, name);
    }
    const base = `file://${dir}/p`;
    expect(await files.expand([`${base}/*.csv`])).toEqual([`${base}/a.csv`, `${base}/b.csv`]);
    expect(await files.expand([`${base}/**/*.csv`])).toHaveLength(3);
    expect(await files.expand([`${base}/{x.txt,b.csv}`, `${base}/a.csv`])).toEqual([
      `${base}/b.csv`,
      `${base}/x.txt`,
      `${base}/a.csv`,
    ]);
    await expect(files.expand([`${base}/*.none`])).rejects.toThrow(
      `No file matches '${base}/*.none'`,
    );
  });

  test('are names when a file is called so', async () => {
    await write(`file://${dir}/lit[1].csv`, 'x');
    expect(await files.expand([`file://${dir}/lit[1].csv`])).toEqual([`file://${dir}/lit[1].csv`]);
  });

  test.each([
    ['a*c', 'abc', true],
    ['a*c', 'a/c', false],
    ['a?c', 'a/c', false],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['a/**', 'a/b/c', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['{a,b}.x', 'b.x', true],
    ['a.c', 'abc', false],
  ])('%s on %s', (pattern, text, matches) => {
    expect(patternMatcher(pattern)(text)).toBe(matches);
  });
});

describe('mem://', () => {
  test('keeps what was written last', async () => {
    await expect(files.open('mem://m/x')).rejects.toThrow('No such file or directory');
    await write('mem://m/x', 'one');
    await write('mem://m/x', 'two');
    expect(await read('mem://m/x')).toBe('two');
    expect(await files.list('mem://m')).toMatchObject({ files: ['mem://m/x'], dirs: [] });
    expect((await files.list('mem://')).dirs).toEqual(['mem://m']);
    await expect(files.list('mem://none/')).rejects.toThrow('No such file or directory');
  });
});

describe('archive+', () => {
  test('reads members of tar files', async () => {
    const tar = await packTar([
      { header: { name: 'a.csv', size: 2 }, body: 'A\n' },
      { header: { name: 'd/b.csv.gz', size: gzipSync('B').length }, body: gzipSync('B') },
    ]);
    writeFileSync(join(dir, 't.tar.gz'), gzipSync(tar));
    const archive = `archive+file://${dir}/t.tar.gz`;
    expect(await read(`${archive}#a.csv`)).toBe('A\n');
    expect(await read(`${archive}#d/b.csv.gz`)).toBe('B');
    await expect(files.open(`${archive}#none`)).rejects.toThrow("Couldn't find resource none");
    expect((await files.list(archive)).files).toEqual([
      `${archive}#a.csv`,
      `${archive}#d/b.csv.gz`,
    ]);
    expect(await files.expand([`${archive}#*.csv`])).toEqual([`${archive}#a.csv`]);
  });

  test('reads zip files, by member or as a whole', async () => {
    writeFileSync(join(dir, 'one.csv.zip'), Buffer.from(ZIP_OF_ONE, 'base64'));
    writeFileSync(join(dir, 'two.zip'), Buffer.from(ZIP_OF_TWO, 'base64'));
    expect(await read(`file://${dir}/one.csv.zip`)).toBe('content of in/one.csv');
    expect(await read(`archive+file://${dir}/two.zip#y.csv`)).toBe('content of y.csv');
    await expect(files.open(`file://${dir}/two.zip`)).rejects.toThrow(
      `has 2 files: x.csv, y.csv; name one as archive+file://${dir}/two.zip#x.csv`,
    );
  });
});

describe('http://', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(handle: RequestListener): Promise<string> {
    const server = createServer(handle);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('follows redirects and reads compressed content', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b.csv.gz' }).end();
      else if (request.url === '/cut.zst') {
        response.writeHead(302, { location: '/blob' }).end();
      } else if (request.url === '/blob') response.end('no zstd data');
      else if (request.url === '/cut') {
        const half = gzipSync('encoded'.repeat(100)).subarray(0, -9);
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(half);
      } else if (request.url === '/enc') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('encoded'));
      } else {
        response
          .writeHead(200, { 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' })
          .end(gzipSync('zipped'));
      }
    });
    expect(await read(`${base}/a`)).toBe('zipped');
    expect(await read(`${base}/enc`)).toBe('encoded');
    expect(await read(`${base}/cut.zst`).catch((thrown: Error) => thrown.message)).toMatch(
      `corrupt or truncated zstd data in ${base}/cut.zst`,
    );
    expect(await read(`${base}/cut`).catch((thrown: Error) => thrown.message)).toMatch(
      `corrupt or truncated content of ${base}/cut`,
    );
    expect((await files.open(`${base}/b.csv.gz`)).lastModified).toBe(1445412480);
  });

  test('reports status codes and endless redirects', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else response.writeHead(503).end();
    });
    await expect(files.open(`${base}/x`)).rejects.toThrow(`HTTP code 503 reading ${base}/x`);
    await expect(files.open(`${base}/loop`)).rejects.toThrow(`HTTP error reading ${base}/loop`);
    await expect(files.open('http://127.0.0.1:1/x')).rejects.toThrow('HTTP error reading');
  });

  test('refuses a body that ends early', async () => {
    const base = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('abc', () => response.destroy());
    });
    await expect(read(`${base}/x`)).rejects.toThrow('HTTP error reading');
  });

  test('refuses addresses of this machine when told so', async () => {
    const base = await serve((_request, response) => response.end('secret'));
    const guarded = new FileSystem({ allowPrivateUrls: false });
    await expect(guarded.open(base)).rejects.toMatchObject({ httpCode: 403 });
    const byName = base.replace('127.0.0.1', 'localhost');
    await expect(guarded.open(byName)).rejects.toMatchObject({ httpCode: 403 });
  });
});
