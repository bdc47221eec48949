import { ReadableStream } from 'node:stream/web';
import type { ByteStream } from '../byte-stream.ts';
import type { Codec } from './codec.ts';

export const xz: Codec = {
  name: 'xz',
  suffixes: ['xz', 'lzma'],
  magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
  decompress,
};

async function* decompress(source: ByteStream): AsyncIterable<Uint8Array> {
  const { default: xzDecompress } = await import('xz-decompress');
  yield* new xzDecompress.XzReadableStream(ReadableStream.from(source)) as unknown as ByteStream;
}
