// Rows of a table in some order, by their numbers: made one by one, and only when they are read.
import type { NamedProjectItem } from '../../plan/expression.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { compareElements } from '../../value/natural-order.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { ColumnRows, type RowColumn } from '../column-rows.ts';
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

  *[Symbol.iterator](): Iterator<ExecRow> {
    for (const number of this.#numbers) yield this.#reader.at(number);
  }

  /** The rows of a select list; undefined when an item is more than a plain column. */
  project(items: readonly NamedProjectItem[]): ColumnRows | undefined {
    const columns: RowColumn[] = [];
    const numbers = this.#numbers;
    for (const { path, expression } of items) {
      if (expression.kind !== 'column') return undefined;
      const view = this.#reader.columnAt(expression.path);
      if (view === undefined) return undefined;
      const { ts } = this.#reader;
      columns.push({
        name: path[0] as string,
        values: { kind: 'atoms', atomAt: (index) => view.atomAt(numbers[index] as number) },
        tsAt: (index) => (view.isNull(numbers[index] as number) ? MINUS_INFINITY : ts),
      });
    }
    columns.sort((a, b) => compareElements(a.name, b.name));
    return new ColumnRows(numbers.length, columns, (index) =>
      this.#reader.nameAt(numbers[index] as number),
    );
  }
}
