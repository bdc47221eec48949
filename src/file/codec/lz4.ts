// LZ4 frames (https://github.com/lz4/lz4, "LZ4 frame format description"); blocks by lz4js, checksums by xxhash-wasm.
import type { ByteStream } from '../byte-stream.ts';
import { ByteReader } from '../byte-stream.ts';
import type { Codec } from './codec.ts';

const MAGIC = 0x184d2204;
const SKIPPABLE_MAGIC = 0x184d2a5;
/** A block may refer to this many bytes before it. */
const WINDOW_SIZE = 65_536;
const BLOCK_SIZES: Readonly<Record<number, number>> = {
  4: 1 << 16,
  5: 1 << 18,
  6: 1 << 20,
  7: 1 << 22,
};
const WRITTEN_BLOCK_CODE = 6;
const UNCOMPRESSED = 0x80000000;

export const lz4: Codec = {
  name: 'lz4',
  suffixes: ['lz4'],
  magic: [0x04, 0x22, 0x4d, 0x18],
  decompress,
  compress,
};

let loaded: ReturnType<typeof load> | undefined;

/** Loaded with the first file. */
function libraries(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}

async function load() {
  const [{ default: lz4js }, { default: xxhash }] = await Promise.all([
    import('lz4js'),
    import('xxhash-wasm'),
  ]);
  return { lz4js, ...(await xxhash()) };
}

async function* decompress(source: ByteStream): AsyncIterable<Uint8Array> {
  const reader = new ByteReader(source);
  try {
    for (let frame = 0; ; frame++) {
      const start = await reader.read(4);
      if (start.length === 0 && frame > 0) return;
      const magic = start.length === 4 ? readU32(start, 0) : 0;
      if (magic >>> 4 === SKIPPABLE_MAGIC) {
        await reader.readExactly(readU32(await reader.readExactly(4), 0));
      } else if (magic === MAGIC) yield* decompressFrame(reader);
      else throw new Error('not an lz4 frame');
    }
  } finally {
    await reader.close();
  }
}

async function* decompressFrame(reader: ByteReader): AsyncIterable<Uint8Array> {
  const { lz4js, h32Raw, create32 } = await libraries();
  const descriptor = Buffer.from(await reader.readExactly(2));
  const flags = descriptor[0] as number;
  const blockSize = BLOCK_SIZES[((descriptor[1] as number) >> 4) & 7];
  if (flags >> 6 !== 1 || blockSize === undefined) throw new Error('unknown lz4 frame version');
  const hasBlockSum = (flags & 0x10) !== 0;
  const hasContentSum = (flags & 0x04) !== 0;
  const optionalSize = (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const optional = Buffer.from(await reader.readExactly(optionalSize));
  const headerSum = (await reader.readExactly(1))[0];
  const expected = (h32Raw(Buffer.concat([descriptor, optional])) >>> 8) & 0xff;
  if (headerSum !== expected) throw new Error('lz4 header checksum does not match');
  const contentSum = create32();
  const buffer = new Uint8Array(WINDOW_SIZE + blockSize);
  let windowEnd = 0;
  for (;;) {
    const word = readU32(await reader.readExactly(4), 0);
    if (word === 0) break;
    const size = word & ~UNCOMPRESSED;
    const data = Uint8Array.from(await reader.readExactly(size));
    if (hasBlockSum && readU32(await reader.readExactly(4), 0) !== h32Raw(data)) {
      throw new Error('lz4 block checksum does not match');
    }
    let end: number;
    if (word & UNCOMPRESSED) {
      if (size > blockSize) throw new Error('lz4 block is too large');
      buffer.set(data, windowEnd);
      end = windowEnd + size;
    } else {
      end = lz4js.decompressBlock(data, buffer, 0, size, windowEnd);
      if (!(end <= windowEnd + blockSize)) throw new Error('corrupt lz4 block');
    }
    const out = buffer.slice(windowEnd, end);
    contentSum.update(out);
    yield out;
    const kept = Math.min(end, WINDOW_SIZE);
    buffer.copyWithin(0, end - kept, end);
    windowEnd = kept;
  }
  if (hasContentSum && readU32(await reader.readExactly(4), 0) !== contentSum.digest()) {
    throw new Error('lz4 content checksum does not match');
  }
}

async function* compress(source: ByteStream): AsyncIterable<Uint8Array> {
  const { lz4js, h32Raw, create32 } = await libraries();
  const header = Buffer.alloc(7);
  header.writeUInt32LE(MAGIC, 0);
  header[4] = 0x64; // version 1, independent blocks, content checksum
  header[5] = WRITTEN_BLOCK_CODE << 4;
  header[6] = h32Raw(header.subarray(4, 6)) >>> 8;
  yield header;
  const blockSize = BLOCK_SIZES[WRITTEN_BLOCK_CODE] as number;
  const reader = new ByteReader(source);
  const contentSum = create32();
  const hashTable = new Uint32Array(1 << 16);
  const packed = new Uint8Array(lz4js.compressBound(blockSize));
  try {
    for (;;) {
      const block = Uint8Array.from(await reader.read(blockSize));
      if (block.length === 0) break;
      contentSum.update(block);
      hashTable.fill(0);
      const size = lz4js.compressBlock(block, packed, 0, block.length, hashTable);
      const fits = size > 0 && size < block.length;
      const out = Buffer.alloc(4 + (fits ? size : block.length));
      out.writeUInt32LE(fits ? size : block.length + UNCOMPRESSED, 0);
      out.set(fits ? packed.subarray(0, size) : block, 4);
      yield out;
    }
  } finally {
    await reader.close();
  }
  const end = Buffer.alloc(8);
  end.writeUInt32LE(contentSum.digest(), 4);
  yield end;
}

function readU32(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(offset, true);
}
