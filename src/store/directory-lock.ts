// A data directory belongs to one process at a time.
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { claimDirectory } from './directory-claim.ts';
import { errorCode } from './durable-file.ts';

const LOCK_FILE = 'lock';
/** The holder touches its lock so often; one of another machine that is older has no holder. */
const TOUCH_INTERVAL_MS = 2_000;
const STALE_AGE_MS = 15_000;

/** The data directory cannot be used: another process has it, or it is of no use to this version. */
export class DataDirectoryError extends Error {
  /** what the process ends with when it meets this at its start */
  readonly exitCode = 2;
  readonly directory: string;

  constructor(directory: string, reason: string) {
    super(`data directory "${directory}" ${reason}`);
    this.name = 'DataDirectoryError';
    this.directory = directory;
  }
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** when the process began, as its system counts; tells it from a later one of the same number */
  readonly startedAt: string;
  /** tells two locks of one process apart */
  readonly token: string;
}

/**
 * Takes the directory for this process. A lock that a killed process left behind is taken over.
 * @returns gives the directory back
 * @throws DataDirectoryError naming the holder
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, LOCK_FILE);
  const own: Holder = {
    pid: process.pid,
    host: hostname(),
    startedAt: processStart(process.pid),
    token: randomUUID(),
  };
  const giveBack = claimDirectory(directory);
  if (giveBack === undefined) throw claimedError(directory, path);
  try {
    takeFile(directory, path, own);
  } catch (error) {
    giveBack();
    throw error;
  }
  const timer = setInterval(() => {
    touch(path);
    // Another process may remove it as a left-over while it is held.
    if (readHolder(path) === undefined) tryCreate(path, own);
  }, TOUCH_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (readHolder(path)?.token === own.token) rmSync(path, { force: true });
    giveBack();
  };
}

function claimedError(directory: string, path: string): DataDirectoryError {
  const holder = readHolder(path);
  const who =
    holder === undefined || holder.pid === 0
      ? `another process, whose lock file ${path} was removed; end that process first`
      : `process ${holder.pid} on ${holder.host}`;
  return new DataDirectoryError(directory, `is in use by ${who}`);
}

/** @throws DataDirectoryError naming the holder */
function takeFile(directory: string, path: string, own: Holder): void {
  for (let attempt = 0; !tryCreate(path, own); attempt++) {
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (attempt >= 10 || isAlive(holder, path)) {
      throw new DataDirectoryError(
        directory,
        `is in use by process ${holder.pid} on ${holder.host}; if there is no such process, remove ${path}`,
      );
    }
    removeStale(path, holder);
  }
}

function tryCreate(path: string, holder: Holder): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx');
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
  writeSync(file, JSON.stringify(holder));
  closeSync(file);
  return true;
}

/** Undefined when there is no lock. */
function readHolder(path: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Holder;
  } catch {
    // Another process has created it and is about to write it, or was killed in between.
    return { pid: 0, host: '', startedAt: '', token: '' };
  }
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.host !== hostname()) return isFresh(path);
  if (!isRunning(holder.pid)) return false;
  return processStart(holder.pid) === holder.startedAt;
}

function isFresh(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs < STALE_AGE_MS;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Clock ticks since the start of the system; empty where it does not tell. */
function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Moved first: of two processes that see a stale lock only one can move it. */
function removeStale(path: string, holder: Holder): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if (readHolder(aside)?.token === holder.token) rmSync(aside, { force: true });
  // Another process was faster and what was moved is its new lock.
  else renameSync(aside, path);
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The directory was removed under us; writes will report that.
  }
}
