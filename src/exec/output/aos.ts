// `aos`: an array of objects, each with the columns that its row has.
import type { RelationRow } from '../../plan/namespace.ts';
import type { Atom } from '../../value/atom.ts';
import { type ColumnRows, ROWS_PER_LOOK, textReader } from '../column-rows.ts';
import { ColumnPrinter } from './cell.ts';
import {
  columnComparer,
  extraColumns,
  extraValues,
  jsonWriter,
  type OutputOptions,
} from './options.ts';
import { liesInColumns, orderedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';

export function writeAos(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  let separator = '[';
  writeObjects(rows, options, (text) => {
    sink.write(separator + text);
    separator = ',';
  });
  sink.write(separator === '[' ? '[]' : ']');
}

/** Gives the JSON object of each row to `write`. */
export function writeObjects(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  write: (text: string) => void,
): void {
  if (liesInColumns(rows)) {
    writeColumns(rows, options, write);
    return;
  }
  const toObject = objectWriter(options);
  for (const row of rows) write(toObject(row));
}

/** Cells are written as they lie in columns; the text of one that a row does not have is empty. */
function writeColumns(
  rows: ColumnRows,
  options: OutputOptions,
  write: (text: string) => void,
): void {
  const toJson = jsonWriter(options);
  const toJsonOrNone = (atom: Atom) => (atom === null ? '' : toJson(atom));
  const extras = extraColumns(options).map((name) => `${JSON.stringify(name)}:`);
  const columns = orderedColumns(rows, options);
  const keys = columns.map(({ path }) => `${JSON.stringify(path.toString())}:`);
  const readers = columns.map(({ values, isOptional }) =>
    textReader(values, isOptional === true ? toJsonOrNone : toJson),
  );
  for (let index = 0; index < rows.rowCount; index++) {
    if (index % ROWS_PER_LOOK === 0) rows.look();
    let line = '';
    if (extras.length > 0) {
      const values = extraValues(rows.nameAt(index), options);
      line = extras.map((key, i) => key + JSON.stringify(values[i])).join(',');
    }
    for (let i = 0; i < readers.length; i++) {
      const text = (readers[i] as (index: number) => string)(index);
      if (text === '') continue;
      line += line === '' ? (keys[i] as string) + text : `,${keys[i]}${text}`;
    }
    write(`{${line}}`);
  }
}

/** The JSON object of a row: the latest value of each column under its printed path. */
function objectWriter(options: OutputOptions): (row: RelationRow) => string {
  const printer = new ColumnPrinter(columnComparer(options));
  const keys = new Map<string, string>();
  const keyText = (key: string): string => {
    let text = keys.get(key);
    if (text === undefined) {
      text = `${JSON.stringify(key)}:`;
      if (keys.size < KEY_CACHE_COUNT_MAX) keys.set(key, text);
    }
    return text;
  };
  const extras = extraColumns(options);
  const toJson = jsonWriter(options);
  return ({ name, row }) => {
    const values = extraValues(name, options);
    const members = extras.map((key, i) => keyText(key) + JSON.stringify(values[i]));
    printer.visitLatest(row, (key, atom) => members.push(keyText(key) + toJson(atom)));
    return `{${members.join(',')}}`;
  };
}

/** Keys of very wide results are not worth remembering. */
const KEY_CACHE_COUNT_MAX = 10_000;
