import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Atom } from '../../../../src/value/atom.ts';
import { atomsEqual } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { ColumnBuilder } from '../../../../src/value/column/column-builder.ts';
import { ColumnView } from '../../../../src/value/column/column-view.ts';
import { DictionaryBuilder } from '../../../../src/value/column/dictionary.ts';
import type { ColumnSnapshot } from '../../../../src/value/column/snapshot.ts';
import { columnSpans } from '../../../../src/value/column/snapshot-memory.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import {
  arbitraryAtom,
  arbitraryNumberAtom,
  arbitraryText,
  arbitraryTimestamp,
} from '../../../support/atoms.ts';

const arenas = ArenaSet.create({ budgetBytes: 300e6, arenaPageCount: 8192 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

function free(column: ColumnSnapshot): void {
  for (const span of columnSpans(column)) arenas.free(span);
}

function build(atoms: Iterable<Atom>, chunkRowCount?: number): ColumnSnapshot {
  const builder = new ColumnBuilder(['x'], arenas, chunkRowCount);
  for (const atom of atoms) builder.append(atom);
  return builder.seal();
}

function expectAtoms(column: ColumnSnapshot, atoms: readonly Atom[]): void {
  const view = new ColumnView(column, arenas);
  expect(view.rowCount).toBe(atoms.length);
  let nullCount = 0;
  atoms.forEach((atom, row) => {
    const actual = view.atomAt(row);
    if (!atomsEqual(actual, atom) || Object.is(actual, -0)) expect(actual).toEqual(atom);
    if (view.isNull(row) !== (atom === null)) expect.fail(`row ${row} is wrongly null or not`);
    if (atom === null) nullCount++;
  });
  expect([...view.atoms()].length).toBe(atoms.length);
  expect(column.nullCount).toBe(nullCount);
}

const nullOr = (atom: fc.Arbitrary<Atom>) => fc.oneof(fc.constant(null), atom);
const columns = fc.oneof(
  ...[arbitraryNumberAtom, arbitraryText, arbitraryTimestamp, arbitraryAtom].map((atom) =>
    fc.array(nullOr(atom), { maxLength: 60 }),
  ),
  fc.tuple(arbitraryAtom, fc.nat(40)).map(([atom, count]) => Array<Atom>(count).fill(atom)),
);

describe('ColumnBuilder', () => {
  test('every column reads back as it was appended', () => {
    fc.assert(
      fc.property(columns, fc.integer({ min: 1, max: 70 }), (atoms, chunkRowCount) => {
        const column = build(atoms, chunkRowCount);
        expectAtoms(column, atoms);
        free(column);
      }),
      { numRuns: 300 },
    );
  });

  test('a column can be continued, also with atoms of another kind', () => {
    fc.assert(
      fc.property(columns, columns, fc.integer({ min: 1, max: 30 }), (first, second, count) => {
        const before = build(first, count);
        const builder = ColumnBuilder.from(before, arenas, count);
        for (const atom of second) builder.append(atom);
        const after = builder.seal();
        expectAtoms(before, first);
        free(before);
        expectAtoms(after, [...first, ...second]);
        free(after);
      }),
    );
  });

  test.each<[string, Atom[], ColumnSnapshot['type'], string]>([
    ['nothing', [null, null], 'null', 'constant'],
    ['one number', [7, 7, 7], 'integer', 'constant'],
    ['integers', [1, null, -2147483648], 'integer', 'int32'],
    ['large integers', [1, 2147483648], 'integer', 'float64'],
    ['doubles', [1, 1.5], 'number', 'float64'],
    ['one timestamp', [new Timestamp(1), new Timestamp(1)], 'timestamp', 'timestamp'],
    ['text', ['a', 'b', null], 'string', 'codes'],
    ['integers beyond 2^53', [2n ** 60n, 1], 'mixed', 'codes'],
    ['number and text', [1, 'a'], 'mixed', 'codes'],
  ])('%s become a column of type %3$s', (_, atoms, type, kind) => {
    const column = build(atoms);
    expect(column.type).toBe(type);
    expect(column.chunks.map((chunk) => chunk.kind)).toEqual([kind]);
    free(column);
  });

  test('smallest and largest value leave NaN and null out', () => {
    const column = build([null, Number.NaN, 3, -1.5]);
    expect(column.chunks[0]).toMatchObject({ min: -1.5, max: 3, nullCount: 1 });
    free(column);
  });

  test('chunks end at 65,536 rows and are sparse where few rows have a value', () => {
    const atoms = Array.from({ length: 150_000 }, (_, i) =>
      i < 65_536 ? i : i % 1000 === 0 ? i : null,
    );
    const column = build(atoms);
    expect(column.chunks.map((chunk) => [chunk.kind, chunk.rowCount])).toEqual([
      ['int32', 65_536],
      ['sparse', 65_536],
      ['sparse', 18_928],
    ]);
    expectAtoms(column, atoms);
    free(column);
  });

  test('the width of codes follows the largest code of the chunk', () => {
    const atoms = Array.from({ length: 140_000 }, (_, i) => `t${i < 65_536 ? i % 200 : i}`);
    const column = build(atoms);
    expect(column.chunks.map((chunk) => chunk.kind === 'codes' && chunk.width)).toEqual([1, 4, 4]);
    expectAtoms(column, atoms);
    free(column);
  });

  test('batches of numbers equal numbers one by one', () => {
    const batches = fc.array(
      fc.oneof(
        fc.int32Array({ maxLength: 50 }),
        fc.float64Array({ maxLength: 50 }),
        fc.nat(100),
        arbitraryText,
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 64 }), (batches, chunkRowCount) => {
        const builder = new ColumnBuilder(['x'], arenas, chunkRowCount);
        const atoms: Atom[] = [];
        for (const batch of batches) {
          if (typeof batch === 'number') {
            builder.appendNulls(batch);
            atoms.push(...Array<Atom>(batch).fill(null));
          } else if (typeof batch === 'string') {
            builder.append(batch);
            atoms.push(batch);
          } else {
            builder.appendNumbers(batch);
            atoms.push(...Array.from(batch, (value) => value + 0));
          }
        }
        expect(builder.rowCount).toBe(atoms.length);
        const column = builder.seal();
        expectAtoms(column, atoms);
        free(column);
      }),
    );
  });

  test('batches with a validity bitmap have nulls', () => {
    const builder = new ColumnBuilder(['x'], arenas);
    builder.appendNumbers(Float64Array.of(1, 2, 3), Uint8Array.of(0b101));
    const column = builder.seal();
    expectAtoms(column, [1, null, 3]);
    free(column);
  });

  test('codes of several dictionaries are united', () => {
    const dictionaries = [
      ['a', 'b'],
      ['b', 'c'],
    ].map((texts) => {
      const builder = new DictionaryBuilder(arenas);
      for (const text of texts) builder.add(text);
      return builder.seal();
    });
    const builder = new ColumnBuilder(['x'], arenas);
    for (const dictionary of dictionaries) builder.appendCodes([0, 1, 2], dictionary);
    const column = builder.seal();
    expectAtoms(column, [null, 'a', 'b', null, 'b', 'c']);
    expect(column.dictionary?.count).toBe(3);
    free(column);
    for (const { bytes, offsets } of dictionaries) {
      arenas.free(bytes);
      arenas.free(offsets);
    }
  });

  test('a builder that is given up leaves nothing behind', () => {
    const builder = new ColumnBuilder(['x'], arenas, 2);
    for (const atom of [1, 2, 3, 'a', 4]) builder.append(atom);
    builder.release();
    expect(arenas.usedBytes).toBe(0);
  });
});

test('a view reads numbers without making atoms', () => {
  const column = build([1.5, null, new Timestamp(3), 'a', 2n ** 63n]);
  const view = new ColumnView(column, arenas);
  const numbers = Array.from({ length: 5 }, (_, row) => view.numberAt(row));
  expect(numbers).toEqual([1.5, Number.NaN, 3, Number.NaN, 2 ** 63]);
  free(column);
});
