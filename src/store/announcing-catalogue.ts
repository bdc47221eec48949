// A catalogue that numbers its writes and tells of each, so that other processes can follow.
import type {
  Catalogue,
  Change,
  LogEntry,
  RecordKey,
  StoredRecord,
  Table,
  WriteObserver,
} from './catalogue.ts';

export interface ChangedRecord {
  readonly table: Table;
  readonly key: RecordKey;
}

/** Told once the write is on the disk; of a write that failed, with no records. */
export type Announce = (version: number, changed: readonly ChangedRecord[]) => void;

const VERSION_KEY: RecordKey = ['version'];

/** The number of the last announced write that is on the disk. */
export function storedVersion(catalogue: Catalogue): number {
  return (catalogue.get('settings', VERSION_KEY) as number | undefined) ?? 0;
}

/** A catalogue that tells of each write that another process has to take up. */
export class AnnouncingCatalogue implements Catalogue {
  readonly #inner: Catalogue;
  readonly #announce: Announce;
  #version: number;

  constructor(inner: Catalogue, announce: Announce) {
    this.#inner = inner;
    this.#announce = announce;
    this.#version = storedVersion(inner);
  }

  get directory(): string | null {
    return this.#inner.directory;
  }

  get(table: Table, key: RecordKey): unknown {
    return this.#inner.get(table, key);
  }

  list(table: Table, prefix?: RecordKey): Iterable<StoredRecord> {
    return this.#inner.list(table, prefix);
  }

  observeWrites(observer: WriteObserver): void {
    this.#inner.observeWrites(observer);
  }

  write(changes: readonly Change[]): Promise<void> {
    const changed = changes.flatMap(changedRecord);
    return changed.length === 0 ? this.#inner.write(changes) : this.#write(changes, changed);
  }

  /** Tells of records that are kept elsewhere. */
  announce(changed: readonly ChangedRecord[]): Promise<void> {
    return this.#write([], changed);
  }

  async #write(changes: readonly Change[], changed: readonly ChangedRecord[]): Promise<void> {
    const version = ++this.#version;
    let isWritten = false;
    try {
      await this.#inner.write([
        ...changes,
        { type: 'put', table: 'settings', key: VERSION_KEY, value: version },
      ]);
      isWritten = true;
    } finally {
      // Followers count: they must not wait for a number that never comes.
      this.#announce(version, isWritten ? changed : []);
    }
  }

  append(log: string, bytes: Uint8Array): Promise<number> {
    return this.#inner.append(log, bytes);
  }

  entries(log: string, after?: number): Iterable<LogEntry> {
    return this.#inner.entries(log, after);
  }

  lastSequence(log: string): number {
    return this.#inner.lastSequence(log);
  }

  logs(): string[] {
    return this.#inner.logs();
  }

  get failure(): Error | undefined {
    return this.#inner.failure;
  }

  refresh(): void {
    this.#inner.refresh();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Runs concern only the process that does them. */
function changedRecord(change: Change): ChangedRecord[] {
  if (change.type !== 'put' && change.type !== 'remove') return [];
  const { table, key } = change;
  return table === 'runs' ? [] : [{ table, key }];
}
