import { describe, expect, test } from 'vitest';
import { elementHash, pathHash } from '../../../src/value/city-hash.ts';
import { type HighwayKey, highwayHash64 } from '../../../src/value/highway-hash.ts';
import { Path } from '../../../src/value/path.ts';

describe('path hash', () => {
  test.each([
    ['0', '9071c92baa458312'],
    ['x', '4fc82888d13de398'],
    ['row1', '86065feec3521acc'],
    ['row2', 'a5b0ac997090aa3e'],
    ['row3', '47adff9d728370ae'],
    ['row_1', 'f156570c0871dbce'],
    ['ex1', '397de880d5f0376e'],
    ['result', 'd54892b736cac3ab'],
    ['[]', '9de462d40469d853'],
    ['customer-0042', '9d46cda9854636ef'],
    ['a-name-of-20-bytes!!', '7110c5b41520be99'],
    ['a-row-name-of-24-letters', '040a1045345d3538'],
    ['0123456789'.repeat(4), '7ef362f8fde4701a'],
    ['a row name that is longer than thirty-two bytes', '70cf542a512ad680'],
    ['0123456789'.repeat(7), 'e81ab32abd5d8138'],
    ['0123456789'.repeat(13), '46d90470455b2a0c'],
    [
      'a row name that is longer than sixty-four bytes, so that the looping branch is used',
      'f3b2f1ed8f351440',
    ],
  ])('of the element %j is %s', (element, expected) => {
    expect(hex(elementHash(element))).toBe(expected);
    expect(hex(pathHash(Path.of(element)))).toBe(expected);
  });

  test.each([
    ['a.b', '67a4d5f337c91c13'],
    ['examples.4', 'b87f5b3237272bdb'],
    ['x.y.2', '2f04032afd5b85cf'],
  ])('of the path %s is %s', (path, expected) => {
    expect(hex(pathHash(Path.parse(path)))).toBe(expected);
  });

  test('of the null path is 0', () => {
    expect(pathHash(Path.of())).toBe(0n);
  });

  test('takes the UTF-8 bytes of long and short names alike', () => {
    const distinct = new Set(['é', 'é'.repeat(40), 'e', 'é'.repeat(300)].map(elementHash));
    expect(distinct.size).toBe(4);
  });
});

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
