// Rows that the reference made, as a table: what is above them runs on batches all the same.
import type { Atom } from '../../value/atom.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Scalar, type Value } from '../../value/value.ts';
import { type ExecRow, GroupRow, WindowRow } from '../general/row.ts';
import type { OperatorContext } from './materialize.ts';
import { aggregateName, keyName, windowName } from './outputs.ts';
import { chunksOf, type MadeColumn, MadeTable } from './table/batch-table.ts';
import { encodeAtoms, encodeNumberColumn } from './table/encode-column.ts';

const CHUNK_ROW_COUNT = 65_536;

export function tableOfRows(rows: Iterable<ExecRow>, context: OperatorContext): MadeTable {
  const kept: ExecRow[] = [];
  const columns = new Map<string, CellCollector>();
  const add = (name: string, value: Value) => {
    let column = columns.get(name);
    if (column === undefined) {
      column = new CellCollector();
      columns.set(name, column);
    }
    column.set(kept.length, value);
  };
  for (const row of rows) {
    const input = row instanceof WindowRow ? row.input : row;
    if (row instanceof WindowRow) {
      row.results.forEach((value, index) => {
        add(windowName(index), value);
      });
    }
    if (input instanceof GroupRow) {
      input.keys.forEach((value, index) => {
        add(keyName(index), value);
      });
      input.aggregates.forEach((value, index) => {
        add(aggregateName(index), value);
      });
    } else {
      const { names, values } = row.row;
      for (let i = 0; i < names.length; i++) add(names[i] as string, values[i] as Value);
    }
    kept.push(row);
  }
  const chunkRowCounts = chunksOf(kept.length, CHUNK_ROW_COUNT);
  const makers = new Map(
    Array.from(columns, ([name, column]) => [
      name,
      () => column.encode([name], kept.length, chunkRowCounts, context),
    ]),
  );
  return new MadeTable(chunkRowCounts, makers, (row) => (kept[row] as ExecRow).name);
}

/** The cells of a column as they come; rows without one are passed over. */
class CellCollector {
  readonly #atoms: Atom[] = [];
  readonly #untimed: number[] = [];
  #ts = MINUS_INFINITY;
  #isPlain = true;
  #hasOneTime = true;

  set(row: number, value: Value): void {
    // Several points of a cell, rows and embeddings are no single atoms.
    if (!(value instanceof Scalar) || this.#atoms.length > row) {
      this.#isPlain = false;
      return;
    }
    while (this.#atoms.length < row) this.#atoms.push(null);
    this.#atoms.push(value.atom);
    if (value.atom === null) {
      this.#hasOneTime &&= value.ts === MINUS_INFINITY;
      return;
    }
    if (value.ts === MINUS_INFINITY) this.#untimed.push(row);
    else if (this.#ts === MINUS_INFINITY) this.#ts = value.ts;
    else if (this.#ts !== value.ts) this.#hasOneTime = false;
  }

  encode(
    path: readonly string[],
    rowCount: number,
    chunkRowCounts: readonly number[],
    { memory, exactTimestamps }: OperatorContext,
  ): MadeColumn | undefined {
    if (!this.#isPlain || (exactTimestamps && !this.#hasOneTime)) return undefined;
    while (this.#atoms.length < rowCount) this.#atoms.push(null);
    const snapshot = encodeAtoms(path, this.#atoms, chunkRowCounts, memory);
    const ts = this.#ts;
    if (ts === MINUS_INFINITY || this.#untimed.length === 0) return { snapshot, ts };
    const nulls = new Uint8Array(rowCount);
    for (const row of this.#untimed) nulls[row] = 1;
    const marks = { values: new Float64Array(rowCount), nulls };
    return {
      snapshot,
      ts,
      timed: encodeNumberColumn(path, marks, 'number', chunkRowCounts, memory),
    };
  }
}
