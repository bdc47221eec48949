import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readVectors, type WordVector } from '../../../../src/format/vectors/vector-file.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(content: string | Uint8Array, size = 7): Promise<WordVector[]> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const found: WordVector[] = [];
  for await (const vector of readVectors(pieces(bytes, size))) found.push(vector);
  return found;
}

function binary(words: readonly WordVector[], separator: string, announced = words.length) {
  const dimensionCount = words[0]?.vector.length ?? 0;
  const parts: Uint8Array[] = [Buffer.from(`${announced} ${dimensionCount}\n`)];
  for (const { word, vector } of words) {
    parts.push(Buffer.from(`${word} `));
    parts.push(new Uint8Array(Float32Array.from(vector).buffer), Buffer.from(separator));
  }
  return Buffer.concat(parts);
}

const word = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => !/\s/.test(text));
const vectors = fc.integer({ min: 1, max: 5 }).chain((dimensionCount) =>
  fc.array(
    fc.record({
      word,
      vector: fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
        minLength: dimensionCount,
        maxLength: dimensionCount,
      }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
);

test.each(['', '\n', '\r\n'])('binary vectors with %j between them are read', async (separator) => {
  await fc.assert(
    fc.asyncProperty(vectors, fc.integer({ min: 1, max: 20 }), async (words, size) => {
      // Four bytes may happen to look like a line of text.
      fc.pre(!binary(words, separator).includes('\n', 12, 'latin1') || separator !== '');
      expect(await read(binary(words, separator), size)).toEqual(words);
    }),
    { numRuns: 60 },
  );
});

test('lines are read, with a header and without', async () => {
  const words = [
    { word: 'cat', vector: [1, 2.5] },
    { word: 'a b', vector: [-3, 4e-3] },
  ];
  expect(await read('cat 1 2.5\na b -3 4e-3')).toEqual(words);
  expect(await read('2 2\ncat 1 2.5 \r\na b -3 4e-3\n')).toEqual(words);
});

test('an empty file has no words', async () => {
  expect(await read('')).toEqual([]);
  expect(await read('0 5\n')).toEqual([]);
});

test('files that are cut short are faults', async () => {
  const words = [{ word: 'cat', vector: [1, 2] }];
  await expect(read(binary(words, '\n', 2))).rejects.toThrow(
    'Truncated vector file: 1 of 2 words are there',
  );
  await expect(read(binary(words, '').subarray(0, -1))).rejects.toThrow('Truncated vector file');
  await expect(read('2 2\ncat 1 2\n')).rejects.toThrow('Truncated vector file');
});

test('lines that do not fit are named', async () => {
  await expect(read('cat 1 2\ndog 3\n')).rejects.toThrow(
    'line 2 of the vector file is no word followed by 2 numbers',
  );
  await expect(read('cat 1 2\ndog 3 x\n')).rejects.toThrow('line 2 of the vector file');
});
