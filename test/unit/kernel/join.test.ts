import { describe, expect, test } from 'vitest';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const CODE_COUNT = 6;
const zeros = (size: number): number => put(new Uint8Array(size));

test('rangeCodesWithin', () => {
  repeat((draw) => {
    const count = draw.integer(0, 40);
    const values = draw.integers(count, -5, 12);
    const valid = draw.chance(0.5) ? draw.valid(count) : undefined;
    const out = room(count * 4);
    const validAt = valid === undefined ? 0 : put(valid);
    // Codes go from 1 to below the cardinality, which counts code 0 as well.
    kernels.rangeCodesWithin(put(values), validAt, count, -1, 8, out);
    const plain = values.map((value, i) =>
      valid?.[i] === 0 || value < -1 || value > 5 ? 0 : value + 2,
    );
    expect(read(Int32Array, out, count)).toEqual(plain);
  });
});

describe('matching rows', () => {
  /** Pairs of the rows of both sides, as a nested loop finds them. */
  function plainPairs(
    probe: Int32Array,
    truth: Uint8Array | undefined,
    build: Int32Array,
    lone: number,
  ): [number, number][] {
    const rows = [...probe.keys()].filter((row) => (truth?.[row] ?? 2) === 2);
    return rows.flatMap((row): [number, number][] => {
      const code = probe[row] as number;
      const matches = [...build.keys()].filter((other) => code !== 0 && build[other] === code);
      if (matches.length > 0) return matches.map((other) => [row, other]);
      return lone >= 0 ? [[row, lone]] : [];
    });
  }

  /** Calls a probe until it gives fewer pairs than there is room for. */
  function allPairs(
    capacity: number,
    probe: (left: number, right: number) => number,
  ): [number, number][] {
    const pairs: [number, number][] = [];
    const [left, right] = [room(capacity * 4), room(capacity * 4)];
    for (;;) {
      const found = probe(left, right);
      const rights = read(Int32Array, right, found);
      for (const [i, row] of read(Int32Array, left, found).entries()) {
        pairs.push([row, rights[i] as number]);
      }
      if (found < capacity) return pairs;
    }
  }

  const sidesOf = (draw: Draw) => {
    const probe = draw.integers(draw.integer(0, 20), 0, CODE_COUNT - 1);
    const build = draw.integers(draw.integer(0, 20), 0, CODE_COUNT - 1);
    const truth = draw.chance(0.5) ? draw.truth(probe.length) : undefined;
    const sharing = [...build].filter((code, i) => code !== 0 && build.indexOf(code) < i).length;
    return {
      ...{ probe, build, truth, sharing },
      truthAt: truth === undefined ? 0 : put(truth),
      lone: draw.pick([-1, 99]),
      capacity: draw.pick([1, 3, 1000]),
    };
  };

  test('linkRows and probePairs', () => {
    repeat((draw) => {
      const { probe, build, truth, sharing, truthAt, lone, capacity } = sidesOf(draw);
      const [head, next] = [zeros(CODE_COUNT * 4), zeros(build.length * 4)];
      // Two chunks, the last first.
      const cut = draw.integer(0, build.length);
      const behind = kernels.linkRows(put(build.slice(cut)), build.length - cut, cut, head, next);
      const before = kernels.linkRows(put(build.slice(0, cut)), cut, 0, head, next);
      expect(behind + before).toBe(sharing);
      const [codes, state] = [put(probe), zeros(8)];
      const pairs = allPairs(capacity, (left, right) =>
        kernels.probePairs(
          ...([codes, truthAt, probe.length, head, next, lone, state] as const),
          ...([left, right, capacity] as const),
        ),
      );
      expect(pairs).toEqual(plainPairs(probe, truth, build, lone));
    });
  });

  test('countCodes, sumCounts, placeRows and probeRows', () => {
    repeat((draw) => {
      const { probe, build, truth, sharing, truthAt, lone, capacity } = sidesOf(draw);
      const [ends, rows] = [zeros((CODE_COUNT + 1) * 4), room(build.length * 4)];
      const buildAt = put(build);
      expect(kernels.countCodes(buildAt, build.length, ends)).toBe(sharing);
      const sizes = Array.from({ length: CODE_COUNT + 1 }, (_, code) =>
        code < 2 ? 0 : [...build].filter((other) => other === code - 1).length,
      );
      expect([...read(Int32Array, ends, CODE_COUNT + 1)]).toEqual(sizes);
      kernels.sumCounts(ends, CODE_COUNT + 1);
      const sums = sizes.map((_, i) => sizes.slice(0, i + 1).reduce((a, b) => a + b, 0));
      expect([...read(Int32Array, ends, CODE_COUNT + 1)]).toEqual(sums);
      const cut = draw.integer(0, build.length);
      kernels.placeRows(buildAt, cut, 0, ends, rows);
      kernels.placeRows(buildAt + cut * 4, build.length - cut, cut, ends, rows);
      const [codes, state] = [put(probe), zeros(8)];
      const pairs = allPairs(capacity, (left, right) =>
        kernels.probeRows(
          ...([codes, truthAt, probe.length, ends, rows, lone, state] as const),
          ...([left, right, capacity] as const),
        ),
      );
      expect(pairs).toEqual(plainPairs(probe, truth, build, lone));
    });
  });
});

describe('values by codes', () => {
  test('markCodes, scatterBytes, scatterI32, scatterF64', () => {
    repeat((draw) => {
      const count = draw.integer(0, 20);
      const codes = draw.integers(count, 0, CODE_COUNT - 1);
      const at = put(codes);
      const present = zeros(CODE_COUNT);
      const sharing = [...codes].filter((code, i) => code !== 0 && codes.indexOf(code) < i).length;
      expect(kernels.markCodes(at, count, present)).toBe(sharing);
      const seen = Array.from({ length: CODE_COUNT }, (_, code) =>
        code !== 0 && codes.includes(code) ? 2 : 0,
      );
      expect([...read(Uint8Array, present, CODE_COUNT)]).toEqual(seen);
      const values = draw.integers(count, 0, 255);
      const last = Array.from(
        { length: CODE_COUNT },
        (_, code) => values[codes.lastIndexOf(code)] ?? 0,
      );
      const [bytes, integers, doubles] = [
        zeros(CODE_COUNT),
        zeros(CODE_COUNT * 4),
        zeros(CODE_COUNT * 8),
      ];
      kernels.scatterBytes(at, put(Uint8Array.from(values)), count, bytes);
      expect([...read(Uint8Array, bytes, CODE_COUNT)]).toEqual(last);
      kernels.scatterI32(at, put(values), count, integers);
      expect([...read(Int32Array, integers, CODE_COUNT)]).toEqual(last);
      kernels.scatterF64(at, put(Float64Array.from(values)), count, doubles);
      expect([...read(Float64Array, doubles, CODE_COUNT)]).toEqual(last);
    });
  });

  test('gatherBytes, gatherI32, gatherF64', () => {
    repeat((draw) => {
      const count = draw.integer(0, 20);
      const rows = draw.integers(count, 0, 9);
      const values = draw.integers(10, 0, 255);
      const plain = [...rows].map((row) => values[row]);
      const [at, out] = [put(rows), room(count * 8)];
      kernels.gatherBytes(put(Uint8Array.from(values)), at, count, out);
      expect([...read(Uint8Array, out, count)]).toEqual(plain);
      kernels.gatherI32(put(values), at, count, out);
      expect([...read(Int32Array, out, count)]).toEqual(plain);
      kernels.gatherF64(put(Float64Array.from(values)), at, count, out);
      expect([...read(Float64Array, out, count)]).toEqual(plain);
    });
  });
});
