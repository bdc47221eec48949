// Rows of a table in some order, by their numbers: made one by one, and only when they are read.
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import type { SliceableRows } from '../general/operator/source.ts';
import type { ExecRow } from '../general/row.ts';
import type { RowReader } from './row-reader.ts';

export class NumberedRows implements SliceableRows {
  readonly #reader: RowReader;
  readonly #numbers: Uint32Array;

  /** @param numbers of the rows, in order */
  constructor(reader: RowReader, numbers: Uint32Array) {
    this.#reader = reader;
    this.#numbers = numbers;
  }

  get snapshot(): ColumnarSnapshot {
    return this.#reader.snapshot;
  }

  get numbers(): Uint32Array {
    return this.#numbers;
  }

  get rowCount(): number {
    return this.#numbers.length;
  }

  slice(from: number, to: number): NumberedRows {
    return new NumberedRows(this.#reader, this.#numbers.subarray(from, to));
  }

  [Symbol.iterator](): Iterator<ExecRow> {
    return this.#reader.rows(this.#numbers)[Symbol.iterator]();
  }
}
