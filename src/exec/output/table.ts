// `table`: an array of arrays, the first of them the names of the columns.
import type { RelationRow } from '../../plan/catalog.ts';
import { atomToPlainJsonText } from '../../value/json.ts';
import { extraColumns, type OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';
import { spoolTable } from './spool.ts';

export function writeTable(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const table = spoolTable(rows, options);
  const columnCount = table.columns.length;
  let separator = '[';
  const writeLine = (cells: readonly string[]) => {
    sink.write(`${separator}[${cells.join(',')}]`);
    separator = ',';
  };
  const iterator = table.rows[Symbol.iterator]();
  let next = iterator.next();
  if (options.headers) {
    // A result without rows has a header without columns, whatever the query says.
    const columns = next.done === true ? [] : table.columns;
    writeLine([...extraColumns(options), ...columns].map((name) => JSON.stringify(name)));
  }
  for (; next.done !== true; next = iterator.next()) {
    const { extras, columns, atoms } = next.value;
    const cells = new Array<string>(columnCount).fill('null');
    for (let i = 0; i < columns.length; i++) {
      cells[columns[i] as number] = atomToPlainJsonText(atoms[i] ?? null);
    }
    writeLine([...extras.map((text) => JSON.stringify(text)), ...cells]);
  }
  sink.write(separator === '[' ? '[]' : ']');
}
