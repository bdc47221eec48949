// The Python client: its package is built, and its own tests run against a service.
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { findPython, PYTHON_CLIENT, runPython } from '../../support/python.ts';
import { canTest } from '../../support/services.ts';

describe.runIf(canTest('Python client', findPython()))('the Python client', () => {
  test('is built as a package', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rowan-python-'));
    try {
      // The build writes beside its sources.
      await cp(PYTHON_CLIENT, join(folder, 'source'), { recursive: true });
      const options = ['--no-deps', '--no-build-isolation', '--quiet', '-w', folder];
      await runPython(['-m', 'pip', 'wheel', ...options, join(folder, 'source')]);
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
      const tests = join(PYTHON_CLIENT, 'tests');
      const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', tests];
      const stdout = await runPython(args, { ROWAN_URL: address });
      expect(stdout).toMatch(/\d+ passed/);
      expect(stdout).not.toMatch(/failed|skipped/);
    } finally {
      await rowan.close();
    }
  }, 300_000);
});
