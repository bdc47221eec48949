import { describe, expect, test } from 'vitest';
import { hashElement } from '../../../src/value/path-hash.ts';
import { type Draw, kernels, keyOfDouble, put, read, repeat, room } from './support.ts';

const ALL_ONES = 0xffff_ffff_ffff_ffffn;
const u64 = (word: bigint): bigint => BigInt.asUintN(64, word);

interface Pair {
  readonly key: bigint;
  readonly row: bigint;
}

const compareWords = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));
const compareKeys = (a: Pair, b: Pair): number => compareWords(a.key, b.key);

function putPairs(pairs: readonly Pair[]): number {
  return put(BigUint64Array.from(pairs.flatMap(({ key, row }) => [key, row])));
}

function readPairs(at: number, count: number): Pair[] {
  const words = read(BigUint64Array, at, count * 2);
  return Array.from({ length: count }, (_, i) => ({
    key: words[2 * i] as bigint,
    row: words[2 * i + 1] as bigint,
  }));
}

/** Words of which some are equal and some differ in a few bits. */
function wordOf(draw: Draw): bigint {
  if (draw.chance(0.4)) return BigInt(draw.integer(0, 5)) << BigInt(draw.pick([0, 8, 40]));
  return draw.word();
}

const pairsOf = (draw: Draw, count: number): Pair[] =>
  draw.list(count, () => wordOf(draw)).map((key, i) => ({ key, row: BigInt(i) }));

describe('keys', () => {
  test.each([0, 1])('orderKeysF64, descending: %d', (descending) => {
    repeat((draw) => {
      const count = draw.integer(0, 30);
      const values = draw.doubles(count);
      const valid = draw.chance(0.5) ? draw.valid(count) : undefined;
      const out = room(count * 8);
      const validAt = valid === undefined ? 0 : put(valid);
      kernels.orderKeysF64(put(values), validAt, count, descending, out);
      const plain = [...values].map((value, i) => {
        const key = valid?.[i] === 0 ? 0n : keyOfDouble(value);
        return descending === 1 ? ALL_ONES - key : key;
      });
      expect([...read(BigUint64Array, out, count)]).toEqual(plain);
    });
  });

  test('packKeyI32 and appendTails', () => {
    repeat((draw) => {
      const count = draw.integer(0, 20);
      const values = draw.integers(count, -3, 3);
      const valid = draw.chance(0.5) ? draw.valid(count) : undefined;
      const words = BigUint64Array.from(draw.list(count, () => BigInt(draw.integer(0, 1000))));
      const top = draw.pick([-1, 7]);
      const at = put(words);
      const validAt = valid === undefined ? 0 : put(valid);
      kernels.packKeyI32(put(values), validAt, count, -3, top, 4, at);
      const packed = [...words].map((word, i) => {
        const field = valid?.[i] === 0 ? 0 : (values[i] as number) + 4;
        return u64((word << 4n) | BigInt(top < 0 ? field : top - field));
      });
      expect([...read(BigUint64Array, at, count)]).toEqual(packed);
      const tails = BigUint64Array.from(draw.list(count, () => draw.word()));
      const [bits, align] = [draw.integer(1, 63), draw.integer(0, 63)];
      kernels.appendTails(at, put(tails), count, bits, align);
      const plain = packed.map((word, i) =>
        u64(
          (word << BigInt(64 - bits)) |
            (u64((tails[i] as bigint) << BigInt(align)) >> BigInt(bits)),
        ),
      );
      expect([...read(BigUint64Array, at, count)]).toEqual(plain);
    });
  });
});

describe('the first rows', () => {
  test('selectAtMost, splitTies, keepLeast, pairTrueKeys', () => {
    repeat((draw) => {
      const count = draw.integer(0, 40);
      const keys = BigUint64Array.from(draw.list(count, () => wordOf(draw)));
      const truth = draw.chance(0.5) ? draw.truth(count) : undefined;
      const truthAt = truth === undefined ? 0 : put(truth);
      const keysAt = put(keys);
      const rows = [...keys.keys()].filter((row) => (truth?.[row] ?? 2) === 2);
      const limit = keys[draw.integer(0, Math.max(0, count - 1))] ?? 0n;
      const most = rows.filter((row) => (keys[row] as bigint) <= limit);
      const [out, ties] = [room(count * 4), room(count * 4)];
      expect(kernels.selectAtMost(keysAt, truthAt, count, limit, out)).toBe(most.length);
      expect([...read(Int32Array, out, most.length)]).toEqual(most);
      const below = most.filter((row) => (keys[row] as bigint) < limit);
      const at = most.filter((row) => keys[row] === limit);
      expect(kernels.splitTies(keysAt, out, most.length, limit, ties)).toBe(below.length);
      expect([...read(Int32Array, out, below.length)]).toEqual(below);
      expect([...read(Int32Array, ties, at.length)]).toEqual(at);
      const keep = draw.integer(1, 9);
      const heap = room(keep * 8);
      const cut = draw.integer(0, count);
      const some = kernels.keepLeast(keysAt, truthAt, cut, heap, 0, keep);
      const kept = kernels.keepLeast(
        ...([keysAt + cut * 8, truthAt === 0 ? 0 : truthAt + cut, count - cut] as const),
        ...([heap, some, keep] as const),
      );
      const sorted = rows.map((row) => keys[row] as bigint).sort(compareWords);
      const least = sorted.slice(0, keep);
      expect(kept).toBe(least.length);
      const found = [...read(BigUint64Array, heap, kept)];
      if (kept > 0) expect(found[0]).toBe(least.at(-1));
      expect(found.sort(compareWords)).toEqual(least);
      const pairs = room(count * 16);
      expect(kernels.pairTrueKeys(keysAt, truthAt, count, 7, pairs)).toBe(rows.length);
      expect(readPairs(pairs, rows.length)).toEqual(
        rows.map((row) => ({ key: keys[row], row: BigInt(row + 7) })),
      );
    });
  });

  test('selectWithinI32', () => {
    repeat((draw) => {
      const count = draw.integer(0, 60);
      const values = draw.integers(count, -9, 9);
      const truth = draw.chance(0.5) ? draw.truth(count) : undefined;
      const [from, limit, most] = [
        draw.integer(0, count),
        draw.integer(-9, 9),
        draw.integer(0, 40),
      ];
      for (const descending of [0, 1]) {
        const rows = [...values.keys()].filter((row) => {
          const value = values[row] as number;
          const isWithin = descending === 1 ? value >= limit : value <= limit;
          return row >= from && isWithin && (truth?.[row] ?? 2) === 2;
        });
        const out = room((most + 16) * 4);
        const found = kernels.selectWithinI32(
          ...([put(values), truth === undefined ? 0 : put(truth), from, count] as const),
          ...([limit, descending, most, out] as const),
        );
        expect(found).toBe(rows.length > most ? -1 : rows.length);
        if (found >= 0) expect([...read(Int32Array, out, found)]).toEqual(rows);
      }
    });
  });
});

describe('pairs', () => {
  test('radixPass sorts stably by eight bits; varyingBits', () => {
    repeat((draw) => {
      const count = draw.integer(0, 40);
      const pairs = pairsOf(draw, count);
      const shift = draw.pick([0, 8, 40, 56]);
      const [source, target] = [putPairs(pairs), room(count * 16)];
      kernels.radixPass(source, target, count, shift, room(1024));
      const digit = ({ key }: Pair) => (key >> BigInt(shift)) & 255n;
      const plain = [...pairs].sort((a, b) => compareWords(digit(a), digit(b)));
      expect(readPairs(target, count)).toEqual(plain);
      const varying = pairs.reduce((bits, { key }) => bits | (key ^ (pairs[0] as Pair).key), 0n);
      expect(u64(kernels.varyingBits(source, count))).toBe(varying);
    });
  });

  test('sortPairs, findTie, endOfTie, rowsOfPairs, markChanges, setPairKeys, gatherPairKeys', () => {
    repeat((draw) => {
      const count = draw.integer(0, draw.pick([10, 300]));
      const pairs = pairsOf(draw, count);
      const at = putPairs(pairs);
      kernels.sortPairs(at, room(count * 16), count, room(9 * 1024));
      const sorted = [...pairs].sort(compareKeys);
      expect(readPairs(at, count)).toEqual(sorted);
      const from = draw.integer(0, Math.max(0, count - 1));
      const tie = sorted.findIndex((pair, i) => i >= from && pair.key === sorted[i + 1]?.key);
      expect(kernels.findTie(at, from, count)).toBe(tie < 0 ? count : tie);
      if (count > 0) {
        const end = sorted.findIndex((pair, i) => i > from && pair.key !== sorted[from]?.key);
        expect(kernels.endOfTie(at, from, count)).toBe(end < 0 ? count : end);
      }
      const rows = room(count * 4);
      kernels.rowsOfPairs(at, count, rows);
      expect([...read(Uint32Array, rows, count)]).toEqual(sorted.map(({ row }) => Number(row)));
      const few = BigUint64Array.from(draw.list(count, () => BigInt(draw.integer(0, 1))));
      const changes = put(new Uint8Array(count));
      kernels.markChanges(put(few), rows, count, changes);
      const wordOfRow = (at: number) => few[Number(sorted[at]?.row)];
      const marks = sorted.map((_, at) => Number(at === 0 || wordOfRow(at) !== wordOfRow(at - 1)));
      expect([...read(Uint8Array, changes, count)]).toEqual(marks);
      const words = BigUint64Array.from(draw.list(count, () => draw.word()));
      kernels.setPairKeys(at, count, put(words));
      expect(readPairs(at, count)).toEqual(sorted.map(({ row }, i) => ({ key: words[i], row })));
      kernels.gatherPairKeys(at, count, put(words));
      expect(readPairs(at, count)).toEqual(
        sorted.map(({ row }) => ({ key: words[Number(row)], row })),
      );
    });
  });
});

test('markChanges', () => {
  repeat((draw) => {
    const count = draw.integer(0, 30);
    const words = BigUint64Array.from(draw.list(count, () => wordOf(draw)));
    const rows = Uint32Array.from(draw.list(count, () => draw.integer(0, Math.max(0, count - 1))));
    const before = Uint8Array.from(draw.list(count, () => Number(draw.chance(0.2))));
    const out = put(before);
    kernels.markChanges(put(words), put(rows), count, out);
    const wordAt = (i: number) => words[rows[i] as number];
    const plain = [...before].map((mark, i) => (i === 0 || wordAt(i) !== wordAt(i - 1) ? 1 : mark));
    expect([...read(Uint8Array, out, count)]).toEqual(plain);
  });
});

describe('ties go by the hashes of the names of rows', () => {
  const FIRST = 1000;
  const hashOf = (row: bigint): bigint => hashElement(String(BigInt(FIRST) + row));

  test('sortTies', () => {
    repeat((draw) => {
      const count = draw.integer(0, 30);
      const keys = draw.list(count, () => BigInt(draw.integer(0, 9))).sort(compareWords);
      const pairs = keys.map((key, i) => ({ key, row: BigInt(i) }));
      const most = draw.integer(1, 6);
      const at = putPairs(pairs);
      const runOf = (key: bigint) => keys.filter((other) => other === key).length;
      const long = keys.findIndex((key) => runOf(key) > most);
      const end = long < 0 ? count : long;
      expect(kernels.sortTies(at, 0, count, most, FIRST, room(16))).toBe(end);
      const plain = pairs.slice(0, end).sort((a, b) => {
        return compareKeys(a, b) || compareWords(hashOf(a.row), hashOf(b.row));
      });
      const found = readPairs(at, end).map(({ row }) => row);
      expect(found).toEqual(plain.map(({ row }) => row));
    });
  });

  test('groupLeast and mergeLeast', () => {
    repeat((draw) => {
      const count = draw.integer(0, 30);
      const groups = draw.integers(count, 0, 3);
      const words = draw.chance(0.5)
        ? BigUint64Array.from(draw.list(count, () => BigInt(draw.integer(0, 2))))
        : undefined;
      const [cells, others] = [put(new Uint8Array(64)), put(new Uint8Array(64))];
      const cut = draw.integer(0, count);
      const [groupsAt, wordsAt] = [put(groups), words === undefined ? 0 : put(words)];
      const spare = room(32);
      kernels.groupLeast(groupsAt, wordsAt, cut, 0, cells, FIRST, spare);
      kernels.groupLeast(
        ...([groupsAt + cut * 4, wordsAt === 0 ? 0 : wordsAt + cut * 8, count - cut] as const),
        ...([cut, others, FIRST, spare] as const),
      );
      kernels.mergeLeast(cells, others, 4, FIRST, spare);
      for (let group = 0; group < 4; group++) {
        const rows = [...groups.keys()].filter((row) => groups[row] === group).map(BigInt);
        const word = (row: bigint) => words?.[Number(row)] ?? 0n;
        const [least] = rows.sort(
          (a, b) => compareWords(word(a), word(b)) || compareWords(hashOf(a), hashOf(b)),
        );
        const row = read(Uint32Array, cells + group * 16 + 8, 1)[0];
        expect(row).toBe(least === undefined ? 0 : Number(least) + 1);
      }
    });
  });
});

test('leastOfGroups and stillLeast find the least keys of groups and their ties', () => {
  repeat((draw) => {
    const keep = draw.integer(1, 4);
    const groupCount = 4;
    const count = draw.integer(0, 40);
    const groups = Int32Array.from(draw.list(count, () => draw.integer(0, groupCount - 1)));
    const keys = BigUint64Array.from(draw.list(count, () => wordOf(draw)));
    const [heaps, counts] = [groupCount * keep * 8, groupCount * 4].map((sizeBytes) =>
      put(new Uint8Array(sizeBytes)),
    ) as [number, number];
    const found = room(count * 16);
    // In two calls, as for two chunks.
    const half = Math.floor(count / 2);
    const first = kernels.leastOfGroups(
      ...([put(groups.slice(0, half)), put(keys.slice(0, half)), half, 100] as const),
      ...([keep, heaps, counts, found] as const),
    );
    const second = kernels.leastOfGroups(
      ...([put(groups.slice(half)), put(keys.slice(half)), count - half, 100 + half] as const),
      ...([keep, heaps, counts, found + first * 16] as const),
    );
    const rows = room(count * 4);
    const kept = kernels.stillLeast(found, first + second, keep, heaps, counts, rows);
    const isWanted = (row: number) => {
      const rivals = [...keys.keys()].filter((other) => groups[other] === groups[row]);
      const smaller = rivals.filter((other) => (keys[other] as bigint) < (keys[row] as bigint));
      return groups[row] === 0 || smaller.length < keep;
    };
    expect([...read(Uint32Array, rows, kept)]).toEqual(
      [...keys.keys()].filter(isWanted).map((row) => 100 + row),
    );
  });
});
