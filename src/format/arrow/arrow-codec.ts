// Compression of buffers in Arrow files, as the library asks for it.
import { CompressionType, compressionRegistry } from 'apache-arrow';
import { decompress as decompressZstd } from 'fzstd';
import { lz4FrameDecoder, lz4FrameEncoder } from '../../file/codec/lz4.ts';
import { zstdBlockEncoder } from '../../file/codec/zstd.ts';

/** Makes the codecs known to the library. */
export async function registerArrowCodecs(): Promise<void> {
  const encode = await zstdBlockEncoder();
  const [encodeLz4, decodeLz4] = await Promise.all([lz4FrameEncoder(), lz4FrameDecoder()]);
  compressionRegistry.set(CompressionType.ZSTD, {
    encode,
    // Readers of numbers want them aligned.
    decode: (bytes) => Uint8Array.from(decompressZstd(bytes)),
  });
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    encode: encodeLz4,
    decode: (bytes) => Uint8Array.from(decodeLz4(bytes)),
  });
}
