// `sparse`: each row an array of [column, value] pairs, all values of every cell.
import type { RelationRow } from '../../plan/namespace.ts';
import { atomToJsonText } from '../../value/json.ts';
import { allCells } from './cell.ts';
import { columnComparer, extraColumns, extraValues, type OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';

export function writeSparse(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const extras = extraColumns(options);
  const compare = columnComparer(options);
  let separator = '[';
  for (const { name, row } of rows) {
    const values = extraValues(name, options);
    const pairs = extras.map((key, i) => `["${key}",${JSON.stringify(values[i])}]`);
    for (const { path, atom } of allCells(row, compare)) {
      pairs.push(`[${JSON.stringify(path.toString())},${atomToJsonText(atom)}]`);
    }
    sink.write(`${separator}[${pairs.join(',')}]`);
    separator = ',';
  }
  sink.write(separator === '[' ? '[]' : ']');
}
