// When datasets were last used, in memory that all threads share: content that was not used for the
// longest time is evicted first.

/** Datasets whose numbers are equal modulo this share a cell, and count as used when one of them is. */
const CELL_COUNT = 16_384;

/** A clock that every task moves, and its reading at the last use of each dataset. */
export class DatasetUses {
  /** the clock, then a cell for each dataset */
  readonly cells: SharedArrayBuffer;
  readonly #times: BigInt64Array;

  constructor(cells = new SharedArrayBuffer((1 + CELL_COUNT) * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.cells = cells;
    this.#times = new BigInt64Array(cells);
  }

  /** Moves the clock. @returns its reading */
  tick(): bigint {
    return Atomics.add(this.#times, 0, 1n) + 1n;
  }

  /** Notes that the content of this dataset is used now. */
  mark(storeId: number): void {
    Atomics.store(this.#times, cellOf(storeId), Atomics.load(this.#times, 0));
  }

  /** The clock's reading at the last use; 0: none is known */
  lastUse(storeId: number): bigint {
    return Atomics.load(this.#times, cellOf(storeId));
  }
}

function cellOf(storeId: number): number {
  return 1 + (storeId % CELL_COUNT);
}
