import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AddressGuard } from '../../../../src/file/address-guard.ts';
import { collectBytes } from '../../../../src/file/byte-stream.ts';
import type { Credential } from '../../../../src/file/credential.ts';
import { FileSystem } from '../../../../src/file/file-system.ts';
import { HttpClient } from '../../../../src/file/http-client.ts';
import { S3Account } from '../../../../src/file/s3/s3-account.ts';
import { S3Scheme } from '../../../../src/file/s3/s3-scheme.ts';
import type { FileSink } from '../../../../src/file/scheme.ts';
import { parseFileUrl } from '../../../../src/file/url.ts';
import { expectedSignature, readAuthorization } from '../../../support/aws-signature.ts';
import { S3Server } from '../../../support/s3-server.ts';

const PART_SIZE = 1000;
let server: S3Server;

beforeEach(async () => {
  server = await S3Server.start();
});
afterEach(() => server.stop());

function credential(more: Partial<Credential> = {}): Credential {
  return { ...server.account, location: new URL(server.origin).host, protocol: 'http', ...more };
}

function files(given: Credential | undefined = credential()): FileSystem {
  return new FileSystem({ credentials: { find: () => given }, environment: {} });
}

/** Writes parts of a size that tests can afford. */
async function createInParts(url: string): Promise<FileSink> {
  const scheme = new S3Scheme({
    http: new HttpClient(new AddressGuard(true)),
    credentials: { find: () => credential() },
    environment: {},
    firstPartSize: PART_SIZE,
  });
  return scheme.create(parseFileUrl(url));
}

async function read(url: string, from = files()): Promise<string> {
  return Buffer.from(await collectBytes((await from.open(url)).stream())).toString();
}

describe('signatures', () => {
  // The worked examples of "Authenticating Requests" in the Amazon S3 API reference.
  const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const common = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': empty,
  };
  test.each([
    {
      request: { method: 'GET', path: '/test.txt', query: '' },
      headers: { ...common, range: 'bytes=0-9' },
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    {
      request: { method: 'PUT', path: '/test%24file.text', query: '' },
      headers: {
        ...common,
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      },
      signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    },
    {
      request: { method: 'GET', path: '/', query: 'lifecycle' },
      headers: common,
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    },
    {
      request: { method: 'GET', path: '/', query: 'max-keys=2&prefix=J' },
      headers: common,
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  ])('as computed for the tests are those of $request', ({ request, headers, signature }) => {
    const names = Object.keys(headers).sort().join(';');
    const header = `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`;
    const given = readAuthorization(header);
    expect(given && expectedSignature({ ...request, headers }, given, secret)).toBe(signature);
  });

  test('are those that the service computes, whatever the key', async () => {
    const keys = ['a b', 'a+b', 'ä/é', "x!'()*", 'a%20b', 'a?b#c', 'a//b', '~-_.', '100 %'];
    for (const key of keys) {
      server.put(`data/${key}`, `content of ${key}`);
      expect(await read(`s3://data/${key}`)).toBe(`content of ${key}`);
    }
  });

  test('bear the token of temporary credentials', async () => {
    server.token = 'temporary==';
    server.put('data/x', 'x');
    expect(await read('s3://data/x', files(credential({ extra: { token: 'temporary==' } })))).toBe(
      'x',
    );
    await expect(read('s3://data/x')).rejects.toThrow('the token of its credential is wrong');
  });
});

describe('addresses', () => {
  const place = { bucket: 'data', key: 'a/b c' };
  const known = { id: 'x', secret: 'y' };
  test.each([
    [known, {}, 'https://data.s3.us-east-1.amazonaws.com/a/b%20c'],
    [known, { AWS_REGION: 'eu-west-1' }, 'https://data.s3.eu-west-1.amazonaws.com/a/b%20c'],
    [known, { AWS_ENDPOINT_URL: 'http://minio:9000/in' }, 'http://minio:9000/in/data/a/b%20c'],
    [
      { ...known, location: 's3.eu-central-1.amazonaws.com' },
      { AWS_ENDPOINT_URL: 'http://minio:9000' },
      'https://data.s3.eu-central-1.amazonaws.com/a/b%20c',
    ],
    [
      { ...known, location: 's3.amazonaws.com', protocol: 'http', extra: { region: 'cn-north-1' } },
      {},
      'http://data.s3.cn-north-1.amazonaws.com.cn/a/b%20c',
    ],
    [
      { ...known, location: 'store:9000', protocol: 'http', extra: { forcePathStyle: false } },
      {},
      'http://data.store:9000/a/b%20c',
    ],
    [
      { ...known, extra: { endpoint: 'https://store/', region: 'here' } },
      {},
      'https://store/data/a/b%20c',
    ],
  ])('of %j with %j', (given, environment, expected) => {
    const account = new S3Account(given, environment);
    expect(account.address(place, {}, account.region).href).toBe(expected);
  });

  test('have the bucket in their path where a certificate would not cover it', () => {
    const account = new S3Account(known, {});
    expect(account.address({ bucket: 'a.b', key: 'k' }, {}, 'us-east-1').href).toBe(
      'https://s3.us-east-1.amazonaws.com/a.b/k',
    );
  });

  test('must be addresses, of buckets, of objects', async () => {
    const wrong = files(credential({ extra: { endpoint: 'ftp://x' } }));
    await expect(wrong.open('s3://data/x')).rejects.toThrow('no http(s) address: "ftp://x"');
    const kind = files(credential({ extra: { region: 1 } }));
    await expect(kind.open('s3://data/x')).rejects.toThrow('extra.region of a credential');
    await expect(files().open('s3://a@b/x')).rejects.toThrow('not the name of a bucket: "a@b"');
    await expect(files().open('s3://data/')).rejects.toThrow('not an object but a folder');
    await expect(files().create('s3://data/a/../b')).rejects.toThrow('a key with . or ..');
    expect(server.calls).toEqual([]);
  });

  test('of this machine are refused when told so', async () => {
    const guarded = new FileSystem({
      credentials: { find: () => credential() },
      allowPrivateUrls: false,
      environment: {},
    });
    await expect(guarded.open('s3://data/x')).rejects.toMatchObject({ httpCode: 403 });
    expect(server.calls).toEqual([]);
  });
});

describe('reading', () => {
  test('streams an object, and tells its size and age', async () => {
    server.put('data/dir/x.csv', 'a,b\n');
    const file = await files().open('s3://data/dir/x.csv');
    expect(file).toMatchObject({ storedSizeBytes: 4, lastModified: 1445412480 });
    expect(await read('s3://data/dir/x.csv')).toBe('a,b\n');
    server.put('data/empty', '');
    expect(await read('s3://data/empty')).toBe('');
  });

  test('names a missing key and a missing bucket', async () => {
    await expect(read('s3://data/none')).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
      httpCode: 400,
      message: 'cannot access s3://data/none: No such file or directory',
    });
    await expect(read('s3://other/none')).rejects.toThrow('there is no bucket "other"');
  });

  test('says what is wrong with a credential, and nothing secret', async () => {
    server.put('data/x', 'x');
    const secret = 'not-the-secret';
    const failed = read('s3://data/x', files(credential({ secret })));
    await expect(failed).rejects.toMatchObject({
      httpCode: 400,
      message:
        'S3 refused reading s3://data/x (HTTP code 403, SignatureDoesNotMatch): the secret of its credential is wrong',
    });
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).not.toMatch(/not-the-secret|AKID|told/);
    await expect(read('s3://data/x', files(credential({ id: 'nobody' })))).rejects.toThrow(
      'the id of its credential is unknown there',
    );
  });

  test('asks as nobody in particular when there is no credential', async () => {
    const anonymous = new FileSystem({ environment: { AWS_ENDPOINT_URL: server.origin } });
    server.put('data/x', 'x');
    await expect(read('s3://data/x', anonymous)).rejects.toMatchObject({
      code: 'CREDENTIALS_NOT_FOUND',
      message: 'No credentials found for aws:s3 s3://data/x',
    });
    server.isPublic = true;
    expect(await read('s3://data/x', anonymous)).toBe('x');
  });

  test('tries again when the service is overloaded, and gives up in the end', async () => {
    server.put('data/x', 'x');
    let count = 0;
    server.fault = () => (count++ < 2 ? 503 : undefined);
    expect(await read('s3://data/x')).toBe('x');
    server.fault = () => 503;
    await expect(read('s3://data/x')).rejects.toThrow('S3 error at s3://data/x: HTTP code 503');
  });

  test('goes on where a connection broke', async () => {
    const content = randomBytes(300_000).toString('hex');
    server.put('data/x', content);
    let count = 0;
    server.fault = ({ method }) => (method === 'GET' && count++ < 3 ? 'break' : undefined);
    expect(await read('s3://data/x')).toBe(content);
    expect(server.calls.at(-1)?.headers.range).toMatch(/^bytes=\d{5,}-599999$/);
  });

  test('does not mix two versions of an object', async () => {
    server.put('data/x', 'one');
    const file = await files().open('s3://data/x');
    server.put('data/x', 'two');
    await expect(collectBytes(file.stream())).rejects.toThrow(
      's3://data/x was replaced while it was read',
    );
  });
});

describe('writing', () => {
  test('puts a small object in one request', async () => {
    const sink = await files().create('s3://data/small.txt');
    await sink.write(Buffer.from('one '));
    await sink.write(Buffer.from('two'));
    expect(server.text('data/small.txt')).toBeUndefined();
    await sink.commit();
    expect(server.text('data/small.txt')).toBe('one two');
    expect(server.log).toEqual(['GET list-type max-keys', 'PUT']);
  });

  test('compresses by suffix', async () => {
    const sink = await files().create('s3://data/x.csv.gz');
    await sink.write(Buffer.from('a,b\n'));
    await sink.commit();
    expect(server.objects.get('data/x.csv.gz')?.bytes[0]).toBe(0x1f);
    expect(await read('s3://data/x.csv.gz')).toBe('a,b\n');
  });

  test('uploads a large object in parts that appear at the end', async () => {
    server.put('data/large', 'old');
    const content = randomBytes(1700).toString('hex');
    const sink = await createInParts('s3://data/large');
    for (let i = 0; i < content.length; i += 170) {
      await sink.write(Buffer.from(content.slice(i, i + 170)));
    }
    expect(server.text('data/large')).toBe('old');
    await sink.commit();
    expect(server.text('data/large')).toBe(content);
    expect(server.log.slice(1)).toEqual([
      'POST uploads',
      ...Array.from({ length: 4 }, () => 'PUT partNumber uploadId'),
      'POST uploadId',
    ]);
    expect(server.uploads.size).toBe(0);
  });

  test.each([
    ['an abort', async (sink: FileSink) => sink.abort()],
    [
      'a part that fails',
      async (sink: FileSink) => {
        server.fault = ({ query }) => (query.has('partNumber') ? 400 : undefined);
        await expect(sink.write(Buffer.alloc(3 * PART_SIZE))).rejects.toThrow('HTTP code 400');
        await sink.abort();
      },
    ],
    [
      'an end that fails',
      async (sink: FileSink) => {
        server.fault = ({ method, query }) =>
          method === 'POST' && query.has('uploadId') ? 400 : undefined;
        await expect(sink.commit()).rejects.toThrow('HTTP code 400');
      },
    ],
  ])('leaves the old object after %s, and no parts', async (_name, end) => {
    server.put('data/x', 'old');
    const sink = await createInParts('s3://data/x');
    await sink.write(Buffer.alloc(2 * PART_SIZE));
    await end(sink);
    expect(server.text('data/x')).toBe('old');
    expect(server.log.at(-1)).toBe('DELETE uploadId');
    expect(server.uploads.size).toBe(0);
  });

  test('is refused before the work when it cannot succeed', async () => {
    await expect(files(credential({ secret: 'wrong' })).create('s3://data/x')).rejects.toThrow(
      'the secret of its credential is wrong',
    );
    await expect(files().create('s3://none/x')).rejects.toThrow('there is no bucket "none"');
    const nobody = new FileSystem({ environment: { AWS_ENDPOINT_URL: server.origin } });
    await expect(nobody.create('s3://data/x')).rejects.toThrow('No credentials found for aws:s3');
  });
});

describe('listing', () => {
  test('shows one level, over all pages', async () => {
    for (const key of ['in/a b', 'in/b%20c', 'in/sub/x', 'in/sub/y', 'in/z', 'out']) {
      server.put(`data/${key}`, key);
    }
    server.put('data/in/', '');
    server.pageSize = 2;
    const listing = await files().list('s3://data/in');
    expect(listing.files).toEqual(['s3://data/in/a b', 's3://data/in/b%20c', 's3://data/in/z']);
    expect(listing.dirs).toEqual(['s3://data/in/sub']);
    expect(listing.facts?.get('s3://data/in/z')).toEqual({
      sizeBytes: 4,
      lastModified: 1445412480,
    });
    expect(await read('s3://data/in/b%20c')).toBe('in/b%20c');
    expect((await files().list('s3://data')).dirs).toEqual(['s3://data/in']);
    await expect(files().list('s3://data/none/')).rejects.toThrow('No such file or directory');
  });

  test('finds what a pattern matches, with keys as they are', async () => {
    for (const key of ['p/a.csv', 'p/b.csv', 'p/q/c.csv', 'p/%61.txt']) {
      server.put(`data/${key}`, key);
    }
    server.pageSize = 1;
    expect(await files().expand(['s3://data/p/*.csv'])).toEqual([
      's3://data/p/a.csv',
      's3://data/p/b.csv',
    ]);
    expect(await files().expand(['s3://data/p/*.txt'])).toEqual(['s3://data/p/%61.txt']);
    await expect(files().expand(['s3://data/x*'])).rejects.toThrow(
      "No file matches 's3://data/x*'",
    );
  });
});
