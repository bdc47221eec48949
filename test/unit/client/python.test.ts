// The Python client: its package is built, and its own tests run against a service.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { projectRoot } from '../../support/project.ts';
import { canTest } from '../../support/services.ts';

const run = promisify(execFile);
const CLIENT = join(projectRoot, 'clients/python');
/** Where `.ci/run` installs what the client can use. */
const PYTHON = join(projectRoot, 'build/python-client/bin/python');

describe.runIf(canTest('Python client', existsSync(PYTHON)))('the Python client', () => {
  test('is built as a package', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rowan-python-'));
    try {
      // The build writes beside its sources.
      await cp(CLIENT, join(folder, 'source'), { recursive: true });
      const options = ['--no-deps', '--no-build-isolation', '--quiet', '-w', folder];
      await run(PYTHON, ['-m', 'pip', 'wheel', ...options, join(folder, 'source')]);
      const files = await readdir(folder);
      expect(files.filter((name) => name.endsWith('.whl'))).toHaveLength(1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);

  test('passes its tests', async () => {
    const rowan = await Rowan.open({ dataDir: null });
    try {
      const address = await rowan.listen({ host: '127.0.0.1', port: 0 });
      const env = {
        ...process.env,
        ROWAN_URL: address,
        PYTHONPATH: join(CLIENT, 'src'),
        PYTHONDONTWRITEBYTECODE: '1',
      };
      const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', join(CLIENT, 'tests')];
      const { stdout } = await run(PYTHON, args, { env }).catch((failed) => {
        throw new Error(failed.stdout);
      });
      expect(stdout).toMatch(/\d+ passed/);
      expect(stdout).not.toMatch(/failed|skipped/);
    } finally {
      await rowan.close();
    }
  }, 300_000);
});
