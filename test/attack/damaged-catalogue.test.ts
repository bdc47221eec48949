// Attack on what is kept: a catalogue that is damaged, cut off, empty or gone, and keys that are
// gone. No start may delete data, answer from damage, crash, or let everybody in.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { checkDirectory, repairDirectory } from '../../src/service/persist/directory-check.ts';
import { type Catalogue, TABLES } from '../../src/store/catalogue.ts';
import { DataDirectoryError } from '../../src/store/directory-lock.ts';
import { openCatalogue } from '../../src/store/open-catalogue.ts';
import { RowanError } from '../../src/util/error.ts';
import { projectRoot } from '../support/project.ts';

let root: string;
/** a data directory as a service left it */
let whole: string;
/** a copy of it */
let dir: string;
const CATALOGUE = 'catalogue.lmdb';

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'rowan-damage-'));
  whole = join(root, 'whole');
  const rowan = await Rowan.open({ dataDir: whole, workers: 1 });
  for (let i = 0; i < 150; i++) {
    const params = { expression: `x + ${i} AS y, '${'text '.repeat(20)}' AS t` };
    await rowan.put(`/v1/functions/f${i}`, { type: 'sql.expression', params });
  }
  for (let i = 0; i < 120; i += 2) await rowan.delete(`/v1/functions/f${i}`);
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  for (let i = 0; i < 20; i++) {
    const row = { rowName: `r${i}`, columns: [['x', 'long '.repeat(2000), 0]] };
    await rowan.post('/v1/datasets/d/rows', row);
  }
  await rowan.post('/v1/datasets/d/commit');
  await rowan.put('/v1/procedures/p', {
    type: 'transform',
    params: {
      inputData: 'SELECT 1 AS x FROM (SELECT 1)',
      outputDataset: { id: 'made', type: 'tabular' },
      runOnCreation: true,
    },
  });
  await rowan.close();
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

beforeEach(() => {
  dir = mkdtempSync(join(root, 'copy-'));
  cpSync(whole, dir, { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const catalogueFile = () => join(dir, CATALOGUE);
const datasetFiles = (directory: string) => readdirSync(join(directory, 'datasets')).sort();

async function open(options: object = {}): Promise<Rowan> {
  return Rowan.open({ dataDir: dir, workers: 1, ...options });
}

/** Everything that a catalogue tells. */
function readAll(catalogue: Catalogue): string {
  const records = TABLES.flatMap((table) => [...catalogue.list(table)]);
  const logs = catalogue.logs().map((log) => {
    const entries = [...catalogue.entries(log)];
    const texts = entries.map(({ sequence, bytes }) => [
      sequence,
      Buffer.from(bytes).toString('base64'),
    ]);
    return [log, texts];
  });
  const bigintText = (_: string, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value;
  return JSON.stringify([records, logs], bigintText);
}

describe('damage of any kind', () => {
  const damages: readonly [string, (bytes: Buffer, random: () => number) => Buffer][] = [
    [
      'a changed byte',
      (bytes, random) => {
        const at = Math.floor(random() * bytes.length);
        bytes[at] = (bytes[at] as number) ^ (1 + Math.floor(random() * 255));
        return bytes;
      },
    ],
    [
      'a changed byte of a head',
      (bytes, random) => {
        const at = Math.floor(random() * 2) * 4096 + Math.floor(random() * 176);
        bytes[at] = (bytes[at] as number) ^ (1 + Math.floor(random() * 255));
        return bytes;
      },
    ],
    [
      'a page of zeros',
      (bytes, random) => {
        const page = Math.floor((random() * bytes.length) / 4096);
        return bytes.fill(0, page * 4096, (page + 1) * 4096);
      },
    ],
    [
      'a page in the place of another',
      (bytes, random) => {
        const pages = Math.floor(bytes.length / 4096);
        const [from, to] = [Math.floor(random() * pages), Math.floor(random() * pages)];
        bytes.copy(bytes, to * 4096, from * 4096, (from + 1) * 4096);
        return bytes;
      },
    ],
    ['a cut', (bytes, random) => bytes.subarray(0, Math.floor(random() * bytes.length))],
  ];

  test.each(damages)('%s is told or does no harm', { timeout: 60_000 }, async (_name, damage) => {
    const original = readFileSync(catalogueFile());
    const catalogue = await openCatalogue({ directory: dir });
    const expected = readAll(catalogue);
    await catalogue.close();
    const random = randomNumbers(7);
    const outcomes = { refused: 0, told: 0, harmless: 0 };
    for (let i = 0; i < 60; i++) {
      rmSync(join(dir, `${CATALOGUE}-lock`), { force: true });
      writeFileSync(catalogueFile(), damage(Buffer.from(original), random));
      outcomes[await outcomeOf(expected)]++;
    }
    expect(outcomes.refused + outcomes.told).toBeGreaterThan(0);
  });

  async function outcomeOf(expected: string): Promise<'refused' | 'told' | 'harmless'> {
    let catalogue: Catalogue;
    try {
      catalogue = await openCatalogue({ directory: dir });
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(DataDirectoryError);
      expect((thrown as Error).message).toContain('rowan repair');
      return 'refused';
    }
    try {
      expect(readAll(catalogue)).toBe(expected);
      return 'harmless';
    } catch (thrown) {
      if (!(thrown instanceof RowanError)) throw thrown;
      expect(thrown).toMatchObject({ code: 'DATA_ERROR' });
      expect(thrown.message).toContain('rowan check');
      return 'told';
    } finally {
      await catalogue.close();
    }
  }
});

describe.each([
  ['missing', () => rmSync(catalogueFile())],
  ['empty', () => truncateSync(catalogueFile(), 0)],
  ['cut off', () => truncateSync(catalogueFile(), 8192)],
  ['something else', () => writeFileSync(catalogueFile(), 'x'.repeat(100_000))],
] as const)('a catalogue that is %s', (_name, damage) => {
  test('stops the start, which deletes nothing and says what to do', async () => {
    damage();
    await expect(open()).rejects.toThrow(/rowan repair/);
    expect(datasetFiles(dir)).toEqual(datasetFiles(whole));
    const command = rowan('serve', '--http-listen-port', '0', '--data-dir', dir);
    expect([command.status, command.stderr]).toEqual([2, expect.stringContaining('rowan repair')]);
  });

  test('is restored from its copy', async () => {
    damage();
    expect(rowan('check', dir).status).toBe(1);
    const repaired = rowan('repair', dir);
    expect([repaired.status, repaired.stdout], repaired.stderr).toEqual([
      0,
      expect.stringContaining('restored the copy'),
    ]);
    const back = await open();
    expect((await back.get('/v1/datasets')).json).toEqual(['d', 'made']);
    expect((await back.get('/v1/functions')).json).toHaveLength(90);
    await back.close();
    expect((await checkDirectory(dir)).problems).toEqual([]);
  });

  test('gives way to a new one when that is asked for, and nothing is deleted', async () => {
    damage();
    const fresh = await open({ startsAnew: true });
    expect((await fresh.get('/v1/datasets')).json).toEqual([]);
    await fresh.close();
    expect(datasetFiles(join(dir, 'lost+found'))).toEqual(datasetFiles(whole));
  });
});

test('a damaged copy is no help, and says so', async () => {
  rmSync(catalogueFile());
  truncateSync(join(dir, 'catalogue.copy'), 5000);
  await expect(repairDirectory(dir)).rejects.toThrow(/and so is its copy/);
});

test('a check finds a changed byte in a dataset file', async () => {
  const [name] = datasetFiles(dir);
  const path = join(dir, 'datasets', name as string);
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] as number) ^ 1;
  writeFileSync(path, bytes);
  const { problems } = await checkDirectory(dir);
  expect(problems).toEqual([expect.stringContaining(name as string)]);
});

test('files that nobody knows go to lost+found, drafts are removed', async () => {
  mkdirSync(join(dir, 'files/deep'), { recursive: true });
  writeFileSync(join(dir, 'datasets/99-1.arrow'), 'unknown');
  writeFileSync(join(dir, 'datasets/9-1.arrow.12-ab-0.tmp'), 'half');
  writeFileSync(join(dir, 'files/deep/.x.csv.0123456789ab.part'), 'half');
  writeFileSync(join(dir, 'files/deep/.mine.part'), 'of a user');
  await (await open()).close();
  expect(datasetFiles(dir)).toEqual(datasetFiles(whole));
  expect(readdirSync(join(dir, 'lost+found'))).toEqual(['99-1.arrow']);
  expect(readdirSync(join(dir, 'files/deep'))).toEqual(['.mine.part']);
});

describe('keys that are gone', () => {
  test.each(['missing', 'empty'])('%s: nobody is let in', async (how) => {
    const before = await open();
    await before.web.keys.create({ role: 'admin' });
    await before.close();
    const path = join(dir, 'keys.json');
    if (how === 'missing') rmSync(path);
    else writeFileSync(path, '');
    const after = await open();
    try {
      const url = `${await after.listen()}/v1/datasets`;
      expect((await fetch(url)).status).toBe(401);
      const made = rowan('keys', 'create', '--role', 'admin', '--data-dir', dir);
      expect(made.status, made.stderr).toBe(0);
      const headers = { 'x-api-key': made.stdout.trim() };
      await expect.poll(async () => (await fetch(url, { headers })).status).toBe(200);
      expect((await fetch(url)).status).toBe(401);
    } finally {
      await after.close();
    }
  });

  test('while the server runs: nobody is let in', async () => {
    const service = await open();
    try {
      await service.web.keys.create({ role: 'admin' });
      const url = `${await service.listen()}/v1/datasets`;
      rmSync(join(dir, 'keys.json'));
      service.web.keys.reload();
      expect((await fetch(url)).status).toBe(401);
    } finally {
      await service.close();
    }
  });

  test('a first key makes the catalogue of a new directory', async () => {
    const fresh = join(dir, 'fresh');
    const made = rowan('keys', 'create', '--role', 'admin', '--data-dir', fresh);
    expect(made.status, made.stderr).toBe(0);
    expect(existsSync(join(fresh, CATALOGUE))).toBe(true);
    rmSync(join(fresh, 'keys.json'));
    const service = await Rowan.open({ dataDir: fresh, workers: 1 });
    expect((await fetch(`${await service.listen()}/v1/datasets`)).status).toBe(401);
    await service.close();
  });
});

function rowan(...args: string[]) {
  return spawnSync(process.execPath, ['dist/cli/rowan.js', ...args], {
    ...{ cwd: projectRoot, encoding: 'utf8' },
    env: { ...process.env, ROWAN_ADMIN_KEY: '' },
  });
}

/** Numbers from 0 to 1, the same for a seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
