import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collectBytes } from '../../../../src/file/byte-stream.ts';
import { FileSystem } from '../../../../src/file/file-system.ts';
import { ambientRules } from '../../../../src/service/credential/ambient-credential.ts';
import {
  chooseRule,
  parseCredentialRule,
  shownRule,
} from '../../../../src/service/credential/credential.ts';
import {
  fetchCredentials,
  openCredentials,
} from '../../../../src/service/credential/credential-setup.ts';
import { CredentialStore } from '../../../../src/service/credential/credential-store.ts';
import { SILENT_LOGGER } from '../../../../src/service/logger.ts';
import { errorBody } from '../../../../src/util/error.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-credential-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function rule(resource: string, secret: string, more: Record<string, unknown> = {}) {
  const resourceType = 'aws:s3';
  return parseCredentialRule({ resourceType, resource, credential: { id: 'k', secret }, ...more });
}

function openStore(path = join(directory, 'kept')) {
  return new CredentialStore({ directory: path, logger: SILENT_LOGGER });
}

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    return JSON.stringify(errorBody(thrown));
  }
  throw new Error('expected a failure');
}

describe('a rule', () => {
  test('is shown without anything of its credential', () => {
    const shown = shownRule(
      parseCredentialRule({
        resourceType: 'sftp',
        resource: 'sftp://host/',
        extra: { note: 1 },
        credential: { id: 'user7', secret: 'pass7', location: 'host7', provider: 'me7' },
      }),
    );
    expect(shown).toEqual({
      resourceType: 'sftp',
      resource: 'sftp://host/',
      extra: { note: 1 },
      credential: { secret: '<<credentials removed>>' },
    });
  });

  test.each([
    [{ credential: { secret: 'hush' } }, /store\.resourceType must be one of aws:s3/],
    [{ resourceType: 's3', credential: { secret: 'hush' } }, /must be one of aws:s3/],
    [{ resourceType: 'sftp' }, /store\.credential is missing/],
    [{ resourceType: 'sftp', credential: 'hush' }, /credential: Object was expected/],
    [{ resourceType: 'sftp', credential: { secret: ['hush'] } }, /secret: String was expected/],
    [{ resourceType: 'sftp', credential: { secert: 'hush' } }, /unknown field .*secert/],
    [{ resourceType: 'sftp', expiration: 'hush', credential: {} }, /expiration: Date/],
    [{ resourceType: 'sftp', credential: { location: 'hushed' } }, /credential is empty/],
    ['hush', /store: Object was expected/],
  ])('of %j is refused without showing it', (store, expected) => {
    const message = messageOf(() => parseCredentialRule(store));
    expect(message).toMatch(expected);
    expect(message).not.toContain('hush');
  });
});

describe('choosing', () => {
  const rules = [rule('', 'all'), rule('s3://b/', 'short'), rule('s3://b/deep/', 'long')];
  const secretOf = (url: string) => chooseRule(rules, 'aws:s3', url, 0)?.credential.secret;

  test('takes the longest prefix of the right type', () => {
    expect(secretOf('s3://b/deep/x')).toBe('long');
    expect(secretOf('s3://b/x')).toBe('short');
    expect(secretOf('s3://other')).toBe('all');
    expect(chooseRule(rules, 'sftp', 's3://b/x', 0)).toBeUndefined();
  });

  test('leaves out what has expired', () => {
    const old = rule('s3://b/deep/', 'old', { expiration: '2001-01-01T00:00:00Z' });
    const short = rule('s3://b/', 'short');
    expect(chooseRule([old, short], 'aws:s3', 's3://b/deep/x', 1e9)?.credential.secret).toBe(
      'short',
    );
    expect(chooseRule([old], 'aws:s3', 's3://b/deep/x', 9e8)?.credential.secret).toBe('old');
  });

  test('never gives a secret to a host whose name only begins alike', () => {
    const mine = parseCredentialRule({
      resourceType: 'http',
      resource: 'http://api.example.com',
      credential: { secret: 'mine' },
    });
    const found = (url: string) => chooseRule([mine], 'http', url, 0) !== undefined;
    expect(found('http://api.example.com/x')).toBe(true);
    expect(found('http://api.example.com:80/x')).toBe(true);
    expect(found('http://api.example.com:8080/x')).toBe(false);
    expect(found('http://api.example.com.evil.org/x')).toBe(false);
    expect(found('http://api.example.com:80@evil.org/x')).toBe(false);
  });

  test('of SFTP is for its host and port alone', () => {
    const credential = { id: 'k', secret: 's' };
    const found = (resource: string, url: string) =>
      chooseRule(
        [parseCredentialRule({ resourceType: 'sftp', resource, credential })],
        'sftp',
        url,
        0,
      ) !== undefined;
    expect(found('sftp://host', 'sftp://host/x')).toBe(true);
    expect(found('sftp://host', 'sftp://host:22/x')).toBe(true);
    expect(found('sftp://host', 'sftp://host:2222/x')).toBe(false);
    expect(found('sftp://host', 'sftp://host.evil.org/x')).toBe(false);
    expect(found('sftp://host:22', 'sftp://host:2222/x')).toBe(false);
    expect(found('sftp://host:2222/in', 'sftp://host:2222/in/x')).toBe(true);
  });

  test('prefers given rules, then the latest, then those of the machine', async () => {
    const ambient = () => [rule('', 'ambient')];
    const store = new CredentialStore({ directory: undefined, logger: SILENT_LOGGER, ambient });
    expect(store.find('aws:s3', 's3://b')?.secret).toBe('ambient');
    await store.add(rule('', 'first'), 'a');
    await store.add(rule('', 'second'), 'b');
    expect(store.find('aws:s3', 's3://b')?.secret).toBe('second');
    store.give(rule('', 'given'));
    expect(store.find('aws:s3', 's3://b')?.secret).toBe('given');
    expect(() => store.need('sftp', 'sftp://h/x')).toThrow(
      'No credentials found for sftp sftp://h/x',
    );
  });
});

describe('the store', () => {
  test('keeps a rule a file, for its owner only, and reads them again', async () => {
    const store = openStore();
    await store.add(rule('s3://b/', 'one'), '../odd name');
    await store.add(rule('s3://b/', 'two'), '.hidden');
    const kept = join(directory, 'kept');
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    const names = readdirSync(kept);
    expect(names).toHaveLength(2);
    for (const name of names) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);

    const again = openStore(`file://${kept}/`);
    await again.load();
    expect(again.ids()).toEqual(['../odd name', '.hidden']);
    expect(again.find('aws:s3', 's3://b/x')?.secret).toBe('two');
    await again.remove('.hidden');
    expect(readdirSync(kept)).toHaveLength(1);
    expect(again.find('aws:s3', 's3://b/x')?.secret).toBe('one');
  });

  test('refuses an id twice, and the same rule without an id twice', async () => {
    const store = openStore();
    await store.add(rule('', 'x'), 'a');
    await expect(store.add(rule('', 'y'), 'a')).rejects.toThrow(
      "credential entry 'a' already exists",
    );
    const id = await store.add(rule('', 'z'));
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    await expect(store.add(rule('', 'z'))).rejects.toMatchObject({ httpCode: 409 });
    await store.remove('a');
    await store.add(rule('', 'y'), 'a');
    expect(store.ids()).toEqual([id, 'a'].sort());
  });

  test('forgets a rule that could not be kept', async () => {
    writeFileSync(join(directory, 'kept'), 'a file where the directory should be');
    const store = openStore();
    await expect(store.add(rule('', 'x'), 'a')).rejects.toThrow();
    expect(store.ids()).toEqual([]);
  });

  test('reports files that hold no rule, without their content', async () => {
    const told: unknown[] = [];
    const logger = { ...SILENT_LOGGER, warn: (...about: unknown[]) => told.push(about) };
    writeFileSync(join(directory, 'broken'), '{"store": {"credential": "hush"');
    const store = new CredentialStore({ directory, logger });
    await store.load();
    expect(store.ids()).toEqual([]);
    expect(JSON.stringify(told)).toContain('broken');
    expect(JSON.stringify(told)).not.toContain('hush');
  });
});

test('the environment and the home directory provide rules for S3', () => {
  writeFileSync(
    join(directory, '.cloud_credentials'),
    '# comment\ns3\t1\tKEY\tSECRET\t50\thttp\thost:1\nother\t1\ta\tb\n',
  );
  const environment = { AWS_ACCESS_KEY_ID: 'I', AWS_SECRET_ACCESS_KEY: 'S', AWS_REGION: 'r' };
  expect([...ambientRules(environment, directory)].map(({ credential }) => credential)).toEqual([
    { provider: 'environment', id: 'I', secret: 'S', extra: { region: 'r' } },
    {
      provider: '.cloud_credentials',
      id: 'KEY',
      secret: 'SECRET',
      protocol: 'http',
      location: 'host:1',
      extra: { bandwidthToServiceMbps: 50 },
    },
  ]);
});

describe('a server that asks who calls', () => {
  let server: Server;
  let origin: string;
  const seen: (string | undefined)[] = [];
  beforeEach(async () => {
    seen.length = 0;
    server = createServer((request, response) => {
      const { authorization } = request.headers;
      seen.push(authorization);
      response.statusCode = authorization === undefined ? 401 : 200;
      response.end(
        '{"resourceType": "sftp", "credential": {"id": "}\\"{"}}\n{"resourceType": "http", "credential": {"secret": "s"}}',
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => server.close());

  test.each([
    [{ secret: 'token' }, 'Bearer token'],
    [{ id: 'me', secret: 'pass' }, `Basic ${btoa('me:pass')}`],
  ])('is answered after it has asked', async (credential, expected) => {
    const store = openStore();
    store.give(parseCredentialRule({ resourceType: 'http', resource: origin, credential }));
    const files = new FileSystem({ credentials: store });
    await collectBytes((await files.open(`${origin}/a`)).stream());
    expect(seen).toEqual([undefined, expected]);
  });

  test('can keep further credentials, read with the first ones', async () => {
    const first = { resourceType: 'http', resource: origin, credential: { secret: 'token' } };
    const options = { dataDir: null, credentials: [first] };
    const store = await openCredentials(options, SILENT_LOGGER);
    const files = new FileSystem({ credentials: store });
    await fetchCredentials([`${origin}/more`], store, files);
    expect(store.find('sftp', 'sftp://x/')?.id).toBe('}"{');
    expect(store.find('http', 'http://elsewhere/')?.secret).toBe('s');
  });
});

test('options place the rules in the data directory', async () => {
  const store = await openCredentials({ dataDir: directory }, SILENT_LOGGER);
  await store.add(rule('', 'x'), 'a');
  const text = readFileSync(join(directory, '.credentials', 'a'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ id: 'a', store: { resourceType: 'aws:s3' } });
});
