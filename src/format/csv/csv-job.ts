// What the threads that read one text tell each other; plain data.
import type { ErrorBody } from '../../util/error.ts';
import type { ChunkSnapshot, Span } from '../../value/column/snapshot.ts';

/** Where the bytes are: a local file, or memory that all threads see. */
export type CsvSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'memory'; readonly bytes: Uint8Array };

export interface CsvJob {
  /** unique in the process; the parts of one import share it, and with it each thread's dictionaries */
  readonly id: number;
  readonly source: CsvSource;
  /** lines from here to `end` are data; `end` is behind the last byte that is not an empty line */
  readonly start: number;
  readonly end: number;
  /** bytes of a unit; a line belongs to the unit in which it starts */
  readonly unitSize: number;
  /** byte values; quote -1: no quoting */
  readonly delimiter: number;
  readonly quote: number;
  readonly encoding: 'utf-8' | 'ascii';
  readonly excelFormulas: boolean;
  readonly ignoreExtraColumns: boolean;
  readonly ignoreBadLines: boolean;
  readonly lineBytesMax: number;
  /** fields of a line */
  readonly columnCount: number;
  /** the fields that become columns; -1 for a column that this text does not have */
  readonly columns: readonly number[];
  /** rows of a chunk, at most */
  readonly chunkRowCount: number;
  readonly control: Int32Array;
}

/** Cells of a job's control array, which is shared. */
export const CSV_CONTROL = {
  /** units behind this one need not be read, because it has a fault */
  lastUnit: 0,
  lines: 1,
  count: 2,
} as const;

/** The cells of one column in some rows; codes are those of the thread's own dictionary. */
export interface StagedChunk {
  readonly chunk: ChunkSnapshot;
  /** every number is an integer */
  readonly isIntegral: boolean;
}

/** Entries that a thread's dictionary has got in one unit. */
export interface DictionaryDelta {
  /** position in `columns` */
  readonly column: number;
  readonly count: number;
  readonly bytes: Span;
  /** count + 1 Uint32 */
  readonly offsets: Span;
}

export interface CsvUnit {
  /** names the dictionaries that the codes belong to: those of a thread, while it stayed with the job */
  readonly thread: string;
  readonly lineCount: number;
  /** numbers within the unit, counted from 0, of lines that were not accepted */
  readonly refused: Uint32Array;
  readonly chunks: readonly (readonly StagedChunk[])[];
  readonly deltas: readonly DictionaryDelta[];
}

/** The first bad line of a unit: its number within the unit, and its position in the source. */
export interface CsvUnitFault {
  readonly lineIndex: number;
  readonly offset: number;
  readonly isTooLong?: true;
}

export type CsvUnitResult =
  | CsvUnit
  /** the first bad line, by its number within the unit and its position in the source */
  | { readonly fault: CsvUnitFault }
  | { readonly skipped: true }
  /** a failure as plain data: results of other units would be lost if it were thrown */
  | { readonly error: ErrorBody };
