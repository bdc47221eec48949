// `npm run demo` does what it prints, a kill -9 and a restart included.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the demo imports, trains, serves, survives SIGKILL and answers the same', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'rowan-demo-'));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      'scripts/demo.mjs',
      ...['--port', '0', '--data-dir', dataDir, '--exit'],
    ]);
    expect(stdout).toMatch(/AUC of damage: 0\.[78]/);
    expect(stdout).toContain('The answers are the same.');
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}, 120_000);
