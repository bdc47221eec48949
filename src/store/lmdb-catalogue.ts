// The catalogue in one LMDB environment. LMDB replaces pages and never changes them in place, so a
// crash at any moment leaves the state of the last commit.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { open as openFile, rename, rm, statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Database, open, type RootDatabase } from 'lmdb';
import { unreachable } from '../util/assert.ts';
import { failure, RowanError } from '../util/error.ts';
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
import { CatalogueDamage, verifyCatalogueFile } from './catalogue-file.ts';
import {
  CATALOGUE_COPY,
  CATALOGUE_FILE,
  removeLeftOvers,
  requireNothingKept,
  startAnew,
} from './data-directory.ts';
import { DataDirectoryError, lockDirectory } from './directory-lock.ts';
import { errorCode, syncDirectory, writeFailure } from './durable-file.ts';
import { encodeKey, keyBehind } from './record-key.ts';

/** Counted up with every change that older versions cannot read; a number is never used again. */
const CATALOGUE_FORMAT = 2;
const FORMAT = 'format';
/** With less room than this on the disk, a write that failed did so for the lack of it. */
const FREE_SIZE_MIN = 16 * 1024 * 1024;
/** Entries larger than this are handed over in parts: handing over copies, on the main thread. */
const PART_SIZE_MAX = 2 * 1024 * 1024;

// The first byte of each part of a log entry; with a checksum, four bytes follow.
const PART = 0;
const LAST_PART = 1;
const CHECKED_PART = 2;
const CHECKED_LAST_PART = 3;

/** The first byte of a record with a checksum; records of format 1 are JSON, which begins with [. */
const CHECKED_RECORD = 1;
const CHECKSUM_SIZE = 4;

/** How often the catalogue is copied, when it has changed. */
const COPY_INTERVAL_MS = 10 * 60_000;

// A log's keys: its name as a key element, the sequence (8 bytes), the part (4 bytes), big endian.
const POSITION_SIZE = 12;

export interface LmdbOptions {
  /** true: work beside the process that holds the directory */
  readonly shared: boolean;
  /** true: what is there is moved to lost+found, and the catalogue begins empty */
  readonly isNew: boolean;
}

/**
 * Opens the catalogue in a data directory.
 * @throws DataDirectoryError when that cannot be used
 */
export function openLmdbCatalogue(directory: string, { shared, isNew }: LmdbOptions): Catalogue {
  const path = resolve(directory);
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new DataDirectoryError(path, `cannot be created: ${String(error)}`);
  }
  const unlock = shared ? () => {} : lockDirectory(path);
  try {
    if (shared) return new LmdbCatalogue(path, unlock);
    if (isNew) startAnew(path);
    prepareFile(path);
    const catalogue = new LmdbCatalogue(path, unlock);
    catalogue.verifyRecords();
    catalogue.keepCopy();
    removeLeftOvers(path);
    return catalogue;
  } catch (error) {
    unlock();
    if (error instanceof DataDirectoryError) throw error;
    if (isDamage(error)) throw new DataDirectoryError(path, damageText(path, error.message));
    const reason = `cannot be opened: ${String(error)}`;
    throw new DataDirectoryError(path, shared ? reason : `${reason}; ${adviceFor(path)}`);
  }
}

/** For tools that hold the lock of the directory and have looked at the file. */
export function openUnlockedCatalogue(
  directory: string,
  { name = CATALOGUE_FILE, readOnly = false } = {},
): VerifiableCatalogue {
  return new LmdbCatalogue(resolve(directory), () => {}, readOnly, name);
}

export interface VerifiableCatalogue extends Catalogue {
  /** @throws DATA_ERROR for a record whose checksum is wrong */
  verifyRecords(): void;
  /** @throws DATA_ERROR for an entry of a log whose checksum is wrong */
  verifyLogs(): void;
}

/** Whatever LMDB would map is looked at before. */
function prepareFile(directory: string): void {
  const file = join(directory, CATALOGUE_FILE);
  if (!existsSync(file) || statSync(file).size === 0) requireNothingKept(directory);
  else verifyCatalogueFile(file);
}

function isDamage(error: unknown): error is Error {
  return (
    error instanceof CatalogueDamage || (error instanceof RowanError && error.code === 'DATA_ERROR')
  );
}

function damageText(directory: string, reason: string): string {
  return `has a damaged ${CATALOGUE_FILE}: ${reason}; ${adviceFor(directory)}`;
}

function adviceFor(directory: string): string {
  return (
    `see what is damaged with: rowan check ${directory}, ` +
    `and restore the last copy with: rowan repair ${directory}`
  );
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

class LmdbCatalogue implements VerifiableCatalogue {
  readonly directory: string;
  readonly #unlock: () => void;
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #records: Database<Buffer, Buffer>;
  readonly #log: Database<Buffer, Buffer>;
  readonly #lastSequences = new Map<string, number>();
  #failure: Error | undefined;
  readonly #observers: WriteObserver[] = [];
  /** there once a copy is kept */
  #copying: NodeJS.Timeout | undefined;
  /** since the last copy */
  #isChanged = true;
  /** of all that was put */
  #putSizeBytes = 0;

  constructor(
    directory: string,
    unlock: () => void,
    readOnly = false,
    name: string = CATALOGUE_FILE,
  ) {
    this.directory = directory;
    this.#unlock = unlock;
    this.#root = open<Buffer, Buffer>({
      path: join(directory, name),
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
    const stored = recordKey(table, key);
    const bytes = this.#records.get(stored);
    return bytes === undefined ? undefined : decodeRecord(stored, bytes).value;
  }

  *list(table: Table, prefix: RecordKey = []): Iterable<StoredRecord> {
    const start = recordKey(table, prefix);
    for (const { key, value } of this.#records.getRange({ start, end: keyBehind(start) })) {
      yield decodeRecord(key, value);
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
            this.#putRecord(recordKey(change.table, change.key), change.key, change.value);
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
      const key = logKey(log, sequence, part++);
      const value = withChecksum(isLast ? CHECKED_LAST_PART : CHECKED_PART, key, content);
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
      parts.push(partOf(key, value));
      if (value[0] !== LAST_PART && value[0] !== CHECKED_LAST_PART) continue;
      yield { sequence, bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
      parts = [];
    }
  }

  lastSequence(log: string): number {
    let last = this.#lastSequences.get(log);
    if (last === undefined) {
      const markKey = internalKey('log', log);
      const mark = this.#records.get(markKey);
      last = mark === undefined ? 0 : Number(decodeRecord(markKey, mark).value);
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
    for (const { key, value } of this.#records.getRange({ start, end: keyBehind(start) })) {
      const name = decodeRecord(key, value).key[1] as string;
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

  verifyRecords(): void {
    for (const { key, value } of this.#records.getRange({})) decodeRecord(key, value);
  }

  verifyLogs(): void {
    for (const { key, value } of this.#log.getRange({})) partOf(key, value);
  }

  /** Keeps a copy of the catalogue beside it, made now and then and at the end. */
  keepCopy(): void {
    this.#copying = setInterval(() => void this.#copy(), COPY_INTERVAL_MS);
    this.#copying.unref();
  }

  /** What cannot be copied, for lack of room for instance, leaves the copy that there was. */
  async #copy(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const path = join(this.directory, CATALOGUE_COPY);
    const draft = `${path}.tmp`;
    try {
      await rm(draft, { force: true });
      await this.#root.backup(draft, true);
      verifyCatalogueFile(draft, { isCopy: true });
      const file = await openFile(draft, 'r+');
      await file.sync();
      await file.close();
      await rename(draft, path);
      syncDirectory(this.directory);
    } catch {
      this.#isChanged = true;
      await rm(draft, { force: true });
    }
  }

  async close(): Promise<void> {
    if (this.#copying !== undefined) {
      clearInterval(this.#copying);
      await this.#copy();
    }
    await this.#root.close();
    this.#unlock();
  }

  /** Remembers the last sequence, which must not be given out again when its entry is gone. */
  #markLog(log: string, last: number): void {
    this.#putRecord(internalKey('log', log), ['log', log], last);
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
    const key = internalKey(FORMAT);
    const stored = this.#records.get(key);
    const format = stored === undefined ? undefined : decodeRecord(key, stored).value;
    // What is written from now on cannot be read by older versions.
    const isOlder =
      format === undefined || (typeof format === 'number' && format < CATALOGUE_FORMAT);
    if (isOlder && !readOnly) {
      this.#records.putSync(key, encodeRecord(key, [FORMAT], CATALOGUE_FORMAT));
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
      this.#isChanged = true;
      for (const observer of this.#observers) observer(sizeBytes, seconds);
    } catch (error) {
      this.#failure = writeFailure(join(this.directory, CATALOGUE_FILE), await this.#cause(error));
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

  #putRecord(stored: Buffer, key: RecordKey, value: unknown): void {
    this.#put(this.#records, stored, encodeRecord(stored, key, value));
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

function encodeRecord(stored: Buffer, key: RecordKey, value: unknown): Buffer {
  return withChecksum(CHECKED_RECORD, stored, Buffer.from(stringifyJson([key, value])));
}

/** @throws DATA_ERROR when it is damaged */
function decodeRecord(stored: Buffer, bytes: Buffer): StoredRecord {
  const content = bytes[0] === CHECKED_RECORD ? checked(stored, bytes) : bytes;
  try {
    const [key, value] = parseJson(content.toString()) as [RecordKey, unknown];
    return { key, value };
  } catch {
    throw recordDamage('is no record');
  }
}

/** Kind, checksum of key and content, content. */
function withChecksum(kind: number, key: Buffer, content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(1 + CHECKSUM_SIZE + content.length);
  bytes[0] = kind;
  bytes.writeUInt32LE(checksumOf(key, content), 1);
  bytes.set(content, 1 + CHECKSUM_SIZE);
  return bytes;
}

/** In this order, as an empty content with a seed gives no seed back. */
function checksumOf(key: Buffer, content: Uint8Array): number {
  return crc32(key, crc32(content));
}

function checked(key: Buffer, bytes: Buffer): Buffer {
  if (bytes.length > CHECKSUM_SIZE) {
    const content = bytes.subarray(1 + CHECKSUM_SIZE);
    if (checksumOf(key, content) === bytes.readUInt32LE(1)) return content;
  }
  throw recordDamage('has a wrong checksum');
}

function partOf(key: Buffer, bytes: Buffer): Buffer {
  switch (bytes[0]) {
    case PART:
    case LAST_PART:
      return bytes.subarray(1);
    case CHECKED_PART:
    case CHECKED_LAST_PART:
      return checked(key, bytes);
    default:
      throw recordDamage('is of an unknown kind');
  }
}

function recordDamage(reason: string): RowanError {
  return failure(
    'DATA_ERROR',
    `an entry of ${CATALOGUE_FILE} ${reason}; stop the server and see: rowan check <data directory>`,
    { file: CATALOGUE_FILE },
  );
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
