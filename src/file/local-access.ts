// Which local files URLs may name: not those of the service, and where roots are given those below
// them only. Links are resolved first, so that none leads around the rule.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { failure } from '../util/error.ts';

export interface LocalAccessOptions {
  /** directories that files must lie in; absent: anywhere */
  readonly fileRoots?: readonly string[] | undefined;
  /** what the service keeps: of this directory only the folders for users can be named */
  readonly dataDirectory?: string | undefined;
  /** further directories of the service, of which nothing can be named */
  readonly closedDirectories?: readonly string[] | undefined;
  /** directories that are read and never written */
  readonly readOnlyDirectories?: readonly string[] | undefined;
}

const UPLOADS = 'uploads';
/** Folders of the data directory that are for users. */
const USER_FOLDERS: ReadonlySet<string> = new Set(['files', 'models', UPLOADS]);

/** Tells whether a local path may be read or written. */
export class LocalAccess {
  readonly #options: LocalAccessOptions;

  constructor(options: LocalAccessOptions) {
    this.#options = options;
  }

  /** @param path absolute. @throws FORBIDDEN */
  async checkRead(path: string, url: string): Promise<void> {
    await this.#check(path, url);
  }

  /** @param path absolute. @throws FORBIDDEN */
  async checkWrite(path: string, url: string): Promise<void> {
    const real = await this.#check(path, url);
    const { dataDirectory, readOnlyDirectories = [] } = this.#options;
    const uploads = dataDirectory === undefined ? [] : [join(dataDirectory, UPLOADS)];
    for (const directory of [...uploads, ...readOnlyDirectories]) {
      if (!(await isBelow(real, directory))) continue;
      throw failure('FORBIDDEN', `${url} is only read`, { url });
    }
  }

  /** The entries of a directory that can be named, or lead to what can be. */
  async nameable<
    Entry extends { readonly name: string; isFile(): boolean; isDirectory(): boolean },
  >(directory: string, entries: readonly Entry[]): Promise<Entry[]> {
    const real = await realPathOfNearest(resolve(directory));
    const dataDirectory = await this.#dataDirectory();
    if (real === dataDirectory) {
      return entries.filter(({ name }) => USER_FOLDERS.has(name));
    }
    const found: Entry[] = [];
    for (const entry of entries) {
      const path = await (entry.isFile() ? undefined : realPathOfNearest(join(real, entry.name)));
      const isClosed = path !== undefined && (await this.#isOfService(path));
      // A link is followed when it is opened, not when directories are walked.
      const leadsOn = entry.isDirectory() && path === dataDirectory;
      if (!isClosed || leadsOn) found.push(entry);
    }
    return found;
  }

  async #dataDirectory(): Promise<string | undefined> {
    const { dataDirectory } = this.#options;
    return dataDirectory === undefined ? undefined : realPathOfNearest(resolve(dataDirectory));
  }

  async #check(path: string, url: string): Promise<string> {
    const real = await realPathOfNearest(path);
    if (await this.#isOfService(real)) {
      throw failure('FORBIDDEN', `${url} belongs to the service`, { url });
    }
    const { fileRoots, dataDirectory, readOnlyDirectories = [] } = this.#options;
    if (fileRoots === undefined) return real;
    const own = dataDirectory === undefined ? [] : [dataDirectory];
    for (const root of [...fileRoots, ...own, ...readOnlyDirectories]) {
      if (await isBelow(real, root)) return real;
    }
    throw failure('FORBIDDEN', `file access outside the allowed roots: ${url}`, { url });
  }

  async #isOfService(real: string): Promise<boolean> {
    const { dataDirectory, closedDirectories = [] } = this.#options;
    for (const directory of closedDirectories) if (await isBelow(real, directory)) return true;
    if (dataDirectory === undefined || !(await isBelow(real, dataDirectory))) return false;
    const own = await realPathOfNearest(resolve(dataDirectory));
    return !USER_FOLDERS.has(real.slice(own.length).split(sep).filter(Boolean)[0] ?? '');
  }
}

/** @param real an absolute path, links resolved */
async function isBelow(real: string, directory: string): Promise<boolean> {
  const root = await realPathOfNearest(resolve(directory));
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Links resolved as far as the path exists. */
async function realPathOfNearest(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return join(await realPathOfNearest(dirname(path)), basename(path));
  }
}
