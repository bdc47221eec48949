// Members of zip and jar files, found by the directory at their end.
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Entry, RandomAccessReader, ZipFile } from 'yauzl';
import { collectBytes } from '../byte-stream.ts';
import type { SourceFile } from '../scheme.ts';
import { type ArchiveEntry, archiveFailure } from './entry.ts';

/** The directory is read piece by piece; what is fetched for one is kept for the next. */
const WINDOW_SIZE = 1 << 18;

/** The members of a zip file, in the order of its directory. */
export async function* zipEntries(archive: SourceFile): AsyncIterable<ArchiveEntry> {
  let zip: ZipFile | undefined;
  try {
    zip = await openZip(archive);
    const opened = zip;
    for await (const entry of opened.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      yield {
        name: entry.fileName,
        sizeBytes: entry.uncompressedSize,
        lastModified: entry.getLastModDate().getTime() / 1000,
        content: async () => memberOf(opened, entry, archive),
      };
    }
  } catch (error) {
    throw archiveFailure(error, archive);
  } finally {
    zip?.close();
  }
}

/** What a member says of itself may not be true of its bytes. */
async function* memberOf(
  zip: ZipFile,
  entry: Entry,
  archive: SourceFile,
): AsyncIterable<Uint8Array> {
  try {
    // The library leaves the checksum to its callers.
    let sum = 0;
    for await (const part of await zip.openReadStreamPromise(entry)) {
      sum = crc32(part, sum);
      yield part;
    }
    if (sum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} does not match`);
  } catch (error) {
    throw archiveFailure(error, archive);
  }
}

async function openZip({ localPath, range, sizeBytes, stream }: SourceFile): Promise<ZipFile> {
  const { default: yauzl } = await import('yauzl');
  const options = { autoClose: false };
  if (localPath !== undefined) return yauzl.openPromise(localPath, options);
  if (range === undefined || sizeBytes === undefined) {
    return yauzl.fromBufferPromise(Buffer.from(await collectBytes(stream())), options);
  }
  const reader = new RangeReader(range, sizeBytes);
  return yauzl.fromRandomAccessReaderPromise(reader, sizeBytes, options);
}

/** Lets the library read parts of a file that lies elsewhere. */
class RangeReader extends EventEmitter implements RandomAccessReader {
  readonly #range: NonNullable<SourceFile['range']>;
  readonly #sizeBytes: number;
  #window: { readonly start: number; readonly bytes: Buffer } | undefined;

  constructor(range: NonNullable<SourceFile['range']>, sizeBytes: number) {
    super();
    this.#range = range;
    this.#sizeBytes = sizeBytes;
  }

  ref(): void {}

  unref(): void {}

  createReadStream({ start, end }: { readonly start: number; readonly end: number }): Readable {
    return Readable.from(start === end ? [] : this.#range(start, end), { objectMode: false });
  }

  read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null, count: number) => void,
  ): void {
    this.#bytes(position, length).then(
      (bytes) => done(null, bytes.copy(target, offset)),
      (error: Error) => done(error, 0),
    );
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    const window = this.#window;
    if (window !== undefined && position >= window.start) {
      const skipped = position - window.start;
      if (skipped + length <= window.bytes.length) {
        return window.bytes.subarray(skipped, skipped + length);
      }
    }
    const end = Math.min(position + Math.max(length, WINDOW_SIZE), this.#sizeBytes);
    const bytes = Buffer.from(await collectBytes(this.#range(position, end)));
    this.#window = { start: position, bytes };
    return bytes.subarray(0, length);
  }
}
