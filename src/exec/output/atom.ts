// `atom`: the one value of a result of one row and one column.
import type { RelationRow } from '../../plan/namespace.ts';
import { failure } from '../../util/error.ts';
import { atomToJsonText } from '../../value/json.ts';
import { type Cell, cellsOf } from '../../value/value.ts';
import type { OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';

export function writeAtom(
  rows: Iterable<RelationRow>,
  _options: OutputOptions,
  sink: ChunkSink,
): void {
  let only: RelationRow | undefined;
  for (const row of rows) {
    if (only !== undefined) throw refuse('returning multiple rows. Consider using limit.');
    only = row;
  }
  if (only === undefined) throw refuse('returned no rows.');
  const cells = cellsOf(only.row);
  if (cells.length === 0) throw refuse('returned no columns.');
  if (cells.length > 1) throw refuse('returned multiple columns.');
  sink.write(atomToJsonText((cells[0] as Cell).atom));
}

function refuse(what: string): Error {
  return failure('SQL_EXECUTION', `Query with atom format ${what}`);
}
