// What a file probably is, from its name and its first bytes, as a procedure that imports it.
import { codecBySuffix } from '../../file/compression.ts';
import type { OpenFile } from '../../file/file-system.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { guessJson } from './guess-json.ts';
import { guessText } from './guess-text.ts';
import { readSample } from './sample.ts';

export interface GuessedColumn {
  readonly name: string;
  readonly type: 'null' | 'integer' | 'number' | 'string' | 'timestamp' | 'mixed';
  /** the texts are dates */
  readonly isTime?: boolean;
}

export interface Guess {
  /** type of the procedure that imports the file */
  readonly type: string;
  /** its parameters, but for file and output */
  readonly params: Readonly<Record<string, unknown>>;
  /** by what was guessed, each in [0, 1] */
  readonly confidence: Readonly<Record<string, number>>;
  readonly columns: readonly GuessedColumn[];
  /** the first rows, a value for each column */
  readonly rows: readonly (readonly Atom[])[];
  readonly warnings: readonly string[];
}

/** @throws DATA_ERROR for a file that no importer reads */
export async function guessImport(file: OpenFile, rowCount: number): Promise<Guess> {
  const sample = await readSample(file);
  const suffix = suffixOf(file.url);
  if (sample.bytes.length === 0) {
    return { ...guessText(sample, 0, suffix), warnings: ['the file is empty'] };
  }
  const first = sample.bytes.toString('latin1', 0, 64).trimStart()[0];
  if (first === '{' || first === '[') {
    const json = guessJson(sample, rowCount);
    if (json !== undefined) return json;
  }
  if (sample.bytes.subarray(0, 8192).includes(0)) {
    throw failure('DATA_ERROR', `${file.url} is neither text nor a format that can be imported`, {
      url: file.url,
    });
  }
  return guessText(sample, rowCount, suffix);
}

/** The last suffix of a name but that of a compression, in lower case. */
export function suffixOf(url: string): string {
  const name = url.replace(/^https?:\/\/[^?#]*[?#].*$/, (text) => text.replace(/[?#].*$/, ''));
  const inner = codecBySuffix(name) === undefined ? name : name.replace(/\.[^.]*$/, '');
  return /\.([^./\\#]+)$/.exec(inner)?.[1]?.toLowerCase() ?? '';
}
