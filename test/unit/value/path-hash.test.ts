import { describe, expect, it } from 'vitest';
import { Path } from '../../../src/value/path.ts';
import { hashPath, hashPathHex } from '../../../src/value/path-hash.ts';

const DECIMAL: readonly [path: Path, hash: bigint][] = [
  [Path.of('0'), 10408321403207385874n],
  [Path.of('row1'), 9657511930026400460n],
  [Path.of('row2'), 11939232387177687614n],
  [Path.of('ex1'), 4142722872293472110n],
  [Path.of('result'), 15368695043997746091n],
  [Path.of('[]'), 11377327221391349843n],
  [Path.of('a-name-of-20-bytes!!'), 8147229103152479897n],
  [Path.of('0123456789'.repeat(4)), 9147764089670627354n],
  [Path.of('0123456789'.repeat(7)), 16724877162340778296n],
  [Path.of('0123456789'.repeat(13)), 5105116532847618572n],
  [Path.of('a', 'b'), 7468329322676821011n],
  [Path.of('examples', '4'), 13294444896252799963n],
];

const HEXADECIMAL: readonly [path: Path, hash: string][] = [
  [Path.of('x'), '4fc82888d13de398'],
  [Path.of('customer-0042'), '9d46cda9854636ef'],
  [Path.of('a-row-name-of-24-letters'), '040a1045345d3538'],
  [Path.of('a row name that is longer than thirty-two bytes'), '70cf542a512ad680'],
  [
    Path.of('a row name that is longer than sixty-four bytes, so that the looping branch is used'),
    'f3b2f1ed8f351440',
  ],
  [Path.of('x', 'y', '2'), '2f04032afd5b85cf'],
];

describe('path hash', () => {
  it.each(DECIMAL)('of %s is the published number', (path, hash) => {
    expect(hashPath(path)).toBe(hash);
  });

  it.each(HEXADECIMAL)('of %s has the published digits', (path, hash) => {
    expect(hashPathHex(path)).toBe(hash);
  });

  it('of elements with other letters is that of their UTF-8, lone surrogates replaced', () => {
    for (const element of ['ä', 'a\ud800b', 'é'.repeat(70_000)]) {
      const twice = Path.of(element, element);
      expect(hashPath(Path.of(element))).toBe(hashPath(Path.of(wellFormed(element))));
      expect(hashPath(twice)).toBe(hashPath(Path.of(wellFormed(element), element)));
      expect(hashPath(twice)).not.toBe(hashPath(Path.of(element)));
    }
  });

  it('of the null path is zero', () => {
    expect(hashPath(new Path([]))).toBe(0n);
  });
});

function wellFormed(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}
