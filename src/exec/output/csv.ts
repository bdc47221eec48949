// `csv`: RFC 4180 with LF line ends; null is an empty field, the empty string is "".
import type { RelationRow } from '../../plan/catalog.ts';
import type { Atom } from '../../value/atom.ts';
import { specialNumberText } from '../../value/json.ts';
import { atomText } from '../../value/text.ts';
import { extraColumns, type OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';
import { spoolTable } from './spool.ts';

export function writeCsv(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const table = spoolTable(rows, options);
  if (options.headers) {
    sink.write(`${[...extraColumns(options), ...table.columns].map(quoteField).join(',')}\n`);
  }
  const columnCount = table.columns.length;
  for (const { extras, columns, atoms } of table.rows) {
    const fields = new Array<string>(columnCount).fill('');
    for (let i = 0; i < columns.length; i++) {
      fields[columns[i] as number] = fieldOf(atoms[i] ?? null);
    }
    sink.write(`${[...extras.map(quoteField), ...fields].join(',')}\n`);
  }
}

/** The CSV field of an atom. */
export function fieldOf(atom: Atom): string {
  if (atom === null) return '';
  if (typeof atom === 'number') {
    return Number.isFinite(atom) ? atomText(atom) : specialNumberText(atom);
  }
  if (atom instanceof Uint8Array) return Buffer.from(atom).toString('base64');
  return quoteField(typeof atom === 'object' ? atom.toString() : atomText(atom));
}

function quoteField(text: string): string {
  if (text !== '' && !/[",\r\n]|^[ \t]|[ \t]$/.test(text)) return text;
  return `"${text.replaceAll('"', '""')}"`;
}
