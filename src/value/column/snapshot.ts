// Snapshots: the immutable committed content of a dataset as plain descriptors of shared memory.
// A snapshot can be posted to any thread; views of its memory are made there (see column-view.ts).
import type { Atom } from '../atom.ts';

/** Row numbers inside a chunk fit a Uint16, which halves every selection vector. */
export const CHUNK_ROW_COUNT_MAX = 65_536;

/** A stretch of bytes in an arena; 16-byte aligned, padded so that 64-byte reads stay inside. */
export interface Span {
  readonly arena: number;
  readonly offset: number;
  readonly sizeBytes: number;
  /** the bytes lie in no arena but in this file, from `offset` on, and are read when they are used */
  readonly file?: FileStretch;
}

/** Where in a file the bytes of a span are, and what makes them those of columns in memory. */
export interface FileStretch {
  readonly state: FileState;
  readonly form: StretchForm;
}

/** A file as it was when its content was verified; another one is not read. */
export interface FileState {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** true: a query of this process wrote it, and may still do so */
  readonly isScratch?: boolean;
}

export type StretchForm =
  | { readonly kind: 'plain' }
  /** doubles that are integers of 32 bits in memory */
  | { readonly kind: 'integers' }
  /** microseconds of 64 bits that are seconds in memory */
  | { readonly kind: 'micros' }
  /** signed indexes from 0 on and a bitmap of values that are codes in memory */
  | {
      readonly kind: 'codes';
      readonly indexWidth: 1 | 2 | 4;
      readonly width: 1 | 2 | 4;
      /** entries of the dictionary */
      readonly count: number;
      readonly validity?: { readonly offset: number; readonly sizeBytes: number };
    };

/**
 * Distinct atoms. Code 0 always means NULL; entry k has code k (1-based).
 * `text`: all entries are strings; bytes are UTF-8. `mixed`: each entry is a tag byte and a payload
 * (see atom-codec.ts). `offsets` are `count + 2` Uint32: entry k lies in [offsets[k], offsets[k+1]).
 */
export interface DictionarySnapshot {
  readonly kind: 'text' | 'mixed';
  /** unique in the process: equal ids mean equal codes */
  readonly id: number;
  /** entries, without NULL */
  readonly count: number;
  readonly bytes: Span;
  readonly offsets: Span;
  /** true: entries are in ascending order of atoms, so codes compare as values do */
  readonly sorted: boolean;
}

/**
 * Cells of up to CHUNK_ROW_COUNT_MAX rows of one column. `validity`: a bitmap, bit i (least
 * significant first) set when row i has a value; absent when all have one.
 */
export type ChunkSnapshot =
  | { readonly kind: 'constant'; readonly rowCount: number; readonly atom: Atom }
  | (NumericChunk & { readonly kind: 'int32' })
  | (NumericChunk & { readonly kind: 'float64' })
  /** seconds since the epoch, float64 */
  | (NumericChunk & { readonly kind: 'timestamp' })
  | {
      readonly kind: 'codes';
      readonly rowCount: number;
      /** bytes a code */
      readonly width: 1 | 2 | 4;
      readonly data: Span;
      readonly nullCount: number;
    }
  /** few rows have a value: their row numbers (Uint16, ascending) and a dense chunk of the values */
  | {
      readonly kind: 'sparse';
      readonly rowCount: number;
      readonly rows: Span;
      readonly values: ChunkSnapshot;
    };

interface NumericChunk {
  readonly rowCount: number;
  readonly data: Span;
  readonly validity?: Span;
  readonly nullCount: number;
  /** smallest and largest value, NaN left out; absent when no value */
  readonly min?: number;
  readonly max?: number;
}

export interface ColumnSnapshot {
  /** elements of the column path */
  readonly path: readonly string[];
  /** what every value is; `mixed` when kinds differ */
  readonly type: 'null' | 'integer' | 'number' | 'string' | 'timestamp' | 'mixed';
  readonly chunks: readonly ChunkSnapshot[];
  /** present when any chunk has codes: one dictionary for all chunks of the column */
  readonly dictionary?: DictionarySnapshot;
  readonly nullCount: number;
  /** true: its chunks and its dictionary are still in the file of the snapshot */
  readonly isAbsent?: boolean;
  /** true: its chunks lie in the file of the snapshot, and stay there */
  readonly isPaged?: boolean;
}

/** Row timestamps: one for all, or one per row (Float64 per chunk). */
export type RowTimestamps =
  | { readonly kind: 'constant'; readonly ts: number }
  | { readonly kind: 'per-row'; readonly chunks: readonly Span[] };

/**
 * Row names. `numbers`: Int32 or Float64 chunks printed as decimal text, one element.
 * `sequence`: first, first + 1, … `paths`: encoded printed paths in one byte heap.
 */
export type RowNames =
  | { readonly kind: 'sequence'; readonly first: number }
  | { readonly kind: 'numbers'; readonly chunks: readonly ChunkSnapshot[] }
  | { readonly kind: 'paths'; readonly bytes: Span; readonly offsets: Span };

/** Rows with mostly the same columns, stored by column in chunks of equal row counts. */
export interface ColumnarSnapshot {
  readonly layout: 'columnar';
  readonly id: number;
  readonly rowCount: number;
  /** rows of each chunk; all columns are cut alike */
  readonly chunkRowCounts: readonly number[];
  readonly columns: readonly ColumnSnapshot[];
  readonly rowNames: RowNames;
  readonly timestamps: RowTimestamps;
  /** where columns that are absent are read from */
  readonly file?: string;
  /** of embeddings that are searched approximately */
  readonly graph?: GraphSnapshot;
}

/** A graph of the rows as points, see learn/neighbor/neighbor-graph.ts. */
export interface GraphSnapshot {
  readonly shape: {
    readonly count: number;
    readonly stride: number;
    readonly scale: number;
    readonly m: number;
    readonly efConstruction: number;
    readonly seed: number;
  };
  /** points and links */
  readonly span: Span;
  readonly entry: number;
  readonly topLevel: number;
  /** points that a search keeps in sight */
  readonly efSearch: number;
  readonly buildSecs: number;
  readonly recallAt10: number;
  /** rows of which the recall was measured */
  readonly recallSample: number;
}

/**
 * Compressed sparse rows: any number of columns, several points a cell, explicit nulls.
 * Points of a row are ordered by column id; column ids are in natural order of the column paths.
 * kinds: Uint8 tag a point (see atom-codec.ts); payloads: 8 bytes a point (a double, an integer,
 * or an index into `heap`); timestamps: one for all or Float64 a point.
 */
export interface SparseSnapshot {
  readonly layout: 'sparse';
  readonly id: number;
  readonly rowCount: number;
  readonly columnCount: number;
  readonly pointCount: number;
  readonly rowNames: RowNames;
  /** printed column paths in natural order: one byte heap and Uint32 offsets (count + 1) */
  readonly columnNames: { readonly bytes: Span; readonly offsets: Span };
  /** Uint32, columnCount: rows that have the column */
  readonly columnRowCounts: Span;
  /** Float64 (exact to 2^53), rowCount + 1 */
  readonly rowOffsets: Span;
  /** Uint32 a point */
  readonly columnIds: Span;
  readonly kinds: Span;
  readonly payloads: Span;
  readonly timestamps: { readonly constant: number } | { readonly perPoint: Span };
  readonly heap: DictionarySnapshot;
}

export type Snapshot = ColumnarSnapshot | SparseSnapshot;
