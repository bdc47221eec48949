// The framed form of Snappy (google/snappy, framing_format.txt); blocks by snappyjs.
import type { ByteStream } from '../byte-stream.ts';
import { ByteReader } from '../byte-stream.ts';
import type { Codec } from './codec.ts';

const STREAM_HEADER = Uint8Array.of(0xff, 6, 0, 0, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59);
/** The most that one chunk may hold, uncompressed. */
const CHUNK_CONTENT_SIZE_MAX = 65_536;
const COMPRESSED = 0x00;
const UNCOMPRESSED = 0x01;
const FIRST_SKIPPABLE = 0x80;

export const snappy: Codec = {
  name: 'snappy',
  suffixes: ['snappy'],
  magic: [...STREAM_HEADER],
  decompress,
  compress,
};

async function* decompress(source: ByteStream): AsyncIterable<Uint8Array> {
  const { default: snappyjs } = await import('snappyjs');
  const reader = new ByteReader(source);
  try {
    const start = await reader.read(STREAM_HEADER.length);
    if (Buffer.compare(start, STREAM_HEADER) !== 0) throw new Error('not framed snappy data');
    for (;;) {
      const head = await reader.read(4);
      if (head.length === 0) return;
      if (head.length < 4) throw new Error('unexpected end of data');
      const type = head[0] as number;
      const size = (head[1] as number) | ((head[2] as number) << 8) | ((head[3] as number) << 16);
      const body = Uint8Array.from(await reader.readExactly(size));
      if (type >= FIRST_SKIPPABLE) continue;
      if (type > UNCOMPRESSED || size < 4) throw new Error(`unknown snappy chunk type ${type}`);
      const content =
        type === COMPRESSED ? snappyjs.uncompress(body.subarray(4)) : body.subarray(4);
      const expected = new DataView(body.buffer).getUint32(0, true);
      if (maskedCrc32c(content) !== expected) throw new Error('snappy checksum does not match');
      yield content;
    }
  } finally {
    await reader.close();
  }
}

async function* compress(source: ByteStream): AsyncIterable<Uint8Array> {
  const { default: snappyjs } = await import('snappyjs');
  yield STREAM_HEADER;
  const reader = new ByteReader(source);
  try {
    for (;;) {
      const content = Uint8Array.from(await reader.read(CHUNK_CONTENT_SIZE_MAX));
      if (content.length === 0) return;
      const packed = snappyjs.compress(content);
      const body = packed.length < content.length ? packed : content;
      const out = Buffer.alloc(8 + body.length);
      out.writeUInt32LE((body.length + 4) * 256 + (body === packed ? COMPRESSED : UNCOMPRESSED), 0);
      out.writeUInt32LE(maskedCrc32c(content), 4);
      out.set(body, 8);
      yield out;
    }
  } finally {
    await reader.close();
  }
}

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
  return value;
});

/** The format rotates the checksum, so that a checksum over checksums keeps its strength. */
function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC32C_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  crc = ~crc;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
