import type { ByteStream } from '../byte-stream.ts';
import type { Codec } from './codec.ts';

export const bzip2: Codec = {
  name: 'bzip2',
  suffixes: ['bz2', 'bzip2'],
  magic: [0x42, 0x5a, 0x68],
  decompress,
};

/** The library is a stream of Node's first kind: it hands on its output before `write` returns. */
async function* decompress(source: ByteStream): AsyncIterable<Uint8Array> {
  const ready: Uint8Array[] = [];
  const errors: unknown[] = [];
  const { default: unbzip2 } = await import('unbzip2-stream');
  const stream = unbzip2();
  stream.on('data', (part: Uint8Array) => ready.push(part));
  stream.on('error', (error: unknown) => errors.push(error));
  for await (const part of source) {
    stream.write(part);
    if (errors.length > 0) throw errors[0];
    yield* ready.splice(0);
  }
  stream.end();
  if (errors.length > 0) throw errors[0];
  yield* ready.splice(0);
}
