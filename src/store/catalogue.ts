// What must survive: records of entities, runs, credentials and keys, and the log of recorded rows.

export const TABLES = ['entities', 'runs', 'credentials', 'keys', 'settings'] as const;
export type Table = (typeof TABLES)[number];

/** For instance kind and id of an entity, or procedure and id of a run. */
export type RecordKey = readonly string[];

export interface StoredRecord {
  readonly key: RecordKey;
  /** any JSON value; integers of any size are kept */
  readonly value: unknown;
}

export type Change =
  | {
      readonly type: 'put';
      readonly table: Table;
      readonly key: RecordKey;
      readonly value: unknown;
    }
  | { readonly type: 'remove'; readonly table: Table; readonly key: RecordKey }
  /** Removes what a checkpoint covers: entries up to and including `through`. */
  | { readonly type: 'truncate'; readonly log: string; readonly through: number }
  /** Removes a log; one of the same name begins anew. */
  | { readonly type: 'drop'; readonly log: string };

export interface LogEntry {
  /** counts up from 1 within a log, with gaps */
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** @param seconds time until the bytes were on the disk, waiting for others included */
export type WriteObserver = (sizeBytes: number, seconds: number) => void;

/** Reading is synchronous and cheap; writing is done when its promise resolves: synced to disk. */
export interface Catalogue {
  /** where its files lie; null when nothing is kept */
  readonly directory: string | null;
  get(table: Table, key: RecordKey): unknown;
  /** records whose keys begin with `prefix`, in the order of their keys' bytes */
  list(table: Table, prefix?: RecordKey): Iterable<StoredRecord>;
  /**
   * All changes or none of them, also through a crash.
   * @throws DISK_FULL (507)
   */
  write(changes: readonly Change[]): Promise<void>;
  /**
   * Appends to a log, which begins to exist with its first entry.
   * @returns the entry's sequence
   * @throws DISK_FULL (507)
   */
  append(log: string, bytes: Uint8Array): Promise<number>;
  /** entries behind `after`, in order; an entry that was cut off by a crash is not among them */
  entries(log: string, after?: number): Iterable<LogEntry>;
  /** the last sequence given out in a log; 0 when it has none */
  lastSequence(log: string): number;
  /** names of logs that have entries */
  logs(): string[];
  /** Has an observer told of each write that reaches the disk. */
  observeWrites(observer: WriteObserver): void;
  /** why the last write failed; undefined when it did not */
  readonly failure: Error | undefined;
  /** What other processes have written by now is seen by the next reading. */
  refresh(): void;
  /** waits for what is being written */
  close(): Promise<void>;
}
