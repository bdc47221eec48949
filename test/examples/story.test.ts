// The examples that documents point to run as they stand, on every version of Node.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the story runs in-process and the model ranks strikes well', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/story.mjs']);
  const [, auc = 0, score = 0] = /auc: ([\d.]+), score: ([\d.]+)/.exec(stdout)?.map(Number) ?? [];
  expect(auc).toBeGreaterThan(0.75);
  expect(score).toBeGreaterThan(0);
  expect(score).toBeLessThan(1);
}, 60_000);
