// Files of what queries have no memory for, and copies of what is imported. They lie in the data directory,
// since that is where there is room, and are gone with their task, with its thread, or at the next start.
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { failure } from '../util/error.ts';
import { SCRATCH } from './data-directory.ts';

/** A file that several threads write to; can be posted. */
export interface ScratchPlace {
  readonly path: string;
  /** a BigInt64: bytes that are in use */
  readonly used: SharedArrayBuffer;
}

let fileCount = 0;

/** The files of this process below a directory. */
export class ScratchFolder {
  readonly #path: string;

  /** @param directory the data directory, or one for temporary files */
  constructor(directory: string) {
    this.#path = join(directory, SCRATCH);
  }

  /** @throws DISK_FULL */
  create(): ScratchFile {
    const path = this.#newPath();
    withRoom(() => {
      mkdirSync(this.#path, { recursive: true });
      closeSync(openSync(path, 'wx', 0o600));
    });
    return new ScratchFile(path);
  }

  /** A directory that the caller removes. @throws DISK_FULL */
  createDirectory(): string {
    const path = this.#newPath();
    withRoom(() => mkdirSync(path, { recursive: true, mode: 0o700 }));
    return path;
  }

  /** Removes what a thread left that ended in the middle of a task. */
  removeOf(thread: number): void {
    for (const name of listed(this.#path)) {
      if (!name.startsWith(prefixOf(thread))) continue;
      rmSync(join(this.#path, name), { recursive: true, force: true });
    }
  }

  #newPath(): string {
    return join(this.#path, `${prefixOf(threadId)}${fileCount++}`);
  }
}

function prefixOf(thread: number): string {
  return `${process.pid}-${thread}-`;
}

function listed(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** A file whose end its task decides. */
export class ScratchFile implements ScratchPlace {
  readonly path: string;
  readonly used = new SharedArrayBuffer(8);

  constructor(path: string) {
    this.path = path;
  }

  get sizeBytes(): number {
    return Number(Atomics.load(new BigInt64Array(this.used), 0));
  }

  close(): void {
    rmSync(this.path, { force: true });
  }
}

/** Writes to a file that other threads write to as well. */
export class ScratchWriter {
  readonly #used: BigInt64Array;
  readonly #file: number;

  constructor({ path, used }: ScratchPlace) {
    this.#used = new BigInt64Array(used);
    this.#file = openSync(path, 'r+');
  }

  /** @returns where in the file the bytes are @throws DISK_FULL */
  write(bytes: Uint8Array): number {
    const at = Number(Atomics.add(this.#used, 0, BigInt(bytes.length)));
    withRoom(() => {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#file, bytes, done, bytes.length - done, at + done);
      }
    });
    return at;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function withRoom(action: () => void): void {
  try {
    action();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw thrown;
    throw failure('DISK_FULL', { form: 'scratch' });
  }
}
