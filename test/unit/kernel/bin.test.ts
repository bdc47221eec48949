import { describe, expect, test } from 'vitest';
import { BOUNDARY_SLOTS, DISTINCT_SLOTS } from '../../../src/kernel/generated.ts';
import { codesOf, kernels, put, read, repeat, room } from './support.ts';

describe('bucket codes', () => {
  test('binF64 counts the boundaries at or below a value', () => {
    repeat((draw) => {
      const count = draw.integer(0, 30);
      const values = draw.doubles(count);
      const bounds = [...new Set(draw.list(draw.integer(0, 20), () => draw.integer(-9, 9)))];
      bounds.sort((a, b) => a - b);
      const boundaries = new Float64Array(BOUNDARY_SLOTS).fill(Number.NaN);
      boundaries.set(bounds);
      const [stride, out] = [3, room(count * 3)];
      kernels.binF64(put(values), count, put(boundaries), out, stride);
      const found = [...read(Uint8Array, out, count * stride)].filter((_, i) => i % stride === 0);
      const plain = [...values].map((value) =>
        Number.isNaN(value) ? 0 : 1 + bounds.filter((bound) => bound <= value).length,
      );
      expect(found).toEqual(plain);
    });
  });

  test.each([1, 2, 4])('binCodes and binTotals of codes of %d bytes', (width) => {
    repeat((draw) => {
      const count = draw.integer(0, 30);
      const codes = draw.list(count, () => draw.integer(0, 9));
      const table = Uint8Array.from(draw.list(10, () => draw.integer(0, 255)));
      const [at, out] = [put(codesOf(width, codes)), room(count * 2)];
      kernels.binCodes(at, width, count, put(table), out, 2);
      const found = [...read(Uint8Array, out, count * 2)].filter((_, i) => i % 2 === 0);
      expect(found).toEqual(codes.map((code) => table[code]));
      const targets = draw.chance(0.5) ? Float64Array.from(draw.integers(count, -9, 9)) : undefined;
      const weights = draw.chance(0.5) ? Float64Array.from(draw.integers(count, 0, 9)) : undefined;
      const pairs = put(new Float64Array(20));
      const [t, w] = [targets, weights].map((numbers) =>
        numbers === undefined ? 0 : put(numbers),
      );
      kernels.binTotals(at, width, count, t as number, w as number, pairs);
      const plain = new Float64Array(20);
      for (const [i, code] of codes.entries()) {
        const weight = weights?.[i] ?? 1;
        plain[2 * code] = (plain[2 * code] as number) + weight;
        plain[2 * code + 1] = (plain[2 * code + 1] as number) + weight * (targets?.[i] ?? 0);
      }
      expect(read(Float64Array, pairs, 20)).toEqual(plain);
    });
  });
});

test('binDistinct collects distinct numbers with their weights, call after call', () => {
  repeat((draw) => {
    const count = draw.integer(1, 60);
    const values = draw.doubles(count);
    const weights = draw.chance(0.5) ? Float64Array.from(draw.integers(count, 1, 9)) : undefined;
    const limit = draw.pick([3, 512]);
    const [table, slots] = [room(DISTINCT_SLOTS * 16), room(1024)];
    const cut = draw.integer(1, count);
    const weightsAt = weights === undefined ? 0 : put(weights);
    const at = put(values);
    let found = kernels.binDistinct(at, cut, weightsAt, limit, table, slots, 0);
    if (found > 0 && found <= limit) {
      const next = weightsAt === 0 ? 0 : weightsAt + cut * 8;
      found = kernels.binDistinct(at + cut * 8, count - cut, next, limit, table, slots, found);
      const plain = new Map<number, number>();
      for (const [i, value] of values.entries()) {
        if (Number.isNaN(value)) continue;
        plain.set(value + 0, (plain.get(value + 0) ?? 0) + (weights?.[i] ?? 1));
      }
      expect(found).toBe(Math.min(plain.size, limit + 1));
      if (found > limit) return;
      const entries = [...read(Uint16Array, slots, found)].map((slot) => [
        ...read(Float64Array, table + slot * 16, 2),
      ]);
      expect(entries).toEqual([...plain]);
    } else {
      const distinct = new Set(values.subarray(0, cut).filter((value) => !Number.isNaN(value)));
      expect(found).toBe(Math.min(distinct.size, limit + 1));
    }
  });
});
