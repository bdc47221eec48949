// LZ4 frames (https://github.com/lz4/lz4, "LZ4 frame format description"); blocks by lz4js (reading, which
// may refer to the block before) and lz4-wasm-nodejs (writing), checksums by xxhash-wasm.
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
const WRITTEN_BLOCK_SIZE = 1 << 20;
/** A byte of a block stands for at most this many. */
const RATIO_MAX = 255;
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

type Libraries = Awaited<ReturnType<typeof load>>;

async function load() {
  const [{ default: lz4js }, { default: lz4Flex }, { default: xxhash }] = await Promise.all([
    import('lz4js'),
    import('lz4-wasm-nodejs'),
    import('xxhash-wasm'),
  ]);
  return { lz4js, compressBlock: lz4Flex.compress, ...(await xxhash()) };
}

async function* decompress(source: ByteStream): AsyncIterable<Uint8Array> {
  const found = await libraries();
  const reader = new ByteReader(source);
  try {
    for (let frame = 0; ; frame++) {
      const start = await reader.read(4);
      if (start.length === 0 && frame > 0) return;
      const magic = start.length === 4 ? readU32(start, 0) : 0;
      if (magic >>> 4 === SKIPPABLE_MAGIC) {
        await reader.readExactly(readU32(await reader.readExactly(4), 0));
        continue;
      }
      if (magic !== MAGIC) throw new Error('not an lz4 frame');
      const steps = decodeFrame(found);
      for (let step = steps.next(); step.done !== true; ) {
        const { need, out } = step.value;
        if (out !== undefined) yield out;
        step = steps.next(need === 0 ? NO_BYTES : await reader.readExactly(need));
      }
    }
  } finally {
    await reader.close();
  }
}

/** Loads what unpacks one frame that is whole. */
export async function lz4FrameDecoder(): Promise<(bytes: Uint8Array) => Uint8Array> {
  const found = await libraries();
  return (bytes) => {
    if (bytes.length < 4 || readU32(bytes, 0) !== MAGIC) throw new Error('not an lz4 frame');
    const parts: Uint8Array[] = [];
    const steps = decodeFrame(found);
    let position = 4;
    for (let step = steps.next(); step.done !== true; ) {
      const { need, out } = step.value;
      if (out !== undefined) parts.push(out);
      if (position + need > bytes.length) throw new Error('unexpected end of data');
      step = steps.next(bytes.subarray(position, position + need));
      position += need;
    }
    return Buffer.concat(parts);
  };
}

/** What the decoder of a frame asks for next, after what it has unpacked. */
interface FrameStep {
  /** how many bytes it wants */
  readonly need: number;
  readonly out?: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

/** Decodes a frame after its magic number. */
function* decodeFrame({
  lz4js,
  h32Raw,
  create32,
}: Libraries): Generator<FrameStep, void, Uint8Array> {
  const descriptor = Buffer.from(yield { need: 2 });
  const flags = descriptor[0] as number;
  const blockSize = BLOCK_SIZES[((descriptor[1] as number) >> 4) & 7];
  if (flags >> 6 !== 1 || blockSize === undefined) throw new Error('unknown lz4 frame version');
  const hasBlockSum = (flags & 0x10) !== 0;
  const hasContentSum = (flags & 0x04) !== 0;
  const optionalSize = (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const optional = Buffer.from(yield { need: optionalSize });
  const headerSum = (yield { need: 1 })[0];
  const expected = (h32Raw(Buffer.concat([descriptor, optional])) >>> 8) & 0xff;
  if (headerSum !== expected) throw new Error('lz4 header checksum does not match');
  const contentSum = create32();
  let window: Uint8Array = NO_BYTES;
  let out: Uint8Array | undefined;
  for (;;) {
    const word = readU32(yield out === undefined ? { need: 4 } : { need: 4, out }, 0);
    if (word === 0) break;
    const size = word & ~UNCOMPRESSED;
    if (size > blockSize) throw new Error('lz4 block is too large');
    const data = Uint8Array.from(yield { need: size });
    if (hasBlockSum && readU32(yield { need: 4 }, 0) !== h32Raw(data)) {
      throw new Error('lz4 block checksum does not match');
    }
    const isPlain = (word & UNCOMPRESSED) !== 0;
    out = isPlain ? data : unpackBlock(lz4js, data, window, blockSize);
    contentSum.update(out);
    window = lastBytes(window, out);
  }
  if (hasContentSum && readU32(yield { need: 4 }, 0) !== contentSum.digest()) {
    throw new Error('lz4 content checksum does not match');
  }
}

/** @param window what the block may refer to */
function unpackBlock(
  { decompressBlock }: Libraries['lz4js'],
  block: Uint8Array,
  window: Uint8Array,
  blockSize: number,
): Uint8Array {
  const sizeMax = Math.min(blockSize, block.length * RATIO_MAX);
  const buffer = new Uint8Array(window.length + sizeMax);
  buffer.set(window);
  const end = decompressBlock(block, buffer, 0, block.length, window.length);
  if (!(end <= buffer.length)) throw new Error('corrupt lz4 block');
  return buffer.slice(window.length, end);
}

function lastBytes(window: Uint8Array, out: Uint8Array): Uint8Array {
  if (out.length >= WINDOW_SIZE) return out.subarray(out.length - WINDOW_SIZE);
  return Buffer.concat([window, out]).subarray(-WINDOW_SIZE);
}

async function* compress(source: ByteStream): AsyncIterable<Uint8Array> {
  const found = await libraries();
  const reader = new ByteReader(source);
  const frame = new FrameWriter(found);
  yield frame.header();
  try {
    for (;;) {
      const content = Uint8Array.from(await reader.read(WRITTEN_BLOCK_SIZE));
      if (content.length === 0) break;
      yield frame.block(content);
    }
  } finally {
    await reader.close();
  }
  yield frame.end();
}

/** Loads what packs bytes into one frame. */
export async function lz4FrameEncoder(): Promise<(bytes: Uint8Array) => Uint8Array> {
  const found = await libraries();
  return (bytes) => {
    const frame = new FrameWriter(found);
    const parts = [frame.header()];
    for (let start = 0; start < bytes.length; start += WRITTEN_BLOCK_SIZE) {
      parts.push(frame.block(bytes.subarray(start, start + WRITTEN_BLOCK_SIZE)));
    }
    return Buffer.concat([...parts, frame.end()]);
  };
}

/** The pieces of a frame of independent blocks. */
class FrameWriter {
  readonly #libraries: Libraries;
  readonly #contentSum: ReturnType<Libraries['create32']>;

  constructor(found: Libraries) {
    this.#libraries = found;
    this.#contentSum = found.create32();
  }

  header(): Uint8Array {
    const header = Buffer.alloc(7);
    header.writeUInt32LE(MAGIC, 0);
    header[4] = 0x64; // version 1, independent blocks, content checksum
    header[5] = WRITTEN_BLOCK_CODE << 4;
    header[6] = this.#libraries.h32Raw(header.subarray(4, 6)) >>> 8;
    return header;
  }

  /** @param content at most WRITTEN_BLOCK_SIZE bytes */
  block(content: Uint8Array): Uint8Array {
    this.#contentSum.update(content);
    // The library puts the size before the block.
    const packed = this.#libraries.compressBlock(content).subarray(4);
    const fits = packed.length < content.length;
    const out = Buffer.alloc(4 + (fits ? packed : content).length);
    out.writeUInt32LE(fits ? packed.length : content.length + UNCOMPRESSED, 0);
    out.set(fits ? packed : content, 4);
    return out;
  }

  end(): Uint8Array {
    const end = Buffer.alloc(8);
    end.writeUInt32LE(this.#contentSum.digest(), 4);
    return end;
  }
}

function readU32(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(offset, true);
}
