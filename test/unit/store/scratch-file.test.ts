import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { ScratchFolder, ScratchWriter } from '../../../src/store/scratch-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'rowan-scratch-'));
afterAll(() => rmSync(directory, { recursive: true }));

test('what a thread left is removed, and that of others is not', () => {
  const folder = new ScratchFolder(directory);
  const copies = folder.createDirectory();
  writeFileSync(join(copies, 'content'), 'rows');
  const file = folder.create();
  folder.removeOf(threadId + 1);
  expect([copies, file.path].map(existsSync)).toEqual([true, true]);
  folder.removeOf(threadId);
  expect([copies, file.path].map(existsSync)).toEqual([false, false]);
});

test('what is written lies behind what was there', () => {
  const file = new ScratchFolder(directory).create();
  const writers = [new ScratchWriter(file), new ScratchWriter(file)];
  expect(writers.map((writer) => writer.write(new Uint8Array(5)))).toEqual([0, 5]);
  expect(file.sizeBytes).toBe(10);
  for (const writer of writers) writer.close();
  file.close();
  expect(existsSync(file.path)).toBe(false);
});
