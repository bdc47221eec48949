// Files across threads: what is limited, and what the main thread keeps: mem:// files, credentials.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectBytes } from '../../file/byte-stream.ts';
import type { Credential, CredentialSource, ResourceType } from '../../file/credential.ts';
import type { FileSystem } from '../../file/file-system.ts';
import type { LocalAccessOptions } from '../../file/local-access.ts';
import type { MemoryFile, MemoryStore } from '../../file/memory-scheme.ts';
import type { RemoteCacheOptions } from '../../file/remote-cache.ts';
import { callerRole, requireReadableUrl } from '../route/caller-role.ts';
import type { HostHandler, HostRequest } from './host-call.ts';
import type { TaskContext } from './task-context.ts';

/** Which files and addresses may be reached (absent: any), and where copies of remote ones are kept. */
export interface FileLimits extends LocalAccessOptions {
  readonly allowPrivateUrls?: boolean;
  readonly cache?: RemoteCacheOptions;
}

/** Where queries put what memory has no room for. */
export function scratchDirectory({ dataDirectory }: FileLimits): string {
  return dataDirectory ?? join(tmpdir(), 'rowan');
}

/** The main thread's answers about files. */
export function fileHostCalls(
  files: FileSystem,
  memory: MemoryStore,
  credentials: CredentialSource,
): Readonly<Record<string, HostHandler>> {
  const handlers: {
    [Kind in 'credential' | 'fetch' | 'memory-file' | 'memory-file-names' | 'memory-file-set']: (
      request: Extract<HostRequest, { kind: Kind }>,
    ) => Promise<unknown>;
  } = {
    credential: async ({ type, url }) => credentials.find(type, url),
    async fetch({ url }) {
      requireReadableUrl(url, callerRole());
      try {
        const file = await files.open(url, { failOnStall: true });
        return { content: await collectBytes(file.stream()), lastModified: file.lastModified };
      } catch (thrown) {
        return { error: thrown instanceof Error ? thrown.message : String(thrown) };
      }
    },
    'memory-file': async ({ get }) => memory.get(get),
    'memory-file-names': async () => [...(await memory.names())],
    async 'memory-file-set'({ name, file }) {
      await memory.set(name, file);
    },
  };
  return handlers as unknown as Readonly<Record<string, HostHandler>>;
}

/** The credentials as a worker asks for them. */
export class HostCredentials implements CredentialSource {
  readonly #scope: TaskContext;

  constructor(scope: TaskContext) {
    this.#scope = scope;
  }

  find(type: ResourceType, url: string): Credential | undefined {
    return this.#scope.call({ kind: 'credential', type, url });
  }
}

/** The mem:// files as a worker reaches them. */
export class HostMemoryStore implements MemoryStore {
  readonly #scope: TaskContext;

  constructor(scope: TaskContext) {
    this.#scope = scope;
  }

  get(name: string): MemoryFile | undefined {
    return this.#scope.call({ kind: 'memory-file', get: name });
  }

  set(name: string, file: MemoryFile): void {
    this.#scope.call({ kind: 'memory-file-set', name, file });
  }

  names(): Iterable<string> {
    return this.#scope.call({ kind: 'memory-file-names' });
  }
}
