// What a file probably is, from its name and its first bytes, as a procedure that imports it.
import { codecBySuffix } from '../../file/compression.ts';
import type { OpenFile } from '../../file/file-system.ts';
import { failure } from '../../util/error.ts';
import { guessJson } from './guess-json.ts';
import { guessText } from './guess-text.ts';
import type { Guess } from './guessed-import.ts';
import { readSample } from './sample.ts';

/** @throws DATA_ERROR for a file that no importer reads */
export async function guessImport(file: OpenFile, rowCount: number): Promise<Guess> {
  const sample = await readSample(file);
  const suffix = suffixOf(file.url);
  if (sample.bytes.length === 0) {
    return { ...guessText(sample, 0, suffix), warnings: ['the file is empty'] };
  }
  const binary = binaryType(sample.bytes, suffix);
  if (binary !== undefined) return guessBinary(binary);
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

/** The importer of a format that its first bytes tell. */
function binaryType(bytes: Buffer, suffix: string): string | undefined {
  const head = bytes.toString('latin1', 0, 6);
  if (head.startsWith('PAR1')) return 'import.parquet';
  if (head === 'SQLite') return 'import.sqlite';
  if (head === 'ARROW1' || head.startsWith('\u00ff\u00ff\u00ff\u00ff')) return 'import.arrow';
  return head.startsWith('PK\u0003\u0004') && suffix === 'xlsx' ? 'import.xlsx' : undefined;
}

/** Formats that tell their types themselves: there is nothing to guess but the importer. */
function guessBinary(type: string): Guess {
  return {
    type,
    params: {},
    confidence: { format: 1 },
    columns: [],
    rows: [],
    warnings: ['there is no preview of this format; its columns have the types that the file says'],
  };
}

/** The last suffix of a name but that of a compression, in lower case. */
export function suffixOf(url: string): string {
  const name = url.replace(/^https?:\/\/[^?#]*[?#].*$/, (text) => text.replace(/[?#].*$/, ''));
  const inner = codecBySuffix(name) === undefined ? name : name.replace(/\.[^.]*$/, '');
  return /\.([^./\\#]+)$/.exec(inner)?.[1]?.toLowerCase() ?? '';
}
