// Both layouts are held against the same plain rows.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { snapshotRelation } from '../../../src/dataset/snapshot-relation.ts';
import { encodeAtom } from '../../../src/value/atom-codec.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import type { Snapshot } from '../../../src/value/column/snapshot.ts';
import { freeSnapshot } from '../../../src/value/column/snapshot-memory.ts';
import { SparseBuilder } from '../../../src/value/column/sparse-builder.ts';
import { type RecordedCell, TableBuilder } from '../../../src/value/column/table-builder.ts';
import { Path } from '../../../src/value/path.ts';
import { type Cell, cellsOf } from '../../../src/value/value.ts';
import { arbitraryAtom } from '../../support/atoms.ts';

const arenas = ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

type PlainRow = readonly [Path, readonly RecordedCell[]];

const columns = ['x', 'a.b', 'a.c.d', 'a.c.e', 'z10', 'z9'].map((text) => Path.parse(text));
const notNull = arbitraryAtom.filter((atom) => atom !== null);
const rows = fc.uniqueArray(
  fc.tuple(
    fc.oneof(fc.nat(20).map(String), fc.constantFrom('r', 's.t')).map((text) => Path.parse(text)),
    fc.uniqueArray(fc.tuple(fc.constantFrom(...columns), notNull, fc.constant(7)), {
      selector: ([column]) => column.toString(),
      maxLength: 6,
    }),
  ),
  { selector: ([name]) => name.toString(), maxLength: 12 },
);
const layouts = {
  columnar: (rows: readonly PlainRow[]): Snapshot => {
    const builder = new TableBuilder(arenas);
    for (const [name, cells] of rows) builder.addRow(name, cells);
    return builder.seal();
  },
  sparse: (rows: readonly PlainRow[]): Snapshot => {
    const builder = new SparseBuilder(arenas);
    for (const [name, cells] of rows) builder.addRow(name, cells);
    return builder.seal();
  },
};

function cellTexts(cells: Iterable<Cell>): string[] {
  return Array.from(cells, ({ path, atom, ts }) => `${path} ${encodeAtom(atom).join()} ${ts}`);
}

function textsOf(cells: readonly RecordedCell[]): string[] {
  return cellTexts(cells.map(([path, atom, ts]) => ({ path, atom, ts }))).sort();
}

describe.each(['columnar', 'sparse'] as const)('a %s snapshot', (layout) => {
  test('scans its rows, whole and in part', () => {
    fc.assert(
      fc.property(rows, fc.subarray([...columns, Path.of('a')]), (rows, needed) => {
        const snapshot = layouts[layout](rows);
        const relation = snapshotRelation(snapshot, arenas);
        const all = [...relation.scan('all')];
        expect(all.map(({ name }) => String(name))).toEqual(rows.map(([name]) => String(name)));
        all.forEach(({ row }, i) => {
          expect(cellTexts(cellsOf(row)).sort()).toEqual(textsOf((rows[i] as PlainRow)[1]));
        });
        [...relation.scan(needed)].forEach(({ row }, i) => {
          const cells = (rows[i] as PlainRow)[1].filter(([column]) =>
            needed.some((path) => column.startsWith(path)),
          );
          expect(cellTexts(cellsOf(row)).sort()).toEqual(textsOf(cells));
        });
        freeSnapshot(snapshot, arenas);
      }),
    );
  });

  test('finds rows by name', () => {
    fc.assert(
      fc.property(rows, (rows) => {
        const snapshot = layouts[layout](rows);
        const relation = snapshotRelation(snapshot, arenas);
        for (const [name, cells] of rows) {
          const found = relation.findRows(name, 'all');
          expect(found.length).toBe(1);
          expect(found.flatMap(({ row }) => cellTexts(cellsOf(row))).sort()).toEqual(
            textsOf(cells),
          );
        }
        expect(relation.findRows(Path.of('no such row'), 'all')).toEqual([]);
        freeSnapshot(snapshot, arenas);
      }),
    );
  });

  test('lists columns in natural order with their row counts and cells', () => {
    fc.assert(
      fc.property(rows, (rows) => {
        const snapshot = layouts[layout](rows);
        const relation = snapshotRelation(snapshot, arenas);
        const names = relation.columns().map(({ path }) => String(path));
        const order = ['a.b', 'a.c.d', 'a.c.e', 'x', 'z9', 'z10'];
        expect(names).toEqual(order.filter((name) => names.includes(name)));
        for (const { path, rowCount } of relation.columns()) {
          const expected = rows.flatMap(([name, cells]) =>
            cells
              .filter(([column]) => column.equals(path))
              .map(([, atom, ts]) => ({ path: name, atom, ts })),
          );
          expect(rowCount).toBe(expected.length);
          expect(cellTexts(relation.columnCells(path, () => undefined))).toEqual(
            cellTexts(expected),
          );
        }
        freeSnapshot(snapshot, arenas);
      }),
    );
  });

  test('has one relation in a thread', () => {
    const snapshot = layouts[layout]([[Path.of('r'), []]]);
    expect(snapshotRelation(snapshot, arenas)).toBe(snapshotRelation(snapshot, arenas));
    freeSnapshot(snapshot, arenas);
  });
});
