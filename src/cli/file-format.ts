// What the name of a file says about how its content is written.
import { codecBySuffix } from '../file/compression.ts';

/** A procedure that reads or writes files of a format, with the parameters that the suffix tells. */
export interface FileProcedure {
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** How a file is written: by a procedure, or as a query gives it. */
export type ExportFormat = FileProcedure | { readonly query: 'aos' | 'ndjson' };

type Suffixes<Format> = Readonly<Record<string, Format>>;

/** Dates are what they look like. */
const TEXT = { inferTimestamps: true } as const;
const TAB = { delimiter: '\t' } as const;

function reading(type: string, params = {}): FileProcedure {
  return { type, params };
}

const IMPORT_SUFFIXES: Suffixes<FileProcedure> = {
  csv: reading('import.text', TEXT),
  tsv: reading('import.text', { ...TEXT, ...TAB }),
  txt: reading('import.text', TEXT),
  // Of an archive the only member is read.
  zip: reading('import.text', TEXT),
  json: reading('import.json'),
  ndjson: reading('import.json'),
  jsonl: reading('import.json'),
  parquet: reading('import.parquet'),
  arrow: reading('import.arrow'),
  arrows: reading('import.arrow'),
  feather: reading('import.arrow'),
  xlsx: reading('import.xlsx'),
  sqlite: reading('import.sqlite'),
  sqlite3: reading('import.sqlite'),
  db: reading('import.sqlite'),
};

const EXPORT_SUFFIXES: Suffixes<ExportFormat> = {
  csv: reading('export.csv'),
  tsv: reading('export.csv', TAB),
  txt: reading('export.csv'),
  json: { query: 'aos' },
  ndjson: { query: 'ndjson' },
  jsonl: { query: 'ndjson' },
  parquet: reading('export.parquet'),
  arrow: reading('export.arrow', { format: 'file' }),
  feather: reading('export.arrow', { format: 'file' }),
  arrows: reading('export.arrow', { format: 'stream' }),
};

export const IMPORT_FORMATS: readonly string[] = Object.keys(IMPORT_SUFFIXES);
export const EXPORT_FORMATS: readonly string[] = Object.keys(EXPORT_SUFFIXES);

/** @param named the format, whatever the suffix. @throws Error naming the accepted suffixes */
export function exportFormat(file: string, named?: string): ExportFormat {
  return bySuffix(file, named, EXPORT_SUFFIXES, 'written');
}

/** @param named the format, whatever the suffix. @throws Error naming the accepted suffixes */
export function importFormat(file: string, named?: string): FileProcedure {
  return bySuffix(file, named, IMPORT_SUFFIXES, 'imported');
}

/** Whether an argument names a file that can be imported, and no dataset. */
export function isImportable(file: string): boolean {
  return file === '-' || file.includes('://') || Object.hasOwn(IMPORT_SUFFIXES, suffixOf(file));
}

/** The name of a file without its folder and suffixes. */
export function datasetNameOf(file: string): string {
  const name = (file.split(/[?#]/)[0] ?? '').split(/[/\\]/).pop() ?? '';
  const stem = name.split('.').find((part) => part !== '') ?? '';
  const plain = stem.replaceAll(/[^A-Za-z0-9_]+/g, '_').replaceAll(/^_+|_+$/g, '');
  if (plain === '') return 'imported';
  return /^[0-9]/.test(plain) ? `data_${plain}` : plain;
}

function bySuffix<Format>(
  file: string,
  named: string | undefined,
  known: Suffixes<Format>,
  verb: string,
): Format {
  const suffix = named ?? suffixOf(file);
  const found = Object.hasOwn(known, suffix) ? known[suffix] : undefined;
  if (found !== undefined) return found;
  const accepted = Object.keys(known).map((name) => `.${name}`);
  const what = suffix === '' ? 'without a suffix' : `ending in .${suffix}`;
  throw new Error(
    `${file}: files ${what} cannot be ${verb}; accepted are ${accepted.join(', ')}, ` +
      'also compressed, as in .csv.gz; --format says what others hold',
  );
}

/** The last suffix but that of a compression, in lower case. */
function suffixOf(file: string): string {
  const name = file.replace(/^https?:\/\/[^?#]*[?#].*$/, (url) => url.replace(/[?#].*$/, ''));
  const inner = codecBySuffix(name) === undefined ? name : name.replace(/\.[^.]*$/, '');
  return /\.([^./\\#]+)$/.exec(inner)?.[1]?.toLowerCase() ?? '';
}
