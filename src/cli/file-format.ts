// What the name of a file says about how its content is written.
import { codecBySuffix } from '../file/compression.ts';

export interface FileFormat<Format extends string> {
  readonly format: Format;
  /** between fields, where the suffix names it */
  readonly delimiter?: string;
}

export type ExportFormat = 'text' | 'aos' | 'ndjson' | 'arrow';

const TEXT_SUFFIXES: Readonly<Record<string, FileFormat<'text'>>> = {
  csv: { format: 'text' },
  tsv: { format: 'text', delimiter: '\t' },
  txt: { format: 'text' },
};

/** Of a ZIP archive the only member is read. */
const IMPORT_SUFFIXES = { ...TEXT_SUFFIXES, zip: { format: 'text' } } as const;

const EXPORT_SUFFIXES: Readonly<Record<string, FileFormat<ExportFormat>>> = {
  ...TEXT_SUFFIXES,
  json: { format: 'aos' },
  ndjson: { format: 'ndjson' },
  jsonl: { format: 'ndjson' },
  arrow: { format: 'arrow' },
};

/** @param named the format, whatever the suffix. @throws Error naming the accepted suffixes */
export function exportFormat(file: string, named?: string): FileFormat<ExportFormat> {
  return bySuffix(file, named, EXPORT_SUFFIXES, 'written');
}

/** @param named the format, whatever the suffix. @throws Error naming the accepted suffixes */
export function importFormat(file: string, named?: string): FileFormat<'text'> {
  return bySuffix<'text'>(file, named, IMPORT_SUFFIXES, 'imported');
}

function bySuffix<Format extends string>(
  file: string,
  named: string | undefined,
  known: Readonly<Record<string, FileFormat<Format>>>,
  verb: string,
): FileFormat<Format> {
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
