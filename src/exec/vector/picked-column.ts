// Values of rows in any order of columns whose chunks lie in a file: a block of these rows after the
// other is read, for which each chunk is read once.
import type { Atom } from '../../value/atom.ts';
import { ChunkStarts, type ColumnView } from '../../value/column/column-view.ts';
import { isChunkInFile } from '../../value/column/file-span.ts';
import { Timestamp } from '../../value/timestamp.ts';

/** Bytes of the values that are held at a time. */
const HELD_SIZE_MAX = 16 * 2 ** 20;
const VALUE_SIZE = 9;
const BLOCK_ROW_COUNT_MIN = 65_536;

/** Whether looks at rows in any order would read the same chunks again and again. */
export function isPaged({ snapshot }: ColumnView): boolean {
  return snapshot.chunks.some(isChunkInFile);
}

/** The positions of a block that have a row of a chunk, one chunk after the other. */
interface Block {
  readonly number: number;
  readonly positions: Uint32Array;
  /** where the positions of each chunk begin, and the number of all */
  readonly starts: Uint32Array;
}

/** Rows in any order, cut into blocks; columns share them. */
export class PickedBlocks {
  readonly rows: Uint32Array;
  readonly size: number;
  readonly chunks: ChunkStarts;
  readonly #chunkCount: number;
  #block: Block | undefined;

  /** @param rows numbers of rows; those behind the last row have no values */
  constructor(rows: Uint32Array, chunkRowCounts: readonly number[], columnCount: number) {
    this.rows = rows;
    this.chunks = new ChunkStarts(chunkRowCounts);
    this.#chunkCount = chunkRowCounts.length;
    const size = Math.floor(HELD_SIZE_MAX / (VALUE_SIZE * Math.max(1, columnCount)));
    this.size = Math.min(rows.length, Math.max(BLOCK_ROW_COUNT_MIN, size));
  }

  block(number: number): Block {
    if (this.#block?.number === number) return this.#block;
    const first = number * this.size;
    const rows = this.rows.subarray(first, first + this.size);
    const starts = new Uint32Array(this.#chunkCount + 1);
    for (const row of rows) {
      if (row >= this.chunks.rowCount) continue;
      const next = this.chunks.chunkOf(row) + 1;
      starts[next] = (starts[next] as number) + 1;
    }
    for (let i = 1; i < starts.length; i++) {
      starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    }
    const ends = starts.slice();
    const positions = new Uint32Array(starts[this.#chunkCount] as number);
    rows.forEach((row, position) => {
      if (row >= this.chunks.rowCount) return;
      const chunk = this.chunks.chunkOf(row);
      const at = ends[chunk] as number;
      positions[at] = position;
      ends[chunk] = at + 1;
    });
    this.#block = { number, positions, starts };
    return this.#block;
  }
}

/** A column of picked rows; indexes count these. */
export class PickedColumn {
  readonly #view: ColumnView;
  readonly #blocks: PickedBlocks;
  readonly #look: () => void;
  readonly #values: Float64Array;
  readonly #nulls: Uint8Array;
  #first = 0;
  #end = 0;

  /** @param look called between chunks; it may throw */
  constructor(view: ColumnView, blocks: PickedBlocks, look: () => void) {
    this.#view = view;
    this.#blocks = blocks;
    this.#look = look;
    this.#values = new Float64Array(blocks.size);
    this.#nulls = new Uint8Array(blocks.size);
  }

  atomAt(index: number): Atom {
    const at = this.#at(index);
    if (this.#nulls[at] === 1) return null;
    const value = this.#values[at] as number;
    const { dictionary, snapshot } = this.#view;
    if (dictionary !== undefined) return dictionary.atom(value);
    return snapshot.type === 'timestamp' ? new Timestamp(value) : value;
  }

  isNull(index: number): boolean {
    return this.#nulls[this.#at(index)] === 1;
  }

  /** NaN for null. */
  numberAt(index: number): number {
    const at = this.#at(index);
    return this.#nulls[at] === 1 ? Number.NaN : (this.#values[at] as number);
  }

  codeAt(index: number): number {
    return this.#values[this.#at(index)] as number;
  }

  #at(index: number): number {
    if (index < this.#first || index >= this.#end) this.#load(index);
    return index - this.#first;
  }

  #load(index: number): void {
    const { size, rows, chunks } = this.#blocks;
    const { number, positions, starts } = this.#blocks.block(Math.floor(index / size));
    const view = this.#view;
    const hasCodes = view.dictionary !== undefined;
    this.#first = number * size;
    this.#end = Math.min(this.#first + size, rows.length);
    const values = this.#values.fill(0);
    const nulls = this.#nulls.fill(1);
    for (let c = 0; c + 1 < starts.length; c++) {
      const [from, to] = [starts[c] as number, starts[c + 1] as number];
      if (from === to) continue;
      this.#look();
      const chunk = view.chunk(c);
      const start = chunks.startOf(c);
      for (let i = from; i < to; i++) {
        const position = positions[i] as number;
        const row = rows[this.#first + position] as number;
        if (chunk.isNull(row - start)) continue;
        nulls[position] = 0;
        values[position] = hasCodes ? view.codeAt(row) : chunk.numberAt(row - start);
      }
    }
  }
}
