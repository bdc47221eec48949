import { describe, expect, test } from 'vitest';
import { type Draw, kernels, keyOfDouble, put, read, repeat, room } from './support.ts';

const zeros = (size: number): number => put(new Uint8Array(size));
const MASK = 63;

/** Few distinct words, so that they repeat. */
function wordsOf(draw: Draw, count: number): BigUint64Array {
  const words = draw.list(6, () => (draw.chance(0.5) ? draw.word() : BigInt(draw.integer(0, 3))));
  return BigUint64Array.from(draw.list(count, () => draw.pick(words)));
}

interface Pair {
  readonly key: bigint;
  readonly position: number;
  readonly number: number;
}

function pairsAt(at: number, count: number): Pair[] {
  const words = read(Uint32Array, at, count * 4);
  return Array.from({ length: count }, (_, i) => ({
    key: read(BigUint64Array, at + i * 16, 1)[0] as bigint,
    position: words[i * 4 + 2] as number,
    number: words[i * 4 + 3] as number,
  }));
}

describe('numbers of many keys', () => {
  test('partitionKeys puts equal keys into one part, in row order; numberPairs, scatterNumbers', () => {
    repeat((draw) => {
      const count = draw.integer(0, 40);
      const keys = wordsOf(draw, count);
      const truth = draw.chance(0.5) ? draw.truth(count) : undefined;
      const rows = [...keys.keys()].filter((row) => (truth?.[row] ?? 2) === 2);
      const [pairs, starts] = [room(count * 16), room(5 * 4)];
      const truthAt = truth === undefined ? 0 : put(truth);
      kernels.partitionKeys(put(keys), truthAt, count, 2, pairs, starts);
      const bounds = read(Uint32Array, starts, 5);
      expect([bounds[0], bounds[4]]).toEqual([0, rows.length]);
      const found = pairsAt(pairs, rows.length);
      const partOf = (at: number) => bounds.findLastIndex((start) => start <= at);
      const parts = new Map<bigint, number>();
      for (const [at, pair] of found.entries()) {
        expect(pair.key).toBe(keys[pair.position]);
        expect(parts.get(pair.key) ?? partOf(at)).toBe(partOf(at));
        parts.set(pair.key, partOf(at));
        const before = found[at - 1];
        if (before !== undefined && partOf(at - 1) === partOf(at)) {
          expect(pair.position).toBeGreaterThan(before.position);
        }
      }
      expect(found.map(({ position }) => position).sort((a, b) => a - b)).toEqual(rows);
      const [table, distinct, state] = [zeros((MASK + 1) * 16), room(rows.length * 8), zeros(4)];
      const done = kernels.numberPairs(pairs, rows.length, table, MASK, distinct, state);
      expect(done).toBe(rows.length);
      const plain = [...new Set(found.map(({ key }) => key))];
      expect(read(Int32Array, state, 1)[0]).toBe(plain.length);
      expect([...read(BigUint64Array, distinct, plain.length)]).toEqual(plain);
      const numbered = pairsAt(pairs, rows.length);
      expect(numbered.map(({ number }) => number)).toEqual(
        found.map(({ key }) => plain.indexOf(key) + 1),
      );
      const bases = Uint32Array.of(100, 200, 300, 400);
      const out = room(count * 4);
      kernels.scatterNumbers(pairs, starts, put(bases), 4, out);
      for (const [at, { position, number }] of numbered.entries()) {
        const base = bases[partOf(at)] as number;
        expect(read(Uint32Array, out + position * 4, 1)[0]).toBe(number + base);
      }
    });
  });

  test('numberPairs stops when the table is half full; enterKeys enters what was found', () => {
    repeat((draw) => {
      const keys = [...new Set(draw.list(20, () => draw.word()))];
      const pairs = BigUint64Array.from(keys.flatMap((key) => [key, 0n]));
      const [table, distinct, state] = [zeros(16 * 16), room(keys.length * 8), zeros(4)];
      const at = put(pairs);
      const done = kernels.numberPairs(at, keys.length, table, 15, distinct, state);
      expect(done).toBe(7);
      const larger = zeros(64 * 16);
      kernels.enterKeys(distinct, done, larger, 63);
      const rest = keys.length - done;
      expect(kernels.numberPairs(at + done * 16, rest, larger, 63, distinct, state)).toBe(rest);
      expect([...read(BigUint64Array, distinct, keys.length)]).toEqual(keys);
    });
  });

  test.each([0, 1])('enterWords and findWords, pairs: %d', (isPair) => {
    repeat((draw) => {
      const count = draw.integer(0, 40);
      const words = wordsOf(draw, count);
      const others = wordsOf(draw, count);
      const table = zeros((MASK + 1) * 16);
      const isMissing = (word: bigint) =>
        isPair === 1 ? word >> 32n === 0n || (word & 0xffffffffn) === 0n : word === 0n;
      const plain = [...new Set([...words].filter((word) => !isMissing(word)))];
      const used = kernels.enterWords(put(words), count, isPair, table, MASK, 0);
      expect(used).toBe(plain.length);
      const out = room(count * 4);
      for (const sought of [words, others]) {
        kernels.findWords(put(sought), count, isPair, table, MASK, out);
        const numbers = [...sought].map((word) => (isMissing(word) ? 0 : plain.indexOf(word) + 1));
        expect([...read(Uint32Array, out, count)]).toEqual(numbers);
      }
    });
  });
});

describe('words', () => {
  test('pairCodes, fieldsOfWords, gatherU64, doublesOfKeys', () => {
    repeat((draw) => {
      const count = draw.integer(0, 20);
      const [upper, lower] = [draw.integers(count, 0, 1e9), draw.integers(count, 0, 1e9)];
      const out = room(count * 8);
      kernels.pairCodes(put(upper), put(lower), count, out);
      const words = [...upper].map((word, i) => (BigInt(word) << 32n) | BigInt(lower[i] as number));
      expect([...read(BigUint64Array, out, count)]).toEqual(words);
      const fields = room(count * 4);
      const [shift, bits] = [draw.integer(0, 40), draw.integer(1, 32)];
      kernels.fieldsOfWords(out, count, shift, bits, fields);
      const plain = words.map((word) => Number(BigInt.asUintN(bits, word >> BigInt(shift))));
      expect([...read(Uint32Array, fields, count)]).toEqual(plain);
      const rows = Uint32Array.from(draw.list(count, () => draw.integer(0, count - 1)));
      const gathered = room(count * 8);
      kernels.gatherU64(out, put(rows), count, gathered);
      expect([...read(BigUint64Array, gathered, count)]).toEqual(
        [...rows].map((row) => words[row]),
      );
      const values = draw.doubles(count).map((value) => value + 0);
      const keys = BigUint64Array.from(values, (value) => keyOfDouble(value));
      kernels.doublesOfKeys(put(keys), count, gathered);
      expect(read(Float64Array, gathered, count)).toEqual(values);
    });
  });
});

describe('cells', () => {
  test('selectCells, expandCells, digitsOfCells', () => {
    repeat((draw) => {
      const prefixes = Int32Array.from(new Set(draw.list(5, () => draw.integer(0, 9)))).sort();
      const codes = draw.integers(draw.integer(1, 4), 0, 3);
      const cardinality = codes.length;
      const counts = BigInt64Array.from(draw.list(64, () => BigInt(draw.integer(0, 1))));
      const countsAt = put(counts);
      const isMet = (cell: number) => counts[cell] !== 0n;
      const out = room(64 * 4);
      const met = [...counts.keys()].filter(isMet);
      expect(kernels.selectCells(countsAt, 64, out)).toBe(met.length);
      expect([...read(Int32Array, out, met.length)]).toEqual(met);
      const cells = [...prefixes].flatMap((prefix) =>
        [...codes].map((code) => prefix * cardinality + code),
      );
      for (const [at, plain] of [
        [0, cells],
        [countsAt, cells.filter(isMet)],
      ] as const) {
        const target = room(64 * 4);
        const found = kernels.expandCells(
          ...([put(prefixes), prefixes.length, put(codes), cardinality, at, target] as const),
        );
        expect(found).toBe(plain.length);
        expect([...read(Int32Array, target, found)]).toEqual(plain);
      }
      const digits = room(cells.length * 4);
      kernels.digitsOfCells(put(Int32Array.from(cells)), cells.length, 2, 3, digits);
      const plain = cells.map((cell) => Math.floor(cell / 2) % 3);
      expect([...read(Int32Array, digits, cells.length)]).toEqual(plain);
    });
  });

  test('gatherCellsI64 and gatherCellsF64', () => {
    repeat((draw) => {
      const integers = BigInt64Array.from(draw.list(30, () => BigInt(draw.integer(-1e9, 1e9))));
      const doubles = draw.doubles(30);
      const cells = Uint32Array.from(draw.list(12, () => draw.integer(0, 9)));
      const out = room(12 * 8);
      kernels.gatherCellsI64(put(integers) + 8, 24, put(cells), 12, out);
      const plain = [...cells].map((cell) => Number(integers[cell * 3 + 1]));
      expect([...read(Float64Array, out, 12)]).toEqual(plain);
      kernels.gatherCellsF64(put(doubles) + 16, 24, put(cells), 12, out);
      expect([...read(Float64Array, out, 12)]).toEqual(
        [...cells].map((cell) => doubles[cell * 3 + 2]),
      );
    });
  });
});
