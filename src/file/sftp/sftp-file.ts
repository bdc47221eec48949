// Files of an SFTP server: content read and written with several requests on the
// way at a time, since each takes a round trip.
import { randomBytes } from 'node:crypto';
import { failure, RowanError } from '../../util/error.ts';
import type { FileSink } from '../scheme.ts';
import type { FileUrl } from '../url.ts';
import type { SftpLease } from './sftp-session.ts';

/** What every server takes in one request. */
const REQUEST_SIZE = 32_768;
const REQUEST_COUNT_MAX = 32;

export const SFTP_STATUS = { noSuchFile: 2, permissionDenied: 3, unsupported: 8 } as const;

/** The bytes from `start` up to `end` (exclusive); the connection is given back at the end. */
export async function* readSftpFile(
  lease: SftpLease,
  path: string,
  url: FileUrl,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncIterable<Uint8Array> {
  try {
    const handle = await lease.call<Buffer>((sftp, done) => sftp.open(path, 'r', done));
    const pending: Promise<Buffer>[] = [];
    try {
      for (let position = start; position < end || pending.length > 0; ) {
        while (position < end && pending.length < REQUEST_COUNT_MAX) {
          const size = Math.min(REQUEST_SIZE, end - position);
          const part = readExactly(lease, handle, position, size);
          part.catch(() => undefined); // Seen when its turn comes.
          pending.push(part);
          position += size;
        }
        const next = await pending.shift();
        if (next !== undefined) yield next;
      }
    } finally {
      await Promise.allSettled(pending);
      await lease.call((sftp, done) => sftp.close(handle, done)).catch(() => undefined);
    }
  } catch (error) {
    throw sftpFailure(error, path, url);
  } finally {
    lease.release();
  }
}

async function readExactly(
  lease: SftpLease,
  handle: Buffer,
  position: number,
  size: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size);
  for (let filled = 0; filled < size; ) {
    const count = await lease.call<number>((sftp, done) =>
      sftp.read(handle, buffer, filled, size - filled, position + filled, done),
    );
    if (count === 0) throw new Error('the file ends early');
    filled += count;
  }
  return buffer;
}

/** Written beside its target, then renamed: readers see the old file or the new one. */
export class SftpUpload implements FileSink {
  readonly #lease: SftpLease;
  readonly #path: string;
  readonly #draftPath: string;
  readonly #url: FileUrl;
  readonly #handle: Buffer;
  readonly #pending = new Set<Promise<void>>();
  #position = 0;
  #error: unknown;
  #isEnded = false;

  private constructor(
    lease: SftpLease,
    target: { readonly path: string; readonly draftPath: string; readonly url: FileUrl },
    handle: Buffer,
  ) {
    this.#lease = lease;
    this.#path = target.path;
    this.#draftPath = target.draftPath;
    this.#url = target.url;
    this.#handle = handle;
  }

  /** Takes over the connection. */
  static async create(lease: SftpLease, path: string, url: FileUrl): Promise<SftpUpload> {
    const slash = path.lastIndexOf('/');
    const draftName = `.${path.slice(slash + 1)}.${randomBytes(6).toString('hex')}.part`;
    const draftPath = `${path.slice(0, slash + 1)}${draftName}`;
    try {
      const existing = await lease
        .call<{ mode: number }>((sftp, done) => sftp.stat(path, done))
        .catch(() => undefined);
      if (existing !== undefined && isDirectoryMode(existing.mode)) {
        throw failure('INVALID_URL', `cannot write ${url.text}: ${path} is a directory`, {
          url: url.text,
        });
      }
      const openDraft = () => lease.call<Buffer>((sftp, done) => sftp.open(draftPath, 'wx', done));
      const handle = await openDraft().catch(async (error: unknown) => {
        if (statusOf(error) !== SFTP_STATUS.noSuchFile) throw error;
        await makeDirectory(lease, path.slice(0, slash));
        return openDraft();
      });
      return new SftpUpload(lease, { path, draftPath, url }, handle);
    } catch (error) {
      lease.release();
      throw sftpFailure(error, path, url);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    // The caller may use its buffer again while requests are on their way.
    const copy = Buffer.from(bytes);
    for (let offset = 0; offset < copy.length; offset += REQUEST_SIZE) {
      while (this.#pending.size >= REQUEST_COUNT_MAX) await Promise.race(this.#pending);
      this.#throwError();
      this.#send(copy.subarray(offset, offset + REQUEST_SIZE));
    }
  }

  async commit(): Promise<void> {
    const lease = this.#lease;
    try {
      await Promise.all(this.#pending);
      this.#throwError();
      // Servers that cannot do that keep files as they keep all others.
      await lease
        .call((sftp, done) => sftp.ext_openssh_fsync(this.#handle, done))
        .catch(() => undefined);
      await lease.call((sftp, done) => sftp.close(this.#handle, done));
      await replace(lease, this.#draftPath, this.#path);
    } catch (error) {
      await this.abort();
      throw sftpFailure(error, this.#path, this.#url);
    }
    this.#end();
  }

  async abort(): Promise<void> {
    if (this.#isEnded) return;
    const lease = this.#lease;
    await Promise.all(this.#pending);
    await lease.call((sftp, done) => sftp.close(this.#handle, done)).catch(() => undefined);
    await lease.call((sftp, done) => sftp.unlink(this.#draftPath, done)).catch(() => undefined);
    this.#end();
  }

  #send(part: Buffer): void {
    const position = this.#position;
    this.#position += part.length;
    const sent = this.#lease
      .call((sftp, done) => sftp.write(this.#handle, part, 0, part.length, position, done))
      .catch((error: unknown) => {
        this.#error ??= error;
      })
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  #throwError(): void {
    if (this.#error !== undefined) throw sftpFailure(this.#error, this.#path, this.#url);
  }

  #end(): void {
    this.#isEnded = true;
    this.#lease.release();
  }
}

/**
 * Renames over what is there. The protocol's own rename refuses to; with servers that know no other
 * the old file is moved aside first, and back when the new one cannot take its place.
 */
async function replace(lease: SftpLease, draftPath: string, path: string): Promise<void> {
  try {
    await lease.call((sftp, done) => sftp.ext_openssh_rename(draftPath, path, done));
    return;
  } catch (error) {
    const isKnown = statusOf(error) !== SFTP_STATUS.unsupported && statusOf(error) !== undefined;
    if (isKnown) throw error;
  }
  const rename = (from: string, to: string) =>
    lease.call((sftp, done) => sftp.rename(from, to, done));
  const asidePath = draftPath.replace(/\.part$/, '.old');
  const isMoved = await rename(path, asidePath).then(
    () => true,
    () => false,
  );
  try {
    await rename(draftPath, path);
  } catch (error) {
    if (isMoved) await rename(asidePath, path);
    throw error;
  }
  if (isMoved)
    await lease.call((sftp, done) => sftp.unlink(asidePath, done)).catch(() => undefined);
}

async function makeDirectory(lease: SftpLease, path: string): Promise<void> {
  const make = () => lease.call((sftp, done) => sftp.mkdir(path, done));
  if (path === '') return;
  try {
    await make();
  } catch (error) {
    if (statusOf(error) === SFTP_STATUS.noSuchFile) {
      await makeDirectory(lease, path.slice(0, path.lastIndexOf('/')));
      await make();
      return;
    }
    // Another client may have made it meanwhile.
    const found = await lease.call<{ mode: number }>((sftp, done) => sftp.stat(path, done));
    if (!isDirectoryMode(found.mode)) throw error;
  }
}

/** Whether a mode, as POSIX has it, is that of a directory. */
export function isDirectoryMode(mode: number): boolean {
  return (mode & 0o170000) === 0o040000;
}

function statusOf(error: unknown): number | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

/** A fault of the server as the caller should see it. */
export function sftpFailure(error: unknown, path: string, url: FileUrl): RowanError {
  if (error instanceof RowanError) return error;
  const status = statusOf(error);
  const details = { url: url.text, path };
  if (status === SFTP_STATUS.noSuchFile) {
    return failure(
      'FILE_NOT_FOUND',
      { url: url.text, path, reason: 'No such file or directory' },
      details,
    );
  }
  const reason =
    status === SFTP_STATUS.permissionDenied ? 'Permission denied' : (error as Error).message;
  return failure('INVALID_URL', `cannot access ${url.text}: ${path}: ${reason}`, details);
}
