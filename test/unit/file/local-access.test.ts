// Which local files URLs may name: each rule on its own, and the borders between them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalAccess, type LocalAccessOptions } from '../../../src/file/local-access.ts';

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'rowan-access-')));
  for (const folder of [
    'data/files',
    'data/models',
    'data/uploads',
    'data/datasets',
    'data-evil',
    'other',
    'closed',
    'plugins',
  ]) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, 'x.csv'), '');
  }
  writeFileSync(join(root, 'data/keys.json'), '{}');
  writeFileSync(join(root, 'plain.csv'), '');
  symlinkSync(join(root, 'data'), join(root, 'link'));
  symlinkSync(join(root, 'other'), join(root, 'data/files/out'));
  symlinkSync(join(root, 'data/datasets'), join(root, 'other/in'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Outcome = 'ok' | 'service' | 'outside' | 'read only';

async function outcomeOf(work: Promise<void>): Promise<Outcome> {
  try {
    await work;
    return 'ok';
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'FORBIDDEN', details: { url: 'file://url' } });
    const { message } = thrown as Error;
    expect(message).toContain('file://url');
    if (message.includes('belongs to the service')) return 'service';
    return message.includes('outside the allowed roots') ? 'outside' : 'read only';
  }
}

function access(options: LocalAccessOptions) {
  const rules = new LocalAccess(options);
  return {
    read: (path: string) => outcomeOf(rules.checkRead(join(root, path), 'file://url')),
    write: (path: string) => outcomeOf(rules.checkWrite(join(root, path), 'file://url')),
    names: async (path: string) => {
      const entries = await readdir(join(root, path), { withFileTypes: true });
      const found = await rules.nameable(join(root, path), entries);
      return found.map(({ name }) => name).sort();
    },
  };
}

const data = () => join(root, 'data');

describe('without roots', () => {
  test('everything is in reach but what the service keeps', async () => {
    const { read, write } = access({ dataDirectory: data() });
    for (const path of ['plain.csv', 'data/files/x.csv', 'data/models/x.csv', 'data/files/new/y']) {
      expect([path, await read(path), await write(path)]).toEqual([path, 'ok', 'ok']);
    }
    for (const path of [
      'data',
      'data/keys.json',
      'data/datasets/x.csv',
      'data/new',
      'link/keys.json',
    ]) {
      expect([path, await read(path), await write(path)]).toEqual([path, 'service', 'service']);
    }
    expect([await read('other/in/x.csv'), await read('data/files/../keys.json')]).toEqual([
      'service',
      'service',
    ]);
    expect([await read('data-evil/x.csv'), await write('data-evil/x.csv')]).toEqual(['ok', 'ok']);
  });

  test('a service that keeps nothing closes nothing', async () => {
    const { read, write, names } = access({});
    expect([await read('data/keys.json'), await write('data/keys.json')]).toEqual(['ok', 'ok']);
    expect(await names('other')).toEqual(['in', 'x.csv']);
  });
});

test('uploads and folders of plugins are read, not written', async () => {
  const { read, write } = access({
    dataDirectory: data(),
    readOnlyDirectories: [join(root, 'plugins')],
  });
  for (const path of ['data/uploads/x.csv', 'plugins/x.csv', 'plugins/new/y', 'link/uploads/y']) {
    expect([path, await read(path), await write(path)]).toEqual([path, 'ok', 'read only']);
  }
});

test('closed directories are closed whatever else is allowed', async () => {
  const { read, write } = access({
    fileRoots: [root],
    closedDirectories: [join(root, 'closed')],
  });
  expect([await read('closed/x.csv'), await write('closed'), await read('closed')]).toEqual([
    'service',
    'service',
    'service',
  ]);
  expect(await read('other/x.csv')).toBe('ok');
});

test('roots end at a separator; links are followed before they are compared', async () => {
  const { read, write } = access({
    ...{ dataDirectory: data(), fileRoots: [`${data()}/files/`, join(root, 'data')] },
    readOnlyDirectories: [join(root, 'plugins')],
  });
  expect([await read('data/files/x.csv'), await read('data/models/x.csv')]).toEqual(['ok', 'ok']);
  expect([await read('plugins/x.csv'), await write('plugins/x.csv')]).toEqual(['ok', 'read only']);
  for (const path of ['data-evil/x.csv', 'plain.csv', 'data/files/out/x.csv', 'other']) {
    expect([path, await read(path), await write(path)]).toEqual([path, 'outside', 'outside']);
  }
  expect(await access({ fileRoots: ['/'] }).read('plain.csv')).toBe('ok');
  expect(await access({ fileRoots: [] }).read('plain.csv')).toBe('outside');
});

test('the data directory is in reach where roots are given', async () => {
  const { read } = access({ dataDirectory: data(), fileRoots: [join(root, 'other')] });
  expect([await read('data/files/x.csv'), await read('other/x.csv')]).toEqual(['ok', 'ok']);
  expect([await read('plain.csv'), await read('data/keys.json')]).toEqual(['outside', 'service']);
});

test('directories list what can be named, or leads to it', async () => {
  const { names } = access({ dataDirectory: data(), closedDirectories: [join(root, 'closed')] });
  expect(await names('data')).toEqual(['files', 'models', 'uploads']);
  expect(await names('link')).toEqual(['files', 'models', 'uploads']);
  expect(await names('.')).toEqual(['data', 'data-evil', 'other', 'plain.csv', 'plugins']);
  expect(await names('other')).toEqual(['x.csv']);
  expect(await names('data/datasets')).toEqual(['x.csv']);
});
