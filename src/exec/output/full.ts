// `full`: every value of every cell with its timestamp.
import type { RelationRow } from '../../plan/namespace.ts';
import { atomToJsonText } from '../../value/json.ts';
import { printTimestamp } from '../../value/timestamp.ts';
import type { Row } from '../../value/value.ts';
import { allCells, type PathComparer } from './cell.ts';
import { columnComparer, type OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';

export function writeFull(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const compare = columnComparer(options);
  let separator = '[';
  for (const { name, row } of rows) {
    sink.write(`${separator}{"rowName":${JSON.stringify(name.toString())}`);
    const columns = columnsText(row, compare);
    sink.write(columns === '' ? '}' : `,"columns":[${columns}]}`);
    separator = ',';
  }
  sink.write(separator === '[' ? '[]' : ']');
}

function columnsText(row: Row, compare: PathComparer): string {
  return allCells(row, compare)
    .map(({ path, atom, ts }) => {
      const column = JSON.stringify(path.toString());
      return `[${column},${atomToJsonText(atom)},"${printTimestamp(ts)}"]`;
    })
    .join(',');
}
