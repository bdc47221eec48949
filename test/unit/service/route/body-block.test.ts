import {
  Dictionary,
  Float64,
  Int32,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Table,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrowBlocks } from '../../../../src/service/route/arrow-block.ts';
import { type BodyBlock, lineBlocks } from '../../../../src/service/route/body-block.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

async function collect(blocks: AsyncIterable<BodyBlock>): Promise<BodyBlock[]> {
  const all: BodyBlock[] = [];
  for await (const block of blocks) all.push(block);
  return all;
}

describe('blocks of lines', () => {
  test('are whole lines, however the bytes arrive', async () => {
    const line = fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[\n\r]/g, ''));
    const property = fc.asyncProperty(
      fc.array(line, { maxLength: 30 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      async (lines, endsWithLine, pieceSize) => {
        const text = lines.join('\n') + (endsWithLine ? '\n' : '');
        const bytes = new TextEncoder().encode(text);
        const blocks = await collect(lineBlocks(inPieces(bytes, pieceSize), 20));
        const texts = blocks.map((block) => Buffer.from(block.bytes).toString());
        expect(texts.join('')).toBe(text);
        let first = 1;
        blocks.forEach((block, index) => {
          expect(block.first).toBe(first);
          first += (texts[index] as string).split('\n').length - 1;
          if (index < blocks.length - 1) expect(texts[index]).toMatch(/\n$/);
        });
      },
    );
    await fc.assert(property);
  });

  test('refuse a line without an end', async () => {
    const endless = inPieces(new Uint8Array(1000).fill(97), 10);
    await expect(collect(lineBlocks(endless, 20))).rejects.toMatchObject({ httpCode: 413 });
  });
});

/** Three batches of two rows, with a dictionary. */
async function arrowStream(): Promise<Uint8Array> {
  const writer = new RecordBatchStreamWriter();
  for (let i = 0; i < 3; i++) {
    const table = new Table({
      n: vectorFromArray([i, i + 0.5], new Float64()),
      t: vectorFromArray(['a', 'b'], new Dictionary(new Utf8(), new Int32(), 1)),
    });
    for (const batch of table.batches) writer.write(batch);
  }
  writer.finish();
  return writer.toUint8Array();
}

describe('blocks of an Arrow stream', () => {
  test.each([1, 7, 100, 100_000])(
    'are streams of their own, in pieces of %d',
    async (pieceSize) => {
      const bytes = await arrowStream();
      const blocks = await collect(arrowBlocks(inPieces(bytes, pieceSize), 100));
      const rows = blocks.map((block) =>
        [...RecordBatchReader.from(Uint8Array.from(block.bytes))].flatMap((batch) =>
          [...batch].map((row) => [row?.n, row?.t]),
        ),
      );
      expect(blocks.map(({ first }) => first)).toEqual([0, 2, 4]);
      expect(rows).toEqual(
        [0, 1, 2].map((i) => [
          [i, 'a'],
          [i + 0.5, 'b'],
        ]),
      );
    },
  );

  test('may be one block, or none without rows', async () => {
    const bytes = await arrowStream();
    expect(await collect(arrowBlocks(inPieces(bytes, 50), 1 << 20))).toHaveLength(1);
    const writer = new RecordBatchStreamWriter();
    writer.reset(undefined, tableFromArrays({ n: [1] }).schema);
    writer.finish();
    expect(await collect(arrowBlocks(inPieces(writer.toUint8Array(true), 50), 10))).toEqual([]);
  });

  test.each([
    ['nothing', (_bytes: Uint8Array) => new Uint8Array(0)],
    ['text', (_bytes: Uint8Array) => new TextEncoder().encode('[["r1", []]]')],
    ['half a message', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 30)],
    ['zeros for metadata', (bytes: Uint8Array) => bytes.fill(0, 8, 200)],
  ])('are not made of %s', async (_what, damage) => {
    const bytes = damage(Uint8Array.from(await arrowStream()));
    await expect(collect(arrowBlocks(inPieces(bytes, 64), 1000))).rejects.toMatchObject({
      httpCode: 400,
    });
  });
});
