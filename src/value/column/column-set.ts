// Columns that are built side by side and come up while their rows are read.
import type { ArenaAllocator } from './arena-set.ts';
import { ColumnBuilder } from './column-builder.ts';

/** The columns of some rows, in the order of their first use. */
export class ColumnSet {
  readonly #rowCount: number;
  readonly #arenas: ArenaAllocator;
  readonly #columns = new Map<string, ColumnBuilder>();

  constructor(rowCount: number, arenas: ArenaAllocator) {
    this.#rowCount = rowCount;
    this.#arenas = arenas;
  }

  /** The column of that path, made when nobody has asked for it before. */
  at(path: readonly string[]): ColumnBuilder {
    const key = JSON.stringify(path);
    let column = this.#columns.get(key);
    if (column === undefined) {
      column = new ColumnBuilder(path, this.#arenas);
      this.#columns.set(key, column);
    }
    return column;
  }

  /** The column, with nulls for the rows before this one that it lacks. */
  filledTo(path: readonly string[], row: number): ColumnBuilder {
    const column = this.at(path);
    if (column.rowCount < row) column.appendNulls(row - column.rowCount);
    return column;
  }

  /** All columns, with nulls for the rows at their end that they lack. */
  seal() {
    return [...this.#columns.values()].map((column) => {
      column.appendNulls(this.#rowCount - column.rowCount);
      return column.seal();
    });
  }

  release(): void {
    for (const column of this.#columns.values()) column.release();
  }
}
