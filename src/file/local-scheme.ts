// file://: two slashes are relative to the working directory, three absolute.
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { failure, RowanError } from '../util/error.ts';
import { LocalAccess, type LocalAccessOptions } from './local-access.ts';
import { makeFolders } from './make-folders.ts';
import type { FileFacts, FileSink, Listing, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';
import { decodePercent, fileUrlOf } from './url.ts';

const READ_SIZE = 1 << 20;

/** A folder whose files a library opens itself. */
export interface LocalFolder {
  /** absolute */
  readonly path: string;
  /** To be asked before a file of it is opened: links may lead out of it. @throws FORBIDDEN */
  checkRead(path: string): Promise<void>;
}

/** Local files; what is written appears when it is whole. */
export class LocalScheme implements Scheme {
  readonly name = 'file';
  readonly hasEscapes = true;
  readonly #access: LocalAccess;

  constructor(access: LocalAccessOptions = {}) {
    this.#access = new LocalAccess(access);
  }

  async open(url: FileUrl): Promise<SourceFile> {
    const path = await this.#readable(url);
    const found = await stat(path).catch((error: unknown) => {
      throw localFailure(error, path, url);
    });
    if (found.isDirectory()) {
      throw failure('INVALID_URL', `cannot read ${url.text}: ${path} is a directory`, {
        url: url.text,
      });
    }
    if (!found.isFile()) throw notRegular(path, url);
    return {
      url: url.text,
      name: path,
      sizeBytes: found.size,
      localPath: path,
      lastModified: found.mtimeMs / 1000,
      stream: () => readLocal(path, url),
    };
  }

  async create(url: FileUrl): Promise<FileSink> {
    const path = pathOf(url);
    try {
      await this.#access.checkWrite(path, url.text);
      await makeFolders(dirname(path));
      const existing = await stat(path).catch(() => undefined);
      if (existing?.isDirectory()) {
        throw failure('INVALID_URL', `cannot write ${url.text}: ${path} is a directory`, {
          url: url.text,
        });
      }
      if (existing?.isFile() === false) throw notRegular(path, url);
      return await LocalSink.create(path, url);
    } catch (error) {
      throw localFailure(error, path, url);
    }
  }

  /** The path of a file that may be written in place, its folder made. */
  async writablePath(url: FileUrl): Promise<string> {
    const path = pathOf(url);
    try {
      await this.#access.checkWrite(path, url.text);
      await makeFolders(dirname(path));
    } catch (error) {
      throw localFailure(error, path, url);
    }
    return path;
  }

  /** @throws FILE_NOT_FOUND, FORBIDDEN, INVALID_URL for what is no folder */
  async folder(url: FileUrl): Promise<LocalFolder> {
    const path = await this.#readable(url);
    const found = await stat(path).catch((error: unknown) => {
      throw localFailure(error, path, url);
    });
    if (!found.isDirectory()) {
      throw failure('INVALID_URL', `not a folder: ${url.text}`, { url: url.text, path });
    }
    return { path, checkRead: (file) => this.#access.checkRead(file, url.text) };
  }

  async list(url: FileUrl): Promise<Listing> {
    const path = await this.#readable(url);
    const entries = await readdir(path).catch((error: unknown) => {
      throw localFailure(error, path, url);
    });
    const files: string[] = [];
    const dirs: string[] = [];
    const facts = new Map<string, FileFacts>();
    const base = `file://${url.rest.replace(/\/+$/, '')}`;
    for (const name of entries.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
      const child = `${base}/${name.replaceAll('%', '%25')}`;
      const found = await stat(join(path, name)).catch(() => undefined);
      if (found?.isDirectory()) {
        dirs.push(child);
        continue;
      }
      files.push(child);
      if (found === undefined) continue;
      facts.set(child, {
        ...(found.isFile() ? { sizeBytes: found.size } : {}),
        lastModified: found.mtimeMs / 1000,
        lastAccessed: found.atimeMs / 1000,
      });
    }
    return { files, dirs, facts };
  }

  async *candidates(_pattern: FileUrl, prefix: string): AsyncIterable<string> {
    const path = prefix.slice('file://'.length);
    await this.#access.checkRead(resolve(path), prefix);
    yield* this.#walk(path);
  }

  async *#walk(directory: string): AsyncIterable<string> {
    const place = directory === '' ? '.' : directory;
    const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
    for (const entry of await this.#access.nameable(place, entries)) {
      const path = directory === '' ? entry.name : join(directory, entry.name);
      if (entry.isDirectory()) yield* this.#walk(path);
      else yield fileUrlOf(path);
    }
  }

  async #readable(url: FileUrl): Promise<string> {
    const path = pathOf(url);
    try {
      await this.#access.checkRead(path, url.text);
    } catch (error) {
      throw localFailure(error, path, url);
    }
    return path;
  }
}

function pathOf(url: FileUrl): string {
  const decoded = decodePercent(url.rest);
  if (decoded === '' || decoded.includes('\0')) {
    throw failure('INVALID_URL', `not a path of a file: ${url.text}`, { url: url.text });
  }
  return resolve(decoded);
}

/** A pipe or a device may never end, and opening one may wait for ever. */
function notRegular(path: string, url: FileUrl): RowanError {
  return failure('INVALID_URL', `not a regular file: ${url.text}`, { url: url.text, path });
}

async function* readLocal(path: string, url: FileUrl): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: READ_SIZE });
  } catch (error) {
    throw localFailure(error, path, url);
  }
}

/** Written beside its target, synced, then renamed: readers see the old file or the new one. */
class LocalSink implements FileSink {
  readonly #path: string;
  readonly #draftPath: string;
  readonly #url: FileUrl;
  readonly #handle: Awaited<ReturnType<typeof open>>;

  private constructor(
    path: string,
    draftPath: string,
    url: FileUrl,
    handle: Awaited<ReturnType<typeof open>>,
  ) {
    this.#path = path;
    this.#draftPath = draftPath;
    this.#url = url;
    this.#handle = handle;
  }

  static async create(path: string, url: FileUrl): Promise<LocalSink> {
    const draftPath = join(
      dirname(path),
      `.${basename(path)}.${randomBytes(6).toString('hex')}.part`,
    );
    return new LocalSink(path, draftPath, url, await open(draftPath, 'wx'));
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let offset = 0; offset < bytes.length; ) {
        offset += (await this.#handle.write(bytes, offset)).bytesWritten;
      }
    } catch (error) {
      throw localFailure(error, this.#path, this.#url);
    }
  }

  async commit(): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.#draftPath, this.#path);
      await syncDirectory(dirname(this.#path));
    } catch (error) {
      await this.abort();
      throw localFailure(error, this.#path, this.#url);
    }
  }

  async abort(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.#draftPath, { force: true });
  }
}

/** Makes a rename durable; some systems do not let directories be opened. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EISDIR: 'Is a directory',
  EROFS: 'Read-only file system',
};

/** A fault of the file system as the caller should see it. */
export function localFailure(error: unknown, path: string, url: FileUrl): unknown {
  if (error instanceof RowanError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const details = { url: url.text, path };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return failure('DISK_FULL', { url: url.text }, details);
  }
  const reason = REASONS[code] ?? (error as Error).message;
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? failure('FILE_NOT_FOUND', { url: url.text, path, reason }, details)
    : failure('INVALID_URL', `cannot access ${url.text}: ${path}: ${reason}`, details);
}
