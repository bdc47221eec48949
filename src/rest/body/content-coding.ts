// Compression of bodies, in both directions, as the headers of a request ask for.
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { acceptedCoding } from '../../service/route/negotiation.ts';
import { RowanError } from '../../util/error.ts';

export type Coding = 'zstd' | 'br' | 'gzip';

interface Codec {
  compress(): Transform;
  decompress(): Transform;
}

/** Present from Node 22.15 on. */
const zstd = zlib as unknown as {
  createZstdCompress?(options?: object): Transform;
  createZstdDecompress?(options?: object): Transform;
  constants: Record<string, number>;
};

const BROTLI_QUALITY = 4;

// Every write is flushed, so that the first rows of a stream arrive before the last are made.
const CODECS: Partial<Record<Coding, Codec>> = {
  ...(zstd.createZstdCompress === undefined || zstd.createZstdDecompress === undefined
    ? {}
    : {
        zstd: {
          compress: () =>
            (zstd.createZstdCompress as (options?: object) => Transform)({
              flush: zstd.constants.ZSTD_e_flush,
            }),
          decompress: () => (zstd.createZstdDecompress as () => Transform)(),
        },
      }),
  br: {
    compress: () =>
      zlib.createBrotliCompress({
        flush: zlib.constants.BROTLI_OPERATION_FLUSH,
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      }),
    decompress: () => zlib.createBrotliDecompress(),
  },
  gzip: {
    compress: () => zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH, level: 5 }),
    decompress: () => zlib.createGunzip(),
  },
};

/** In the order of preference. */
export const CODINGS = Object.keys(CODECS) as Coding[];

/** The best coding that an `Accept-Encoding` header allows, undefined for none. */
export function chooseCoding(acceptEncoding: string | undefined): Coding | undefined {
  return acceptedCoding(acceptEncoding, CODINGS);
}

export function compressor(coding: Coding): Transform {
  return (CODECS[coding] as Codec).compress();
}

/**
 * Streams that undo the codings of a request body, in the order in which to apply them.
 * @throws INVALID_PARAMETER (415) for a coding that is not known
 */
export function decompressors(contentEncoding: string | undefined): Transform[] {
  if (contentEncoding === undefined) return [];
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse();
  return names.map((name) => {
    const codec = CODECS[(name === 'x-gzip' ? 'gzip' : name) as Coding];
    if (codec !== undefined) return codec.decompress();
    throw new RowanError(
      'INVALID_PARAMETER',
      415,
      `Content-Encoding '${name}' is not known; accepted are ${CODINGS.join(', ')}`,
    );
  });
}
