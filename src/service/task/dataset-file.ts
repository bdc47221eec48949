// Content at URLs of the user's choice. The format needs a local file, so others go by way of one.
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Task } from '../../exec/task.ts';
import { readDatasetFile, writeDatasetFile } from '../../store/dataset-file.ts';
import { RowanError } from '../../util/error.ts';
import type { Snapshot } from '../../value/snapshot.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

export async function saveUrlTask(
  { content, url }: EngineTasks['saveUrl']['args'],
  task: Task,
  { arenas, files }: WorkerContext,
): Promise<undefined> {
  const sink = await files.create(url);
  try {
    await withTemporaryFile(async (path) => {
      writeDatasetFile(path, content.snapshot, arenas);
      for await (const bytes of createReadStream(path)) {
        task.checkCancelled();
        await sink.write(bytes as Uint8Array);
      }
    });
  } catch (thrown) {
    await sink.abort();
    throw thrown;
  }
  await sink.commit();
  return undefined;
}

export async function loadUrlTask(
  { url }: EngineTasks['loadUrl']['args'],
  _task: Task,
  { arenas, files }: WorkerContext,
): Promise<Snapshot | undefined> {
  try {
    const file = await files.open(url);
    if (file.plainPath !== undefined) return readDatasetFile(file.plainPath, arenas);
    return await withTemporaryFile(async (path) => {
      await pipeline(Readable.from(file.stream()), createWriteStream(path));
      return readDatasetFile(path, arenas);
    });
  } catch (thrown) {
    if (thrown instanceof RowanError && thrown.code === 'FILE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

async function withTemporaryFile<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'rowan-'));
  try {
    return await work(join(directory, 'content.arrow'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
