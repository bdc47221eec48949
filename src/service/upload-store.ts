// Files that users send: written beside their place, synced, then renamed; all together within a quota.
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkUploadName, UPLOAD_FOLDER, type Upload, uploadsIn } from '../file/upload-scheme.ts';
import { OPEN_OPTIONS } from '../schema/server-options.ts';
import { failure, RowanError } from '../util/error.ts';

export interface ReceivedUpload {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly url: string;
}

const PART_SUFFIX = '.part';

export class UploadStore {
  readonly #directory: string | undefined;
  readonly #quotaBytes: number;
  /** bytes of uploads that are still arriving, by their unfinished file */
  readonly #arriving = new Map<string, number>();

  constructor(
    dataDirectory: string | undefined,
    quotaBytes = OPEN_OPTIONS.uploadQuotaBytes.default,
  ) {
    this.#directory = dataDirectory === undefined ? undefined : join(dataDirectory, UPLOAD_FOLDER);
    this.#quotaBytes = quotaBytes;
  }

  /** Where the uploads are. @throws INVALID_PARAMETER when nothing is kept */
  get directory(): string {
    if (this.#directory !== undefined) return this.#directory;
    throw failure(
      'INVALID_PARAMETER',
      'a service without a data directory keeps no uploads; start it with --data-dir',
    );
  }

  list(): Promise<Upload[]> {
    return uploadsIn(this.directory);
  }

  /** @throws BODY_TOO_LARGE over the quota, DISK_FULL; then nothing is kept */
  async receive(
    name: string,
    content: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly upload: ReceivedUpload; readonly isNew: boolean }> {
    checkUploadName(name);
    const { directory } = this;
    await mkdir(directory, { recursive: true });
    const path = join(directory, name);
    const isNew = (await stat(path).catch(() => undefined)) === undefined;
    const part = join(directory, `.${name}.${randomBytes(6).toString('hex')}${PART_SUFFIX}`);
    const others = (await this.list()).filter((one) => one.name !== name);
    const kept = others.reduce((sum, one) => sum + one.sizeBytes, 0);
    const hash = createHash('sha256');
    let size = 0;
    try {
      const file = await open(part, 'wx');
      try {
        for await (const bytes of content) {
          size += bytes.length;
          this.#arriving.set(part, size);
          this.#checkQuota(kept);
          hash.update(bytes);
          await file.writeFile(bytes);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(part, path);
    } catch (thrown) {
      await rm(part, { force: true });
      throw uploadFailure(thrown, name);
    } finally {
      this.#arriving.delete(part);
    }
    await syncDirectory(directory);
    const sha256 = hash.digest('hex');
    return { upload: { name, bytes: size, sha256, url: `upload://${name}` }, isNew };
  }

  /** @throws ENTITY_NOT_FOUND */
  async remove(name: string): Promise<void> {
    checkUploadName(name);
    try {
      await rm(join(this.directory, name));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') throw uploadMissing(name);
      throw thrown;
    }
    await syncDirectory(this.directory);
  }

  /** What a crash has left unfinished. */
  async removeUnfinished(): Promise<void> {
    if (this.#directory === undefined) return;
    for (const name of await readdir(this.#directory).catch(() => [])) {
      if (name.startsWith('.') && name.endsWith(PART_SUFFIX)) {
        await rm(join(this.#directory, name), { force: true });
      }
    }
  }

  #checkQuota(keptBytes: number): void {
    let sum = keptBytes;
    for (const size of this.#arriving.values()) sum += size;
    if (sum <= this.#quotaBytes) return;
    throw failure(
      'BODY_TOO_LARGE',
      { form: 'uploads', bytes: this.#quotaBytes },
      { quotaBytes: this.#quotaBytes },
    );
  }
}

export function uploadMissing(name: string): RowanError {
  return failure('ENTITY_NOT_FOUND', { form: 'upload', name }, { name });
}

function uploadFailure(thrown: unknown, name: string): unknown {
  const { code } = thrown as NodeJS.ErrnoException;
  if (thrown instanceof RowanError || (code !== 'ENOSPC' && code !== 'EDQUOT')) return thrown;
  return failure('DISK_FULL', { form: 'upload', name }, { name });
}

/** Makes a change of names durable. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}
