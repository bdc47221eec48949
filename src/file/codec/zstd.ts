// Zstandard: Node's own codec where it has one (22.15 and later), else portable ones.
import type { Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import type { ByteStream } from '../byte-stream.ts';
import { ByteReader, throughTransform } from '../byte-stream.ts';
import type { Codec } from './codec.ts';

/** Node 20's type declarations do not know these yet. */
const node = zlib as unknown as {
  createZstdDecompress?: () => Duplex;
  createZstdCompress?: () => Duplex;
  zstdCompressSync?: (bytes: Uint8Array) => Uint8Array;
};
const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a5;

const { createZstdCompress, createZstdDecompress } = node;

export const zstd: Codec = {
  name: 'zstd',
  suffixes: ['zst', 'zstd'],
  magic: [0x28, 0xb5, 0x2f, 0xfd],
  decompress: (source) =>
    decompressFrames(
      source,
      createZstdDecompress === undefined
        ? decodePortably
        : (frame) => throughTransform(frame, createZstdDecompress()),
    ),
  compress: (source) =>
    createZstdCompress === undefined
      ? encodePortably(source)
      : throughTransform(source, createZstdCompress()),
};

/**
 * Frames and blocks are found here (RFC 8878, section 3.1) and frames decoded one by one: Node's
 * decoder leaves out what follows the first and takes a cut one for whole, and what the portable
 * one gives depends on how its input happens to be cut.
 */
async function* decompressFrames(
  source: ByteStream,
  decode: (frame: ByteStream) => ByteStream,
): AsyncIterable<Uint8Array> {
  const reader = new ByteReader(source);
  try {
    for (let frame = 0; ; frame++) {
      const start = Buffer.from(await reader.read(4));
      if (start.length === 0 && frame > 0) return;
      const magic = start.length === 4 ? start.readUInt32LE(0) : 0;
      if (magic >>> 4 === SKIPPABLE_MAGIC) {
        const size = Buffer.from(await reader.readExactly(4)).readUInt32LE(0);
        await reader.readExactly(size);
      } else if (magic === MAGIC) yield* decode(readFrame(reader, start));
      else throw new Error('not a zstd frame');
    }
  } finally {
    await reader.close();
  }
}

/** The bytes of one frame: its head, then block by block. */
async function* readFrame(reader: ByteReader, magic: Buffer): AsyncIterable<Uint8Array> {
  const flags = (await reader.readExactly(1))[0] as number;
  const isSingleSegment = (flags & 0x20) !== 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6] as number;
  const dictionaryIdBytes = [0, 1, 2, 4][flags & 3] as number;
  const rest = await reader.readExactly(
    (isSingleSegment ? 0 : 1) + dictionaryIdBytes + contentSizeBytes,
  );
  yield Buffer.concat([magic, Uint8Array.of(flags), rest]);
  const hasChecksum = (flags & 4) !== 0;
  for (;;) {
    const head = Buffer.from(await reader.readExactly(3));
    const word = head.readUIntLE(0, 3);
    const isRepeatedByte = ((word >> 1) & 3) === 1;
    const content = await reader.readExactly(isRepeatedByte ? 1 : word >> 3);
    yield Buffer.concat([head, content]);
    if (word & 1) break;
  }
  if (hasChecksum) yield Uint8Array.from(await reader.readExactly(4));
}

async function* decodePortably(frame: ByteStream): AsyncIterable<Uint8Array> {
  const ready: Uint8Array[] = [];
  const { Decompress } = await import('fzstd');
  const decoder = new Decompress((data) => {
    // The decoder goes on using the memory it shows.
    if (data.length > 0) ready.push(Uint8Array.from(data));
  });
  for await (const part of frame) {
    decoder.push(part);
    yield* ready.splice(0);
  }
  // A frame below 18 bytes is only decoded when the decoder hears that no more will come.
  decoder.push(new Uint8Array(0), true);
  yield* ready.splice(0);
}

/** The library takes a whole frame at a time, and readers take frames that follow one another. */
const WRITTEN_FRAME_SIZE = 1 << 22;
/** What Node's codec and the command line use. */
const LEVEL = 3;

type Encoder = typeof import('@bokuweb/zstd-wasm');
let encoder: Promise<Encoder> | undefined;

/** Once: a second `init` takes the memory from under the first. */
function loadEncoder(): Promise<Encoder> {
  encoder ??= import('@bokuweb/zstd-wasm').then(async (loaded) => {
    await loaded.init();
    return loaded;
  });
  return encoder;
}

/** Compresses what is in memory as a whole: pages and buffers of other formats. */
export async function zstdBlockEncoder(): Promise<(bytes: Uint8Array) => Uint8Array> {
  const { zstdCompressSync } = node;
  if (zstdCompressSync !== undefined) return (bytes) => zstdCompressSync(bytes);
  const { compress } = await loadEncoder();
  return (bytes) => compress(bytes, LEVEL);
}

async function* encodePortably(source: ByteStream): AsyncIterable<Uint8Array> {
  const { compress } = await loadEncoder();
  const reader = new ByteReader(source);
  try {
    // Empty content is a frame too.
    let size = 0;
    do {
      const content = await reader.read(WRITTEN_FRAME_SIZE);
      if (size === 0 || content.length > 0) yield compress(content, LEVEL);
      size = content.length;
    } while (size === WRITTEN_FRAME_SIZE);
  } finally {
    await reader.close();
  }
}
