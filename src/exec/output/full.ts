// `full`: every value of every cell with its timestamp.
import type { RelationRow } from '../../plan/catalog.ts';
import { atomToJsonText } from '../../value/json.ts';
import { printTimestamp } from '../../value/timestamp.ts';
import type { Row } from '../../value/value.ts';
import { allCells } from './cell.ts';
import type { OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';

export function writeFull(
  rows: Iterable<RelationRow>,
  _options: OutputOptions,
  sink: ChunkSink,
): void {
  let separator = '[';
  for (const { name, row } of rows) {
    sink.write(`${separator}{"rowName":${JSON.stringify(name.toString())}`);
    const columns = columnsText(row);
    sink.write(columns === '' ? '}' : `,"columns":[${columns}]}`);
    separator = ',';
  }
  sink.write(separator === '[' ? '[]' : ']');
}

function columnsText(row: Row): string {
  return allCells(row)
    .map(({ path, atom, ts }) => {
      const column = JSON.stringify(path.toString());
      return `[${column},${atomToJsonText(atom)},"${printTimestamp(ts)}"]`;
    })
    .join(',');
}
