// What slow clients have not taken yet, on disk: workers go on, and memory stays bounded.
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failure } from '../../util/error.ts';

const READ_SIZE = 256 * 1024;

export class ReplySpool {
  readonly #sizeBytesMax: number;
  /** files of replies that are behind, the oldest first */
  readonly #files = new Set<SpoolFile>();
  /** made with the first file; removed with the service */
  #directory: string | undefined;
  #sizeBytes = 0;
  #fileCount = 0;
  /** Told of each reply that ends broken for the lack of room. */
  onLoss: () => void = () => {};

  /** @param sizeBytesMax of all replies together */
  constructor(sizeBytesMax: number) {
    this.#sizeBytesMax = sizeBytesMax;
  }

  /** bytes on disk that nobody has taken */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** @param onLoss told when the file has to make room for others */
  async createFile(onLoss: (error: unknown) => void): Promise<SpoolFile> {
    this.#directory ??= mkdtempSync(join(tmpdir(), 'rowan-replies-'));
    const path = join(this.#directory, String(this.#fileCount++));
    const handle = await open(path, 'wx+', 0o600);
    // Without a name it is gone with the process, however that ends.
    if (process.platform !== 'win32') await rm(path);
    const file = new SpoolFile(handle, {
      grow: (bytes) => this.#grow(bytes),
      closed: (size) => {
        this.#files.delete(file);
        this.#sizeBytes -= size;
      },
      onLoss: (error) => {
        this.onLoss();
        onLoss(error);
      },
    });
    this.#files.add(file);
    return file;
  }

  /** The oldest replies end broken when there is too much. */
  #grow(bytes: number): void {
    this.#sizeBytes += bytes;
    for (const file of this.#files) {
      if (this.#sizeBytes <= this.#sizeBytesMax) return;
      file.lose();
    }
  }

  close(): void {
    for (const file of this.#files) file.lose();
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }
}

interface SpoolHost {
  grow(bytes: number): void;
  closed(sizeBytes: number): void;
  onLoss(error: unknown): void;
}

/** Bytes in order: written at the end, read from the beginning. */
export class SpoolFile {
  readonly #handle: FileHandle;
  readonly #host: SpoolHost;
  #written = 0;
  #read = 0;
  /** operations follow one another */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(handle: FileHandle, host: SpoolHost) {
    this.#handle = handle;
    this.#host = host;
  }

  get isEmpty(): boolean {
    return this.#read === this.#written;
  }

  /** Resolves when the bytes are in the file. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      const position = this.#written;
      for (let offset = 0; offset < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(
          bytes,
          offset,
          bytes.length - offset,
          position + offset,
        );
        offset += bytesWritten;
      }
      this.#written += bytes.length;
      this.#host.grow(bytes.length);
    });
  }

  read(): Promise<Uint8Array> {
    return this.#next(async () => {
      const size = Math.min(READ_SIZE, this.#written - this.#read);
      const bytes = new Uint8Array(size);
      const { bytesRead } = await this.#handle.read(bytes, 0, size, this.#read);
      this.#read += bytesRead;
      return bytes.subarray(0, bytesRead);
    });
  }

  /** What is in it is not needed, or not kept, any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#host.closed(this.#written);
    const end = () => this.#handle.close();
    this.#last = this.#last.then(end, end).catch(() => undefined);
  }

  lose(): void {
    if (this.#isClosed) return;
    this.#host.onLoss(
      failure('OVERLOADED', 'the client was too slow: what it had not taken made room for others'),
    );
    this.close();
  }

  #next<Result>(work: () => Promise<Result>): Promise<Result> {
    const guarded = () => {
      if (this.#isClosed) throw failure('CANCELLED', 'the reply is not kept any more');
      return work();
    };
    const result = this.#last.then(guarded, guarded);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
