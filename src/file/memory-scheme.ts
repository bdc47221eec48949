// mem://: files that live as long as the process.
import { failure, type RowanError } from '../util/error.ts';
import type { FileFacts, FileSink, Listing, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';

export interface MemoryFile {
  readonly bytes: Uint8Array;
  /** seconds since the epoch */
  readonly lastModified: number;
}

/** Where the files are kept: a map on the main thread, or calls to it from elsewhere. */
export interface MemoryStore {
  get(name: string): MemoryFile | undefined | Promise<MemoryFile | undefined>;
  set(name: string, file: MemoryFile): void | Promise<void>;
  names(): Iterable<string> | Promise<Iterable<string>>;
}

/** Files of `mem://` in the memory of this thread. */
export class MapMemoryStore implements MemoryStore {
  readonly #files = new Map<string, MemoryFile>();

  get(name: string): MemoryFile | undefined {
    return this.#files.get(name);
  }

  set(name: string, file: MemoryFile): void {
    this.#files.set(name, file);
  }

  names(): Iterable<string> {
    return this.#files.keys();
  }
}

/** Files that are kept in a store of bytes. */
export class MemoryScheme implements Scheme {
  readonly name = 'mem';
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  async open(url: FileUrl): Promise<SourceFile> {
    const file = await this.#store.get(url.rest);
    if (file === undefined) throw missingFile(url);
    return {
      url: url.text,
      name: url.rest,
      sizeBytes: file.bytes.length,
      lastModified: file.lastModified,
      async *stream() {
        yield file.bytes;
      },
    };
  }

  async create(url: FileUrl): Promise<FileSink> {
    const parts: Uint8Array[] = [];
    const store = this.#store;
    return {
      async write(bytes) {
        parts.push(Uint8Array.from(bytes));
      },
      async commit() {
        const bytes = new Uint8Array(Buffer.concat(parts));
        await store.set(url.rest, { bytes, lastModified: Date.now() / 1000 });
      },
      async abort() {
        parts.length = 0;
      },
    };
  }

  async list(url: FileUrl): Promise<Listing> {
    const base = url.rest.replace(/\/+$/, '');
    const prefix = base === '' ? '' : `${base}/`;
    const facts = new Map<string, FileFacts>();
    const dirs = new Set<string>();
    for (const name of [...(await this.#store.names())].sort()) {
      if (!name.startsWith(prefix)) continue;
      const slash = name.indexOf('/', prefix.length);
      if (slash !== -1) dirs.add(`mem://${name.slice(0, slash)}`);
      else {
        const file = await this.#store.get(name);
        if (file === undefined) continue;
        const { bytes, lastModified } = file;
        facts.set(`mem://${name}`, { sizeBytes: bytes.length, lastModified });
      }
    }
    if (prefix !== '' && facts.size + dirs.size === 0) throw missingFile(url);
    return { files: [...facts.keys()], dirs: [...dirs], facts };
  }
}

function missingFile(url: FileUrl): RowanError {
  return failure(
    'FILE_NOT_FOUND',
    { url: url.text, reason: 'No such file or directory' },
    {
      url: url.text,
    },
  );
}
