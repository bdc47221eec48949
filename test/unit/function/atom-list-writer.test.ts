import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AtomListWriter } from '../../../src/function/atom-list-writer.ts';
import type { Atom } from '../../../src/value/atom.ts';
import { atomToJsonText } from '../../../src/value/json.ts';

function write(atoms: readonly Atom[]): string {
  const writer = new AtomListWriter();
  for (const atom of atoms) {
    writer.atom(atom);
    writer.byte(0x0a);
  }
  writer.end();
  return Buffer.concat(writer.chunks).toString();
}

const expected = (atoms: readonly Atom[]) =>
  atoms.map((atom) => `${atomToJsonText(atom)}\n`).join('');

test('atoms are written as JSON has them', () => {
  const atom = fc.oneof(
    fc.integer(),
    fc.integer({ min: -1100, max: 1100 }),
    fc.double({ noNaN: true }).map((n) => n + 0),
    fc.integer({ min: -99_999_999, max: 99_999_999 }).map((n) => n / 10_000 + 0),
    fc.tuple(fc.integer(), fc.integer({ min: 1, max: 7 })).map(([n, digits]) => n / 10 ** digits),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom<Atom>(null, 999_999_999, 1_000_000_000, -1_000_000_000, 2n ** 62n),
  );
  fc.assert(
    fc.property(fc.array(atom), (atoms) => {
      expect(write(atoms)).toBe(expected(atoms));
    }),
    { numRuns: 500 },
  );
});

test('chunks do not cut what is written', () => {
  const atoms = Array.from({ length: 30_000 }, (_, i) => (i % 7 === 0 ? `é${i}` : i * 37 - 5));
  expect(write(atoms)).toBe(expected(atoms));
  const long = ['x'.repeat(100_000), 1];
  expect(write(long)).toBe(expected(long));
});
