// Cells that were handed out, in blocks; what is missing is asked for once.
import type { CellText, Range } from '../../worker/protocol.ts';

const ROWS = 64;
const COLUMNS = 16;
const BLOCKS_MAX = 600;

type Block = readonly (readonly CellText[])[];

export class CellCache {
  readonly #read: (range: Range) => Promise<CellText[][]>;
  readonly #onArrival: () => void;
  readonly #blocks = new Map<string, Block | undefined>();
  #rowCount = 0;
  #columnCount = 0;

  constructor(read: (range: Range) => Promise<CellText[][]>, onArrival: () => void) {
    this.#read = read;
    this.#onArrival = onArrival;
  }

  resize(rowCount: number, columnCount: number): void {
    if (rowCount > this.#rowCount) {
      // The last block may have been cut short by the end of what was there.
      const last = Math.floor(this.#rowCount / ROWS);
      for (const key of this.#blocks.keys())
        if (key.startsWith(`${last} `)) this.#blocks.delete(key);
    }
    this.#rowCount = rowCount;
    this.#columnCount = columnCount;
  }

  /** undefined: not there yet, it has been asked for */
  get(row: number, column: number): CellText | undefined {
    const block = this.#block(Math.floor(row / ROWS), Math.floor(column / COLUMNS));
    return block?.[row % ROWS]?.[column % COLUMNS];
  }

  #block(rowBlock: number, columnBlock: number): Block | undefined {
    const key = `${rowBlock} ${columnBlock}`;
    if (this.#blocks.has(key)) return this.#blocks.get(key);
    this.#blocks.set(key, undefined);
    this.#trim();
    const rowFrom = rowBlock * ROWS;
    const from = columnBlock * COLUMNS;
    const columns = Array.from(
      { length: Math.min(COLUMNS, this.#columnCount - from) },
      (_, index) => from + index,
    );
    const rowTo = Math.min(this.#rowCount, rowFrom + ROWS);
    this.#read({ rowFrom, rowTo, columns }).then(
      (block) => {
        this.#blocks.set(key, block);
        this.#onArrival();
      },
      () => this.#blocks.delete(key),
    );
    return undefined;
  }

  #trim(): void {
    if (this.#blocks.size <= BLOCKS_MAX) return;
    const [oldest] = this.#blocks.keys();
    if (oldest !== undefined) this.#blocks.delete(oldest);
  }
}
