// `ndjson`: the objects of `aos`, one a line.
import type { RelationRow } from '../../plan/namespace.ts';
import { writeObjects } from './aos.ts';
import type { OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';

export function writeNdjson(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  writeObjects(rows, options, (text) => sink.write(`${text}\n`));
}
