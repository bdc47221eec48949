// Compression of buffers in Arrow files, as the library asks for it.
import { CompressionType, compressionRegistry } from 'apache-arrow';
import { decompress as decompressZstd } from 'fzstd';
import lz4js from 'lz4js';
import { zstdBlockEncoder } from '../../file/codec/zstd.ts';

/** Makes the codecs known to the library. */
export async function registerArrowCodecs(): Promise<void> {
  const encode = await zstdBlockEncoder();
  compressionRegistry.set(CompressionType.ZSTD, {
    encode,
    // Readers of numbers want them aligned.
    decode: (bytes) => Uint8Array.from(decompressZstd(bytes)),
  });
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    encode: (bytes) => lz4js.compress(bytes),
    decode: (bytes) => Uint8Array.from(lz4js.decompress(bytes)),
  });
}
