// Copies of remote files on disk. Each use asks the origin whether the copy still holds, so a copy is
// only handed to who may read the original; several processes may share a directory.
import { createHash, randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteStream } from './byte-stream.ts';

const READ_SIZE = 1 << 20;
const MAGIC = Buffer.from('rowncch1');
const TRAILER_SIZE_MAX = 65_536;
const COPY_SUFFIX = '.copy';
const DRAFT_SUFFIX = '.part';
/** A draft that was not written to for so long was left by a process that ended. */
const DRAFT_AGE_MS_MAX = 3_600_000;

export interface RemoteCacheOptions {
  readonly directory: string;
  /** the least recently used copies go first */
  readonly sizeBytesMax: number;
}

/** What the origin said of a file when it was copied. */
export interface CopyFacts {
  readonly etag?: string;
  /** as the header of the same name has it */
  readonly lastModified?: string;
  /** the encoding in which the content was sent, and is kept */
  readonly contentEncoding?: string;
}

/** Written behind the content, so that a copy is one file and appears whole or not at all. */
interface Trailer {
  /** Of the address, which may hold secrets and is not written. */
  readonly keyHash: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly facts: CopyFacts;
}

/** A directory of copies, of which the least used go when they are too large together. */
export class RemoteCache {
  readonly #directory: string;
  readonly #sizeBytesMax: number;

  constructor({ directory, sizeBytesMax }: RemoteCacheOptions) {
    this.#directory = directory;
    this.#sizeBytesMax = sizeBytesMax;
  }

  /** The copy of an address; whether its content is intact is not looked at yet. */
  async find(key: string): Promise<RemoteCopy | undefined> {
    const keyHash = sha256(key);
    const path = this.#path(keyHash);
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const trailer = await readTrailer(file);
      if (trailer?.keyHash === keyHash) return new RemoteCopy(path, trailer);
    } catch {
      // What cannot be read is no copy.
    } finally {
      await file.close();
    }
    await rm(path, { force: true }).catch(() => undefined);
    return undefined;
  }

  /**
   * Hands on a body, and keeps it once it was read to its end. A cache that cannot be written to
   * is no reason to fail.
   */
  async *keep(key: string, facts: CopyFacts, body: ByteStream): AsyncIterable<Uint8Array> {
    let draft = await CopyDraft.create(this.#directory);
    try {
      for await (const part of body) {
        const fits =
          draft !== undefined &&
          draft.sizeBytes + part.length <= this.#sizeBytesMax &&
          (await draft.write(part));
        if (!fits) {
          await draft?.discard();
          draft = undefined;
        }
        yield part;
      }
      const keyHash = sha256(key);
      if (await draft?.finish(this.#path(keyHash), keyHash, facts)) await this.#trim();
      draft = undefined;
    } finally {
      await draft?.discard();
    }
  }

  /** Removes what was used longest ago until the rest fits, and drafts of processes that ended. */
  async #trim(): Promise<void> {
    const copies: { path: string; sizeBytes: number; usedAt: number }[] = [];
    const now = Date.now();
    for (const name of await readdir(this.#directory).catch(() => [])) {
      const path = join(this.#directory, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) continue;
      if (name.endsWith(COPY_SUFFIX)) {
        copies.push({ path, sizeBytes: found.size, usedAt: found.mtimeMs });
      } else if (name.endsWith(DRAFT_SUFFIX) && now - found.mtimeMs > DRAFT_AGE_MS_MAX) {
        await rm(path, { force: true }).catch(() => undefined);
      }
    }
    let total = copies.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const { path, sizeBytes } of copies.sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= this.#sizeBytesMax) return;
      await rm(path, { force: true }).catch(() => undefined);
      total -= sizeBytes;
    }
  }

  #path(keyHash: string): string {
    return join(this.#directory, keyHash + COPY_SUFFIX);
  }
}

/** A copy on disk and what its origin said of it. */
export class RemoteCopy {
  readonly facts: CopyFacts;
  readonly sizeBytes: number;
  readonly #path: string;
  readonly #trailer: Trailer;

  constructor(path: string, trailer: Trailer) {
    this.facts = trailer.facts;
    this.sizeBytes = trailer.sizeBytes;
    this.#path = path;
    this.#trailer = trailer;
  }

  /** Whether the content is what was kept; if so this counts as a use, else the copy is removed. */
  async checkAndTouch(): Promise<boolean> {
    const hash = createHash('sha256');
    const content = await this.read();
    try {
      if (content !== undefined) for await (const part of content) hash.update(part);
    } catch {
      // Found out below.
    }
    if (content === undefined || hash.digest('hex') !== this.#trailer.contentHash) {
      await rm(this.#path, { force: true }).catch(() => undefined);
      return false;
    }
    const now = new Date();
    await utimes(this.#path, now, now).catch(() => undefined);
    return true;
  }

  /** The content; undefined when the copy has been removed or replaced meanwhile. */
  async read(): Promise<ByteStream | undefined> {
    const file = await open(this.#path, 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    const trailer = await readTrailer(file).catch(() => undefined);
    if (trailer?.contentHash === this.#trailer.contentHash) return readCopy(file, trailer);
    await file.close();
    return undefined;
  }
}

async function* readCopy(file: FileHandle, { sizeBytes }: Trailer): AsyncIterable<Uint8Array> {
  try {
    for (let position = 0; position < sizeBytes; ) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_SIZE, sizeBytes - position));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) throw new Error('the copy ends early');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** A copy while it is made, under a name of its own. */
class CopyDraft {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  sizeBytes = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  static async create(directory: string): Promise<CopyDraft | undefined> {
    const path = join(directory, randomBytes(8).toString('hex') + DRAFT_SUFFIX);
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return new CopyDraft(path, await open(path, 'wx', 0o600));
    } catch {
      return undefined;
    }
  }

  /** @returns whether it worked */
  async write(bytes: Uint8Array): Promise<boolean> {
    this.#hash.update(bytes);
    this.sizeBytes += bytes.length;
    return this.#append(bytes);
  }

  /** @returns whether the copy is in its place */
  async finish(path: string, keyHash: string, facts: CopyFacts): Promise<boolean> {
    const trailer: Trailer = {
      keyHash,
      sizeBytes: this.sizeBytes,
      contentHash: this.#hash.digest('hex'),
      facts,
    };
    const text = Buffer.from(JSON.stringify(trailer));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(text.length);
    if (await this.#append(Buffer.concat([text, size, MAGIC]))) {
      try {
        await this.#file.close();
        await rename(this.#path, path);
        return true;
      } catch {
        // As below.
      }
    }
    await this.discard();
    return false;
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(this.#path, { force: true }).catch(() => undefined);
  }

  async #append(bytes: Uint8Array): Promise<boolean> {
    try {
      for (let offset = 0; offset < bytes.length; ) {
        offset += (await this.#file.write(bytes, offset)).bytesWritten;
      }
      return true;
    } catch {
      return false;
    }
  }
}

/** @returns undefined when the file does not end as a copy does */
async function readTrailer(file: FileHandle): Promise<Trailer | undefined> {
  const { size } = await file.stat();
  const fixedSize = 4 + MAGIC.length;
  const tail = Buffer.alloc(Math.min(size, TRAILER_SIZE_MAX));
  const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
  if (bytesRead !== tail.length || tail.length < fixedSize) return undefined;
  if (!tail.subarray(-MAGIC.length).equals(MAGIC)) return undefined;
  const textSize = tail.readUInt32LE(tail.length - fixedSize);
  if (textSize + fixedSize > tail.length) return undefined;
  const text = tail.toString('utf8', tail.length - fixedSize - textSize, tail.length - fixedSize);
  const trailer = JSON.parse(text) as Trailer;
  return trailer.sizeBytes + textSize + fixedSize === size ? trailer : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
