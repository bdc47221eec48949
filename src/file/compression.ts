// Transparent compression: which codec a file is in, by its last suffix or its first bytes.
import { failure } from '../util/error.ts';
import type { ByteStream } from './byte-stream.ts';
import { peekBytes } from './byte-stream.ts';
import { bzip2 } from './codec/bzip2.ts';
import type { Codec } from './codec/codec.ts';
import { gzip } from './codec/gzip.ts';
import { lz4 } from './codec/lz4.ts';
import { snappy } from './codec/snappy.ts';
import { xz } from './codec/xz.ts';
import { zstd } from './codec/zstd.ts';
import { lastSuffix } from './url.ts';

export const CODECS: readonly Codec[] = [gzip, bzip2, xz, zstd, lz4, snappy];
const MAGIC_SIZE_MAX = Math.max(...CODECS.map((codec) => codec.magic?.length ?? 0));

/** The codec that the last suffix of a file name says; undefined for none. */
export function codecBySuffix(name: string): Codec | undefined {
  const suffix = lastSuffix(name);
  return CODECS.find((codec) => codec.suffixes.includes(suffix));
}

/** The codec that the first bytes of a file say; undefined for none. */
export function codecByMagic(head: Uint8Array): Codec | undefined {
  return CODECS.find(({ magic }) => magic?.every((byte, index) => head[index] === byte));
}

/**
 * The content of a file, decompressed when its name or its first bytes say that it is compressed.
 * @param url for messages
 */
export async function* decompressed(
  stored: ByteStream,
  name: string,
  url: string,
): AsyncIterable<Uint8Array> {
  const { head, whole, close } = await peekBytes(stored, MAGIC_SIZE_MAX);
  const codec = codecBySuffix(name) ?? codecByMagic(head);
  if (codec === undefined) {
    yield* whole;
    return;
  }
  // A file of no bytes has no content, compressed or not.
  if (head.length === 0) {
    await close();
    return;
  }
  let isOurs = false;
  try {
    for await (const part of codec.decompress(marked(whole, () => (isOurs = true)))) yield part;
  } catch (error) {
    if (isOurs) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw failure('DATA_ERROR', `corrupt or truncated ${codec.name} data in ${url}: ${reason}`, {
      url,
    });
  }
}

/** Tells errors of the source from those of the codec. */
async function* marked(source: ByteStream, onError: () => void): AsyncIterable<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await iterator.next();
      } catch (error) {
        onError();
        throw error;
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** @throws INVALID_URL when the suffix names a format that Rowan only reads */
export function compressed(content: ByteStream, name: string, url: string): ByteStream {
  const codec = codecBySuffix(name);
  if (codec === undefined) return content;
  if (codec.compress === undefined) {
    const writable = CODECS.filter(({ compress }) => compress).map(({ suffixes }) => suffixes[0]);
    throw failure(
      'INVALID_URL',
      `writing ${codec.name} is not available: ${url}; accepted suffixes are .${writable.join(', .')} and any that names no compression`,
      { url },
    );
  }
  return codec.compress(content);
}
