// Random recordings against a plain twin: maps of rows of cells of points.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Atom } from '../../../src/value/atom.ts';
import { encodeAtom } from '../../../src/value/atom-codec.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import type { SparseSnapshot } from '../../../src/value/column/snapshot.ts';
import { freeSnapshot, snapshotSize } from '../../../src/value/column/snapshot-memory.ts';
import { SparseBuilder } from '../../../src/value/column/sparse-builder.ts';
import { SparseView } from '../../../src/value/column/sparse-view.ts';
import { comparePaths, Path } from '../../../src/value/path.ts';
import { cellsOf } from '../../../src/value/value.ts';
import { arbitraryAtom, arbitraryPath } from '../../support/atoms.ts';

const arenas = ArenaSet.create({ budgetBytes: 200e6, arenaPageCount: 4096 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

type Recording = readonly [Path, readonly (readonly [Path, Atom, number])[]];

const columnPath = fc.oneof(
  fc.constantFrom('a', 'a.b', 'a.b.c', 'a.10', 'a.9', 'b', 'x10', 'x9').map((t) => Path.parse(t)),
  arbitraryPath,
);
const ts = fc.constantFrom(
  0,
  1,
  1.5,
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  Number.POSITIVE_INFINITY,
);
const atom = fc.oneof(arbitraryAtom, fc.constantFrom(null, 1, 'a'));
const recordings = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom('r', 's', '1').map((t) => Path.of(t)),
      arbitraryPath,
    ),
    fc.array(fc.tuple(columnPath, atom, ts), { maxLength: 12 }),
  ),
  { maxLength: 12 },
);

/** A point as text that is equal exactly when the points are. */
function pointText(column: string, atom: Atom, ts: number): string {
  return `${column} = ${Array.from(encodeAtom(atom)).join()} @ ${ts}`;
}

/** rows by first recording, each a set of points */
function twinOf(recordings: readonly Recording[]): Map<string, Set<string>> {
  const rows = new Map<string, Set<string>>();
  for (const [name, cells] of recordings) {
    const row = rows.get(String(name)) ?? new Set();
    rows.set(String(name), row);
    for (const [column, atom, ts] of cells) row.add(pointText(String(column), atom, ts));
  }
  return rows;
}

function record(recordings: readonly Recording[], base?: SparseSnapshot): SparseSnapshot {
  const builder = new SparseBuilder(arenas, base);
  for (const [name, cells] of recordings) builder.addRow(name, cells);
  return builder.seal();
}

function expectTwin(snapshot: SparseSnapshot, twin: Map<string, Set<string>>): void {
  const view = new SparseView(snapshot, arenas);
  expect(Array.from({ length: view.rowCount }, (_, row) => view.names.textAt(row))).toEqual([
    ...twin.keys(),
  ]);
  let pointCount = 0;
  const columnRows = new Map<string, number>();
  [...twin.values()].forEach((points, row) => {
    const cells = cellsOf(view.row(row));
    expect(new Set(cells.map((c) => pointText(String(c.path), c.atom, c.ts)))).toEqual(points);
    expect(cells.length).toBe(points.size);
    for (const column of new Set(cells.map((cell) => String(cell.path)))) {
      columnRows.set(column, (columnRows.get(column) ?? 0) + 1);
    }
    pointCount += points.size;
  });
  expect(snapshot.pointCount).toBe(pointCount);
  const columns = Array.from({ length: view.columnCount }, (_, id) => view.columnPath(id));
  expect(columns).toEqual([...columns].sort(comparePaths));
  columns.forEach((path, id) => {
    expect(view.findColumn(path)).toBe(id);
    expect(view.columnRowCounts[id]).toBe(columnRows.get(String(path)));
  });
}

describe('SparseBuilder', () => {
  test('recorded rows read back as points of cells', () => {
    fc.assert(
      fc.property(recordings, (recordings) => {
        const snapshot = record(recordings);
        expectTwin(snapshot, twinOf(recordings));
        freeSnapshot(snapshot, arenas);
      }),
      { numRuns: 200 },
    );
  });

  test('recording on top of a snapshot equals recording everything at once', () => {
    fc.assert(
      fc.property(recordings, recordings, recordings, (first, second, third) => {
        const a = record(first);
        const b = record(second, a);
        expectTwin(a, twinOf(first));
        freeSnapshot(a, arenas);
        const c = record(third, b);
        freeSnapshot(b, arenas);
        expectTwin(c, twinOf([...first, ...second, ...third]));
        freeSnapshot(c, arenas);
      }),
    );
  });

  test('a row of many points is sorted as short ones are', () => {
    const cells = Array.from({ length: 3000 }, (_, i) => {
      return [Path.of(`c${(i * 7919) % 700}`), i % 5, i % 3] as const;
    });
    const recordings = [[Path.of('r'), cells]] as const;
    const snapshot = record(recordings);
    expectTwin(snapshot, twinOf(recordings));
    freeSnapshot(snapshot, arenas);
  });

  test('one timestamp of all points is kept once', () => {
    const x = Path.of('x');
    const one = record([[Path.of('a'), [[x, 1, 5]]]]);
    expect(one.timestamps).toEqual({ constant: 5 });
    const same = record([[Path.of('b'), [[x, 1, 5]]]], one);
    expect(same.timestamps).toEqual({ constant: 5 });
    const other = record([[Path.of('b'), [[x, 1, 6]]]], one);
    expect(other.timestamps).toHaveProperty('perPoint');
    for (const snapshot of [one, same, other]) freeSnapshot(snapshot, arenas);
  });

  test('a million cells take at most 24 bytes each, timestamps included', () => {
    const builder = new SparseBuilder(arenas);
    const columns = Array.from({ length: 20_000 }, (_, i) => builder.columnId(Path.of(`w${i}`)));
    for (let row = 0; row < 50_000; row++) {
      builder.beginRow(Path.of(String(row)));
      for (let i = 0; i < 20; i++) {
        builder.addCell(columns[(row * 31 + i * 997) % 20_000] as number, i + 0.5, row);
      }
    }
    const snapshot = builder.seal();
    expect(snapshot.pointCount).toBe(1_000_000);
    expect(snapshotSize(snapshot) / snapshot.pointCount).toBeLessThan(24);
    freeSnapshot(snapshot, arenas);
  });

  test('a builder that is given up leaves nothing behind', () => {
    const builder = new SparseBuilder(arenas);
    builder.addRow(Path.of('r'), [
      [Path.of('x'), 'text', 1],
      [Path.of('y'), 2, 2],
    ]);
    builder.release();
    expect(arenas.usedBytes).toBe(0);
  });
});

describe('SparseView', () => {
  test('needed columns bring everything below them and nothing else', () => {
    fc.assert(
      fc.property(recordings, fc.array(columnPath, { maxLength: 3 }), (recordings, needed) => {
        const snapshot = record(recordings);
        const view = new SparseView(snapshot, arenas);
        const ranges = view.columnRanges(needed);
        for (let row = 0; row < view.rowCount; row++) {
          const expected = cellsOf(view.row(row)).filter((cell) =>
            needed.some((path) => cell.path.startsWith(path)),
          );
          expect(cellsOf(view.row(row, ranges))).toEqual(expected);
        }
        freeSnapshot(snapshot, arenas);
      }),
    );
  });

  test('the transpose has the points of each column in the order of rows', () => {
    fc.assert(
      fc.property(recordings, (recordings) => {
        const snapshot = record(recordings);
        const view = new SparseView(snapshot, arenas);
        const { offsets, rows, points } = view.columns();
        for (let id = 0; id < view.columnCount; id++) {
          const found: string[] = [];
          for (let i = offsets[id] as number; i < (offsets[id + 1] as number); i++) {
            const point = points[i] as number;
            found.push(`${rows[i]} ${pointText('', view.atomAt(point), view.tsAt(point))}`);
          }
          const expected: string[] = [];
          for (let row = 0; row < view.rowCount; row++) {
            for (const cell of cellsOf(view.row(row))) {
              if (!cell.path.equals(view.columnPath(id))) continue;
              expected.push(`${row} ${pointText('', cell.atom, cell.ts)}`);
            }
          }
          expect(found).toEqual(expected);
        }
        freeSnapshot(snapshot, arenas);
      }),
      { numRuns: 50 },
    );
  });

  test('the transpose of many columns is made in groups', () => {
    const builder = new SparseBuilder(arenas);
    for (let row = 0; row < 3000; row++) {
      builder.beginRow(Path.of(`r${row}`));
      for (let i = 0; i < 3; i++)
        builder.addCell(builder.columnId(Path.of(`c${row * 2 + i}`)), i, 0);
    }
    const snapshot = builder.seal();
    const view = new SparseView(snapshot, arenas);
    const { offsets, rows, points } = view.columns();
    for (let id = 0; id < view.columnCount; id++) {
      let previous = -1;
      for (let i = offsets[id] as number; i < (offsets[id + 1] as number); i++) {
        const point = points[i] as number;
        if (view.columnIds[point] !== id) expect.fail(`point ${point} is in the wrong column`);
        expect(rows[i]).toBeGreaterThan(previous);
        previous = rows[i] as number;
        expect(view.rowOffsets[previous]).toBeLessThanOrEqual(point);
        expect(view.rowOffsets[previous + 1]).toBeGreaterThan(point);
      }
    }
    expect(offsets[view.columnCount]).toBe(snapshot.pointCount);
    freeSnapshot(snapshot, arenas);
  });

  test('an atom and a row can share a name', () => {
    const snapshot = record([
      [
        Path.of('r'),
        [
          [Path.parse('a.b'), 2, 0],
          [Path.parse('a'), 1, 0],
        ],
      ],
    ]);
    const row = new SparseView(snapshot, arenas).row(0);
    expect(row.names).toEqual(['a', 'a']);
    freeSnapshot(snapshot, arenas);
  });
});
