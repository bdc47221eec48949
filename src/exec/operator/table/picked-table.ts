// Some rows of a table, perhaps in another order: columns are gathered at their first use.
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import type { OperatorContext } from '../materialize.ts';
import { type BatchTable, chunksOf } from './batch-table.ts';
import { RowGatherer } from './gather.ts';

const CHUNK_ROW_COUNT = 65_536;

export class PickedTable implements BatchTable {
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly columns: ColumnSnapshot[] = [];
  readonly base: BatchTable;
  /** the rows of the base */
  readonly rows: Uint32Array;
  readonly #gatherer: RowGatherer;
  /** the columns of the base, by their numbers here */
  readonly #places: number[] = [];

  constructor(base: BatchTable, rows: Uint32Array, context: OperatorContext) {
    this.base = base;
    this.rows = rows;
    this.rowCount = rows.length;
    this.chunkRowCounts = chunksOf(rows.length, CHUNK_ROW_COUNT);
    this.#gatherer = new RowGatherer(base, rows, this.chunkRowCounts, context);
  }

  find(path: readonly string[]): number | 'absent' | undefined {
    const found = this.base.find(path);
    return typeof found === 'number' ? this.#number(found) : found;
  }

  pathOf(column: number): readonly string[] {
    return this.base.pathOf(this.#place(column));
  }

  tsOf(column: number): number {
    return this.base.tsOf(this.#place(column));
  }

  timedOf(column: number): true | number {
    const timed = this.base.timedOf(this.#place(column));
    return timed === true ? true : this.#number(timed);
  }

  hasNulls(column: number): boolean {
    return (this.columns[column] as ColumnSnapshot).nullCount > 0;
  }

  #number(column: number): number {
    const known = this.#places.indexOf(column);
    if (known !== -1) return known;
    const gathered = this.#gatherer.column(this.base.columns[column] as ColumnSnapshot);
    this.columns.push(gathered);
    return this.#places.push(column) - 1;
  }

  #place(column: number): number {
    return this.#places[column] as number;
  }
}
