// Compression of buffers in Arrow files, as the library asks for it.
import { CompressionType, compressionRegistry } from 'apache-arrow';
import { decompress as decompressZstd } from 'fzstd';
import lz4js from 'lz4js';
import { lz4FrameDecoder } from '../../file/codec/lz4.ts';
import { zstdBlockEncoder } from '../../file/codec/zstd.ts';

/** Makes the codecs known to the library. */
export async function registerArrowCodecs(): Promise<void> {
  const encode = await zstdBlockEncoder();
  const decodeLz4 = await lz4FrameDecoder();
  compressionRegistry.set(CompressionType.ZSTD, {
    encode,
    // Readers of numbers want them aligned.
    decode: (bytes) => Uint8Array.from(decompressZstd(bytes)),
  });
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    encode: (bytes) => lz4js.compress(bytes),
    decode: (bytes) => Uint8Array.from(decodeLz4(bytes)),
  });
}
