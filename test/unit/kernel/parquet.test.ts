import { ByteWriter } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { PARQUET_PLAIN } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

/** Numbers in runs of both kinds, and the bytes that say so. */
function runsOf(draw: Draw, width: number): { readonly numbers: number[]; readonly bytes: Buffer } {
  const numbers: number[] = [];
  const writer = new ByteWriter(16);
  const any = () => (width === 0 ? 0 : Math.floor(draw.uniform() * 2 ** width));
  for (let run = draw.integer(0, 4); run > 0; run--) {
    if (draw.chance(0.5)) {
      const [count, value] = [draw.integer(1, 200), any()];
      writer.appendVarInt(count * 2);
      for (let i = 0; i < (width + 7) >> 3; i++) writer.appendUint8((value / 256 ** i) & 255);
      for (let i = 0; i < count; i++) numbers.push(value);
      continue;
    }
    const packed = draw.list(8 * draw.integer(1, 5), any);
    writer.appendVarInt((packed.length / 8) * 2 + 1);
    let bits = 0n;
    packed.forEach((value, i) => {
      bits |= BigInt(value) << BigInt(i * width);
    });
    for (let i = 0; i < (packed.length / 8) * width; i++) {
      writer.appendUint8(Number((bits >> BigInt(8 * i)) & 255n));
    }
    numbers.push(...packed);
  }
  return { numbers, bytes: Buffer.from(writer.getBytes()) };
}

test('parquetRuns reads runs of equal and of packed numbers', () => {
  repeat((draw) => {
    const width = draw.integer(0, 32);
    const { numbers, bytes } = runsOf(draw, width);
    const count = draw.integer(0, numbers.length);
    const out = room(count * 4);
    const start = put(bytes);
    const greatest = numbers.slice(0, count).reduce((most, each) => Math.max(most, each), 0);
    const readTo = (end: number, limit: number) =>
      kernels.parquetRuns(start, end, width, count, limit, out) === 1;
    const end = start + bytes.length;
    if (greatest < 0xffff_ffff) {
      expect(readTo(end, greatest + 1)).toBe(true);
      expect([...read(Uint32Array, out, count)]).toEqual(numbers.slice(0, count));
    }
    if (count === 0) return;
    // Too great a number, too many numbers, too few bytes.
    if (greatest > 0 && numbers.slice(0, count).includes(greatest)) {
      expect(readTo(end, greatest)).toBe(false);
    }
    const more = room((numbers.length + 1) * 4);
    expect(kernels.parquetRuns(start, end, width, numbers.length + 1, 0xffff_ffff, more)).toBe(0);
    for (let cut = 0; cut < bytes.length; cut++) {
      if (!readTo(start + cut, 0xffff_ffff)) continue;
      expect([...read(Uint32Array, out, count)]).toEqual(numbers.slice(0, count));
    }
  });
});

test('parquetPresent says which levels are the greatest', () => {
  repeat((draw) => {
    const greatest = draw.integer(1, 3);
    const levels = draw.list(draw.integer(0, 40), () => draw.integer(0, greatest));
    const out = room(levels.length);
    const count = kernels.parquetPresent(
      put(Uint32Array.from(levels)),
      levels.length,
      greatest,
      out,
    );
    const plain = levels.map((level) => Number(level === greatest));
    expect([...read(Uint8Array, out, levels.length)]).toEqual(plain);
    expect(count).toBe(plain.reduce((sum, one) => sum + one, 0));
  });
});

test('parquetDoubles makes doubles of values that lie plainly', () => {
  repeat((draw) => {
    const count = draw.integer(0, 40);
    const out = room(count * 8);
    const readAs = (kind: number, source: number) => {
      const isExact = kernels.parquetDoubles(source, kind, count, out) === 1;
      return isExact ? [...read(Float64Array, out, count)] : undefined;
    };
    const bits = draw.list(count, () => draw.integer(0, 1));
    const bytes = new Uint8Array((count + 7) >> 3);
    bits.forEach((bit, i) => {
      bytes[i >> 3] = (bytes[i >> 3] as number) | (bit << (i & 7));
    });
    expect(readAs(PARQUET_PLAIN.boolean, put(bytes))).toEqual(bits);
    const whole = draw.list(count, () => draw.integer(-(2 ** 31), 2 ** 31 - 1));
    expect(readAs(PARQUET_PLAIN.int32, put(Int32Array.from(whole)))).toEqual(whole);
    const days = draw.list(count, () => draw.integer(-1e6, 1e6));
    expect(readAs(PARQUET_PLAIN.days, put(Int32Array.from(days)))).toEqual(
      days.map((day) => day * 86_400),
    );
    const numbers = draw.list(count, () => draw.pick([-0, 0, draw.uniform(), -1e300, 1e-3]));
    expect(readAs(PARQUET_PLAIN.double, put(Float64Array.from(numbers)))).toEqual(
      numbers.map((number) => number + 0),
    );
    expect(readAs(PARQUET_PLAIN.float, put(Float32Array.from(numbers)))).toEqual(
      numbers.map((number) => Math.fround(number) + 0),
    );
    const large = draw.list(count, () =>
      BigInt(draw.pick([-(2 ** 53) + 1, 2 ** 53 - 1, draw.integer(-1e15, 1e15)])),
    );
    expect(readAs(PARQUET_PLAIN.int64, put(BigInt64Array.from(large)))).toEqual(large.map(Number));
    if (count === 0) return;
    large[draw.integer(0, count - 1)] = draw.pick([2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n]);
    expect(readAs(PARQUET_PLAIN.int64, put(BigInt64Array.from(large)))).toBeUndefined();
  });
});

test('parquetSeconds keeps whole seconds and their fraction apart', () => {
  repeat((draw) => {
    const perSecond = draw.pick([1e3, 1e6, 1e9]);
    const values = draw.list(draw.integer(0, 20), () =>
      BigInt.asIntN(64, BigInt(Math.floor(draw.uniform() * 2 ** 62)) * draw.pick([1n, -1n, 2n])),
    );
    const out = room(values.length * 8);
    kernels.parquetSeconds(put(BigInt64Array.from(values)), perSecond, values.length, out);
    const unit = BigInt(perSecond);
    expect([...read(Float64Array, out, values.length)]).toEqual(
      values.map((value) => Number(value / unit) + Number(value % unit) / perSecond),
    );
  });
});

test('parquetTexts finds texts behind their lengths, and none beyond the end', () => {
  repeat((draw) => {
    const texts = draw.list(draw.integer(0, 10), () => 'é'.repeat(draw.integer(0, 9)));
    const bytes = Buffer.concat(
      texts.flatMap((text) => {
        const length = Buffer.alloc(4);
        length.writeUInt32LE(Buffer.byteLength(text));
        return [length, Buffer.from(text)];
      }),
    );
    const start = put(bytes);
    const pairs = room(8 * texts.length + 8);
    const find = (count: number, end: number) =>
      kernels.parquetTexts(start, start + end, count, pairs) === 1;
    expect(find(texts.length, bytes.length)).toBe(true);
    texts.forEach((text, i) => {
      const [from = 0, to = 0] = read(Uint32Array, pairs + 8 * i, 2);
      expect(Buffer.from(read(Uint8Array, from, to - from)).toString()).toBe(text);
    });
    expect(find(texts.length + 1, bytes.length)).toBe(false);
    if (texts.length > 0) expect(find(texts.length, bytes.length - 1)).toBe(false);
  });
});
