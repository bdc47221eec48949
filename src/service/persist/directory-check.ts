// Looks through a data directory that no server uses, and restores its catalogue from the copy.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { ArrowFileReader } from '../../store/arrow-file-reader.ts';
import { verifyCatalogueFile } from '../../store/catalogue-file.ts';
import {
  CATALOGUE_COPY,
  CATALOGUE_FILE,
  CATALOGUE_LOCK,
  DATASETS,
  KEYS_FILE,
  LOST_AND_FOUND,
} from '../../store/data-directory.ts';
import { DataDirectoryError, lockDirectory } from '../../store/directory-lock.ts';
import { moveInto, syncDirectory } from '../../store/durable-file.ts';
import { openUnlockedCatalogue } from '../../store/lmdb-catalogue.ts';
import { type ContentRecord, StoredRecords } from './stored-records.ts';

export interface CheckReport {
  /** what is wrong, a line each; none: everything was read and is whole */
  readonly problems: readonly string[];
  readonly entityCount: number;
  readonly fileCount: number;
}

/** @throws DataDirectoryError when a server uses the directory, or it does not exist */
export async function checkDirectory(directory: string): Promise<CheckReport> {
  return locked(directory, inspect);
}

export interface RepairReport extends CheckReport {
  /** what was done, a line each */
  readonly done: readonly string[];
}

/**
 * Puts the last copy of the catalogue in the place of a damaged or missing one, which goes to
 * lost+found.
 * @throws DataDirectoryError when there is no copy, or it is damaged too
 */
export async function repairDirectory(directory: string): Promise<RepairReport> {
  return locked(directory, async (path) => {
    const done: string[] = [];
    const damage = await catalogueDamage(path, CATALOGUE_FILE);
    if (damage === undefined) done.push(`${CATALOGUE_FILE} is whole: nothing was changed`);
    else {
      const copyDamage = await catalogueDamage(path, CATALOGUE_COPY);
      if (copyDamage !== undefined) {
        throw new DataDirectoryError(
          path,
          `has a ${CATALOGUE_FILE} that cannot be used (${damage}), and so is its copy ` +
            `(${copyDamage}); rowan serve --new starts empty and moves what is there to ${LOST_AND_FOUND}/`,
        );
      }
      done.push(...(await restoreCopy(path, damage)));
    }
    return { done, ...(await inspect(path)) };
  });
}

async function restoreCopy(directory: string, damage: string): Promise<string[]> {
  const done = [`${CATALOGUE_FILE} could not be used: ${damage}`];
  const file = join(directory, CATALOGUE_FILE);
  const copy = join(directory, CATALOGUE_COPY);
  if (existsSync(file)) {
    const moved = moveInto(file, join(directory, LOST_AND_FOUND));
    done.push(`what there was of it is now ${moved}`);
  }
  rmSync(join(directory, CATALOGUE_LOCK), { force: true });
  const draft = `${file}.tmp`;
  copyFileSync(copy, draft);
  const written = openSync(draft, 'r+');
  fsyncSync(written);
  closeSync(written);
  renameSync(draft, file);
  syncDirectory(directory);
  // Opening for writing gives the file the two heads that a catalogue has.
  const catalogue = openUnlockedCatalogue(directory);
  await catalogue.write([
    { type: 'put', table: 'settings', key: ['restored'], value: new Date().toISOString() },
  ]);
  await catalogue.write([{ type: 'remove', table: 'settings', key: ['restored'] }]);
  await catalogue.close();
  const madeAt = statSync(copy).mtime.toISOString();
  done.push(`restored the copy of ${madeAt}; what was changed after it is lost`);
  return done;
}

async function locked<Result>(
  directory: string,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = resolve(directory);
  if (!existsSync(path)) throw new DataDirectoryError(path, 'does not exist');
  const unlock = lockDirectory(path);
  try {
    return await work(path);
  } finally {
    unlock();
  }
}

/** @returns undefined when the file is whole */
async function catalogueDamage(directory: string, name: string): Promise<string | undefined> {
  const path = join(directory, name);
  if (!existsSync(path) || statSync(path).size === 0) return `there is no ${name}`;
  try {
    verifyCatalogueFile(path, { isCopy: name === CATALOGUE_COPY });
    const catalogue = openUnlockedCatalogue(directory, { name, readOnly: true });
    try {
      catalogue.verifyRecords();
      catalogue.verifyLogs();
    } finally {
      await catalogue.close();
    }
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

async function inspect(directory: string): Promise<CheckReport> {
  const damage = await catalogueDamage(directory, CATALOGUE_FILE);
  if (damage !== undefined) {
    return { problems: [`${CATALOGUE_FILE}: ${damage}`], entityCount: 0, fileCount: 0 };
  }
  const problems: string[] = [];
  const copyDamage = await catalogueDamage(directory, CATALOGUE_COPY);
  if (existsSync(join(directory, CATALOGUE_COPY)) && copyDamage !== undefined) {
    problems.push(`${CATALOGUE_COPY}: ${copyDamage}`);
  }
  const catalogue = openUnlockedCatalogue(directory, { readOnly: true });
  try {
    const records = new StoredRecords(catalogue);
    const entities = records.entities();
    const known = new Set<string>();
    let fileCount = 0;
    for (const { config, storeId } of entities) {
      const { file }: Partial<ContentRecord> =
        storeId === undefined ? {} : records.content(storeId);
      if (file === undefined) continue;
      known.add(file);
      fileCount++;
      const reason = datasetFileDamage(join(records.directory, file));
      if (reason !== undefined) problems.push(`dataset '${config.id}': ${reason}`);
    }
    problems.push(...unknownFiles(records.directory, known));
    const hadKeys = catalogue.get('keys', ['existed']) !== undefined;
    if (hadKeys && !existsSync(join(directory, KEYS_FILE))) {
      problems.push(`${KEYS_FILE} is gone: nobody is let in until rowan keys create makes a key`);
    }
    return { problems, entityCount: entities.length, fileCount };
  } finally {
    await catalogue.close();
  }
}

function unknownFiles(directory: string, known: ReadonlySet<string>): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => !known.has(name))
    .map(
      (name) =>
        `${DATASETS}/${name} belongs to no dataset; the next start moves it to ${LOST_AND_FOUND}/`,
    );
}

/** Reads all of a file. @returns undefined when its checksums are right */
function datasetFileDamage(path: string): string | undefined {
  try {
    const file = new ArrowFileReader(path);
    try {
      for (let i = 0; i < file.dictionaryCount; i++) file.readDictionary(i);
      for (let i = 0; i < file.batchCount; i++) file.readBatch(i);
      file.section('snapshot');
    } finally {
      file.close();
    }
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
