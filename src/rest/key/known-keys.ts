// That a data directory has API keys, as its catalogue remembers it.
import type { Catalogue } from '../../store/catalogue.ts';
import { CATALOGUE_FILE, KEYS_FILE, requireNothingKept } from '../../store/data-directory.ts';

export const KEYS_RECORD = ['keys', ['existed']] as const;

/** What cannot be kept now is tried again at the next start. */
export async function rememberKeys(catalogue: Catalogue): Promise<void> {
  const [table, key] = KEYS_RECORD;
  await catalogue.write([{ type: 'put', table, key, value: true }]).catch(() => undefined);
}

/**
 * Makes the catalogue of a new directory, or adds to that of an old one, whether its server runs or
 * not.
 * @throws DataDirectoryError when a catalogue is missing that there must be
 */
export async function rememberKeysIn(directory: string): Promise<void> {
  const [{ existsSync }, { join }, { openCatalogue }] = await Promise.all([
    import('node:fs'),
    import('node:path'),
    import('../../store/open-catalogue.ts'),
  ]);
  const isThere = existsSync(join(directory, CATALOGUE_FILE));
  if (!isThere && existsSync(directory)) requireNothingKept(directory, [KEYS_FILE]);
  const catalogue = await openCatalogue({ directory, shared: true });
  try {
    if (catalogue.get(...KEYS_RECORD) === undefined) await rememberKeys(catalogue);
  } finally {
    await catalogue.close();
  }
}
