// `aos`: an array of objects, each with the columns that its row has.
import type { RelationRow } from '../../plan/namespace.ts';
import { ColumnPrinter } from './cell.ts';
import {
  columnComparer,
  extraColumns,
  extraValues,
  jsonWriter,
  type OutputOptions,
} from './options.ts';
import type { ChunkSink } from './sink.ts';

export function writeAos(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const toObject = objectWriter(options);
  let separator = '[';
  for (const row of rows) {
    sink.write(separator + toObject(row));
    separator = ',';
  }
  sink.write(separator === '[' ? '[]' : ']');
}

/** The JSON object of a row: the latest value of each column under its printed path. */
export function objectWriter(options: OutputOptions): (row: RelationRow) => string {
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
