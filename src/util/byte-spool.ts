// Bytes that are read again later: a little of them in memory, the rest in a file without a name.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failure } from './error.ts';

const MEMORY_SIZE = 1 << 20;

/** Takes bytes up to its end, then gives them back as often as asked. */
export class ByteSpool {
  #buffer: Uint8Array | undefined;
  /** bytes of the buffer that are used */
  #used = 0;
  /** bytes that are in the file */
  #filed = 0;
  #file: number | undefined;
  #directory: string | undefined;

  get sizeBytes(): number {
    return this.#filed + this.#used;
  }

  append(bytes: Uint8Array): void {
    this.#buffer ??= new Uint8Array(MEMORY_SIZE);
    if (this.#used + bytes.length > MEMORY_SIZE) this.#writeOut();
    if (bytes.length > MEMORY_SIZE) this.#write(bytes);
    else {
      this.#buffer.set(bytes, this.#used);
      this.#used += bytes.length;
    }
  }

  /** Copies what lies at a position. @returns the number of bytes, fewer than asked for at the end */
  read(position: number, target: Uint8Array): number {
    const end = Math.min(position + target.length, this.sizeBytes);
    let at = position;
    while (at < Math.min(end, this.#filed)) {
      const count = Math.min(end, this.#filed) - at;
      at += readSync(this.#file as number, target, at - position, count, at);
    }
    if (at < end && this.#buffer !== undefined) {
      const part = this.#buffer.subarray(at - this.#filed, end - this.#filed);
      target.set(part, at - position);
    }
    return Math.max(0, end - position);
  }

  close(): void {
    this.#buffer = undefined;
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  #writeOut(): void {
    if (this.#buffer !== undefined && this.#used > 0) {
      const used = this.#buffer.subarray(0, this.#used);
      this.#used = 0;
      this.#write(used);
    }
  }

  #write(bytes: Uint8Array): void {
    const file = this.#open();
    try {
      for (let offset = 0; offset < bytes.length; ) {
        offset += writeSync(file, bytes, offset, bytes.length - offset, this.#filed + offset);
      }
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code !== 'ENOSPC' && code !== 'EDQUOT') throw thrown;
      throw failure('DISK_FULL', { form: 'result' });
    }
    this.#filed += bytes.length;
  }

  #open(): number {
    if (this.#file !== undefined) return this.#file;
    const directory = mkdtempSync(join(tmpdir(), 'rowan-rows-'));
    this.#directory = directory;
    this.#file = openSync(join(directory, 'rows'), 'wx+', 0o600);
    // Without a name it is gone with the process, however that ends.
    if (process.platform !== 'win32') {
      rmSync(directory, { recursive: true });
      this.#directory = undefined;
    }
    return this.#file;
  }
}
