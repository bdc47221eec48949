// What lies in a data directory, and what a start may do with it: nothing that is not known is ever
// deleted.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirectoryError } from './directory-lock.ts';
import { moveInto } from './durable-file.ts';

export const CATALOGUE_FILE = 'catalogue.lmdb';
/** LMDB's own, of processes that have the catalogue open */
export const CATALOGUE_LOCK = 'catalogue.lmdb-lock';
/** The catalogue as it was when it was last verified and copied. */
export const CATALOGUE_COPY = 'catalogue.copy';
export const LOST_AND_FOUND = 'lost+found';
export const DATASETS = 'datasets';
export const KEYS_FILE = 'keys.json';
export const CREDENTIALS = '.credentials';
/** Rows that running queries have no memory for. */
export const SCRATCH = 'scratch';

/** What users own, or what a new catalogue has nothing to do with. */
const STAYS: ReadonlySet<string> = new Set([
  ...['files', 'models', 'uploads', 'plugins', 'lock', LOST_AND_FOUND],
]);
const USER_FOLDERS = ['files', 'models', 'uploads'];

/** What only makes sense with a catalogue, for people; nothing in a new directory. */
function keptThings(directory: string, except: readonly string[]): string[] {
  const names = [DATASETS, CREDENTIALS].filter((name) => isFilled(join(directory, name)));
  const files = [KEYS_FILE, CATALOGUE_COPY].filter((name) => existsSync(join(directory, name)));
  return [...names.map((name) => `${name}/`), ...files.filter((name) => !except.includes(name))];
}

function isFilled(directory: string): boolean {
  return existsSync(directory) && readdirSync(directory).length > 0;
}

/**
 * @param except files that a new catalogue may find
 * @throws DataDirectoryError when there is something that a new catalogue would not know
 */
export function requireNothingKept(directory: string, except: readonly string[] = []): void {
  const kept = keptThings(directory, except);
  if (kept.length === 0) return;
  throw new DataDirectoryError(
    directory,
    `has no ${CATALOGUE_FILE}, but ${kept.join(', ')}; restore the last copy with: ` +
      `rowan repair ${directory}, or start empty with --new, which moves what is there to ` +
      `${LOST_AND_FOUND}/`,
  );
}

/** Moves everything that belongs to an earlier catalogue to lost+found. */
export function startAnew(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!STAYS.has(name)) moveInto(join(directory, name), join(directory, LOST_AND_FOUND));
  }
}

/** Drafts of files that were being written when the process was killed. */
const DRAFT = /^\..+\.[0-9a-f]{12}\.part$/;

/** Removes what a process left when it was killed; nobody else may write the directory. */
export function removeLeftOvers(directory: string): void {
  rmSync(join(directory, SCRATCH), { recursive: true, force: true });
  for (const folder of USER_FOLDERS) removeDrafts(join(directory, folder));
}

function removeDrafts(directory: string): void {
  if (!existsSync(directory) || !statSync(directory).isDirectory()) return;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) removeDrafts(path);
    else if (DRAFT.test(entry.name)) rmSync(path, { force: true });
  }
}
