// Where a catalogue comes from: a data directory, or nowhere.
import type { Catalogue } from './catalogue.ts';
import { MemoryCatalogue } from './memory-catalogue.ts';

export interface CatalogueOptions {
  /** null: keep everything in memory and nothing on disk */
  readonly directory: string | null;
  /** true: work beside the process that holds the directory, as tools for single records do */
  readonly shared?: boolean;
  /** true: what is there is moved to lost+found, and nothing is known; default false */
  readonly isNew?: boolean;
  /** true: only read, beside the process that holds the directory; it must exist */
  readonly readOnly?: boolean;
}

/**
 * Opens the catalogue of a data directory, which is created when missing, and locks it.
 * @throws DataDirectoryError when another process holds it, or its format is newer
 */
export async function openCatalogue(options: CatalogueOptions): Promise<Catalogue> {
  if (options.directory === null) return new MemoryCatalogue();
  const { openLmdbCatalogue, readLmdbCatalogue } = await import('./lmdb-catalogue.ts');
  const { directory, shared = false, isNew = false, readOnly = false } = options;
  return readOnly ? readLmdbCatalogue(directory) : openLmdbCatalogue(directory, { shared, isNew });
}
