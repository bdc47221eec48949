// Values that come one by one, as a column.
import type { Atom } from '../../../value/atom.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { Scalar, type Value } from '../../../value/value.ts';
import type { OperatorContext } from '../materialize.ts';
import type { Output } from '../pipeline.ts';
import type { MadeColumn } from './batch-table.ts';
import { encodeAtoms, encodeNumberColumn } from './encode-column.ts';

/** The cells of a column as they come; rows without one are passed over. */
export class CellCollector {
  readonly #atoms: Atom[] = [];
  readonly #untimed: number[] = [];
  #ts = MINUS_INFINITY;
  #isPlain = true;
  #cellCount = 0;
  #nullCount = 0;
  #hasOneTime = true;

  set(row: number, value: Value): void {
    // Several points of a cell, rows and embeddings are no single atoms.
    if (!(value instanceof Scalar) || this.#atoms.length > row) {
      this.#isPlain = false;
      return;
    }
    while (this.#atoms.length < row) this.#atoms.push(null);
    this.#atoms.push(value.atom);
    this.#cellCount++;
    if (value.atom === null) {
      this.#nullCount++;
      this.#hasOneTime &&= value.ts === MINUS_INFINITY;
      return;
    }
    if (value.ts === MINUS_INFINITY) this.#untimed.push(row);
    else if (this.#ts === MINUS_INFINITY) this.#ts = value.ts;
    else if (this.#ts !== value.ts) this.#hasOneTime = false;
  }

  /** Which of so many rows have the column: see Output. */
  presence(rowCount: number): Output['presence'] {
    if (this.#cellCount === rowCount) return undefined;
    return this.#nullCount === 0 ? 'valued' : 'mixed';
  }

  /** Undefined when a value is no atom, or timestamps that somebody looks at differ. */
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
    for (let row = 0; row < rowCount; row++) if (this.#atoms[row] === null) nulls[row] = 1;
    const marks = { values: new Float64Array(rowCount), nulls };
    return {
      snapshot,
      ts,
      timed: encodeNumberColumn(path, marks, 'number', chunkRowCounts, memory),
    };
  }
}
