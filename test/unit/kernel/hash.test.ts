// The kernels of hashes beside plain twins in big integers, written from the published algorithms.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HIGHWAY_PACKET_SIZE, HIGHWAY_STATE_SIZE } from '../../../src/kernel/generated.ts';
import { instantiateKernels } from '../../../src/kernel/kernels.ts';

const memory = new WebAssembly.Memory({ initial: 3, maximum: 65_536, shared: true });
const kernels = instantiateKernels(memory);
const u8 = new Uint8Array(memory.buffer);
const u32 = new Uint32Array(memory.buffer);
const view = new DataView(memory.buffer);
const STATE = 65_536;
const ENDS = 66_000;
const TEXT = 70_001;

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, count: number): bigint =>
  u64((value >> BigInt(count & 63)) | (value << BigInt((64 - count) & 63)));

/** CityHash64, version 1.0. */
function plainCity(bytes: Uint8Array): bigint {
  const n = bytes.length;
  const [k0, k1] = [0xc3a5c85c97cb3127n, 0xb492b66fbe98f273n];
  const [k2, k3] = [0x9ae16a3b2f90404fn, 0xc949d7c7509e6557n];
  const data = new DataView(bytes.buffer, bytes.byteOffset, n);
  const fetch = (at: number): bigint => data.getBigUint64(at, true);
  const word = (at: number): bigint => BigInt(data.getUint32(at, true));
  const byte = (at: number): bigint => BigInt(bytes[at] as number);
  const mix = (value: bigint): bigint => value ^ (value >> 47n);
  if (n === 0) return k2;
  if (n <= 3) {
    const y = byte(0) + (byte(n >> 1) << 8n);
    const z = BigInt(n) + (byte(n - 1) << 2n);
    return u64(mix(u64(y * k2) ^ u64(z * k3)) * k2);
  }
  if (n <= 8) return plainCombine(BigInt(n) + (word(0) << 3n), word(n - 4));
  if (n <= 16) {
    const b = fetch(n - 8);
    return plainCombine(fetch(0), rotate(u64(b + BigInt(n)), n)) ^ b;
  }
  if (n <= 32) {
    const a = u64(fetch(0) * k1);
    const b = fetch(8);
    const c = u64(fetch(n - 8) * k2);
    const d = u64(fetch(n - 16) * k0);
    const u = u64(rotate(u64(a - b), 43) + rotate(c, 30) + d);
    return plainCombine(u, u64(a + rotate(b ^ k3, 20) - c + BigInt(n)));
  }
  if (n <= 64) {
    const half = (start: bigint, z: bigint, p: bigint, q: bigint): [bigint, bigint] => {
      let a = u64(start);
      const b = rotate(u64(a + z), 52);
      let c = rotate(a, 37);
      a = u64(a + p);
      c += rotate(a, 7);
      a = u64(a + q);
      return [u64(a + z), u64(b + rotate(a, 31) + c)];
    };
    const first = fetch(0) + u64((BigInt(n) + fetch(n - 16)) * k0);
    const v = half(first, fetch(24), fetch(8), fetch(16));
    const w = half(fetch(16) + fetch(n - 32), fetch(n - 8), fetch(n - 24), fetch(n - 16));
    const r = mix(u64((v[0] + w[1]) * k2 + (w[0] + v[1]) * k0));
    return u64(mix(u64(r * k0 + v[1])) * k2);
  }
  const weak = (at: number, a0: bigint, b0: bigint): [bigint, bigint] => {
    let a = u64(a0 + fetch(at));
    let b = rotate(u64(b0 + a + fetch(at + 24)), 21);
    const c = a;
    a = u64(a + fetch(at + 8) + fetch(at + 16));
    b = u64(b + rotate(a, 44));
    return [u64(a + fetch(at + 24)), u64(b + c)];
  };
  let x = fetch(n - 40);
  let y = u64(fetch(n - 16) + fetch(n - 56));
  let z = plainCombine(u64(fetch(n - 48) + BigInt(n)), fetch(n - 24));
  let v = weak(n - 64, BigInt(n), z);
  let w = weak(n - 32, y + k1, x);
  x = u64(x * k1 + fetch(0));
  for (let at = 0; at < ((n - 1) & ~63); at += 64) {
    x = u64(rotate(u64(x + y + v[0] + fetch(at + 8)), 37) * k1) ^ w[1];
    y = u64(rotate(u64(y + v[1] + fetch(at + 48)), 42) * k1 + v[0] + fetch(at + 40));
    z = u64(rotate(u64(z + w[0]), 33) * k1);
    v = weak(at, u64(v[1] * k1), u64(x + w[0]));
    w = weak(at + 32, u64(z + w[1]), u64(y + fetch(at + 16)));
    [x, z] = [z, x];
  }
  const left = plainCombine(v[0], w[0]) + u64(mix(y) * k1) + z;
  return plainCombine(u64(left), u64(plainCombine(v[1], w[1]) + x));
}

function plainCombine(u: bigint, v: bigint): bigint {
  const multiplier = 0x9ddfea08eb382d69n;
  const step = (value: bigint): bigint => {
    const product = u64(value * multiplier);
    return product ^ (product >> 47n);
  };
  return u64(step(v ^ step(u ^ v)) * multiplier);
}

/** HighwayHash64 by its published reference, a lane at a time. */
function plainHighway(key: readonly bigint[], bytes: Uint8Array): bigint {
  const mul0 = [
    ...[0xdbe6d5d5fe4cce2fn, 0xa4093822299f31d0n, 0x13198a2e03707344n, 0x243f6a8885a308d3n],
  ];
  const mul1 = [
    ...[0x3bd39e10cb0ef593n, 0xc0acf169b5f18a8cn, 0xbe5466cf34e90c6cn, 0x452821e638d01377n],
  ];
  const v0 = mul0.map((word, i) => word ^ (key[i] as bigint));
  const v1 = mul1.map((word, i) => word ^ rotate(key[i] as bigint, 32));
  const get = (words: readonly bigint[], i: number): bigint => words[i] as bigint;
  const low = (word: bigint): bigint => word & 0xffffffffn;
  /** Bytes of `a` (0 to 7) and `b` (8 to 15), picked from the lowest on. */
  const zip = (a: bigint, b: bigint, order: readonly number[]): bigint =>
    order.reduce((sum, from, at) => {
      const byte = ((from < 8 ? a : b) >> BigInt(8 * (from & 7))) & 0xffn;
      return sum | (byte << BigInt(8 * at));
    }, 0n);
  const zipAdd = (to: bigint[], from: readonly bigint[], i: number): void => {
    const [a, b] = [get(from, i), get(from, i + 1)];
    to[i] = u64(get(to, i) + zip(a, b, [3, 12, 2, 5, 14, 1, 15, 0]));
    to[i + 1] = u64(get(to, i + 1) + zip(a, b, [11, 4, 10, 13, 9, 6, 8, 7]));
  };
  const update = (lanes: readonly bigint[]): void => {
    for (let i = 0; i < 4; i++) {
      v1[i] = u64(get(v1, i) + get(mul0, i) + get(lanes, i));
      mul0[i] = get(mul0, i) ^ (low(get(v1, i)) * (get(v0, i) >> 32n));
      v0[i] = u64(get(v0, i) + get(mul1, i));
      mul1[i] = get(mul1, i) ^ (low(get(v0, i)) * (get(v1, i) >> 32n));
    }
    for (const i of [0, 2]) zipAdd(v0, v1, i);
    for (const i of [0, 2]) zipAdd(v1, v0, i);
  };
  const packet = (from: Uint8Array): bigint[] => {
    const data = new DataView(Uint8Array.from(from).buffer);
    return [0, 8, 16, 24].map((at) => data.getBigUint64(at, true));
  };
  const rest = bytes.length % 32;
  for (let at = 0; at + 32 <= bytes.length; at += 32) update(packet(bytes.subarray(at, at + 32)));
  if (rest > 0) {
    const tail = bytes.subarray(bytes.length - rest);
    const turn = (word: bigint): bigint =>
      low((word << BigInt(rest)) | (word >> BigInt(32 - rest)));
    for (let i = 0; i < 4; i++) {
      v0[i] = u64(get(v0, i) + (BigInt(rest) << 32n) + BigInt(rest));
      v1[i] = (turn(get(v1, i) >> 32n) << 32n) | turn(low(get(v1, i)));
    }
    const last = new Uint8Array(32);
    last.set(tail.subarray(0, rest & ~3));
    const few = rest & 3;
    if (rest & 16) last.set(tail.subarray(rest - 4), 28);
    else if (few > 0) {
      const odd = tail.subarray(rest & ~3);
      last.set([odd[0] as number, odd[few >> 1] as number, odd[few - 1] as number], 16);
    }
    update(packet(last));
  }
  for (let round = 0; round < 4; round++) {
    update([2, 3, 0, 1].map((i) => rotate(get(v0, i), 32)));
  }
  return u64(get(v0, 0) + get(v1, 0) + get(mul0, 0) + get(mul1, 0));
}

const anyBytes = fc.uint8Array({ maxLength: 300 });

describe('cityHash', () => {
  test('is that of the plain algorithm, for texts of every length', () => {
    for (let size = 0; size <= 200; size++) {
      const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 167 + size) & 255);
      u8.set(bytes, TEXT);
      expect(u64(kernels.cityHash(TEXT, size)), `${size} bytes`).toBe(plainCity(bytes));
    }
  });
});

describe('pathHash', () => {
  test('combines the hashes of the elements from the left', () => {
    const paths = fc.array(anyBytes, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(paths, (elements) => {
        let end = 0;
        for (const [index, element] of elements.entries()) {
          u8.set(element, TEXT + end);
          end += element.length;
          u32[ENDS / 4 + index] = end;
        }
        const plain = elements.map(plainCity).reduce(plainCombine);
        expect(u64(kernels.pathHash(TEXT, ENDS, elements.length))).toBe(plain);
      }),
    );
  });
});

describe('hashDecimalNames', () => {
  test('hashes the names of rows as texts', () => {
    const positions = fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.nat(4_000_000_000), positions, (first, rows) => {
        u32.set(rows, ENDS / 4);
        const out = 72_000;
        kernels.hashDecimalNames(first, ENDS, rows.length, out);
        for (const [index, row] of rows.entries()) {
          const plain = plainCity(new TextEncoder().encode(String(first + row)));
          expect(view.getBigUint64(out + 8 * index, true)).toBe(plain);
        }
      }),
    );
  });
});

describe('highwayStart, highwayPackets, highwayEnd', () => {
  test('give the hash of the plain algorithm, however the packets are cut', () => {
    const words = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const keys = fc.tuple(words, words, words, words);
    fc.assert(
      fc.property(keys, anyBytes, fc.nat(9), (key, bytes, cut) => {
        for (const [i, word] of key.entries()) view.setBigUint64(STATE + 8 * i, word, true);
        u8.set(bytes, TEXT);
        const packetCount = Math.floor(bytes.length / HIGHWAY_PACKET_SIZE);
        const first = Math.min(cut, packetCount);
        const whole = packetCount * HIGHWAY_PACKET_SIZE;
        kernels.highwayStart(STATE);
        kernels.highwayPackets(STATE, TEXT, first);
        const next = TEXT + first * HIGHWAY_PACKET_SIZE;
        kernels.highwayPackets(STATE, next, packetCount - first);
        const found = kernels.highwayEnd(STATE, TEXT + whole, bytes.length - whole);
        expect(u64(found)).toBe(plainHighway(key, bytes));
      }),
    );
  });

  test('stay in the state', () => {
    u8.fill(9, STATE + HIGHWAY_STATE_SIZE, STATE + HIGHWAY_STATE_SIZE + 32);
    kernels.highwayStart(STATE);
    kernels.highwayEnd(STATE, TEXT, 21);
    const behind = u8.slice(STATE + HIGHWAY_STATE_SIZE, STATE + HIGHWAY_STATE_SIZE + 32);
    expect(behind).toEqual(new Uint8Array(32).fill(9));
  });
});
