// The output formats by name.
import type { RelationRow } from '../../plan/catalog.ts';
import { failure } from '../../util/error.ts';
import { writeAos } from './aos.ts';
import { writeArrow } from './arrow.ts';
import { writeAtom } from './atom.ts';
import { writeCsv } from './csv.ts';
import { writeFull } from './full.ts';
import { writeNdjson } from './ndjson.ts';
import type { OutputOptions } from './options.ts';
import { ChunkSink, type Emit } from './sink.ts';
import { writeSoa } from './soa.ts';
import { writeSparse } from './sparse.ts';
import { writeTable } from './table.ts';

/** Writes result rows in one format. Rows are read once, in order. */
export type FormatWriter = (
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
) => void;

interface Format {
  readonly contentType: string;
  readonly write: FormatWriter;
}

const JSON_TYPE = 'application/json';

const FORMATS = {
  full: { contentType: JSON_TYPE, write: writeFull },
  table: { contentType: JSON_TYPE, write: writeTable },
  aos: { contentType: JSON_TYPE, write: writeAos },
  soa: { contentType: JSON_TYPE, write: writeSoa },
  sparse: { contentType: JSON_TYPE, write: writeSparse },
  atom: { contentType: JSON_TYPE, write: writeAtom },
  csv: { contentType: 'text/csv; charset=utf-8', write: writeCsv },
  ndjson: { contentType: 'application/x-ndjson', write: writeNdjson },
  arrow: { contentType: 'application/vnd.apache.arrow.stream', write: writeArrow },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof FORMATS;

/** @throws INVALID_PARAMETER for a name that is none; the empty name is `full` */
export function formatNamed(name: string): FormatName {
  if (name === '') return 'full';
  if (Object.hasOwn(FORMATS, name)) return name as FormatName;
  const accepted = Object.keys(FORMATS).join(', ');
  throw failure('INVALID_PARAMETER', `Unknown output format '${name}'; accepted are ${accepted}`);
}

export function contentTypeOf(format: FormatName): string {
  return FORMATS[format].contentType;
}

/** Writes all rows and hands on the last chunk. */
export function writeRows(
  rows: Iterable<RelationRow>,
  format: FormatName,
  options: OutputOptions,
  emit: Emit,
): void {
  const sink = new ChunkSink(emit);
  FORMATS[format].write(rows, options, sink);
  sink.end();
}
