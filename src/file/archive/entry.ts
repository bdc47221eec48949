// What the readers of all kinds of archives have in common.
import { failure, RowanError } from '../../util/error.ts';
import type { ByteStream } from '../byte-stream.ts';
import type { SourceFile } from '../scheme.ts';

/** A file in an archive. */
export interface ArchiveEntry {
  readonly name: string;
  readonly sizeBytes: number;
  /** seconds since the epoch; absent when the archive does not say */
  readonly lastModified: number | undefined;
  /** Valid until the next entry is asked for. */
  content(): Promise<ByteStream>;
}

/** A fault of a library that reads archives, as the caller should see it. */
export function archiveFailure(error: unknown, archive: SourceFile): unknown {
  if (!(error instanceof Error) || error instanceof RowanError) return error;
  return failure('DATA_ERROR', `cannot read archive ${archive.url}: ${error.message}`, {
    url: archive.url,
  });
}
