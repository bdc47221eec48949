// `table`: an array of arrays, the first of them the names of the columns.
import type { RelationRow } from '../../plan/namespace.ts';
import { atomToPlainJsonText } from '../../value/json.ts';
import { type ColumnRows, ROWS_PER_LOOK, textReader } from '../column-rows.ts';
import { extraColumns, extraValues, type OutputOptions } from './options.ts';
import { liesInColumns, presentedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';
import { type SpooledTable, withTable } from './spool.ts';

export function writeTable(
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
  const columnCount = table.columns.length;
  let separator = '[';
  const writeLine = (cells: readonly string[]) => {
    sink.write(`${separator}[${cells.join(',')}]`);
    separator = ',';
  };
  const iterator = table.rows[Symbol.iterator]();
  let next = iterator.next();
  if (options.headers) {
    // Without an order, a result without rows has a header without columns.
    const bare = next.done === true && options.order === undefined;
    const columns = bare ? [] : table.columns;
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

/** Cells are written as they lie in columns; there is nothing to spool. */
function writeColumns(rows: ColumnRows, options: OutputOptions, sink: ChunkSink): void {
  const { rowCount } = rows;
  const columns = presentedColumns(rows, options);
  const extras = extraColumns(options);
  const readers = columns.map(({ values }) => textReader(values, atomToPlainJsonText));
  let separator = '[';
  if (options.headers) {
    const names = columns.map(({ path }) => path.toString());
    sink.write(`[${JSON.stringify([...extras, ...names])}`);
    separator = ',';
  }
  for (let index = 0; index < rowCount; index++) {
    if (index % ROWS_PER_LOOK === 0) rows.look();
    let line = `${separator}[`;
    separator = '';
    if (extras.length > 0) {
      const values = extraValues(rows.nameAt(index), options);
      line += values.map((text) => JSON.stringify(text)).join(',');
      separator = ',';
    }
    for (const read of readers) {
      line += separator + read(index);
      separator = ',';
    }
    sink.write(`${line}]`);
    separator = ',';
  }
  sink.write(!options.headers && rowCount === 0 ? '[]' : ']');
}
