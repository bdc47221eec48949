import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { workerFile } from '../../../src/util/worker-file.ts';
import { compiledModule } from '../../support/project.ts';

const ENTRY = 'service/engine/engine-worker.ts';

test('a worker of the sources starts from its bundled twin', () => {
  const path = fileURLToPath(workerFile(ENTRY));
  expect(path).toMatch(/dist.service.engine.engine-worker\.js$/);
  expect(existsSync(path)).toBe(true);
});

test('a compiled module finds the same', async () => {
  const module = compiledModule('util/worker-file.ts').href;
  const twin: typeof import('../../../src/util/worker-file.ts') = await import(module);
  expect(twin.workerFile(ENTRY).href).toBe(workerFile(ENTRY).href);
});
