import { describe, expect, test } from 'vitest';
import { type HighwayKey, highwayHash64 } from '../../../src/value/highway-hash.ts';

describe('HighwayHash', () => {
  const key: HighwayKey = [
    0x0706050403020100n,
    0x0f0e0d0c0b0a0908n,
    0x1716151413121110n,
    0x1f1e1d1c1b1a1918n,
  ];

  test('gives the published values', () => {
    expect(hex(highwayHash64(key, Uint8Array.of()))).toBe('907a56de22c26e53');
    expect(hex(highwayHash64(key, Uint8Array.of(0)))).toBe('7eab43aac7cddd78');
  });

  test('differs for every length of a run of zeros', () => {
    const hashes = Array.from({ length: 100 }, (_, size) =>
      highwayHash64(key, new Uint8Array(size)),
    );
    expect(new Set(hashes).size).toBe(100);
  });
});

function hex(hash: bigint): string {
  return hash.toString(16).padStart(16, '0');
}
