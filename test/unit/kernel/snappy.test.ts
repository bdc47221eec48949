import snappyjs from 'snappyjs';
import { expect, test } from 'vitest';
import { SNAPPY_TABLE_SIZE } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

/** Bytes that repeat more or less, over some blocks now and then. */
function content(draw: Draw): Uint8Array {
  const size = draw.pick([0, 1, 15, 16, 17, 100, 5000, 70_000, 200_000]);
  const letters = draw.pick([1, 2, 5, 256]);
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; ) {
    const far = draw.integer(1, 3000);
    const length = Math.min(size - i, draw.integer(1, 120));
    const copies = i >= far && draw.chance(0.5);
    for (let k = 0; k < length; k++, i++) {
      bytes[i] = copies ? (bytes[i - far] as number) : draw.integer(0, letters - 1);
    }
  }
  return bytes;
}

test('snappyCompress and snappyDecompress agree with another implementation', () => {
  repeat((draw) => {
    const bytes = content(draw);
    const capacity = 32 + bytes.length + Math.ceil(bytes.length / 6);
    const [out, table] = [room(capacity), room(SNAPPY_TABLE_SIZE)];
    const end = kernels.snappyCompress(put(bytes), bytes.length, out, table) >>> 0;
    const packed = read(Uint8Array, out, end - out);
    expect(packed.length).toBeLessThanOrEqual(capacity);
    expect(Buffer.compare(snappyjs.uncompress(packed), bytes)).toBe(0);
    const theirs = snappyjs.compress(bytes);
    const source = put(theirs);
    const back = room(bytes.length + 16);
    const isWhole = kernels.snappyDecompress(source, source + theirs.length, back, bytes.length);
    expect(Boolean(isWhole)).toBe(true);
    expect(Buffer.compare(read(Uint8Array, back, bytes.length), bytes)).toBe(0);
  });
});

test('snappyDecompress refuses what is damaged, and writes nothing behind its room', () => {
  repeat((draw) => {
    const bytes = content(draw).subarray(0, 5000);
    const packed = Uint8Array.from(snappyjs.compress(bytes));
    for (let i = draw.integer(1, 4); i > 0 && packed.length > 2; i--) {
      packed[draw.integer(2, packed.length - 1)] = draw.integer(0, 255);
    }
    const source = put(packed.subarray(0, draw.integer(0, packed.length)));
    const out = room(bytes.length + 16);
    const guard = put(Uint8Array.of(1, 2, 3, 4));
    kernels.snappyDecompress(source, source + packed.length, out, bytes.length);
    expect([...read(Uint8Array, guard, 4)]).toEqual([1, 2, 3, 4]);
  });
});
