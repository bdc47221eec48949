// `csv`: RFC 4180 with LF line ends; null is an empty field, the empty string is "".
import type { RelationRow } from '../../plan/namespace.ts';
import type { Atom } from '../../value/atom.ts';
import { specialNumberText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { type ColumnRows, ROWS_PER_LOOK, textReader } from '../column-rows.ts';
import { extraColumns, extraValues, type OutputOptions } from './options.ts';
import { liesInColumns, presentedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';
import { type SpooledTable, withTable } from './spool.ts';

export function writeCsv(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  if (liesInColumns(rows)) {
    writeColumns(rows, options, sink);
    return;
  }
  withTable(rows, options, (table) => writeSpooled(table, options, sink));
}

function writeSpooled(table: SpooledTable, options: OutputOptions, sink: ChunkSink): void {
  if (options.headers) {
    const names = [...extraColumns(options), ...table.columns.map(headerName)];
    sink.write(`${names.map(quoteField).join(',')}\n`);
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

/** Cells are written as they lie in columns; there is nothing to spool. */
function writeColumns(rows: ColumnRows, options: OutputOptions, sink: ChunkSink): void {
  const { rowCount } = rows;
  const columns = presentedColumns(rows, options);
  if (options.headers) {
    const names = [
      ...extraColumns(options),
      ...columns.map(({ path }) => headerName(path.toString())),
    ];
    sink.write(`${names.map(quoteField).join(',')}\n`);
  }
  const hasExtras = extraColumns(options).length > 0;
  const readers = columns.map(({ values }) => textReader(values, fieldOf));
  for (let index = 0; index < rowCount; index++) {
    if (index % ROWS_PER_LOOK === 0) rows.look();
    const fields = readers.map((read) => read(index));
    if (hasExtras) fields.unshift(...extraValues(rows.nameAt(index), options).map(quoteField));
    sink.write(`${fields.join(',')}\n`);
  }
}

/**
 * The name of a column in a header: quoted once, by the rules of CSV, where dots cannot be taken
 * for those of a path.
 */
export function headerName(printedPath: string): string {
  const path = Path.parse(printedPath);
  return path.elements.length === 1 && !printedPath.includes('.') ? path.toText() : printedPath;
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
