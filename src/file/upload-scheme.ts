// upload://name: files that users have sent, in the folder `uploads` of the data directory.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { failure } from '../util/error.ts';
import type { FileFacts, Listing, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';
import { fileUrlOf, parseFileUrl } from './url.ts';

export const UPLOAD_FOLDER = 'uploads';

const NAME = /^(?!\.)[A-Za-z0-9._-]{1,128}$/;

/** @throws INVALID_URL */
export function checkUploadName(name: string): void {
  if (NAME.test(name)) return;
  throw failure(
    'INVALID_URL',
    `no name of an upload: ${JSON.stringify(name)}; names have 1 to 128 of A-Z a-z 0-9 . _ - and do not begin with a dot`,
    { name },
  );
}

/** Files that users have sent. */
export class UploadScheme implements Scheme {
  readonly name = 'upload';
  readonly #dataDirectory: string | undefined;
  readonly #local: Scheme;

  constructor(dataDirectory: string | undefined, local: Scheme) {
    this.#dataDirectory = dataDirectory;
    this.#local = local;
  }

  async open(url: FileUrl): Promise<SourceFile> {
    checkUploadName(url.rest);
    const path = join(this.#directory(url), url.rest);
    if ((await stat(path).catch(() => undefined)) === undefined) {
      throw failure(
        'FILE_NOT_FOUND',
        { url: url.text, reason: 'No such file or directory' },
        {
          url: url.text,
        },
      );
    }
    const file = await this.#local.open(parseFileUrl(fileUrlOf(path)), {});
    return { ...file, url: url.text, stream: () => file.stream() };
  }

  async list(url: FileUrl): Promise<Listing> {
    const facts = new Map<string, FileFacts>();
    for (const { name, sizeBytes, lastModified } of await uploadsIn(this.#directory(url))) {
      facts.set(`upload://${name}`, { sizeBytes, lastModified });
    }
    return { files: [...facts.keys()], dirs: [], facts };
  }

  async *candidates(pattern: FileUrl): AsyncIterable<string> {
    for (const { name } of await uploadsIn(this.#directory(pattern))) yield `upload://${name}`;
  }

  #directory(url: FileUrl): string {
    if (this.#dataDirectory !== undefined) return join(this.#dataDirectory, UPLOAD_FOLDER);
    throw failure('INVALID_URL', `${url.text}: a service without a data directory has no uploads`, {
      url: url.text,
    });
  }
}

export interface Upload {
  readonly name: string;
  readonly sizeBytes: number;
  /** seconds since the epoch */
  readonly lastModified: number;
}

/** The uploads that are whole, by name. */
export async function uploadsIn(directory: string): Promise<Upload[]> {
  const names = await readdir(directory).catch(() => []);
  const uploads: Upload[] = [];
  for (const name of names.filter((one) => NAME.test(one)).sort()) {
    const found = await stat(join(directory, name)).catch(() => undefined);
    if (found?.isFile() !== true) continue;
    uploads.push({ name, sizeBytes: found.size, lastModified: found.mtimeMs / 1000 });
  }
  return uploads;
}
