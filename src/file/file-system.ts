// Every URL that Rowan reads or writes goes through here: schemes, compression, patterns.
import { PassThrough } from 'node:stream';
import { failure } from '../util/error.ts';
import { AddressGuard } from './address-guard.ts';
import { ArchiveScheme, isZipName, onlyMemberOfZip } from './archive-scheme.ts';
import type { ByteStream } from './byte-stream.ts';
import { interruptible, peekBytes, type WaitFor } from './byte-stream.ts';
import { codecByMagic, codecBySuffix, compressed, decompressed } from './compression.ts';
import { type CredentialSource, NO_CREDENTIALS } from './credential.ts';
import { isPattern, patternMatcher, patternPrefix } from './glob.ts';
import { HttpClient } from './http-client.ts';
import { HttpScheme } from './http-scheme.ts';
import { LazyScheme } from './lazy-scheme.ts';
import type { LocalAccessOptions } from './local-access.ts';
import { type LocalFolder, LocalScheme } from './local-scheme.ts';
import type { MemoryStore } from './memory-scheme.ts';
import { MapMemoryStore, MemoryScheme } from './memory-scheme.ts';
import { RemoteCache, type RemoteCacheOptions } from './remote-cache.ts';
import type { FileSink, Listing, ReadOptions, Scheme, SourceFile } from './scheme.ts';
import { UploadScheme } from './upload-scheme.ts';
import type { FileUrl } from './url.ts';
import { decodePercent, parseFileUrl } from './url.ts';

export interface FileSystemOptions extends LocalAccessOptions {
  /** false: http(s) to loopback and link-local addresses is refused */
  readonly allowPrivateUrls?: boolean;
  /** where copies of remote files are kept; absent: they are not */
  readonly cache?: RemoteCacheOptions;
  readonly memory?: MemoryStore;
  /** Waits for what a file gives; throws when the reader is cancelled. */
  readonly waitFor?: WaitFor;
  /** who this service is to others */
  readonly credentials?: CredentialSource;
  /** variables that name services, AWS_ENDPOINT_URL for instance; default: those of the process */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A file opened for reading; `stream` gives its content, decompressed. */
export interface OpenFile {
  readonly url: string;
  readonly lastModified: number;
  /** bytes as stored; absent when unknown */
  readonly storedSizeBytes?: number;
  /** present when the content lies uncompressed in a local file, for reads at any position */
  readonly plainPath?: string;
  stream(): ByteStream;
}

/** Opens, lists, writes and removes files by their URLs, whatever the scheme. */
export class FileSystem {
  readonly #schemes = new Map<string, Scheme>();
  readonly #waitFor: WaitFor;
  readonly #local: LocalScheme;

  constructor(options: FileSystemOptions = {}) {
    this.#waitFor = options.waitFor ?? ((promise) => promise);
    const guard = new AddressGuard(options.allowPrivateUrls ?? true);
    const credentials = options.credentials ?? NO_CREDENTIALS;
    const cache = options.cache === undefined ? undefined : new RemoteCache(options.cache);
    const environment = options.environment ?? process.env;
    const local = new LocalScheme(accessOf(options));
    this.#local = local;
    for (const scheme of [
      local,
      new UploadScheme(options.dataDirectory, local),
      new MemoryScheme(options.memory ?? new MapMemoryStore()),
      new HttpScheme('http', { guard, credentials, cache }),
      new HttpScheme('https', { guard, credentials, cache }),
      new LazyScheme({ name: 's3', hasEscapes: false }, async () => {
        const { S3Scheme } = await import('./s3/s3-scheme.ts');
        return new S3Scheme({ http: new HttpClient(guard), credentials, cache, environment });
      }),
      new LazyScheme({ name: 'sftp', hasEscapes: true }, async () => {
        const { SftpScheme } = await import('./sftp/sftp-scheme.ts');
        return new SftpScheme({ guard, credentials });
      }),
    ] satisfies Scheme[]) {
      this.#schemes.set(scheme.name, scheme);
    }
    this.#schemes.set(
      'archive',
      new ArchiveScheme((url, readOptions) => this.#openStored(url, readOptions)),
    );
  }

  /**
   * Opens a file for reading.
   * @throws INVALID_URL, FILE_NOT_FOUND, FORBIDDEN; later, from the stream, DATA_ERROR
   */
  async open(url: string, options: ReadOptions = {}): Promise<OpenFile> {
    let stored = await this.#openStored(url, options);
    if (isZipName(stored.name)) stored = await onlyMemberOfZip(stored);
    const isPlain = stored.localPath !== undefined && !(await isCompressed(stored));
    return {
      url,
      lastModified: stored.lastModified,
      ...(stored.sizeBytes === undefined ? {} : { storedSizeBytes: stored.sizeBytes }),
      ...(isPlain ? { plainPath: stored.localPath } : {}),
      stream: () => decompressed(stored.stream(), stored.name, url),
    };
  }

  /** Creates or replaces a file; it appears when `commit` has returned. */
  async create(url: string): Promise<FileSink> {
    const parsed = parseFileUrl(url);
    const scheme = this.#scheme(parsed);
    if (scheme.create === undefined) {
      throw failure('INVALID_URL', `${parsed.scheme}:// cannot be written: ${url}`, { url });
    }
    const input = new PassThrough({ highWaterMark: 1 << 20 });
    const content = compressed(input, parsed.rest, url);
    const sink = await scheme.create(parsed);
    return content === input ? sink : new CompressingSink(sink, input, content);
  }

  /**
   * The path of a local file that may be written in place, its folder made.
   * @throws INVALID_URL for other schemes, FORBIDDEN
   */
  async writablePath(url: string): Promise<string> {
    const parsed = parseFileUrl(url);
    if (parsed.scheme === 'file') return this.#local.writablePath(parsed);
    throw failure('INVALID_URL', `a local file is needed: ${url}`, { url });
  }

  /**
   * A local folder whose files a library reads itself.
   * @throws INVALID_URL for other schemes and for files; FILE_NOT_FOUND, FORBIDDEN
   */
  async localFolder(url: string): Promise<LocalFolder> {
    const parsed = parseFileUrl(url);
    if (parsed.scheme === 'file') return this.#local.folder(parsed);
    throw failure('INVALID_URL', `a local folder (file://) is needed: ${url}`, { url });
  }

  /** One level below a directory. */
  async list(url: string): Promise<Listing> {
    const parsed = parseFileUrl(url);
    const scheme = this.#scheme(parsed);
    if (scheme.list === undefined) {
      throw failure('INVALID_URL', `${parsed.scheme}:// cannot be listed: ${url}`, { url });
    }
    return scheme.list(parsed);
  }

  /**
   * The files that URLs and patterns stand for, each pattern's in bytewise order.
   * A name that exists as it is written is no pattern.
   * @throws FILE_NOT_FOUND when a pattern matches nothing
   */
  async expand(urls: readonly string[]): Promise<string[]> {
    const out: string[] = [];
    for (const url of urls) out.push(...(await this.#expandOne(url)));
    return out;
  }

  async #expandOne(url: string): Promise<readonly string[]> {
    const parsed = parseFileUrl(url);
    const scheme = this.#scheme(parsed);
    if (!isPattern(url) || scheme.candidates === undefined) return [url];
    if (await this.#exists(url)) return [url];
    const decode = (text: string) => (scheme.hasEscapes === true ? decodePercent(text) : text);
    const pattern = decode(url);
    const matches = patternMatcher(pattern);
    const found: string[] = [];
    for await (const candidate of scheme.candidates(parsed, patternPrefix(pattern))) {
      if (matches(decode(candidate))) found.push(candidate);
    }
    if (found.length === 0) {
      throw failure('FILE_NOT_FOUND', { form: 'pattern', url }, { url });
    }
    return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  async #exists(url: string): Promise<boolean> {
    try {
      await this.#openStored(url, {});
      return true;
    } catch {
      return false;
    }
  }

  async #openStored(url: string, options: ReadOptions): Promise<SourceFile> {
    const parsed = parseFileUrl(url);
    const stored = await this.#waitFor(this.#scheme(parsed).open(parsed, options));
    if (stored.localPath !== undefined) return stored;
    const { range } = stored;
    const waiting = (stream: ByteStream) => interruptible(stream, this.#waitFor);
    return {
      ...stored,
      stream: () => waiting(stored.stream()),
      ...(range === undefined
        ? {}
        : { range: (start: number, end: number) => waiting(range.call(stored, start, end)) }),
    };
  }

  #scheme(url: FileUrl): Scheme {
    const name = url.scheme.startsWith('archive+') ? 'archive' : url.scheme;
    const scheme = this.#schemes.get(name);
    if (scheme !== undefined) return scheme;
    throw failure(
      'INVALID_URL',
      `Uri handler not found for scheme ${url.scheme} (no handler found for scheme: ${url.scheme}): ${url.text}`,
      { url: url.text, schemes: [...this.#schemes.keys()] },
    );
  }
}

/** Copies of remote files may be of files that only some may read. */
function accessOf({ cache, ...options }: FileSystemOptions): LocalAccessOptions {
  if (cache === undefined) return options;
  return {
    ...options,
    closedDirectories: [...(options.closedDirectories ?? []), cache.directory],
  };
}

async function isCompressed(stored: SourceFile): Promise<boolean> {
  if (codecBySuffix(stored.name) !== undefined) return true;
  const { head, close } = await peekBytes(stored.stream(), 16);
  await close();
  return codecByMagic(head) !== undefined;
}

/** Compresses what it is given on its way to another sink. */
class CompressingSink implements FileSink {
  readonly #target: FileSink;
  readonly #input: PassThrough;
  readonly #done: Promise<void>;
  #error: unknown;

  constructor(target: FileSink, input: PassThrough, content: ByteStream) {
    this.#target = target;
    this.#input = input;
    this.#done = this.#pump(content);
    // The error is reported by the next call; until then nothing else reads it.
    this.#done.catch((error: unknown) => {
      this.#error = error;
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    // The caller may use its buffer again while the copy is still on its way.
    if (this.#input.write(Uint8Array.from(bytes))) return;
    const drained = new Promise<void>((resolve) => this.#input.once('drain', resolve));
    await Promise.race([drained, this.#done]);
  }

  async commit(): Promise<void> {
    this.#input.end();
    await this.#done;
    await this.#target.commit();
  }

  async abort(): Promise<void> {
    this.#input.destroy();
    await this.#done.catch(() => undefined);
    await this.#target.abort();
  }

  async #pump(content: ByteStream): Promise<void> {
    for await (const part of content) await this.#target.write(part);
  }
}
