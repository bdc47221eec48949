// What a URL scheme offers. Each scheme is one file; file-system.ts puts them together.
import type { FileUrl } from './url.ts';

/** A file that can be read; nothing is read before `stream` is called. */
export interface SourceFile {
  readonly url: string;
  /** name whose suffix tells the compression */
  readonly name: string;
  /** as stored, compressed or not; absent when unknown */
  readonly sizeBytes?: number;
  /** seconds since the epoch */
  readonly lastModified: number;
  /** present when the stored bytes can be read at any position with node:fs */
  readonly localPath?: string;
  /** The stored bytes from the first one; may be called again. */
  stream(): AsyncIterable<Uint8Array>;
  /**
   * The stored bytes from `start` up to `end` (exclusive), which lie within `sizeBytes`; for files
   * elsewhere of which parts can be had.
   */
  range?(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** Receives the bytes of a new file. Nothing is visible before `commit` has returned. */
export interface FileSink {
  write(bytes: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/** What a listing tells of a file. */
export interface FileFacts {
  /** as stored; absent when unknown */
  readonly sizeBytes?: number;
  /** seconds since the epoch */
  readonly lastModified: number;
  /** seconds since the epoch */
  readonly lastAccessed?: number;
  readonly etag?: string;
  readonly storageClass?: string;
}

export interface Listing {
  /** URLs */
  readonly files: readonly string[];
  readonly dirs: readonly string[];
  /** by URL of a file; absent when it cannot be looked at, as the target of a broken link */
  readonly facts: ReadonlyMap<string, FileFacts>;
}

export interface ReadOptions {
  /** Gives up when less than 10 KiB/s arrive for 5 seconds (network schemes). */
  readonly failOnStall?: boolean;
}

export interface Scheme {
  readonly name: string;
  /** true: percent escapes in its URLs stand for other characters */
  readonly hasEscapes?: boolean;
  /** @throws FILE_NOT_FOUND and others, with the URL in the text */
  open(url: FileUrl, options: ReadOptions): Promise<SourceFile>;
  create?(url: FileUrl): Promise<FileSink>;
  /** One level below a directory. */
  list?(url: FileUrl): Promise<Listing>;
  /** All files that a pattern could match: those below its longest prefix without wildcards. */
  candidates?(pattern: FileUrl, prefix: string): AsyncIterable<string> | Iterable<string>;
}
