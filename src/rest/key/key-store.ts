// The API keys of a data directory. They are a file of their own beside the catalogue, because the
// command line changes them while a server, which holds the catalogue's lock, is running.
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KEYS_FILE } from '../../store/data-directory.ts';
import { writeFailure } from '../../store/durable-file.ts';
import { failure, RowanError } from '../../util/error.ts';
import {
  findKey,
  hashKey,
  isExpired,
  type KeyRequest,
  makeKeyText,
  makeStoredKey,
  type StoredKey,
} from './api-key.ts';

/** How often a running server looks whether the file has changed. */
const POLL_INTERVAL_MS = 500;
const LOCK_WAIT_MS = 20;
const LOCK_AGE_MS_MAX = 10_000;
const FILE_MODE = 0o600;

export interface CreatedKey {
  readonly key: string;
  readonly stored: StoredKey;
}

export class KeyStore {
  readonly #path: string | undefined;
  #keys: readonly StoredKey[] = [];
  #stamp = '';
  /** the file is gone, or empty; one that lists no keys is not */
  #isAbsent = true;
  #poll: NodeJS.Timeout | undefined;
  /** keys have been made in this directory */
  haveExisted = false;
  /** Told of every change that this process makes, before it is acknowledged. */
  onChange: () => Promise<void> = async () => {};
  /** Told when there are keys, until it has remembered that. */
  onKeys: () => void = () => {};

  /** @param dataDir null: keys live as long as the process */
  constructor(dataDir: string | null) {
    if (dataDir === null) return;
    this.#path = join(dataDir, KEYS_FILE);
    const stamp = stampOf(this.#path);
    this.#take(readIfThere(this.#path), stamp);
  }

  /** Whether the keys that were made are gone: then no request is let in. */
  get areLost(): boolean {
    return this.#path !== undefined && this.haveExisted && this.#isAbsent;
  }

  get keys(): readonly StoredKey[] {
    return this.#keys;
  }

  find(key: string): StoredKey | undefined {
    return findKey(this.#keys, hashKey(key));
  }

  /** Follows changes that other processes make. @param onError told when the file is unreadable */
  watch(onError: (error: unknown) => void): void {
    if (this.#path === undefined) return;
    this.#poll = setInterval(() => {
      this.#refresh().catch(onError);
    }, POLL_INTERVAL_MS);
    this.#poll.unref();
  }

  close(): void {
    clearInterval(this.#poll);
  }

  /**
   * Makes a key; durable when this resolves.
   * @throws ENTITY_BUSY for a first key that is no administrator's: nobody could make another one
   */
  async create(request: KeyRequest, { hasOtherAdmin = false } = {}): Promise<CreatedKey> {
    const key = makeKeyText();
    const stored = makeStoredKey(request, key);
    await this.#change((keys) => {
      const hasAdmin = [...keys, stored].some((one) => one.role === 'admin' && !isExpired(one));
      if (!hasAdmin && !hasOtherAdmin) throw noAdminLeft();
      return [...keys, stored];
    });
    await this.onChange();
    return { key, stored };
  }

  /**
   * Removes a key if it is there.
   * @param check may refuse, given the keys that would remain
   * @returns whether it was there
   */
  async revoke(id: string, check: (remaining: readonly StoredKey[]) => void): Promise<boolean> {
    let wasThere = false;
    await this.#change((keys) => {
      const remaining = keys.filter((key) => key.id !== id);
      wasThere = remaining.length < keys.length;
      if (wasThere) check(remaining);
      return remaining;
    });
    if (wasThere) await this.onChange();
    return wasThere;
  }

  /** Reads at once what another process has written. */
  reload(): void {
    if (this.#path === undefined) return;
    const stamp = stampOf(this.#path);
    this.#take(readIfThere(this.#path), stamp);
  }

  async #refresh(): Promise<void> {
    const path = this.#path as string;
    const stamp = await asyncStampOf(path);
    if (stamp === this.#stamp) return;
    this.#take(await readFile(path, 'utf8').catch(absentIsEmpty), stamp);
  }

  /** @throws when the text is damaged; what was known before then stays */
  #take(text: string, stamp: string): void {
    this.#keys = parseKeys(text, this.#path as string);
    this.#stamp = stamp;
    this.#isAbsent = text.trim() === '';
    this.#noteKeys();
  }

  #noteKeys(): void {
    if (this.#keys.length === 0) return;
    this.haveExisted = true;
    this.onKeys();
  }

  async #change(edit: (keys: readonly StoredKey[]) => readonly StoredKey[]): Promise<void> {
    const path = this.#path;
    if (path === undefined) {
      this.#keys = edit(this.#keys);
      return;
    }
    mkdirSync(dirname(path), { recursive: true });
    const unlock = await lockFile(`${path}.lock`);
    try {
      const keys = edit(parseKeys(readIfThere(path), path));
      await replaceFile(path, `${JSON.stringify({ keys }, null, 2)}\n`).catch((error: unknown) => {
        throw writeFailure(path, error);
      });
      this.#keys = keys;
      this.#stamp = stampOf(path);
      this.#isAbsent = false;
      this.#noteKeys();
    } finally {
      await unlock();
    }
  }
}

function noAdminLeft(): RowanError {
  return failure('ENTITY_BUSY', { form: 'firstKey' });
}

function parseKeys(text: string, path: string): StoredKey[] {
  if (text.trim() === '') return [];
  try {
    const { keys } = JSON.parse(text) as { keys: StoredKey[] };
    if (keys.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash))) return keys;
  } catch {
    // said below
  }
  throw new RowanError('INTERNAL', 500, `the file of API keys is damaged: ${path}`);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return absentIsEmpty(error);
  }
}

function absentIsEmpty(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
  throw error;
}

/** Changes whenever the file is replaced. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.ino} ${found.size}`;
}

async function asyncStampOf(path: string): Promise<string> {
  try {
    const found = await stat(path);
    return `${found.mtimeMs} ${found.ino} ${found.size}`;
  } catch (error) {
    return absentIsEmpty(error);
  }
}

/** Readers see the old file or the new one, also after a crash. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined); // not every system can sync a folder
  await folder?.close();
}

/** Keeps processes from changing the file at the same time. */
async function lockFile(path: string): Promise<() => Promise<void>> {
  const deadline = Date.now() + LOCK_AGE_MS_MAX;
  for (;;) {
    try {
      closeSync(openSync(path, 'wx', FILE_MODE));
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LOCK_AGE_MS_MAX) await rm(path, { force: true });
    else if (Date.now() > deadline) throw failure('ENTITY_BUSY', { form: 'keyFile', path });
    await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
  }
}
