// Builds a columnar snapshot from rows; one timestamp a row, nulls are absent cells.

import type { Atom } from '../atom.ts';
import { Path } from '../path.ts';
import { laterOf, MINUS_INFINITY } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { ColumnBuilder } from './column-builder.ts';
import { RowNamesBuilder } from './row-names.ts';
import { RowTimestampsBuilder, RowTimestampsView } from './row-timestamps.ts';
import type { ColumnarSnapshot } from './snapshot.ts';
import { CHUNK_ROW_COUNT_MAX } from './snapshot.ts';

/** One recorded cell: column, value, timestamp in seconds. */
export type RecordedCell = readonly [column: Path, atom: Atom, ts: number];

/**
 * Rows in the order in which they are added; columns in the order of their first use. A column that
 * occurs twice in a row keeps the last value. Row names may repeat: see `RowNamesView.duplicates`.
 */
export class TableBuilder {
  readonly #allocator: ArenaAllocator;
  readonly #chunkRowCount: number;
  readonly #columns: ColumnBuilder[] = [];
  readonly #columnIndexes = new Map<string, number>();
  readonly #row: (Atom | undefined)[] = [];
  /** columns that have a value in the row that is being added */
  readonly #touched: number[] = [];
  #names: RowNamesBuilder;
  #timestamps: RowTimestampsBuilder;
  #rowCount = 0;

  constructor(allocator: ArenaAllocator, chunkRowCount = CHUNK_ROW_COUNT_MAX) {
    this.#allocator = allocator;
    this.#chunkRowCount = chunkRowCount;
    this.#names = new RowNamesBuilder(allocator, chunkRowCount);
    this.#timestamps = new RowTimestampsBuilder(allocator, chunkRowCount);
  }

  /** Goes on where a snapshot ended; both stay readable and share their full chunks. */
  static from(
    snapshot: ColumnarSnapshot,
    allocator: ArenaAllocator,
    chunkRowCount = CHUNK_ROW_COUNT_MAX,
  ): TableBuilder {
    const builder = new TableBuilder(allocator, chunkRowCount);
    const { rowCount } = snapshot;
    for (const column of snapshot.columns) {
      builder.#addColumn(
        new Path(column.path),
        ColumnBuilder.from(column, allocator, chunkRowCount),
      );
    }
    builder.#names = RowNamesBuilder.from(snapshot.rowNames, rowCount, allocator, chunkRowCount);
    const timestamps = new RowTimestampsView(snapshot.timestamps, allocator);
    for (let row = 0; row < rowCount; row++) builder.#timestamps.add(timestamps.at(row));
    builder.#rowCount = rowCount;
    return builder;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  get columnCount(): number {
    return this.#columns.length;
  }

  /** The position of a column, which is added when there is none of this path. */
  columnIndex(path: Path): number {
    const known = this.#columnIndexes.get(path.toString());
    if (known !== undefined) return known;
    const column = new ColumnBuilder(path.elements, this.#allocator, this.#chunkRowCount);
    return this.#addColumn(path, column);
  }

  /** Elements of the paths of all columns. */
  columnPaths(): readonly (readonly string[])[] {
    return this.#columns.map(({ path }) => path);
  }

  hasColumn(path: Path): boolean {
    return this.#columnIndexes.has(path.toString());
  }

  /** The row's timestamp is the latest of its cells, -Infinity when it has none. */
  addRow(name: Path, cells: readonly RecordedCell[]): void {
    let ts = cells.length === 0 ? MINUS_INFINITY : (cells[0] as RecordedCell)[2];
    for (const [column, atom, cellTs] of cells) {
      this.set(this.columnIndex(column), atom);
      ts = laterOf(ts, cellTs);
    }
    this.endRow(name, ts);
  }

  /** Sets a cell of the row that `endRow` will end. */
  set(columnIndex: number, atom: Atom): void {
    if (this.#row[columnIndex] === undefined) this.#touched.push(columnIndex);
    this.#row[columnIndex] = atom;
  }

  endRow(name: Path, ts: number): void {
    for (const index of this.#touched) {
      const column = this.#columns[index] as ColumnBuilder;
      // A column catches up on rows without it only when it is needed again.
      if (column.rowCount < this.#rowCount) column.appendNulls(this.#rowCount - column.rowCount);
      column.append(this.#row[index] as Atom);
      this.#row[index] = undefined;
    }
    this.#touched.length = 0;
    this.#names.add(name);
    this.#timestamps.add(ts);
    this.#rowCount++;
  }

  /**
   * Ends the table; the builder is used up.
   * @param check called between columns; what it throws leaves the spans to the allocator's owner
   */
  seal(check: () => void = () => {}): ColumnarSnapshot {
    const rowCount = this.#rowCount;
    return {
      layout: 'columnar',
      id: this.#allocator.nextId(),
      rowCount,
      chunkRowCounts: chunkRowCounts(rowCount, this.#chunkRowCount),
      columns: this.#columns.map((column) => {
        check();
        column.appendNulls(rowCount - column.rowCount);
        return column.seal();
      }),
      rowNames: this.#names.seal(),
      timestamps: this.#timestamps.seal(),
    };
  }

  /** Frees what a builder that is given up has written. */
  release(): void {
    for (const column of this.#columns) column.release();
    this.#names.release();
    this.#timestamps.release();
  }

  #addColumn(path: Path, column: ColumnBuilder): number {
    const index = this.#columns.length;
    this.#columns.push(column);
    this.#columnIndexes.set(path.toString(), index);
    return index;
  }
}

/** Row counts of the chunks of a table that is cut evenly. */
export function chunkRowCounts(rowCount: number, chunkRowCount = CHUNK_ROW_COUNT_MAX): number[] {
  const counts: number[] = [];
  for (let rest = rowCount; rest > 0; rest -= chunkRowCount) {
    counts.push(Math.min(rest, chunkRowCount));
  }
  return counts;
}
