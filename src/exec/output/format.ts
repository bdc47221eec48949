// The output formats by name.
import type { RelationRow } from '../../plan/namespace.ts';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';
import { writeAos } from './aos.ts';
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
  /** absent until `loadFormat`: its library takes longer to load than most queries to run */
  readonly write?: FormatWriter;
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
  arrow: { contentType: 'application/vnd.apache.arrow.stream' },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof FORMATS;

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name);
}

/** @throws INVALID_PARAMETER for a name that is none; the empty name is `full` */
export function formatNamed(name: string): FormatName {
  if (name === '') return 'full';
  if (isFormatName(name)) return name;
  const accepted = Object.keys(FORMATS).join(', ');
  throw failure('INVALID_PARAMETER', `Unknown output format '${name}'; accepted are ${accepted}`);
}

export function contentTypeOf(format: FormatName): string {
  return FORMATS[format].contentType;
}

let writeArrow: FormatWriter | undefined;

/** Loads what a format needs beyond this module; must have ended before rows are written. */
export async function loadFormat(format: FormatName): Promise<void> {
  if (format === 'arrow') ({ writeArrow } = await import('./arrow.ts'));
}

/** Writes all rows and hands on the last chunk. */
export function writeRows(
  rows: Iterable<RelationRow>,
  format: FormatName,
  options: OutputOptions,
  emit: Emit,
): void {
  const sink = new ChunkSink(emit);
  const { write = writeArrow }: Format = FORMATS[format];
  assert(write !== undefined, `format ${format} was loaded`);
  write(rows, options, sink);
  sink.end();
}
