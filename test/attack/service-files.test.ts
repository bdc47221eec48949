// Attack: an editor reaches for what the service keeps in its data directory: keys, credentials,
// plugins that run as admin at the next start, the catalogue. No URL leads there, for any role; the
// folders for users stay in reach.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import type { LocalClient } from '../../src/service/rowan.ts';

let outside: string;
let dataDir: string;
let rowan: Rowan;
let editor: LocalClient;
let keys: string;

beforeAll(async () => {
  outside = mkdtempSync(join(tmpdir(), 'rowan-attack-'));
  dataDir = join(outside, 'data');
  for (const folder of ['plugins/autoload/own', 'models', 'files', 'uploads']) {
    mkdirSync(join(dataDir, folder), { recursive: true });
  }
  const config = { config: { id: 'own', type: 'javascript' } };
  writeFileSync(join(dataDir, 'plugins/autoload/own/rowan_plugin.json'), JSON.stringify(config));
  writeFileSync(
    join(dataDir, 'plugins/autoload/own/main.js'),
    'plugin.setRequestHandler(() => "loaded")',
  );
  writeFileSync(join(dataDir, 'uploads/table.csv'), 'x\n1\n');
  symlinkSync(dataDir, join(outside, 'link'));
  symlinkSync(join(dataDir, 'keys.json'), join(dataDir, 'files/keys'));
  rowan = await Rowan.open({ dataDir, workers: 1, files: { fileRoots: [outside] } });
  await rowan.web.keys.create({ role: 'admin' });
  mkdirSync(join(dataDir, '.credentials'));
  writeFileSync(join(dataDir, '.credentials/secret.json'), '{"secret":"hidden"}');
  keys = readFileSync(join(dataDir, 'keys.json'), 'utf8');
  editor = rowan.as('editor');
});

afterAll(async () => {
  await rowan?.close();
  rmSync(outside, { recursive: true, force: true });
});

const TARGETS = [
  'data/keys.json',
  'data/catalogue.lmdb',
  'data/lock',
  'data/.credentials/secret.json',
  'data/plugins/autoload/own/main.js',
  'data/datasets/1-0.arrow',
  'data',
  'link/keys.json',
  'data/files/keys',
  'data/files/../keys.json',
  'data/files/%2e%2e/keys.json',
  'data/new.json',
];

describe.each(TARGETS)('%s', (path) => {
  const url = () => `file://${outside}/${path}`;

  test('is not read', async () => {
    const read = await editor.get('/v1/query', {
      q: `SELECT fetcher('${url()}') AS f`,
      format: 'aos',
    });
    expect(read.text).toContain('belongs to the service');
    expect(read.text).not.toMatch(/hidden|sha256/);
    for (const [prefix, suffix] of [
      ['', ''],
      ['archive+', '#member'],
    ]) {
      const run = await editor.post('/v1/procedures', {
        type: 'import.text',
        params: {
          dataFileUrl: prefix + url() + suffix,
          outputDataset: 'stolen',
          runOnCreation: true,
        },
      });
      expect(run.text).toContain('belongs to the service');
    }
  });

  test('is not written', async () => {
    const run = await editor.post('/v1/procedures', {
      type: 'export.csv',
      params: {
        exportData: 'SELECT 1 AS x FROM (SELECT 1)',
        dataFileUrl: url(),
        runOnCreation: true,
      },
    });
    expect(run.text).toContain('belongs to the service');
    expect(readFileSync(join(dataDir, 'keys.json'), 'utf8')).toBe(keys);
  });
});

test('a new plugin cannot be put where the next start would run it', async () => {
  const run = await editor.post('/v1/procedures', {
    type: 'export.csv',
    params: {
      exportData: 'SELECT 1 AS x FROM (SELECT 1)',
      dataFileUrl: `file://${dataDir}/plugins/autoload/evil/main.js`,
      runOnCreation: true,
    },
  });
  expect(run.text).toContain('belongs to the service');
  expect(existsSync(join(dataDir, 'plugins/autoload/evil'))).toBe(false);
});

test('patterns pass the files of the service by', async () => {
  const run = await editor.post('/v1/procedures', {
    type: 'import.text',
    params: { dataFileUrl: `file://${outside}/**`, outputDataset: 'found', runOnCreation: true },
  });
  expect(run.status, run.text).toBe(201);
  expect(run.text).toContain('"rowCount":1');
});

test('the folders for users are in reach, uploads only for reading', async () => {
  const write = (path: string) =>
    editor.post('/v1/procedures', {
      type: 'export.csv',
      params: {
        exportData: 'SELECT 1 AS x FROM (SELECT 1)',
        dataFileUrl: `file://${dataDir}/${path}`,
        runOnCreation: true,
      },
    });
  expect((await write('files/x.csv')).status).toBe(201);
  expect((await write('models/x.csv')).status).toBe(201);
  expect((await write('uploads/x.csv')).text).toContain('is only read');
  const read = await editor.get('/v1/query', {
    q: `SELECT fetcher('file://${dataDir}/uploads/table.csv')[content] AS c`,
    format: 'aos',
  });
  expect(read.status, read.text).toBe(200);
});

test('what the service loads at start is no URL of a user', async () => {
  expect((await rowan.get('/v1/plugins/own/routes/x')).text).toContain('loaded');
});

test('directories beside an allowed root are not below it', async () => {
  mkdirSync(`${outside}-evil`);
  try {
    writeFileSync(`${outside}-evil/x.csv`, 'x\n1\n');
    const run = await editor.post('/v1/procedures', {
      type: 'import.text',
      params: {
        dataFileUrl: `file://${outside}-evil/x.csv`,
        outputDataset: 'evil',
        runOnCreation: true,
      },
    });
    expect(run.text).toContain('allowed roots');
  } finally {
    rmSync(`${outside}-evil`, { recursive: true });
  }
});
