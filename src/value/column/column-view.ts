// Reading columns: chunk views that are monomorphic per form, and a column view over them.

import type { Atom } from '../atom.ts';
import { Timestamp } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { codesOf } from './chunk-encoder.ts';
import { type DictionaryView, dictionaryView } from './dictionary.ts';
import { isChunkInFile } from './file-span.ts';
import type { ChunkSnapshot, ColumnSnapshot } from './snapshot.ts';
import { bytesOf, float64Of, int32Of, uint16Of } from './span-view.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

/** One chunk of a column; positions count from the chunk's first row. */
export interface ChunkView {
  readonly kind: ChunkSnapshot['kind'];
  readonly rowCount: number;
  atomAt(index: number): Atom;
  isNull(index: number): boolean;
  /** the number or the seconds of a timestamp; NaN for null and for other atoms */
  numberAt(index: number): number;
}

/** A chunk whose rows all hold one atom. */
export class ConstantChunkView implements ChunkView {
  readonly kind = 'constant';
  readonly rowCount: number;
  readonly atom: Atom;

  constructor(rowCount: number, atom: Atom) {
    this.rowCount = rowCount;
    this.atom = atom;
  }

  atomAt(): Atom {
    return this.atom;
  }

  isNull(): boolean {
    return this.atom === null;
  }

  numberAt(): number {
    return numberOf(this.atom);
  }
}

/** int32, float64 and timestamp chunks. */
export class NumericChunkView implements ChunkView {
  readonly kind: 'int32' | 'float64' | 'timestamp';
  readonly rowCount: number;
  readonly values: Int32Array | Float64Array;
  readonly validity: Uint8Array | undefined;

  constructor(
    chunk: Extract<ChunkSnapshot, { kind: 'int32' | 'float64' | 'timestamp' }>,
    arenas: Arenas,
  ) {
    this.kind = chunk.kind;
    this.rowCount = chunk.rowCount;
    this.values =
      chunk.kind === 'int32' ? int32Of(arenas, chunk.data) : float64Of(arenas, chunk.data);
    this.validity = chunk.validity === undefined ? undefined : bytesOf(arenas, chunk.validity);
  }

  atomAt(index: number): Atom {
    if (this.isNull(index)) return null;
    const value = this.values[index] as number;
    return this.kind === 'timestamp' ? new Timestamp(value) : value;
  }

  isNull(index: number): boolean {
    const { validity } = this;
    return validity !== undefined && ((validity[index >> 3] as number) & (1 << (index & 7))) === 0;
  }

  numberAt(index: number): number {
    return this.isNull(index) ? Number.NaN : (this.values[index] as number);
  }
}

/** A chunk of codes over the dictionary of its column; code 0 is NULL. */
export class CodesChunkView implements ChunkView {
  readonly kind = 'codes';
  readonly rowCount: number;
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  readonly dictionary: DictionaryView;

  constructor(
    chunk: Extract<ChunkSnapshot, { kind: 'codes' }>,
    dictionary: DictionaryView,
    arenas: Arenas,
  ) {
    this.rowCount = chunk.rowCount;
    this.codes = codesOf(arenas, chunk.data, chunk.width);
    this.dictionary = dictionary;
  }

  atomAt(index: number): Atom {
    return this.dictionary.atom(this.codes[index] as number);
  }

  isNull(index: number): boolean {
    return this.codes[index] === 0;
  }

  numberAt(index: number): number {
    return numberOf(this.atomAt(index));
  }
}

/** A chunk of which few rows have a value. */
export class SparseChunkView implements ChunkView {
  readonly kind = 'sparse';
  readonly rowCount: number;
  /** rows that have a value, ascending */
  readonly rows: Uint16Array;
  /** the values of those rows */
  readonly values: ChunkView;

  constructor(rowCount: number, rows: Uint16Array, values: ChunkView) {
    this.rowCount = rowCount;
    this.rows = rows;
    this.values = values;
  }

  atomAt(index: number): Atom {
    const position = this.#positionOf(index);
    return position === -1 ? null : this.values.atomAt(position);
  }

  isNull(index: number): boolean {
    const position = this.#positionOf(index);
    return position === -1 || this.values.isNull(position);
  }

  numberAt(index: number): number {
    const position = this.#positionOf(index);
    return position === -1 ? Number.NaN : this.values.numberAt(position);
  }

  /** The code of a row where the values are codes; 0 is NULL. */
  codeAt(index: number): number {
    const position = this.#positionOf(index);
    if (position === -1 || !(this.values instanceof CodesChunkView)) return 0;
    return this.values.codes[position] as number;
  }

  #positionOf(index: number): number {
    const { rows } = this;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle] as number) < index) low = middle + 1;
      else high = middle;
    }
    return rows[low] === index ? low : -1;
  }
}

function numberOf(atom: Atom): number {
  if (typeof atom === 'number') return atom;
  if (typeof atom === 'bigint') return Number(atom);
  return atom instanceof Timestamp ? atom.seconds : Number.NaN;
}

/**
 * The view of a chunk.
 * @param dictionary that of its column, for chunks of codes
 */
export function chunkView(
  chunk: ChunkSnapshot,
  dictionary: DictionaryView | undefined,
  arenas: Arenas,
): ChunkView {
  switch (chunk.kind) {
    case 'constant':
      return new ConstantChunkView(chunk.rowCount, chunk.atom);
    case 'codes':
      return new CodesChunkView(chunk, dictionary as DictionaryView, arenas);
    case 'sparse':
      return new SparseChunkView(
        chunk.rowCount,
        uint16Of(arenas, chunk.rows),
        chunkView(chunk.values, dictionary, arenas),
      );
    default:
      return new NumericChunkView(chunk, arenas);
  }
}

/** Random and sequential access to one column; chunk views are made on first use. */
export class ColumnView {
  readonly snapshot: ColumnSnapshot;
  readonly dictionary: DictionaryView | undefined;
  readonly rowCount: number;
  readonly #arenas: Arenas;
  readonly #chunks: (ChunkView | undefined)[] = [];
  readonly #starts: ChunkStarts;

  constructor(snapshot: ColumnSnapshot, arenas: Arenas) {
    this.snapshot = snapshot;
    this.#arenas = arenas;
    this.dictionary =
      snapshot.dictionary === undefined ? undefined : dictionaryView(snapshot.dictionary, arenas);
    this.#starts = new ChunkStarts(snapshot.chunks.map((chunk) => chunk.rowCount));
    this.rowCount = this.#starts.rowCount;
  }

  get chunkCount(): number {
    return this.snapshot.chunks.length;
  }

  chunk(index: number): ChunkView {
    let view = this.#chunks[index];
    if (view === undefined) {
      const chunk = this.snapshot.chunks[index] as ChunkSnapshot;
      view = chunkView(chunk, this.dictionary, this.#arenas);
      // Of what lies in a file only the chunk is kept that is being read.
      if (isChunkInFile(chunk)) this.#chunks.length = 0;
      this.#chunks[index] = view;
    }
    return view;
  }

  atomAt(row: number): Atom {
    const chunk = this.#starts.chunkOf(row);
    return this.chunk(chunk).atomAt(row - this.#starts.startOf(chunk));
  }

  /** The code of a row of a column with a dictionary; 0 is NULL. */
  codeAt(row: number): number {
    const index = this.#starts.chunkOf(row);
    const chunk = this.chunk(index);
    const position = row - this.#starts.startOf(index);
    if (chunk instanceof CodesChunkView) return chunk.codes[position] as number;
    return chunk instanceof SparseChunkView ? chunk.codeAt(position) : 0;
  }

  isNull(row: number): boolean {
    const chunk = this.#starts.chunkOf(row);
    return this.chunk(chunk).isNull(row - this.#starts.startOf(chunk));
  }

  numberAt(row: number): number {
    const chunk = this.#starts.chunkOf(row);
    return this.chunk(chunk).numberAt(row - this.#starts.startOf(chunk));
  }

  *atoms(): Iterable<Atom> {
    for (let c = 0; c < this.chunkCount; c++) {
      const chunk = this.chunk(c);
      for (let i = 0; i < chunk.rowCount; i++) yield chunk.atomAt(i);
    }
  }
}

/** Finds the chunk of a row; chunks may have any row counts. */
export class ChunkStarts {
  readonly rowCount: number;
  readonly #starts: Float64Array;
  #last = 0;

  constructor(rowCounts: readonly number[]) {
    this.#starts = new Float64Array(rowCounts.length + 1);
    let start = 0;
    rowCounts.forEach((count, index) => {
      start += count;
      this.#starts[index + 1] = start;
    });
    this.rowCount = start;
  }

  startOf(chunk: number): number {
    return this.#starts[chunk] as number;
  }

  /** @param row in [0, rowCount) */
  chunkOf(row: number): number {
    const starts = this.#starts;
    const last = this.#last;
    // Rows are mostly visited in order.
    if (row >= (starts[last] as number) && row < (starts[last + 1] as number)) return last;
    let low = 0;
    let high = starts.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= row) low = middle;
      else high = middle - 1;
    }
    this.#last = low;
    return low;
  }
}
