import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { moveOtherFiles, removeFile, writeFileDurably } from '../../../src/store/durable-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'rowan-durable-file-'));

afterAll(() => rmSync(directory, { recursive: true }));

test('a file has all its content or none', async () => {
  const path = join(directory, 'a');
  writeFileDurably(path, (sink) => {
    sink.write([Buffer.from('one '), Buffer.alloc(0), Buffer.from('two')]);
    expect(sink.position).toBe(7);
    expect(existsSync(path)).toBe(false);
  });
  expect(readFileSync(path, 'utf8')).toBe('one two');
  expect(() =>
    writeFileDurably(path, (sink) => {
      sink.write([Buffer.from('three')]);
      throw new Error('gave up');
    }),
  ).toThrow(`cannot write "${path}": gave up`);
  expect(readFileSync(path, 'utf8')).toBe('one two');
  expect(readdirSync(directory)).toEqual(['a']);
  await removeFile(path);
  expect(readdirSync(directory)).toEqual([]);
  await expect(removeFile(path)).resolves.toBeUndefined();
});

test('a thousand buffers are written in order', async () => {
  const path = join(directory, 'many');
  const buffers = Array.from({ length: 1500 }, (_, i) => Buffer.from(`${i},`));
  writeFileDurably(path, (sink) => sink.write(buffers));
  expect(readFileSync(path, 'utf8')).toBe(buffers.join(''));
  await removeFile(path);
});

test('files that nothing refers to are moved away, those half-written removed', () => {
  mkdirSync(join(directory, 'kept directory'));
  for (const name of ['used', 'unused', 'half.123.tmp']) writeFileSync(join(directory, name), '');
  const lost = join(directory, 'lost');
  expect(moveOtherFiles(directory, new Set(['used']), lost)).toEqual(['unused']);
  expect(readdirSync(directory).sort()).toEqual(['kept directory', 'lost', 'used']);
  expect(readdirSync(lost)).toEqual(['unused']);
});
