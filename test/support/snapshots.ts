// Random snapshots of both layouts, and their content as text that is equal when they are.
import fc from 'fast-check';
import { encodeAtom } from '../../src/value/atom-codec.ts';
import type { ArenaAllocator } from '../../src/value/column/arena-set.ts';
import { ColumnView } from '../../src/value/column/column-view.ts';
import { rowNamesView } from '../../src/value/column/row-names.ts';
import { RowTimestampsView } from '../../src/value/column/row-timestamps.ts';
import type { Snapshot } from '../../src/value/column/snapshot.ts';
import { SparseBuilder } from '../../src/value/column/sparse-builder.ts';
import { SparseView } from '../../src/value/column/sparse-view.ts';
import { type RecordedCell, TableBuilder } from '../../src/value/column/table-builder.ts';
import { Path } from '../../src/value/path.ts';
import { cellsOf } from '../../src/value/value.ts';
import {
  arbitraryAtom,
  arbitraryNumberAtom,
  arbitraryPath,
  arbitraryText,
  arbitraryTimestamp,
} from './atoms.ts';

export type PlainRow = readonly [Path, readonly RecordedCell[]];

/** Columns of one kind each, and one of any. */
const COLUMNS = [
  ['number', arbitraryNumberAtom],
  ['integer', fc.integer()],
  ['text', arbitraryText],
  ['time', arbitraryTimestamp],
  ['mixed', arbitraryAtom],
  ['null', fc.constant(null)],
  ['a.b', fc.constantFrom(1, 2)],
] as const;

const ts = fc.constantFrom(0, 1.5, 1e9, Number.NaN, Number.NEGATIVE_INFINITY);

const cells: fc.Arbitrary<RecordedCell[]> = fc
  .tuple(
    ...COLUMNS.map(([name, atom]) =>
      fc.option(fc.tuple(fc.constant(Path.parse(name)), atom, ts), { freq: 4 }),
    ),
  )
  .map((cells) => cells.filter((cell) => cell !== null));

const names = fc.oneof(
  arbitraryPath,
  fc.integer({ min: -3, max: 100 }).map((n) => Path.of(String(n))),
);

export const plainRows: fc.Arbitrary<PlainRow[]> = fc.oneof(
  fc.array(fc.tuple(names, cells), { maxLength: 30 }),
  fc
    .array(cells, { maxLength: 30 })
    .map((rows) => rows.map((cells, i): PlainRow => [Path.of(String(i)), cells])),
  fc
    .array(cells, { maxLength: 30 })
    .map((rows) => rows.map((cells, i): PlainRow => [Path.of(String(i * 7 + 3)), cells])),
);

export function buildTable(
  rows: readonly PlainRow[],
  allocator: ArenaAllocator,
  chunkRowCount?: number,
): Snapshot {
  const builder = new TableBuilder(allocator, chunkRowCount);
  for (const [name, cells] of rows) builder.addRow(name, cells);
  return builder.seal();
}

export function buildSparse(rows: readonly PlainRow[], allocator: ArenaAllocator): Snapshot {
  const builder = new SparseBuilder(allocator);
  for (const [name, cells] of rows) builder.addRow(name, cells);
  return builder.seal();
}

/** Everything that can be read from a snapshot, one line a cell. */
export function snapshotTexts(snapshot: Snapshot, arenas: ArenaAllocator): string[] {
  const lines = [`${snapshot.rowCount} rows, names are ${snapshot.rowNames.kind}`];
  if (snapshot.layout === 'columnar') {
    const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
    const timestamps = new RowTimestampsView(snapshot.timestamps, arenas);
    for (let row = 0; row < snapshot.rowCount; row++) {
      lines.push(`${names.textAt(row)} @ ${timestamps.at(row)}`);
    }
    for (const column of snapshot.columns) {
      const chunks = column.chunks.map((chunk) => JSON.stringify(withoutSpans(chunk)));
      lines.push(`${column.path.join('|')}: ${column.type}, ${column.nullCount} null, ${chunks}`);
      for (const atom of new ColumnView(column, arenas).atoms()) {
        lines.push(encodeAtom(atom).join());
      }
    }
    return lines;
  }
  const view = new SparseView(snapshot, arenas);
  for (let row = 0; row < snapshot.rowCount; row++) {
    lines.push(view.names.textAt(row));
    for (const { path, atom, ts } of cellsOf(view.row(row))) {
      lines.push(`${path} = ${encodeAtom(atom).join()} @ ${ts}`);
    }
  }
  for (let id = 0; id < view.columnCount; id++) {
    lines.push(`${view.columnText(id)}: ${view.columnRowCounts[id]}`);
  }
  return lines;
}

function withoutSpans(chunk: object): unknown {
  return Object.fromEntries(
    Object.entries(chunk).map(([key, value]) => {
      const isSpan = typeof value === 'object' && value !== null && 'arena' in value;
      if (key === 'values') return [key, withoutSpans(value as object)];
      return [key, isSpan ? 'span' : String(value)];
    }),
  );
}
