// `aos`: an array of objects, each with the columns that its row has.
import type { RelationRow } from '../../plan/namespace.ts';
import { Path } from '../../value/path.ts';
import { type ColumnRows, columnPieces, ROWS_PER_LOOK, textReader } from '../column-rows.ts';
import { ColumnPrinter } from './cell.ts';
import {
  columnComparer,
  extraColumns,
  extraValues,
  jsonWriter,
  type OutputOptions,
} from './options.ts';
import { presentedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';

export function writeAos(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  let separator = '[';
  writeObjects(rows, options, (object) => {
    sink.write(separator + object);
    separator = ',';
  });
  sink.write(separator === '[' ? '[]' : ']');
}

/** Hands on the JSON object of each row. */
export function writeObjects(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  write: (object: string) => void,
): void {
  const pieces = columnPieces(rows);
  if (pieces === undefined) {
    const toObject = objectWriter(options);
    for (const row of rows) write(toObject(row));
    return;
  }
  for (const piece of pieces) writeObjectsOfColumns(piece, options, write);
}

/** The same of rows that lie in columns: no row is made. */
function writeObjectsOfColumns(
  rows: ColumnRows,
  options: OutputOptions,
  write: (object: string) => void,
): void {
  const extras = extraColumns(options).map((name) => `${JSON.stringify(name)}:`);
  const toJson = jsonWriter(options);
  const members = presentedColumns(rows, options).map(({ name, values }) => {
    const key = `${JSON.stringify(new Path([name]).toString())}:`;
    return { key, read: textReader(values, toJson) };
  });
  for (let index = 0; index < rows.rowCount; index++) {
    if (index % ROWS_PER_LOOK === 0) rows.look();
    let object = '';
    if (extras.length > 0) {
      const values = extraValues(rows.nameAt(index), options);
      object = extras.map((key, i) => key + JSON.stringify(values[i])).join(',');
    }
    for (const { key, read } of members) {
      object += object === '' ? key + read(index) : `,${key}${read(index)}`;
    }
    write(`{${object}}`);
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
