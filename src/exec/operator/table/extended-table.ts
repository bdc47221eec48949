// A table with more columns: those of its own rows stay where they are.
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { type BatchTable, type MadeColumn, MadeTable } from './batch-table.ts';

export class ExtendedTable implements BatchTable {
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly columns: ColumnSnapshot[] = [];
  readonly #base: BatchTable;
  readonly #added: MadeTable;
  readonly #places: { readonly table: BatchTable; readonly column: number }[] = [];

  /** @param makers by names that the table does not have */
  constructor(base: BatchTable, makers: ReadonlyMap<string, () => MadeColumn | undefined>) {
    this.#base = base;
    this.#added = new MadeTable(base.chunkRowCounts, makers);
    this.rowCount = base.rowCount;
    this.chunkRowCounts = base.chunkRowCounts;
  }

  find(path: readonly string[]): number | 'absent' | undefined {
    const added = this.#added.find(path);
    if (added !== 'absent')
      return added === undefined ? undefined : this.#number(this.#added, added);
    const found = this.#base.find(path);
    return typeof found === 'number' ? this.#number(this.#base, found) : found;
  }

  pathOf(column: number): readonly string[] {
    const place = this.#place(column);
    return place.table.pathOf(place.column);
  }

  tsOf(column: number): number {
    const place = this.#place(column);
    return place.table.tsOf(place.column);
  }

  timedOf(column: number): true | number {
    const place = this.#place(column);
    const timed = place.table.timedOf(place.column);
    return timed === true ? true : this.#number(place.table, timed);
  }

  hasNulls(column: number): boolean {
    const place = this.#place(column);
    return place.table.hasNulls(place.column);
  }

  #number(table: BatchTable, column: number): number {
    const known = this.#places.findIndex((each) => each.table === table && each.column === column);
    if (known !== -1) return known;
    this.columns.push(table.columns[column] as ColumnSnapshot);
    return this.#places.push({ table, column }) - 1;
  }

  #place(column: number): { readonly table: BatchTable; readonly column: number } {
    return this.#places[column] as { readonly table: BatchTable; readonly column: number };
  }
}
