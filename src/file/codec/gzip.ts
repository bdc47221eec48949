import { createGunzip, createGzip } from 'node:zlib';
import { throughTransform } from '../byte-stream.ts';
import type { Codec } from './codec.ts';

const CHUNK_SIZE = 1 << 18;

export const gzip: Codec = {
  name: 'gzip',
  suffixes: ['gz', 'gzip'],
  magic: [0x1f, 0x8b],
  decompress: (source) => throughTransform(source, createGunzip({ chunkSize: CHUNK_SIZE })),
  compress: (source) => throughTransform(source, createGzip({ chunkSize: CHUNK_SIZE })),
};
