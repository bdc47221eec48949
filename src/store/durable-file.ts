// Files that are either whole or not there: written beside, synced, renamed, the directory synced.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writevSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { failure, RowanError } from '../util/error.ts';

/** The calls to the system that writing takes; tests put failing ones in their place. */
export interface FileSystem {
  open(path: string, flags: string): number;
  /** @returns bytes written, which can be fewer than there are */
  write(file: number, buffers: readonly Uint8Array[]): number;
  sync(file: number): void;
  close(file: number): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
}

export const nodeFileSystem: FileSystem = {
  open: openSync,
  write: (file, buffers) => writevSync(file, buffers),
  sync: fsyncSync,
  close: closeSync,
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
};

/** Takes the content of a file from its beginning to its end. */
export interface FileSink {
  /** bytes written so far */
  readonly position: number;
  write(buffers: readonly Uint8Array[]): void;
}

/** Marks files that are being written; one that is left over belongs to nobody. */
const TEMPORARY_SUFFIX = '.tmp';
/** Buffers, and bytes, that are handed to the system at a time. */
const BUFFER_COUNT_MAX = 512;
const WRITE_SIZE_MAX = 1 << 23;

let temporaryCount = 0;

/**
 * Writes a file in one go. Until it is complete and on disk, what was at `path` stays there.
 * @throws DISK_FULL (507) naming the path; nothing is left behind then
 */
export function writeFileDurably(
  path: string,
  fill: (sink: FileSink) => void,
  files: FileSystem = nodeFileSystem,
): void {
  const temporary = `${path}.${process.pid}-${Date.now().toString(36)}-${temporaryCount++}${TEMPORARY_SUFFIX}`;
  let file: number | undefined;
  try {
    file = files.open(temporary, 'wx');
    fill(fileSink(file, files));
    files.sync(file);
    files.close(file);
    file = undefined;
    files.rename(temporary, path);
    syncDirectory(dirname(path), files);
  } catch (error) {
    if (file !== undefined) tryTo(() => files.close(file as number));
    tryTo(() => files.remove(temporary));
    throw error instanceof RowanError ? error : writeFailure(path, error);
  }
}

function fileSink(file: number, files: FileSystem): FileSink {
  let position = 0;
  return {
    get position() {
      return position;
    },
    write(buffers) {
      let rest = buffers.filter((buffer) => buffer.length > 0);
      while (rest.length > 0) {
        let written = files.write(file, firstOf(rest));
        if (written <= 0) throw new Error('the system wrote nothing');
        position += written;
        let index = 0;
        while (index < rest.length && written >= (rest[index] as Uint8Array).length) {
          written -= (rest[index] as Uint8Array).length;
          index++;
        }
        rest = rest.slice(index);
        if (written > 0) rest[0] = (rest[0] as Uint8Array).subarray(written);
      }
    },
  };
}

/** What is written first of these buffers: not more than is written at a time. */
function firstOf(buffers: readonly Uint8Array[]): Uint8Array[] {
  const first: Uint8Array[] = [];
  let room = WRITE_SIZE_MAX;
  for (const buffer of buffers) {
    if (room === 0 || first.length === BUFFER_COUNT_MAX) break;
    first.push(buffer.subarray(0, room));
    room -= Math.min(room, buffer.length);
  }
  return first;
}

/** A renamed or removed name is only durable when its directory is. */
export function syncDirectory(path: string, files: FileSystem = nodeFileSystem): void {
  // Windows cannot open directories, and syncs names by itself.
  if (process.platform === 'win32') return;
  const directory = files.open(path, 'r');
  try {
    files.sync(directory);
  } finally {
    files.close(directory);
  }
}

/** Removes a file that nothing refers to, if it is there; a crash may bring it back. */
export function removeFile(path: string): Promise<void> {
  return rm(path, { force: true });
}

/**
 * Moves away the files of a directory that nothing refers to; those that are half-written are
 * removed.
 */
export function moveOtherFiles(
  directory: string,
  keep: ReadonlySet<string>,
  target: string,
): string[] {
  const others = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !keep.has(entry.name))
    .map((entry) => entry.name);
  const lost: string[] = [];
  for (const name of others) {
    const path = join(directory, name);
    if (name.endsWith(TEMPORARY_SUFFIX)) rmSync(path, { force: true });
    else {
      moveInto(path, target);
      lost.push(name);
    }
  }
  return lost;
}

/** Moves a file or a directory into another directory, under a name that is free there. */
export function moveInto(path: string, directory: string): string {
  mkdirSync(directory, { recursive: true });
  const name = basename(path);
  let target = join(directory, name);
  for (let i = 1; existsSync(target); i++) target = join(directory, `${name}.${i}`);
  renameSync(path, target);
  syncDirectory(directory);
  return target;
}

/** What a failed write is to the caller. */
export function writeFailure(path: string, error: unknown): RowanError {
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return failure('DISK_FULL', { form: 'store', path }, { file: path });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return failure('INTERNAL', `cannot write "${path}": ${reason}`, { file: path });
}

/** The code of a failure of the system, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error
    ? String(error.code)
    : undefined;
}

/** Reads parts of a file; what is missing or cut off is a DATA_ERROR that names the file. */
export class FileSource {
  readonly path: string;
  readonly sizeBytes: number;
  /** when its content was last written, by the clock of the file system */
  readonly modifiedMs: number;
  readonly #file: number;

  constructor(path: string) {
    this.path = path;
    try {
      this.#file = openSync(path, 'r');
      const { size, mtimeMs } = fstatSync(this.#file);
      this.sizeBytes = size;
      this.modifiedMs = mtimeMs;
    } catch (error) {
      throw damaged(path, errorCode(error) === 'ENOENT' ? 'it is missing' : String(error));
    }
  }

  /** Fills `target` from `position` on. */
  read(target: Uint8Array, position: number): void {
    for (let filled = 0; filled < target.length; ) {
      const count = readSync(this.#file, target, filled, target.length - filled, position + filled);
      if (count === 0) throw damaged(this.path, `it ends at byte ${position + filled}`);
      filled += count;
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** DATA_ERROR for a dataset file that cannot be read. */
export function damaged(path: string, reason: string): RowanError {
  return failure('DATA_ERROR', `dataset file "${basename(path)}" cannot be read: ${reason}`, {
    file: path,
  });
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // The first failure is the one to report.
  }
}
