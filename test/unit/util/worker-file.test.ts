import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { workerFile } from '../../../src/util/worker-file.ts';

test('a worker of the sources starts from its compiled twin', () => {
  const path = fileURLToPath(workerFile('util/worker-file.ts'));
  expect(path).toMatch(/dist.util.worker-file\.js$/);
  expect(existsSync(path)).toBe(true);
});

test('the compiled helper answers with its neighbour', async () => {
  const source = workerFile('util/worker-file.ts');
  const twin: typeof import('../../../src/util/worker-file.ts') = await import(source.href);
  expect(twin.workerFile('util/worker-file.ts').href).toBe(source.href);
});
