import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collectBytes } from '../../../src/file/byte-stream.ts';
import type { Codec } from '../../../src/file/codec/codec.ts';
import {
  CODECS,
  codecByMagic,
  codecBySuffix,
  compressed,
  decompressed,
} from '../../../src/file/compression.ts';

const CONTENT = 'a,b\n1,2\n3,4\n';
// Three frames, the last one of a single raw piece.
const ZSTD_SAMPLE =
  'KLUv/QRYnQAAYGEsYgoxLDIKMyw0CgEAwV6VJACc5+4otS/9BFidAABgYSxiCjEsMgozLDQKAQDFV0sSfuq9Bii1L/0EWGEAAGEsYgoxLDIKMyw0CuGzyy4=';
const XZ_SAMPLE =
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQALYSxiCjEsMgozLDQKABBV45YyL5FeAAEkDKYY2NgftvN9AQAAAAAEWVo=';
const SAMPLES: Readonly<Record<string, Buffer>> = {
  // Two members each, where the format's own tool wrote them.
  gzip: Buffer.concat([gzipSync('a,b\n1,2\n'), gzipSync('3,4\n')]),
  bzip2: Buffer.from(
    'QlpoOTFBWSZTWb+HQH8AAANZAAAQAAQwADAAIAAwwAhpsogjJ4u5IpwoSF/DoD+AQlpoOTFBWSZTWS2f5zYAAAFYAAAQAAQMACAAIZpoM00XPF3JFOFCQLZ/nNg=',
    'base64',
  ),
};

async function* stream(bytes: Uint8Array, partSize = 7): AsyncIterable<Uint8Array> {
  for (let i = 0; i < bytes.length; i += partSize) yield bytes.subarray(i, i + partSize);
}

async function text(source: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.from(await collectBytes(source)).toString();
}

describe('codecs that are written', () => {
  for (const codec of CODECS.filter(({ compress }) => compress !== undefined)) {
    test(`${codec.name} reads back what it wrote`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), fc.nat(300), async (unit, repeat) => {
          const content = Buffer.concat(Array.from({ length: repeat + 1 }, () => unit));
          const packed = await collectBytes(write(codec, content));
          const back = await collectBytes(codec.decompress(stream(packed, 1000)));
          expect(Buffer.compare(back, content)).toBe(0);
        }),
        { numRuns: 12 },
      );
    });

    test(`${codec.name} reads frames that follow one another`, async () => {
      const first = await collectBytes(write(codec, Buffer.from('a,b\n')));
      const second = await collectBytes(write(codec, Buffer.from('1,2\n')));
      const both = Buffer.concat([first, second]);
      expect(await text(codec.decompress(stream(both)))).toBe('a,b\n1,2\n');
    });

    test(`${codec.name} refuses truncated data`, async () => {
      const packed = await collectBytes(write(codec, Buffer.from(CONTENT.repeat(500))));
      const cut = packed.subarray(0, packed.length - 5);
      await expect(text(decompressed(stream(cut), 'x', 'file://x'))).rejects.toThrow(
        /corrupt or truncated .* data in file:\/\/x/,
      );
    });
  }

  function write(codec: Codec, content: Uint8Array): AsyncIterable<Uint8Array> {
    return codec.compress?.(stream(content, 4096)) as AsyncIterable<Uint8Array>;
  }
});

test('what is longer than a frame of zstd is written as several', async () => {
  const content = Buffer.alloc(9_000_000, CONTENT);
  const packed = compressed(stream(content, 100_000), 'x.zst', 'file://x.zst');
  const back = decompressed(stream(await collectBytes(packed), 10_000), 'x', 'file://x');
  expect(Buffer.compare(await collectBytes(back), content)).toBe(0);
});

test('blocks of lz4 end as the format asks for, so that every reader takes them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('1,', '12,', 'w3\n', 'é5', '77,7'), { maxLength: 400 }),
      async (words) => {
        const content = Buffer.from(words.join(''));
        const packed = await collectBytes(compressed(stream(content), 'x.lz4', 'u'));
        const word = packed.length > 15 ? Buffer.from(packed).readUInt32LE(7) : 0;
        // The last bytes of the first word say whether the block is compressed.
        if (word === 0 || word >>> 31 === 1) return;
        const ends = endsOfBlock(packed.subarray(11, 11 + word));
        expect(ends.literalCount).toBeGreaterThanOrEqual(5);
        expect(content.length - ends.lastMatchStart).toBeGreaterThanOrEqual(12);
      },
    ),
    { numRuns: 200 },
  );
});

/** Where the last match of a block of lz4 begins, and how many literals follow it. */
function endsOfBlock(block: Uint8Array): { lastMatchStart: number; literalCount: number } {
  let at = 0;
  let size = 0;
  let lastMatchStart = 0;
  const length = (first: number) => {
    let count = first;
    for (let more = first === 15 ? 255 : 0; more === 255; count += more) more = block[at++] ?? 0;
    return count;
  };
  for (;;) {
    const token = block[at++] as number;
    const literalCount = length(token >> 4);
    at += literalCount;
    size += literalCount;
    if (at >= block.length) return { lastMatchStart, literalCount };
    lastMatchStart = size;
    at += 2;
    size += length(token & 15) + 4;
  }
}

describe('decompressed', () => {
  test('reads zstd, frame by frame', async () => {
    const packed = Buffer.from(ZSTD_SAMPLE, 'base64');
    expect(await text(decompressed(stream(packed), 'x', 'file://x'))).toBe(CONTENT.repeat(100));
    const cut = packed.subarray(0, packed.length - 6);
    await expect(text(decompressed(stream(cut), 'x', 'file://x'))).rejects.toThrow(/corrupt/);
  });

  for (const [name, sample] of Object.entries(SAMPLES)) {
    test(`reads ${name} by suffix and by magic number`, async () => {
      const suffix = CODECS.find((codec) => codec.name === name)?.suffixes[0] as string;
      for (const file of [`x.${suffix.toUpperCase()}`, `x.${suffix}~`, 'x']) {
        expect(await text(decompressed(stream(sample), file, 'file://x'))).toBe(CONTENT);
      }
    });
  }

  test.each(Object.entries(SAMPLES))('refuses %s whose last member is cut', async (_, sample) => {
    for (const size of [1, 5, 10]) {
      const cut = sample.subarray(0, sample.length - size);
      await expect(text(decompressed(stream(cut), 'x', 'file://x'))).rejects.toThrow(/corrupt/);
    }
  });

  test('reads xz', async () => {
    const packed = Buffer.from(XZ_SAMPLE, 'base64');
    expect(await text(decompressed(stream(packed), 'x.xz', 'file://x.xz'))).toBe(CONTENT);
    const both = Buffer.concat([packed, packed]);
    expect(await text(decompressed(stream(both), 'x.lzma', 'u'))).toBe(CONTENT + CONTENT);
    const cut = packed.subarray(0, 40);
    await expect(text(decompressed(stream(cut), 'x.xz', 'file://x.xz'))).rejects.toThrow(/corrupt/);
  });

  test('leaves other content alone', async () => {
    expect(await text(decompressed(stream(Buffer.from(CONTENT)), 'x.csv', 'u'))).toBe(CONTENT);
  });

  test('refuses content that is not what its suffix says', async () => {
    await expect(
      text(decompressed(stream(Buffer.from(CONTENT)), 'x.gz', 'file://x.gz')),
    ).rejects.toThrow('corrupt or truncated gzip data in file://x.gz');
  });
});

describe('compressed', () => {
  test('follows the suffix', async () => {
    const packed = await collectBytes(compressed(stream(Buffer.from(CONTENT)), 'x.gz', 'u'));
    expect(gunzipSync(packed).toString()).toBe(CONTENT);
  });

  test('names what can be written instead', () => {
    expect(() => compressed(stream(new Uint8Array(0)), 'x.xz', 'file://x.xz')).toThrow(
      'writing xz is not available: file://x.xz; accepted suffixes are .gz,',
    );
  });
});

test('every codec is found by suffix and by the bytes it writes', () => {
  for (const codec of CODECS) {
    for (const suffix of codec.suffixes) expect(codecBySuffix(`a.b.${suffix}`)).toBe(codec);
    expect(codecByMagic(Uint8Array.from(codec.magic ?? []))).toBe(codec);
  }
});
