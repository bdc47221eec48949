import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Rowan } from '../../../src/index.ts';

test('health is degraded while the last write has failed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rowan-health-'));
  const rowan = await Rowan.open({ dataDir: directory, workers: 1 });
  try {
    const { catalogue } = rowan.service;
    const failing = vi.spyOn(catalogue, 'failure', 'get');
    failing.mockReturnValue(new Error('no space left on the disk'));
    const writing = vi.spyOn(catalogue, 'write');
    const degraded = await rowan.get('/v1/health');
    expect(degraded.status).toBe(503);
    expect(degraded.json).toMatchObject({
      status: 'degraded',
      ready: false,
      details: { storage: 'no space left on the disk' },
    });
    // Whether there is room again is found out by writing something.
    expect(writing).toHaveBeenCalledTimes(1);
    failing.mockRestore();
    expect((await rowan.get('/v1/health')).json).toMatchObject({ status: 'ok', ready: true });
  } finally {
    await rowan.close();
    await rm(directory, { recursive: true, force: true });
  }
});
