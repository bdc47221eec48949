import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atomsEqual, atomTypeName, isInteger } from '../../../src/value/atom.ts';
import { atomSizeMax, encodeAtom, readAtom } from '../../../src/value/atom-codec.ts';
import { Path } from '../../../src/value/path.ts';
import { arbitraryAtom } from '../../support/atoms.ts';

test('every atom comes back as it was', () => {
  fc.assert(
    fc.property(arbitraryAtom, fc.nat(5), (atom, before) => {
      const encoded = encodeAtom(atom);
      expect(encoded.length).toBeLessThanOrEqual(atomSizeMax(atom));
      const bytes = new Uint8Array(before + encoded.length + 3);
      bytes.set(encoded, before);
      const decoded = readAtom(bytes, before, before + encoded.length);
      expect(atomsEqual(decoded, atom)).toBe(true);
      expect(atomTypeName(decoded)).toBe(atomTypeName(atom));
      if (!isInteger(atom)) expect(decoded).toEqual(atom);
    }),
    { numRuns: 1000 },
  );
});

test('equal atoms have equal bytes', () => {
  expect(encodeAtom(-0)).toEqual(encodeAtom(0));
  expect(encodeAtom(2 ** 60)).toEqual(encodeAtom(2n ** 60n));
  expect(encodeAtom(Number.NaN)).toEqual(encodeAtom(-Number.NaN));
});

test('different kinds never share their bytes', () => {
  const texts = ['a', new Path(['a']), new Uint8Array([97])].map((atom) => encodeAtom(atom).join());
  expect(new Set(texts).size).toBe(3);
});
