// Lines and events are the same however the bytes are cut.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serverEvents } from '../../../src/client/event-stream.ts';
import { decodeLines, encodeLines } from '../../../src/client/json-lines.ts';
import { parseJson, stringifyJson } from '../../../src/util/exact-json.ts';

const cuts = fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 20 });

/** Bytes in pieces of these sizes, over and over. */
async function* pieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = 1 + (sizes[turn % sizes.length] as number);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test('values survive encoding, cutting and decoding', async () => {
  const values = fc.array(fc.jsonValue({ noUnicodeString: false }));
  await fc.assert(
    fc.asyncProperty(values, cuts, fc.boolean(), async (given, sizes, comesLater) => {
      async function* later() {
        yield* given;
      }
      const blocks = await all(encodeLines(comesLater ? later() : given));
      const bytes = Buffer.concat(blocks);
      const found = (await all(decodeLines(pieces(bytes, sizes)))).flat();
      expect(found).toEqual(given.map((value) => parseJson(stringifyJson(value))));
    }),
  );
});

test('a last line needs no end, and empty lines are none', async () => {
  const bytes = new TextEncoder().encode('1\n\n"ä"\n3');
  expect((await all(decodeLines(pieces(bytes, [0])))).flat()).toEqual([1, 'ä', 3]);
});

test('values that are there together go together', async () => {
  const blocks = await all(encodeLines(Array.from({ length: 100 }, (_, i) => i)));
  expect(blocks).toHaveLength(1);
});

test('events are told from comments, with their numbers and data', async () => {
  const text =
    ':\n\nid: 1\nevent: state\ndata: {"a":"é"}\n\n: still here\nevent: log\r\ndata: [1,\r\ndata: 2]\r\n\n\nid: 9\n\n';
  await fc.assert(
    fc.asyncProperty(cuts, async (sizes) => {
      const events = await all(serverEvents(pieces(new TextEncoder().encode(text), sizes)));
      expect(events).toEqual([
        { id: 1, event: 'state', data: { a: 'é' } },
        { id: 0, event: 'log', data: [1, 2] },
      ]);
    }),
  );
});
