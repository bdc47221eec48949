// A few atoms decide the Arrow type of a stored column as all of its atoms do.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrowColumnType } from '../../../../src/exec/output/arrow-column.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { ColumnBuilder } from '../../../../src/value/column/column-builder.ts';
import { TypicalAtoms, typicalAtomsOf } from '../../../../src/value/column/typical-atoms.ts';
import { Interval } from '../../../../src/value/interval.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
useArenas(arenas);

const kinds: readonly fc.Arbitrary<Atom>[] = [
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(1.5, 7, Number.NaN, 2 ** 40),
  fc.constantFrom<Atom>(2 ** 60, 2n ** 63n, 3),
  fc.constantFrom<Atom>(-1, 2n ** 63n),
  fc.constantFrom('', 'a'),
  fc.constantFrom(new Timestamp(0), new Timestamp(1e9)),
  fc.constantFrom(new Timestamp(0), new Timestamp(Number.POSITIVE_INFINITY)),
  fc.constantFrom<Atom>(new Interval(0, 1, 0, false), 'x', 1),
];
const cells = fc
  .constantFrom(...kinds)
  .chain((kind) => fc.array(fc.option(kind, { nil: null, freq: 4 }), { maxLength: 40 }));

test('a few atoms have the type of all', () => {
  fc.assert(
    fc.property(cells, (atoms) => {
      const typical = new TypicalAtoms();
      for (const atom of atoms) typical.add(atom);
      expect(arrowColumnType(typical.atoms)).toBe(arrowColumnType(atoms));
    }),
    { numRuns: 200 },
  );
});

test('a stored column has the type of its cells', () => {
  fc.assert(
    fc.property(cells, (atoms) => {
      const builder = new ColumnBuilder(['x'], arenas, 16);
      for (const atom of atoms) builder.append(atom);
      const found = typicalAtomsOf(builder.seal(), arenas, () => undefined);
      expect(arrowColumnType(found)).toBe(arrowColumnType(atoms));
    }),
    { numRuns: 100 },
  );
});
