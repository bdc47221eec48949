// Members of 7z and rar files, by libarchive in WebAssembly.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ArchiveReader } from 'libarchive-wasm';
import { failure } from '../../util/error.ts';
import type { SourceFile } from '../scheme.ts';
import { type ArchiveEntry, archiveFailure } from './entry.ts';

/** The archive lies in the memory of the module as a whole. */
const ARCHIVE_SIZE_MAX = 2 ** 30;
const READ_SIZE = 1 << 18;
/** The library would also take what merely looks like one of its many other formats. */
const MAGICS = ['377abcaf271c', '526172211a07'];

/** The members of a 7z or rar file, in its order; it is read into memory as a whole. */
export async function* sevenZipEntries(archive: SourceFile): AsyncIterable<ArchiveEntry> {
  try {
    const bytes = await wholeArchive(archive);
    const { ArchiveReader, libarchiveWasm } = await import('libarchive-wasm');
    // A module of its own for each archive: its memory never shrinks.
    const module = await libarchiveWasm();
    const reader = new ArchiveReader(module, bytes);
    for (;;) {
      const pointer = reader.nextEntryPointer();
      if (pointer === 0) break;
      if (reader.getEntryFiletype(pointer) !== 'File') continue;
      const seconds = reader.getEntryModificationTime(pointer) / 1000;
      yield {
        name: reader.getEntryPathname(pointer),
        sizeBytes: reader.getEntrySize(pointer),
        lastModified: seconds > 0 ? seconds : undefined,
        content: async () => readEntry(reader, archive),
      };
    }
    const fault = module.error_string(reader.archive);
    if (fault) throw new Error(fault);
  } catch (error) {
    throw archiveFailure(error, archive);
  }
}

/** Decoding takes the thread, so others get a turn between two pieces. */
async function* readEntry(reader: ArchiveReader, archive: SourceFile): AsyncIterable<Uint8Array> {
  try {
    for (;;) {
      const part = reader.readData(READ_SIZE);
      if (part.length === 0) return;
      yield new Uint8Array(part.buffer, part.byteOffset, part.length);
      await nextTurn();
    }
  } catch (error) {
    throw archiveFailure(error, archive);
  }
}

async function wholeArchive(archive: SourceFile): Promise<Int8Array> {
  checkSize(archive, archive.sizeBytes ?? 0);
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of archive.stream()) {
    parts.push(part);
    sizeBytes += part.length;
    checkSize(archive, sizeBytes);
  }
  const bytes = Buffer.concat(parts);
  if (!MAGICS.includes(bytes.toString('hex', 0, 6))) {
    throw new Error('its content is no 7z or rar file');
  }
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function checkSize({ url }: SourceFile, sizeBytes: number): void {
  if (sizeBytes <= ARCHIVE_SIZE_MAX) return;
  throw failure(
    'INVALID_URL',
    `too large: ${url}; 7z and rar files are read up to ${ARCHIVE_SIZE_MAX} bytes`,
    { url },
  );
}
