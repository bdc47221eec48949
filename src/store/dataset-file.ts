// Committed dataset versions on disk: Arrow IPC files that other tools can open as they are.
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { ArenaLease } from '../value/column/arena-set.ts';
import type { Snapshot } from '../value/column/snapshot.ts';
import { columnSpans, snapshotSpans } from '../value/column/snapshot-memory.ts';
import { ArrowFileReader } from './arrow-file-reader.ts';
import {
  type ColumnarDescription,
  type ColumnRoom,
  type ReadColumn,
  readColumnar,
  readColumnarOutline,
  readColumns,
  writeColumnar,
} from './columnar-file.ts';
import { damaged, type FileSystem, nodeFileSystem, writeFileDurably } from './durable-file.ts';
import { readSparse, type SparseDescription, writeSparse } from './sparse-file.ts';

/**
 * Writes a snapshot so that `readDatasetFile` brings it back exactly. Blocks until the file is on
 * disk, so it belongs in a worker.
 * @param look called in between; when it throws, nothing of the file is left
 * @throws DISK_FULL (507) naming the path; what was there before stays, and nothing else does
 */
export function writeDatasetFile(
  path: string,
  snapshot: Snapshot,
  arenas: Pick<ArenaAllocator, 'get'>,
  files: FileSystem = nodeFileSystem,
  look: () => void = () => undefined,
): void {
  writeFileDurably(
    path,
    (sink) => {
      if (snapshot.layout === 'columnar') writeColumnar(sink, snapshot, arenas, look);
      else writeSparse(sink, snapshot, arenas, look);
    },
    files,
  );
}

/**
 * Reads a whole file into arenas, batch by batch.
 * @throws DATA_ERROR naming the file when it is missing or damaged, OUT_OF_MEMORY
 */
export function readDatasetFile(path: string, arenas: ArenaAllocator): Snapshot {
  return readSnapshot(path, arenas, readColumnar);
}

/**
 * As `readDatasetFile`, but of content in columns the values stay in the file until
 * `readDatasetColumns` reads them. The checksums of all of them are verified now.
 */
export function openDatasetFile(path: string, arenas: ArenaAllocator): Snapshot {
  return readSnapshot(path, arenas, readColumnarOutline);
}

function readSnapshot(
  path: string,
  arenas: ArenaAllocator,
  readColumnarContent: typeof readColumnar,
): Snapshot {
  return readFrom(path, arenas, (file, description, scope) => {
    const snapshot =
      description.layout === 'columnar'
        ? readColumnarContent(file, description, scope)
        : readSparse(file, description, scope);
    scope.keep(snapshotSpans(snapshot));
    return snapshot;
  });
}

/**
 * Reads columns of a file that was opened: the first of `wanted`, and those behind it as long as they
 * take less than `sizeBytes` together. The chunks of what there is no room for stay in the file.
 * @throws DATA_ERROR, OUT_OF_MEMORY
 */
export function readDatasetColumns(
  path: string,
  wanted: readonly number[],
  room: ColumnRoom,
  arenas: ArenaAllocator,
): ReadColumn[] {
  return readFrom(path, arenas, (file, description, scope) => {
    if (description.layout !== 'columnar') throw damaged(path, 'it holds no columns');
    const read = readColumns(file, description, wanted, room, scope);
    for (const { column } of read) scope.keep(columnSpans(column));
    return read;
  });
}

function readFrom<Result>(
  path: string,
  arenas: ArenaAllocator,
  read: (
    file: ArrowFileReader,
    description: ColumnarDescription | SparseDescription,
    scope: ArenaLease,
  ) => Result,
): Result {
  const file = new ArrowFileReader(path);
  const scope = new ArenaLease(arenas);
  try {
    return read(file, readDescription(file), scope);
  } finally {
    scope.release();
    file.close();
  }
}

function readDescription(file: ArrowFileReader): ColumnarDescription | SparseDescription {
  const text = Buffer.from(file.section('snapshot')).toString();
  const description = JSON.parse(text) as ColumnarDescription | SparseDescription;
  if (description.layout !== 'columnar' && description.layout !== 'sparse') {
    throw damaged(file.path, 'its layout is unknown');
  }
  return description;
}
