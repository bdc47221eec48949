// Content in files: those of the data directory, and those at URLs of the user's choice. The format
// needs a local file, so other URLs go by way of one.
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DatasetContent } from '../../../dataset/dataset-type.ts';
import type { Task } from '../../../exec/task.ts';
import { readDatasetFile, writeDatasetFile } from '../../../store/dataset-file.ts';
import { nodeFileSystem } from '../../../store/durable-file.ts';
import { RowanError } from '../../../util/error.ts';
import type { ArenaAllocator } from '../../../value/arena-set.ts';
import type { Snapshot } from '../../../value/snapshot.ts';
import { freeSnapshot } from '../../../value/snapshot-memory.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';
import { commitTask } from './dataset.ts';

export function saveTask(
  { content, path }: EngineTasks['save']['args'],
  task: Task,
  { arenas }: WorkerContext,
): undefined {
  saveContent(path, content, task, arenas);
}

function saveContent(
  path: string,
  { snapshot }: DatasetContent,
  task: Task,
  arenas: ArenaAllocator,
): void {
  writeDatasetFile(path, snapshot, arenas, cancellableFiles(task), () => task.checkCancelled());
}

/** Looks at the cancel flag before each write; what is written so far is then removed. */
function cancellableFiles(task: Task): typeof nodeFileSystem {
  return {
    ...nodeFileSystem,
    write(file, buffers) {
      task.checkCancelled();
      return nodeFileSystem.write(file, buffers);
    },
  };
}

export function openTask(
  { type, params, base, file, fileState, batches, state }: EngineTasks['open']['args'],
  task: Task,
  context: WorkerContext,
): DatasetContent {
  const inFile =
    file === undefined
      ? undefined
      : { snapshot: readDatasetFile(file, context.arenas), state: fileState };
  const content = base ?? inFile;
  if (content !== undefined && batches.length === 0) return content;
  try {
    return commitTask({ type, params, content, batches, state }, task, context);
  } finally {
    if (inFile !== undefined) freeSnapshot(inFile.snapshot, context.arenas);
  }
}

export async function saveUrlTask(
  { content, url }: EngineTasks['saveUrl']['args'],
  task: Task,
  { arenas, files }: WorkerContext,
): Promise<undefined> {
  const sink = await files.create(url);
  try {
    await withTemporaryFile(async (path) => {
      saveContent(path, content, task, arenas);
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
