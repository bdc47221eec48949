// Members of tar files, compressed or not, from the first to the last.
import { ReadableStream } from 'node:stream/web';
import type { ParsedTarEntry } from 'modern-tar';
import type { ByteStream } from '../byte-stream.ts';
import { decompressed } from '../compression.ts';
import type { SourceFile } from '../scheme.ts';
import { type ArchiveEntry, archiveFailure } from './entry.ts';

/** The members of a tar file, in its order, while it is read. */
export async function* tarEntries(archive: SourceFile): AsyncIterable<ArchiveEntry> {
  const { createTarDecoder } = await import('modern-tar');
  const bytes = ReadableStream.from(decompressed(archive.stream(), archive.name, archive.url));
  const entries = bytes.pipeThrough(
    createTarDecoder({ strict: true }) as never,
  ) as unknown as AsyncIterable<ParsedTarEntry>;
  try {
    for await (const { header, body } of entries) {
      if (header.type !== undefined && header.type !== 'file') {
        await body.cancel();
        continue;
      }
      let isTaken = false;
      yield {
        name: header.name,
        sizeBytes: header.size,
        lastModified: header.mtime === undefined ? undefined : header.mtime.getTime() / 1000,
        async content() {
          isTaken = true;
          return body as unknown as ByteStream;
        },
      };
      if (!isTaken) await body.cancel();
    }
  } catch (error) {
    throw archiveFailure(error, archive);
  }
}
