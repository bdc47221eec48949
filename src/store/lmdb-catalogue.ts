// The catalogue in one LMDB environment. LMDB replaces pages and never changes them in place, so a
// crash at any moment leaves the state of the last commit.
import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { unreachable } from '../util/assert.ts';
import { parseJson, stringifyJson } from '../util/exact-json.ts';
import type {
  Catalogue,
  Change,
  LogEntry,
  RecordKey,
  StoredRecord,
  Table,
  WriteObserver,
} from './catalogue.ts';
import { DataDirectoryError, lockDirectory } from './directory-lock.ts';
import { errorCode, writeFailure } from './durable-file.ts';
import { encodeKey, keyBehind } from './record-key.ts';

const FILE_NAME = 'catalogue.lmdb';
/** Counted up with every change that older versions cannot read; a number is never used again. */
const CATALOGUE_FORMAT = 1;
const FORMAT = 'format';
/** With less room than this on the disk, a write that failed did so for the lack of it. */
const FREE_SIZE_MIN = 16 * 1024 * 1024;
/** Entries larger than this are handed over in parts: handing over copies, on the main thread. */
const PART_SIZE_MAX = 2 * 1024 * 1024;

// The first byte of each part of a log entry.
const PART = 0;
const LAST_PART = 1;

// A log's keys: its name as a key element, the sequence (8 bytes), the part (4 bytes), big endian.
const POSITION_SIZE = 12;

export function openLmdbCatalogue(directory: string, shared: boolean): Catalogue {
  const path = resolve(directory);
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new DataDirectoryError(path, `cannot be created: ${String(error)}`);
  }
  const unlock = shared ? () => {} : lockDirectory(path);
  try {
    return new LmdbCatalogue(path, unlock);
  } catch (error) {
    unlock();
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(path, `cannot be opened: ${String(error)}`);
  }
}

/** Writes nothing, not even that it is there. @throws DataDirectoryError */
export function readLmdbCatalogue(directory: string): Catalogue {
  const path = resolve(directory);
  try {
    return new LmdbCatalogue(path, () => {}, true);
  } catch (error) {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(path, `cannot be read: ${String(error)}`);
  }
}

class LmdbCatalogue implements Catalogue {
  readonly directory: string;
  readonly #unlock: () => void;
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #records: Database<Buffer, Buffer>;
  readonly #log: Database<Buffer, Buffer>;
  readonly #lastSequences = new Map<string, number>();
  #failure: Error | undefined;
  readonly #observers: WriteObserver[] = [];
  /** of all that was put */
  #putSizeBytes = 0;

  constructor(directory: string, unlock: () => void, readOnly = false) {
    this.directory = directory;
    this.#unlock = unlock;
    this.#root = open<Buffer, Buffer>({
      path: join(directory, FILE_NAME),
      maxDbs: 4,
      encoding: 'binary',
      keyEncoding: 'binary',
      readOnly,
      // A promise of a write is then kept only when it is on disk, which is what ours mean.
      overlappingSync: false,
      // With it, a failed commit rejects a promise inside the library that nobody can handle.
      eventTurnBatching: false,
    });
    const options = { encoding: 'binary', keyEncoding: 'binary' } as const;
    this.#records = this.#root.openDB<Buffer, Buffer>({ name: 'records', ...options });
    this.#log = this.#root.openDB<Buffer, Buffer>({ name: 'log', ...options });
    this.#checkFormat(readOnly);
  }

  get(table: Table, key: RecordKey): unknown {
    const bytes = this.#records.get(recordKey(table, key));
    return bytes === undefined ? undefined : decodeRecord(bytes).value;
  }

  *list(table: Table, prefix: RecordKey = []): Iterable<StoredRecord> {
    const start = recordKey(table, prefix);
    for (const { value } of this.#records.getRange({ start, end: keyBehind(start) })) {
      yield decodeRecord(value);
    }
  }

  observeWrites(observer: WriteObserver): void {
    this.#observers.push(observer);
  }

  async write(changes: readonly Change[]): Promise<void> {
    await this.#commit(() => {
      for (const change of changes) {
        switch (change.type) {
          case 'put': {
            const record = encodeRecord(change.key, change.value);
            this.#put(this.#records, recordKey(change.table, change.key), record);
            break;
          }
          case 'remove':
            this.#remove(this.#records, recordKey(change.table, change.key));
            break;
          case 'truncate':
            this.#truncate(change.log, change.through);
            break;
          case 'drop':
            this.#drop(change.log);
            break;
          default:
            unreachable(change);
        }
      }
    });
  }

  async append(log: string, bytes: Uint8Array): Promise<number> {
    const sequence = this.lastSequence(log) + 1;
    this.#lastSequences.set(log, sequence);
    let part = 0;
    for (let from = 0; ; from += PART_SIZE_MAX) {
      const content = bytes.subarray(from, from + PART_SIZE_MAX);
      const isLast = from + PART_SIZE_MAX >= bytes.length;
      const value = Buffer.allocUnsafe(1 + content.length);
      value[0] = isLast ? LAST_PART : PART;
      value.set(content, 1);
      const key = logKey(log, sequence, part++);
      // An entry counts once its last part is there, so parts may be committed one by one.
      await this.#commit(() => {
        if (sequence === 1) this.#markLog(log, 0);
        this.#put(this.#log, key, value);
      });
      if (isLast) return sequence;
    }
  }

  *entries(log: string, after = 0): Iterable<LogEntry> {
    const end = keyBehind(encodeKey([log]));
    let sequence = 0;
    let parts: Buffer[] = [];
    for (const { key, value } of this.#log.getRange({ start: logKey(log, after + 1, 0), end })) {
      const own = sequenceOf(key);
      if (own !== sequence) parts = [];
      sequence = own;
      parts.push(value.subarray(1));
      if (value[0] !== LAST_PART) continue;
      yield { sequence, bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
      parts = [];
    }
  }

  lastSequence(log: string): number {
    let last = this.#lastSequences.get(log);
    if (last === undefined) {
      const mark = this.#records.get(internalKey('log', log));
      last = mark === undefined ? 0 : Number(decodeRecord(mark).value);
      const prefix = encodeKey([log]);
      const range = { start: keyBehind(prefix), end: prefix, reverse: true, limit: 1 };
      for (const key of this.#log.getKeys(range)) last = Math.max(last, sequenceOf(key));
      this.#lastSequences.set(log, last);
    }
    return last;
  }

  logs(): string[] {
    const start = internalKey('log');
    const names: string[] = [];
    for (const { value } of this.#records.getRange({ start, end: keyBehind(start) })) {
      const name = decodeRecord(value).key[1] as string;
      const prefix = encodeKey([name]);
      const [first] = this.#log.getKeys({ start: prefix, end: keyBehind(prefix), limit: 1 });
      if (first !== undefined) names.push(name);
    }
    return names;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  refresh(): void {
    this.#root.resetReadTxn();
  }

  async close(): Promise<void> {
    await this.#root.close();
    this.#unlock();
  }

  /** Remembers the last sequence, which must not be given out again when its entry is gone. */
  #markLog(log: string, last: number): void {
    this.#put(this.#records, internalKey('log', log), encodeRecord(['log', log], last));
  }

  #truncate(log: string, through: number): void {
    const last = this.lastSequence(log);
    if (last === 0) return;
    this.#markLog(log, last);
    const end = logKey(log, Math.min(through, last) + 1, 0);
    for (const key of this.#log.getKeys({ start: encodeKey([log]), end }))
      this.#remove(this.#log, key);
  }

  #drop(log: string): void {
    const start = encodeKey([log]);
    for (const key of this.#log.getKeys({ start, end: keyBehind(start) }))
      this.#remove(this.#log, key);
    this.#remove(this.#records, internalKey('log', log));
    this.#lastSequences.delete(log);
  }

  #checkFormat(readOnly: boolean): void {
    const stored = this.#records.get(internalKey(FORMAT));
    const format = stored === undefined ? undefined : decodeRecord(stored).value;
    if (format === undefined && !readOnly) {
      this.#records.putSync(internalKey(FORMAT), encodeRecord([FORMAT], CATALOGUE_FORMAT));
    } else if (typeof format !== 'number' || format > CATALOGUE_FORMAT) {
      this.#root.close();
      throw new DataDirectoryError(
        this.directory,
        `has format ${format}; this version reads formats up to ${CATALOGUE_FORMAT}`,
      );
    }
  }

  /** Concurrent calls share one commit and one sync. */
  async #commit(change: () => void): Promise<void> {
    const started = performance.now();
    let sizeBytes = 0;
    try {
      await this.#root.batch(() => {
        const before = this.#putSizeBytes;
        change();
        sizeBytes = this.#putSizeBytes - before;
      });
      const seconds = (performance.now() - started) / 1000;
      this.#failure = undefined;
      for (const observer of this.#observers) observer(sizeBytes, seconds);
    } catch (error) {
      this.#failure = writeFailure(join(this.directory, FILE_NAME), await this.#cause(error));
      throw this.#failure;
    }
  }

  /** The first error of a failed commit, where a full disk can look like a failed device. */
  async #cause(error: unknown): Promise<unknown> {
    const cause = await commitError(error);
    const code = errorCode(cause);
    const isWrite = code === String(constants.errno.EIO) || code === String(constants.errno.ENOSPC);
    if (!isWrite) return cause;
    const { bavail, bsize } = await statfs(this.directory);
    const isFull = code === String(constants.errno.ENOSPC) || bavail * bsize < FREE_SIZE_MIN;
    return isFull ? Object.assign(new Error('no space left'), { code: 'ENOSPC' }) : cause;
  }

  #put(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#putSizeBytes += key.length + value.length;
    ignoreFailure(database.put(key, value));
  }

  #remove(database: Database<Buffer, Buffer>, key: Buffer): void {
    ignoreFailure(database.remove(key));
  }
}

/** A write inside a batch fails together with the batch, which reports it. */
function ignoreFailure(write: Promise<unknown> | undefined): void {
  write?.catch?.(() => {});
}

/** What lmdb rejects with tells by a promise of its own what went wrong. */
async function commitError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    return await error.commitError;
  } catch (cause) {
    return cause;
  }
}

function recordKey(table: Table, key: RecordKey): Buffer {
  return encodeKey([table, ...key]);
}

/** Records of the catalogue itself, apart from all tables. */
function internalKey(...key: string[]): Buffer {
  return encodeKey(['', ...key]);
}

function encodeRecord(key: RecordKey, value: unknown): Buffer {
  return Buffer.from(stringifyJson([key, value]));
}

function decodeRecord(bytes: Buffer): StoredRecord {
  const [key, value] = parseJson(bytes.toString()) as [RecordKey, unknown];
  return { key, value };
}

function logKey(log: string, sequence: number, part: number): Buffer {
  const position = Buffer.alloc(POSITION_SIZE);
  position.writeBigUInt64BE(BigInt(sequence), 0);
  position.writeUInt32BE(part, 8);
  return Buffer.concat([encodeKey([log]), position]);
}

function sequenceOf(key: Buffer): number {
  return Number(key.readBigUInt64BE(key.length - POSITION_SIZE));
}
