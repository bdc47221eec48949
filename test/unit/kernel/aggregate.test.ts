import { describe, expect, test } from 'vitest';
import { codesOf, compareDoubles, type Draw, kernels, put, read, repeat, room } from './support.ts';

const GROUP_COUNT = 4;

function rowsOf(draw: Draw) {
  const count = draw.integer(0, 50);
  const valid = draw.chance(0.5) ? draw.valid(count) : undefined;
  const groups = draw.integers(count, 0, GROUP_COUNT - 1);
  return {
    count,
    groups,
    valid,
    groupsAt: put(groups),
    validAt: valid === undefined ? 0 : put(valid),
    /** rows of a group that have a value */
    of: (group: number) =>
      [...groups.keys()].filter((row) => groups[row] === group && valid?.[row] !== 0),
  };
}

const zeros = (size: number): number => put(new Uint8Array(size));
const groupNumbers = Array.from({ length: GROUP_COUNT }, (_, group) => group);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);

describe('numbers of groups', () => {
  test('dropGroups, combineGroups, rangeCodes', () => {
    repeat((draw) => {
      const { count, groups, groupsAt, valid, validAt } = rowsOf(draw);
      const truth = draw.truth(count);
      const next = draw.integers(count, 0, 9);
      kernels.combineGroups(groupsAt, put(next), count, 10);
      const combined = groups.map((group, i) => group * 10 + (next[i] as number));
      expect(read(Int32Array, groupsAt, count)).toEqual(combined);
      kernels.dropGroups(groupsAt, put(truth), count, 77);
      const dropped = combined.map((group, i) => (truth[i] === 2 ? group : 77));
      expect(read(Int32Array, groupsAt, count)).toEqual(dropped);
      const out = room(count * 4);
      kernels.rangeCodes(put(next), validAt, count, -2, out);
      const codes = next.map((value, i) => (valid?.[i] === 0 ? 0 : value + 3));
      expect(read(Int32Array, out, count)).toEqual(codes);
    });
  });
});

describe('cells of groups', () => {
  test('groupCount', () => {
    repeat((draw) => {
      const { count, groupsAt, validAt, of } = rowsOf(draw);
      const cells = zeros(GROUP_COUNT * 8);
      kernels.groupCount(groupsAt, validAt, count, cells);
      const plain = groupNumbers.map((group) => BigInt(of(group).length));
      expect([...read(BigInt64Array, cells, GROUP_COUNT)]).toEqual(plain);
    });
  });

  test('groupSumI32 and groupSumF64', () => {
    repeat((draw) => {
      const { count, groupsAt, validAt, of } = rowsOf(draw);
      const values = draw.integers(count, -(2 ** 31), 2 ** 31 - 1);
      const cells = zeros(GROUP_COUNT * 16);
      kernels.groupSumI32(groupsAt, put(values), validAt, count, cells);
      const plain = groupNumbers.flatMap((group) => [
        BigInt(of(group).length),
        BigInt(sum(of(group).map((row) => values[row] as number))),
      ]);
      expect([...read(BigInt64Array, cells, GROUP_COUNT * 2)]).toEqual(plain);
      const doubles = zeros(GROUP_COUNT * 16);
      const numbers = draw.doubles(count);
      kernels.groupSumF64(groupsAt, put(numbers), validAt, count, doubles);
      for (const group of groupNumbers) {
        expect(read(BigInt64Array, doubles + group * 16, 1)[0]).toBe(BigInt(of(group).length));
        const total = sum(of(group).map((row) => numbers[row] as number));
        expect(read(Float64Array, doubles + group * 16 + 8, 1)[0]).toBe(total);
      }
    });
  });

  test.each([
    ['groupMinF64', -1],
    ['groupMaxF64', 1],
  ] as const)('%s', (name, sign) => {
    repeat((draw) => {
      const { count, groupsAt, validAt, of } = rowsOf(draw);
      const values = draw.doubles(count).map((value) => value + 0);
      const cells = zeros(GROUP_COUNT * 16);
      if (name === 'groupMinF64') {
        kernels.groupMinF64(groupsAt, put(values), validAt, count, cells);
      } else kernels.groupMaxF64(groupsAt, put(values), validAt, count, cells);
      for (const group of groupNumbers) {
        const mine = of(group).map((row) => values[row] as number);
        expect(read(BigInt64Array, cells + group * 16, 1)[0]).toBe(BigInt(mine.length));
        if (mine.length === 0) continue;
        const best = mine.reduce((x, y) => (compareDoubles(y, x) * sign > 0 ? y : x));
        expect(read(Float64Array, cells + group * 16 + 8, 1)[0]).toBe(best);
      }
    });
  });

  test('groupMoments', () => {
    repeat((draw) => {
      const { count, groupsAt, validAt, of } = rowsOf(draw);
      const values = Float64Array.from(draw.list(count, () => draw.uniform() * 100));
      const cells = zeros(GROUP_COUNT * 32);
      kernels.groupMoments(groupsAt, put(values), validAt, count, cells);
      for (const group of groupNumbers) {
        const mine = of(group).map((row) => values[row] as number);
        const [n, mean, squares] = read(Float64Array, cells + group * 32, 3);
        const plainMean = mine.length === 0 ? 0 : sum(mine) / mine.length;
        expect(n).toBe(mine.length);
        expect(mean).toBeCloseTo(plainMean, 9);
        expect(squares).toBeCloseTo(sum(mine.map((x) => (x - plainMean) ** 2)), 6);
      }
    });
  });

  test('groupPresence and presence', () => {
    repeat((draw) => {
      const { count, groups, groupsAt } = rowsOf(draw);
      const codes = draw.integers(count, 0, 6);
      const present = zeros(GROUP_COUNT * 7);
      kernels.groupPresence(groupsAt, put(codes), count, 7, present);
      const plain = new Uint8Array(GROUP_COUNT * 7);
      for (const [i, group] of groups.entries()) plain[group * 7 + (codes[i] as number)] = 1;
      expect(read(Uint8Array, present, GROUP_COUNT * 7)).toEqual(plain);
      const truth = draw.chance(0.5) ? draw.truth(count) : undefined;
      const width = draw.pick([1, 2, 4]);
      const out = zeros(7);
      const at = put(codesOf(width, [...codes]));
      kernels.presence(at, width, truth === undefined ? 0 : put(truth), count, out);
      const seen = new Uint8Array(7);
      for (const [i, code] of codes.entries()) if ((truth?.[i] ?? 2) === 2) seen[code] = 1;
      expect(read(Uint8Array, out, 7)).toEqual(seen);
    });
  });
});

describe('sums over rows that are true', () => {
  test('sumI32 and sumF64Where', () => {
    repeat((draw) => {
      const count = draw.integer(0, 50);
      const truth = draw.chance(0.6) ? draw.truth(count) : undefined;
      const at = truth === undefined ? 0 : put(truth);
      const values = draw.integers(count, -(2 ** 31), 2 ** 31 - 1);
      const rows = [...values.keys()].filter((row) => (truth?.[row] ?? 2) === 2);
      const total = sum(rows.map((row) => values[row] as number));
      expect(kernels.sumI32(put(values), at, count)).toBe(BigInt(total));
      expect(kernels.sumF64Where(put(Float64Array.from(values)), at, count)).toBe(total);
    });
  });
});

describe('cells put together', () => {
  test('addCellsI64, addCellsF64, addCounts, orBytes, countBytes', () => {
    repeat((draw) => {
      const count = draw.integer(0, 9);
      const words = () =>
        BigInt64Array.from(draw.list(count * 2, () => BigInt(draw.integer(0, 1e9))));
      const [a, b] = [words(), words()];
      const at = put(a);
      kernels.addCellsI64(at, put(b), count);
      expect(read(BigInt64Array, at, count * 2)).toEqual(a.map((x, i) => x + (b[i] as bigint)));
      const counts = put(a);
      kernels.addCounts(counts, put(b), count * 2);
      expect(read(BigInt64Array, counts, count * 2)).toEqual(a.map((x, i) => x + (b[i] as bigint)));
      const [sums, others] = [draw.doubles(count), draw.doubles(count)];
      const cells = cellsOf(a, sums);
      kernels.addCellsF64(cells, cellsOf(b, others), count);
      for (let i = 0; i < count; i++) {
        const total = (a[2 * i] as bigint) + (b[2 * i] as bigint);
        expect(read(BigInt64Array, cells + i * 16, 1)[0]).toBe(total);
        const plain = (sums[i] as number) + (others[i] as number);
        expect(read(Float64Array, cells + i * 16 + 8, 1)[0]).toBe(plain);
      }
      const [x, y] = [draw.valid(count * 7), draw.valid(count * 7)];
      const bits = put(x);
      expect(kernels.countBytes(bits, x.length)).toBe(sum([...x]));
      kernels.orBytes(bits, put(y), x.length);
      expect(read(Uint8Array, bits, x.length)).toEqual(x.map((bit, i) => bit | (y[i] as number)));
    });
  });

  test.each([1, -1])('mergeExtremes with sign %d', (sign) => {
    repeat((draw) => {
      const count = draw.integer(1, 9);
      const counts = () =>
        BigInt64Array.from(draw.list(count * 2, () => BigInt(draw.integer(0, 2))));
      const [a, b] = [counts(), counts()];
      const [x, y] = [draw.doubles(count), draw.doubles(count)];
      const cells = cellsOf(a, x);
      kernels.mergeExtremes(cells, cellsOf(b, y), count, sign);
      for (let i = 0; i < count; i++) {
        const [m, n] = [a[2 * i] as bigint, b[2 * i] as bigint];
        const offered = [...(m > 0n ? [x[i]] : []), ...(n > 0n ? [y[i]] : [])] as number[];
        expect(read(BigInt64Array, cells + i * 16, 1)[0]).toBe(m + n);
        if (offered.length === 0) continue;
        const best = offered.reduce((p, q) => (compareDoubles(q, p) * sign < 0 ? q : p));
        expect(compareDoubles(read(Float64Array, cells + i * 16 + 8, 1)[0] as number, best)).toBe(
          0,
        );
      }
    });
  });
});

/** Cells { count: i64, number: f64 }; every other count is used. */
function cellsOf(counts: BigInt64Array, numbers: Float64Array): number {
  const cells = new DataView(new ArrayBuffer(16 * numbers.length));
  for (const [i, number] of numbers.entries()) {
    cells.setBigInt64(16 * i, counts[2 * i] as bigint, true);
    cells.setFloat64(16 * i + 8, number, true);
  }
  return put(new Uint8Array(cells.buffer));
}
