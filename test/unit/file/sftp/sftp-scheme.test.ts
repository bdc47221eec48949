import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AddressGuard } from '../../../../src/file/address-guard.ts';
import { collectBytes } from '../../../../src/file/byte-stream.ts';
import type { Credential } from '../../../../src/file/credential.ts';
import { FileSystem } from '../../../../src/file/file-system.ts';
import { findKnownKeys, fingerprintOf } from '../../../../src/file/sftp/known-hosts.ts';
import { SftpScheme } from '../../../../src/file/sftp/sftp-scheme.ts';
import { parseFileUrl } from '../../../../src/file/url.ts';
import { canTest } from '../../../support/services.ts';
import { makeKey, opensshSftpServer, SftpServer } from '../../../support/sftp-server.ts';

let dir: string;
let server: SftpServer;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'rowan-sftp-'));
});
afterAll(() => rmSync(dir, { recursive: true }));
beforeEach(async () => {
  server = await SftpServer.start();
});
afterEach(() => server.stop());

function credential(more: Partial<Credential> = {}): Credential {
  return { id: server.user.name, secret: server.user.password, ...more };
}

function files(given: Credential | undefined = credential()): FileSystem {
  return new FileSystem({ credentials: { find: () => given } });
}

async function read(url: string, from = files()): Promise<string> {
  return Buffer.from(await collectBytes((await from.open(url)).stream())).toString();
}

async function write(url: string, content: string | Buffer, to = files()): Promise<void> {
  const sink = await to.create(url);
  await sink.write(Buffer.from(content));
  await sink.commit();
}

describe('reading', () => {
  test('streams a file, and tells its size and age', async () => {
    const content = randomBytes(2_500_000);
    server.put('/in/large', content);
    server.readSizeMax = 20_000;
    const file = await files().open(`${server.origin}/in/large`);
    expect(file).toMatchObject({ storedSizeBytes: 2_500_000, lastModified: 1445412480 });
    expect(Buffer.compare(await collectBytes(file.stream()), content)).toBe(0);
    server.put('/empty', '');
    expect(await read(`${server.origin}/empty`)).toBe('');
  });

  test('decodes percent escapes', async () => {
    server.put('/a b/é.csv', 'x');
    expect(await read(`${server.origin}/a%20b/é.csv`)).toBe('x');
  });

  test('names what is missing', async () => {
    await expect(read(`${server.origin}/none.csv`)).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
      httpCode: 400,
      message: `cannot access ${server.origin}/none.csv: /none.csv: No such file or directory`,
    });
    server.put('/in/x', 'x');
    await expect(read(`${server.origin}/in`)).rejects.toThrow('/in is a directory');
    await expect(read(server.origin)).rejects.toThrow('not a path of a file');
    await expect(read('sftp:///x')).rejects.toThrow('not a valid URL: sftp:///x');
  });

  test('refuses a file that is shorter than it was', async () => {
    server.put('/x', Buffer.alloc(100_000));
    const file = await files().open(`${server.origin}/x`);
    server.put('/x', Buffer.alloc(10));
    await expect(collectBytes(file.stream())).rejects.toThrow('the file ends early');
  });

  test('uses one connection for one account', async () => {
    server.put('/x', 'x');
    const one = files();
    await Promise.all([read(`${server.origin}/x`, one), read(`${server.origin}/x`, one)]);
    await read(`${server.origin}/x`, one);
    expect(server.connectionCount).toBe(1);
  });
});

describe('writing', () => {
  test('replaces a file only at commit, and makes its directory', async () => {
    const content = randomBytes(200_000).toString('hex');
    await write(`${server.origin}/new/deep/x`, 'old');
    const sink = await files().create(`${server.origin}/new/deep/x`);
    await sink.write(Buffer.from(content));
    expect(server.text('/new/deep/x')).toBe('old');
    await sink.commit();
    expect(server.text('/new/deep/x')).toBe(content);
    expect([...server.files.keys()]).toEqual(['/new/deep/x']);
  });

  test('leaves the old file after an abort, and no other', async () => {
    server.put('/out/x', 'old');
    const sink = await files().create(`${server.origin}/out/x`);
    await sink.write(Buffer.from('new'));
    await sink.abort();
    expect(server.text('/out/x')).toBe('old');
    expect(server.files.size).toBe(1);
  });

  test('leaves the old file when the connection breaks', async () => {
    server.put('/out/x', 'old');
    server.breaksAfterWrites = 2;
    const sink = await files().create(`${server.origin}/out/x`);
    await sink.write(Buffer.alloc(300_000)).catch(() => undefined);
    await expect(sink.commit()).rejects.toMatchObject({ httpCode: 400 });
    expect(server.text('/out/x')).toBe('old');
  });

  test('is refused at once where it cannot be done', async () => {
    server.put('/out/sub/x', 'x');
    server.protectedPaths.add('/out/sub');
    await expect(files().create(`${server.origin}/out/sub/y`)).rejects.toThrow(
      `cannot access ${server.origin}/out/sub/y: /out/sub/y: Permission denied`,
    );
    await expect(files().create(`${server.origin}/out/sub`)).rejects.toThrow('is a directory');
  });
});

describe('listing', () => {
  test('shows one level', async () => {
    for (const path of ['/in/b 1', '/in/a%', '/in/sub/c']) server.put(path, path);
    const listing = await files().list(`${server.origin}/in/`);
    expect(listing.files).toEqual([`${server.origin}/in/a%25`, `${server.origin}/in/b 1`]);
    expect(listing.dirs).toEqual([`${server.origin}/in/sub`]);
    expect(listing.facts?.get(`${server.origin}/in/b 1`)).toEqual({
      sizeBytes: 7,
      lastModified: 1445412480,
    });
    expect(await read(`${server.origin}/in/a%25`)).toBe('/in/a%');
    await expect(files().list(`${server.origin}/none`)).rejects.toThrow('No such file');
  });

  test('finds what a pattern matches', async () => {
    for (const path of ['/p/a.csv', '/p/q/b.csv', '/p/x.txt']) server.put(path, path);
    const { origin } = server;
    expect(await files().expand([`${origin}/p/*.csv`])).toEqual([`${origin}/p/a.csv`]);
    expect(await files().expand([`${origin}/**/*.csv`])).toHaveLength(2);
  });
});

describe('who asks', () => {
  test('is said by a credential', async () => {
    const nobody = new FileSystem();
    await expect(read(`${server.origin}/x`, nobody)).rejects.toMatchObject({
      code: 'CREDENTIALS_NOT_FOUND',
      message: `No credentials found for sftp ${server.origin}/x`,
    });
    const failed = read('sftp://ann:pass@127.0.0.1/x');
    await expect(failed).rejects.toThrow('sftp://127.0.0.1 with a user in its address');
    await expect(failed).rejects.not.toThrow('pass@');
  });

  test('is told when the password is wrong, without it', async () => {
    const failed = read(`${server.origin}/x`, files(credential({ secret: 'wrong-word' })));
    await expect(failed).rejects.toMatchObject({ httpCode: 400, code: 'INVALID_URL' });
    await expect(failed).rejects.toThrow(/authentication methods failed/);
    await expect(failed).rejects.not.toThrow('wrong-word');
  });

  test('answers when the password is asked for', async () => {
    server.asksByPrompt = true;
    server.put('/x', 'x');
    expect(await read(`${server.origin}/x`)).toBe('x');
  });

  test('may be shown by a private key, locked or not', async () => {
    const options = { passphrase: 'open sesame', cipher: 'aes256-ctr' };
    for (const [key, secret] of [
      [makeKey(), ''],
      [makeKey(options), options.passphrase],
    ] as const) {
      server.publicKey = key.public;
      server.put('/x', 'x');
      const given = credential({ secret, extra: { privateKey: key.private } });
      expect(await read(`${server.origin}/x`, files(given))).toBe('x');
    }
    const wrong = credential({ extra: { privateKey: 'no key' } });
    await expect(read(`${server.origin}/x`, files(wrong))).rejects.toThrow('privateKey');
  });

  test('may say where the server is', async () => {
    server.put('/x', 'x');
    const given = credential({ location: `127.0.0.1:${server.port}` });
    expect(await read('sftp://reports/x', files(given))).toBe('x');
  });
});

describe('the key of a host', () => {
  function open(knownHosts: string, more: Partial<Credential> = {}) {
    const path = join(dir, 'known_hosts');
    writeFileSync(path, knownHosts);
    const scheme = new SftpScheme({
      guard: new AddressGuard(true),
      credentials: { find: () => credential(more) },
      knownHostsPaths: [path],
    });
    server.put('/x', 'x');
    return scheme.open(parseFileUrl(`${server.origin}/x`));
  }
  const publicKey = () => server.hostKey.public.split(' ').slice(0, 2).join(' ');
  const otherKey = () => makeKey().public.split(' ').slice(0, 2).join(' ');

  test('is compared with known_hosts', async () => {
    const name = `[127.0.0.1]:${server.port}`;
    await open(`# known\n${name} ${publicKey()}\n`);
    const salt = randomBytes(20);
    const hash = createHmac('sha1', salt).update(name).digest('base64');
    await open(`|1|${salt.toString('base64')}|${hash} ${publicKey()}`);
    await expect(open(`${name} ${otherKey()}`)).rejects.toThrow(
      `the key of ${name} is not the one in known_hosts: ssh-ed25519 SHA256:`,
    );
    await expect(open(`@revoked * ${publicKey()}`)).rejects.toThrow('is revoked');
  });

  test('is compared with that of the credential', async () => {
    const fingerprint = fingerprintOf(Buffer.from(publicKey().split(' ')[1] as string, 'base64'));
    await open('', { extra: { hostKey: fingerprint } });
    await open('', { extra: { hostKey: [otherKey(), publicKey()] } });
    await expect(open('', { extra: { hostKey: otherKey() } })).rejects.toThrow(
      'is not the one of its credential',
    );
    await expect(open('', { extra: { hostKey: 5 } })).rejects.toThrow('extra.hostKey');
  });

  test('is found by name, port and pattern', () => {
    const text =
      'a,b ssh-rsa QQ==\n*.org,!bad.org ssh-rsa Qg==\n[a]:2222 ssh-rsa Qw==\n@cert-authority a x RA==';
    const found = (host: string, port = 22) =>
      findKnownKeys(text, host, port).accepted.map(String).join();
    expect([found('A'), found('b'), found('a', 2222), found('c')]).toEqual(['A', 'A', 'C', '']);
    expect([found('x.org'), found('bad.org'), found('xorg')]).toEqual(['B', '', '']);
  });
});

test('addresses of this machine are refused when told so', async () => {
  const guarded = new FileSystem({
    credentials: { find: () => credential() },
    allowPrivateUrls: false,
  });
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.1']) {
    await expect(guarded.open(`sftp://${host}:${server.port}/x`)).rejects.toMatchObject({
      httpCode: 403,
    });
  }
  expect(server.connectionCount).toBe(0);
});

describe.runIf(canTest('openssh-sftp-server', opensshSftpServer))("OpenSSH's server", () => {
  let openssh: SftpServer;
  beforeAll(async () => {
    openssh = await SftpServer.start(opensshSftpServer);
  });
  afterAll(() => openssh.stop());

  test('writes, replaces, lists and reads', async () => {
    const base = `${openssh.origin}${dir}/real`;
    const content = randomBytes(700_000);
    await write(`${base}/sub/x`, 'old');
    await write(`${base}/sub/x`, content);
    expect(Buffer.compare(readFileSync(join(dir, 'real/sub/x')), content)).toBe(0);
    expect(readdirSync(join(dir, 'real/sub'))).toEqual(['x']);
    const { stream } = await files().open(`${base}/sub/x`);
    expect(Buffer.compare(await collectBytes(stream()), content)).toBe(0);
    expect(await files().list(base)).toMatchObject({ files: [], dirs: [`${base}/sub`] });
    await expect(files().open(`${base}/none`)).rejects.toThrow('No such file or directory');
  });
});
