// The entries of a node's rows in columns that few rows have, sorted by column.
import type { SparseCodes } from '../feature/sparse-codes.ts';
import type { Workspace } from '../workspace.ts';

/** Costs what the rows have, however many columns there are. */
export class NodeEntries {
  readonly #workspace: Workspace;
  readonly #sparse: SparseCodes;
  readonly #isKept: Uint8Array;
  /** of each column: its entries, and the end of them below; 0 between two gatherings */
  readonly #counts: Uint32Array;
  readonly #ends: Uint32Array;
  #rows = new Uint32Array(0);
  #codes = new Uint8Array(0);
  #found = new Uint32Array(0);

  /** @param kept the columns that count */
  constructor(
    workspace: Workspace,
    sparse: SparseCodes,
    columnCount: number,
    kept: Iterable<number>,
  ) {
    this.#workspace = workspace;
    this.#sparse = sparse;
    this.#isKept = new Uint8Array(columnCount);
    for (const column of kept) this.#isKept[column] = 1;
    this.#counts = new Uint32Array(columnCount);
    this.#ends = new Uint32Array(columnCount);
  }

  /** @returns the columns that any of the rows has, ascending */
  gather(rows: Uint32Array): Uint32Array {
    const { u8, u32 } = this.#workspace.memory.get(this.#sparse.span.arena);
    const starts = this.#sparse.starts >>> 2;
    const columns = this.#sparse.columns >>> 2;
    const { codes } = this.#sparse;
    const isKept = this.#isKept;
    const counts = this.#counts;
    const ends = this.#ends;
    for (const column of this.#found) counts[column] = 0;
    const found: number[] = [];
    let total = 0;
    for (const row of rows) {
      const end = u32[starts + row + 1] as number;
      for (let entry = u32[starts + row] as number; entry < end; entry++) {
        const column = u32[columns + entry] as number;
        if (isKept[column] === 0) continue;
        if (counts[column] === 0) found.push(column);
        counts[column] = (counts[column] as number) + 1;
        total++;
      }
    }
    this.#found = Uint32Array.from(found).sort();
    if (this.#rows.length < total) {
      this.#rows = new Uint32Array(total);
      this.#codes = new Uint8Array(total);
    }
    let from = 0;
    for (const column of this.#found) {
      ends[column] = from;
      from += counts[column] as number;
    }
    for (const row of rows) {
      const end = u32[starts + row + 1] as number;
      for (let entry = u32[starts + row] as number; entry < end; entry++) {
        const column = u32[columns + entry] as number;
        if (isKept[column] === 0) continue;
        const at = ends[column] as number;
        ends[column] = at + 1;
        this.#rows[at] = row;
        this.#codes[at] = u8[codes + entry] as number;
      }
    }
    return this.#found;
  }

  /** Rows that have a column, in the order in which they were gathered, and their codes. */
  entriesOf(column: number): { readonly rows: Uint32Array; readonly codes: Uint8Array } {
    const end = this.#ends[column] as number;
    const from = end - (this.#counts[column] as number);
    return { rows: this.#rows.subarray(from, end), codes: this.#codes.subarray(from, end) };
  }
}

/** The code of a row in a column, 0 when it has none. */
export function sparseCode(
  { memory }: Workspace,
  sparse: SparseCodes,
  row: number,
  column: number,
): number {
  const { u8, u32 } = memory.get(sparse.span.arena);
  const columns = sparse.columns >>> 2;
  let low = u32[(sparse.starts >>> 2) + row] as number;
  const end = u32[(sparse.starts >>> 2) + row + 1] as number;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((u32[columns + middle] as number) < column) low = middle + 1;
    else high = middle;
  }
  return low < end && u32[columns + low] === column ? (u8[sparse.codes + low] as number) : 0;
}
