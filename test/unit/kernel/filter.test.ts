import { describe, expect, test } from 'vitest';
import { COMPARE } from '../../../src/kernel/generated.ts';
import { codesOf, compareDoubles, kernels, put, read, repeat, room } from './support.ts';

/** Whether an operator holds for the sign of a comparison. */
const HOLDS: readonly [operator: number, holds: (sign: number) => boolean][] = [
  [COMPARE.equal, (sign) => sign === 0],
  [COMPARE.notEqual, (sign) => sign !== 0],
  [COMPARE.less, (sign) => sign < 0],
  [COMPARE.lessOrEqual, (sign) => sign <= 0],
  [COMPARE.greater, (sign) => sign > 0],
  [COMPARE.greaterOrEqual, (sign) => sign >= 0],
];

describe('comparisons', () => {
  test.each(HOLDS)('compareI32 by operator %d', (operator, holds) => {
    repeat((draw) => {
      const count = draw.integer(0, 70);
      const values = draw.integers(count, -3, 3);
      const limit = draw.integer(-3, 3);
      const out = room(count);
      kernels.compareI32(put(values), count, operator, limit, out);
      const plain = Uint8Array.from(values, (value) => (holds(Math.sign(value - limit)) ? 2 : 0));
      expect(read(Uint8Array, out, count)).toEqual(plain);
    });
  });

  test.each(HOLDS)('compareF64 by operator %d', (operator, holds) => {
    repeat((draw) => {
      const count = draw.integer(0, 70);
      const isConstant = draw.chance(0.5);
      const a = draw.doubles(count);
      const b = draw.doubles(count);
      if (isConstant) b.fill(draw.double());
      const right = isConstant ? Float64Array.of(b[0] ?? 0, b[0] ?? 0) : b;
      const out = room(count);
      kernels.compareF64(put(a), put(right), isConstant ? 0 : 16, count, operator, out);
      const plain = Uint8Array.from(a, (value, i) =>
        holds(compareDoubles(value, b[i] as number)) ? 2 : 0,
      );
      expect(read(Uint8Array, out, count)).toEqual(plain);
    });
  });
});

describe('truth', () => {
  test('andTruth, orTruth, notTruth, nullTruth, countTrue, selectTrue', () => {
    repeat((draw) => {
      const count = draw.integer(0, 70);
      const [a, b, valid] = [draw.truth(count), draw.truth(count), draw.valid(count)];
      const [atA, atB, out] = [put(a), put(b), room(count)];
      kernels.andTruth(atA, atB, count, out);
      const both = Uint8Array.from(a, (truth, i) => Math.min(truth, b[i] as number));
      expect(read(Uint8Array, out, count)).toEqual(both);
      kernels.orTruth(atA, atB, count, out);
      const either = Uint8Array.from(a, (truth, i) => Math.max(truth, b[i] as number));
      expect(read(Uint8Array, out, count)).toEqual(either);
      kernels.notTruth(atA, count, out);
      expect(read(Uint8Array, out, count)).toEqual(a.map((truth) => 2 - truth));
      const positions = room(count * 4);
      const rows = [...a.keys()].filter((row) => a[row] === 2);
      expect(kernels.countTrue(atA, count)).toBe(rows.length);
      expect(kernels.selectTrue(atA, count, positions)).toBe(rows.length);
      expect([...read(Int32Array, positions, rows.length)]).toEqual(rows);
      kernels.nullTruth(atA, put(valid), count);
      const plain = a.map((truth, i) => (valid[i] === 1 ? truth : 1));
      expect(read(Uint8Array, atA, count)).toEqual(plain);
    });
  });

  test('expandBits takes the least significant bit first', () => {
    repeat((draw) => {
      const count = draw.integer(0, 70);
      const bits = Uint8Array.from(draw.list(Math.ceil(count / 8), () => draw.integer(0, 255)));
      const out = room(count);
      kernels.expandBits(put(bits), count, out);
      const plain = draw
        .list(count, () => 0)
        .map((_, i) => ((bits[i >> 3] as number) >> (i & 7)) & 1);
      expect([...read(Uint8Array, out, count)]).toEqual(plain);
    });
  });
});

describe('codes', () => {
  test.each([1, 2, 4])('of %d bytes: validCodes, widenCodes and the maps', (width) => {
    repeat((draw) => {
      const count = draw.integer(0, 40);
      const codes = draw.list(count, () => draw.integer(0, 9));
      const at = put(codesOf(width, codes));
      const bytes = Uint8Array.from(draw.list(10, () => draw.integer(0, 255)));
      const integers = draw.integers(10, -(2 ** 31), 2 ** 31 - 1);
      const doubles = draw.doubles(10);
      const out = room(count * 8);
      kernels.validCodes(at, width, count, out);
      expect([...read(Uint8Array, out, count)]).toEqual(codes.map((code) => Number(code !== 0)));
      kernels.widenCodes(at, width, count, out);
      expect([...read(Int32Array, out, count)]).toEqual(codes);
      kernels.mapCodesU8(at, width, count, put(bytes), out);
      expect([...read(Uint8Array, out, count)]).toEqual(codes.map((code) => bytes[code]));
      kernels.mapCodesI32(at, width, count, put(integers), out);
      expect([...read(Int32Array, out, count)]).toEqual(codes.map((code) => integers[code]));
      kernels.mapCodesF64(at, width, count, put(doubles), out);
      expect([...read(Float64Array, out, count)]).toEqual(codes.map((code) => doubles[code]));
    });
  });
});
