import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Atom } from '../../../../src/value/atom.ts';
import { atomsEqual } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { ColumnView } from '../../../../src/value/column/column-view.ts';
import { RowNamesBuilder, rowNamesView } from '../../../../src/value/column/row-names.ts';
import { RowTimestampsView } from '../../../../src/value/column/row-timestamps.ts';
import type { ColumnarSnapshot } from '../../../../src/value/column/snapshot.ts';
import { freeSnapshot, rowNamesSpans } from '../../../../src/value/column/snapshot-memory.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';
import { laterOf } from '../../../../src/value/timestamp.ts';
import { arbitraryAtom, arbitraryPath } from '../../../support/atoms.ts';

const arenas = ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

type PlainRow = { name: Path; cells: (readonly [Path, Atom, number])[] };

const columnPaths = ['a', 'b', 'c.d', 'c.e'].map((text) => Path.parse(text));
const plainRows = fc.array(
  fc.record({
    name: arbitraryPath,
    cells: fc.uniqueArray(
      fc.tuple(
        fc.constantFrom(...columnPaths),
        arbitraryAtom,
        fc.constantFrom(0, 1, 5, Number.NaN, Number.NEGATIVE_INFINITY),
      ),
      { selector: ([path]) => path.toString(), maxLength: 4 },
    ),
  }),
  { maxLength: 30 },
);

function expectRows(snapshot: ColumnarSnapshot, rows: readonly PlainRow[]): void {
  expect(snapshot.rowCount).toBe(rows.length);
  expect(snapshot.chunkRowCounts.reduce((a, b) => a + b, 0)).toBe(rows.length);
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
  const timestamps = new RowTimestampsView(snapshot.timestamps, arenas);
  const columns = snapshot.columns.map((column) => new ColumnView(column, arenas));
  rows.forEach(({ name, cells }, row) => {
    expect(names.pathAt(row).elements).toEqual(name.elements);
    expect(timestamps.at(row)).toBe(
      cells.length === 0 ? Number.NEGATIVE_INFINITY : cells.map(([, , ts]) => ts).reduce(laterOf),
    );
    for (const column of columns) {
      const path = column.snapshot.path.join();
      const cell = cells.find(([name]) => name.elements.join() === path);
      expect(atomsEqual(column.atomAt(row), cell?.[1] ?? null)).toBe(true);
    }
  });
  for (const column of snapshot.columns) {
    expect(column.chunks.map((chunk) => chunk.rowCount)).toEqual(snapshot.chunkRowCounts);
  }
}

describe('TableBuilder', () => {
  test('rows read back as they were added', () => {
    fc.assert(
      fc.property(plainRows, fc.integer({ min: 1, max: 20 }), (rows, chunkRowCount) => {
        const builder = new TableBuilder(arenas, chunkRowCount);
        for (const { name, cells } of rows) builder.addRow(name, cells);
        const snapshot = builder.seal();
        expectRows(snapshot, rows);
        freeSnapshot(snapshot, arenas);
      }),
    );
  });

  test('a table can be continued while the first one stays readable', () => {
    fc.assert(
      fc.property(plainRows, plainRows, fc.integer({ min: 1, max: 20 }), (first, second, count) => {
        const builder = new TableBuilder(arenas, count);
        for (const { name, cells } of first) builder.addRow(name, cells);
        const before = builder.seal();
        const next = TableBuilder.from(before, arenas, count);
        for (const { name, cells } of second) next.addRow(name, cells);
        const after = next.seal();
        expectRows(before, first);
        freeSnapshot(before, arenas);
        expectRows(after, [...first, ...second]);
        freeSnapshot(after, arenas);
      }),
    );
  });

  test('a repeated column keeps the last value', () => {
    const builder = new TableBuilder(arenas);
    const x = Path.of('x');
    builder.addRow(Path.of('r'), [
      [x, 1, 0],
      [x, 2, 0],
    ]);
    const snapshot = builder.seal();
    expect(new ColumnView(snapshot.columns[0] as never, arenas).atomAt(0)).toBe(2);
    freeSnapshot(snapshot, arenas);
  });

  test('a builder that is given up leaves nothing behind', () => {
    const builder = new TableBuilder(arenas, 2);
    for (const name of ['0', '1', '7', 'x']) {
      builder.addRow(Path.of(name), [[Path.of('a'), name, name.length]]);
    }
    builder.release();
    expect(arenas.usedBytes).toBe(0);
  });
});

describe('row names', () => {
  const names = fc.array(
    fc.oneof(
      arbitraryPath,
      fc.integer({ min: -5, max: 20 }).map((n) => Path.of(String(n))),
    ),
    { maxLength: 40 },
  );

  test.each([
    [['0', '1', '2'], 'sequence'],
    [['7', '8'], 'sequence'],
    [['3', '1', '3'], 'numbers'],
    [['1', '02'], 'paths'],
    [['1', '2', 'x'], 'paths'],
    [['5', '1', 'x'], 'paths'],
    [['-0'], 'paths'],
    [['12345678901234567'], 'paths'],
  ])('%j are kept as %s', (texts, kind) => {
    const builder = new RowNamesBuilder(arenas);
    for (const text of texts) builder.add(Path.of(text));
    const sealed = builder.seal();
    expect(sealed.kind).toBe(kind);
    const view = rowNamesView(sealed, texts.length, arenas);
    expect(texts.map((_, row) => view.textAt(row))).toEqual(texts);
    for (const span of rowNamesSpans(sealed)) arenas.free(span);
  });

  test('every name finds all its rows', () => {
    fc.assert(
      fc.property(names, arbitraryPath, (names, other) => {
        const builder = new RowNamesBuilder(arenas);
        for (const name of names) builder.add(name);
        const sealed = builder.seal();
        const view = rowNamesView(sealed, names.length, arenas);
        const rowsOf = (name: Path) =>
          names.flatMap((candidate, row) => (candidate.equals(name) ? [row] : []));
        for (const name of [...names, other]) expect(view.find(name)).toEqual(rowsOf(name));
        expect(view.duplicates()).toEqual(
          names.flatMap((name, row) =>
            rowsOf(name).length > 1 && rowsOf(name)[0] === row ? [row] : [],
          ),
        );
        for (const span of rowNamesSpans(sealed)) arenas.free(span);
      }),
    );
  });
});
