// Content in files: those of the data directory, and those at URLs of the user's choice. The format
// needs a local file, so other URLs go by way of one.

import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DatasetContent, Params } from '../../../dataset/dataset-type.ts';
import type { Task } from '../../../exec/task.ts';
import { ByteReader, type ByteStream } from '../../../file/byte-stream.ts';
import type { ReadColumn } from '../../../store/columnar-file.ts';
import {
  openDatasetFile,
  readDatasetColumns,
  readDatasetFile,
  writeDatasetFile,
} from '../../../store/dataset-file.ts';
import { nodeFileSystem } from '../../../store/durable-file.ts';
import type { ScratchFolder } from '../../../store/scratch-file.ts';
import { assert } from '../../../util/assert.ts';
import { failure, RowanError } from '../../../util/error.ts';
import { type ArenaAllocator, ArenaLease } from '../../../value/column/arena-set.ts';
import type { Snapshot } from '../../../value/column/snapshot.ts';
import { freeSnapshot, snapshotSpans } from '../../../value/column/snapshot-memory.ts';
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
  { type, params, base, isWhole, file, fileState, batches, state }: EngineTasks['open']['args'],
  task: Task,
  context: WorkerContext,
): DatasetContent {
  // Batches are added to values, and indexes are made of them.
  const needsValues = batches.length > 0 || context.types.datasetType(type).recording?.index;
  const read = isWhole || needsValues ? readDatasetFile : openDatasetFile;
  const inFile =
    file === undefined ? undefined : { snapshot: read(file, context.arenas), state: fileState };
  const content = base ?? inFile;
  if (content !== undefined && batches.length === 0) {
    return inFile === undefined ? content : indexed(inFile, type, params, task, context);
  }
  try {
    return commitTask({ type, params, content, batches, state, isFinal: false }, task, context);
  } finally {
    if (inFile !== undefined) freeSnapshot(inFile.snapshot, context.arenas);
  }
}

export function columnsTask(
  { file, wanted, room }: EngineTasks['columns']['args'],
  _task: Task,
  { arenas }: WorkerContext,
): readonly ReadColumn[] {
  return readDatasetColumns(file, wanted, room, arenas);
}

/** Content as it was read, with what the type adds to it. */
function indexed(
  { snapshot, state }: DatasetContent,
  type: string,
  params: Params,
  task: Task,
  context: WorkerContext,
): DatasetContent {
  const { recording } = context.types.datasetType(type);
  if (recording?.index === undefined) return { snapshot, state };
  const arenas = new ArenaLease(context.arenas);
  try {
    const checkCancelled = () => task.checkCancelled();
    const added = recording.index(snapshot, {
      params,
      previous: undefined,
      arenas,
      remote: context.remote,
      isFirst: false,
      checkCancelled,
    });
    arenas.keep(snapshotSpans(added));
    return { snapshot: added, state };
  } catch (thrown) {
    freeSnapshot(snapshot, context.arenas);
    throw thrown;
  } finally {
    arenas.release();
  }
}

export async function saveUrlTask(
  { content, url, mark }: EngineTasks['saveUrl']['args'],
  task: Task,
  { arenas, files, scratch }: WorkerContext,
): Promise<undefined> {
  const sink = await files.create(url);
  try {
    if (mark !== undefined) await sink.write(markBytes(mark));
    await withTemporaryFile(scratch, async (path) => {
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
  { type, url }: EngineTasks['loadUrl']['args'],
  _task: Task,
  { arenas, files, scratch, types }: WorkerContext,
): Promise<DatasetContent | undefined> {
  const { file: declared } = types.datasetType(type);
  assert(declared !== undefined, `dataset type ${type} has files`);
  const { mark } = declared;
  try {
    const file = await files.open(url);
    const load = async (): Promise<Snapshot> => {
      if (file.plainPath !== undefined && mark === undefined) {
        return readDatasetFile(file.plainPath, arenas);
      }
      return await withTemporaryFile(scratch, async (path) => {
        const content = mark === undefined ? file.stream() : unmarked(file.stream(), mark, url);
        await pipeline(Readable.from(content), createWriteStream(path));
        return readDatasetFile(path, arenas);
      });
    };
    const snapshot = await load();
    return { snapshot, state: declared.stateOf(snapshot, arenas) };
  } catch (thrown) {
    const isMissing = thrown instanceof RowanError && thrown.code === 'FILE_NOT_FOUND';
    if (isMissing && declared.mustExist !== true) return undefined;
    throw thrown;
  }
}

/** The first bytes of files that say what they have. */
const MARK_SIZE = 32;
const MARK_START = 'ROWAN ';

function markBytes(mark: string): Uint8Array {
  return Buffer.from(`${MARK_START}${mark}\n`.padEnd(MARK_SIZE, '\0'), 'latin1');
}

/** The content behind the mark. @throws DATA_ERROR when it is another one */
async function* unmarked(source: ByteStream, mark: string, url: string): AsyncIterable<Uint8Array> {
  const reader = new ByteReader(source);
  try {
    const head = Buffer.from(await reader.read(MARK_SIZE)).toString('latin1');
    const found = /^ROWAN ([a-z.]+)\n\0*$/.exec(head)?.[1];
    if (found === undefined || head.length < MARK_SIZE) {
      throw failure('DATA_ERROR', `${url} is no file of a behavior dataset`, { url });
    }
    if (found !== mark) {
      throw failure(
        'DATA_ERROR',
        `The loaded dataset is not of type ${mark}, it is of type ${found}: ${url}`,
        { url },
      );
    }
    for (;;) {
      const bytes = await reader.read(1 << 20);
      if (bytes.length === 0) return;
      yield bytes;
    }
  } finally {
    await reader.close();
  }
}

async function withTemporaryFile<Result>(
  scratch: ScratchFolder,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  const directory = scratch.createDirectory();
  try {
    return await work(join(directory, 'content.arrow'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
