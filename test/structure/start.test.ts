// What a start loads. Loading is nearly all that a start takes, so what the first answer does not need
// is loaded later, and what it needs comes in few files.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../support/project.ts';
import { ServerProcess } from '../support/server-process.ts';

const REPORT = pathToFileURL(join(projectRoot, 'test/fixture/report-loads.mjs')).href;

/** The store with what it brings along. */
const PACKAGES_OF_A_START = [
  ...['@harperfast/extended-iterable', 'lmdb', 'msgpackr', 'node-gyp-build-optional-packages'],
  ...['ordered-binary', 'weak-lru-cache'],
];

interface Loads {
  readonly packages: string[];
  readonly files: string[];
  readonly sizeBytes: number;
}

describe('a server that has answered its first query', () => {
  let dataDir: string;
  let server: ServerProcess;
  let log: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'rowan-loads-'));
    server = await ServerProcess.start(['--data-dir', dataDir], ['--import', REPORT]);
    const reply = await fetch(`${server.origin}/v1/query?q=SELECT%201&format=atom`);
    expect(await reply.text()).toBe('1');
    ({ log } = server);
  });

  afterAll(async () => {
    await server.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('has loaded no package but the store in its main thread', () => {
    expect(loadsOf(log, (thread) => thread === 0).packages).toEqual(PACKAGES_OF_A_START);
  });

  test('has loaded no package in its workers', () => {
    const loads = loadsOf(log, (thread) => thread > 0);
    expect(loads.packages).toEqual([]);
    expect(loads.files).toContain('dist/service/engine/engine-worker.js');
  });

  test('has read few files of ours', () => {
    expect(loadsOf(log, (thread) => thread === 0).files.length).toBeLessThanOrEqual(25);
    expect(loadsOf(log, (thread) => thread > 0).files.length).toBeLessThanOrEqual(25);
  });

  test('loads what a later request needs', async () => {
    await (await fetch(`${server.origin}/v1/metrics`)).text();
    await (await fetch(`${server.origin}/doc/`)).text();
    const { packages } = loadsOf(server.log, (thread) => thread === 0);
    expect(packages).toEqual([...PACKAGES_OF_A_START, 'marked', 'prom-client'].sort());
  });
});

describe('a command without a service of its own', () => {
  test('loads neither service nor store', () => {
    const { stderr, stdout } = spawnSync(
      process.execPath,
      ['--import', REPORT, 'dist/cli/rowan.js', '--help'],
      { cwd: projectRoot, encoding: 'utf8' },
    );
    expect(stdout).toContain('Usage: rowan');
    const { packages, sizeBytes } = loadsOf(stderr, () => true);
    expect(packages).toEqual([]);
    expect(sizeBytes).toBeLessThan(200_000);
  });
});

test('a program given as text opens a service and asks it', () => {
  const script = `
    const { open, ...others } = await import('rowan-db');
    const rowan = await open({ dataDir: null });
    console.log(await rowan.query('SELECT 1 + 1').value(), Object.keys(others).sort().join());
    await rowan.close();`;
  const args = ['--input-type=module', '-e', script];
  const output = execFileSync(process.execPath, args, { cwd: projectRoot, encoding: 'utf8' });
  expect(output.trim()).toBe('2 Rowan,RowanError');
});

function loadsOf(log: string, isCounted: (thread: number) => boolean): Loads {
  const urls = [...log.matchAll(/^loaded (\d+) (file:\S+)$/gm)]
    .filter((match) => isCounted(Number(match[1])))
    .map((match) => match[2] as string);
  const packages = urls.flatMap((url) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    return name === undefined ? [] : [name];
  });
  const paths = urls.filter((url) => url.includes('/dist/') && !url.includes('/node_modules/'));
  return {
    packages: [...new Set(packages)].sort(),
    files: [...new Set(paths)].map((url) => url.slice(url.lastIndexOf('dist/'))),
    sizeBytes: paths.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0),
  };
}
