// `soa`: an object of columns, each an array with an entry for every row.
import type { RelationRow } from '../../plan/catalog.ts';
import { extraColumns, jsonWriter, type OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';
import { spoolTable } from './spool.ts';

export function writeSoa(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const table = spoolTable(rows, { ...options, knownColumns: undefined });
  const all = [...table.rows];
  // Without an order of columns nobody counts on those that do not occur.
  if (all.length === 0 && options.order === undefined) {
    sink.write('{}');
    return;
  }
  const texts: string[][] = table.columns.map(() => new Array<string>(all.length).fill('null'));
  const toJson = jsonWriter(options);
  all.forEach(({ columns, atoms }, rowIndex) => {
    columns.forEach((column, i) => {
      (texts[column] as string[])[rowIndex] = toJson(atoms[i] ?? null);
    });
  });
  const members = extraColumns(options).map((name, i) => ({
    name,
    cells: all.map(({ extras }) => JSON.stringify(extras[i])),
  }));
  table.columns.forEach((name, column) => {
    members.push({ name, cells: texts[column] as string[] });
  });
  members.forEach(({ name, cells }, i) => {
    sink.write(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:[`);
    sink.write(`${cells.join(',')}]`);
  });
  sink.write(members.length === 0 ? '{}' : '}');
}
