// `arrow`: an Arrow IPC stream in batches of at most 65,536 rows.
//
// A column has one type in the whole stream, so the rows are held until the last is known. Then
// each batch is made of typed arrays and leaves at once.
import {
  Field,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  type TypeMap,
} from 'apache-arrow';
import type { RelationRow } from '../../plan/catalog.ts';
import type { Atom } from '../../value/atom.ts';
import { type ArrowColumnType, arrowColumnType, arrowData, TEXT_COLUMN } from './arrow-column.ts';
import { extraColumns, type OutputOptions } from './options.ts';
import type { ChunkSink } from './sink.ts';
import { type SpooledRow, type SpooledTable, spoolTable } from './spool.ts';

const BATCH_ROW_COUNT_MAX = 65_536;

export function writeArrow(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  const table = spoolTable(rows, options);
  const all = [...table.rows];
  const extras = extraColumns(options);
  const types = columnTypes(table, all);
  const schema = new Schema([
    ...extras.map((name) => new Field(name, TEXT_COLUMN.type, true)),
    ...table.columns.map((name, column) => toField(name, types[column] as ArrowColumnType)),
  ]);
  const writer = new SinkWriter(sink);
  writer.reset(undefined, schema);
  for (let start = 0; start < all.length; start += BATCH_ROW_COUNT_MAX) {
    writer.write(
      makeBatch(schema, extras.length, types, all.slice(start, start + BATCH_ROW_COUNT_MAX)),
    );
  }
  writer.finish();
}

function toField(name: string, { type, mixed }: ArrowColumnType): Field {
  return new Field(name, type, true, mixed ? new Map([['rowan.mixed', 'true']]) : undefined);
}

/** One pass over the cells: the type that holds every value of the column. */
function columnTypes(table: SpooledTable, rows: readonly SpooledRow[]): ArrowColumnType[] {
  const cells: Atom[][] = table.columns.map(() => []);
  for (const { columns, atoms } of rows) {
    columns.forEach((column, i) => {
      (cells[column] as Atom[]).push(atoms[i] ?? null);
    });
  }
  return cells.map(arrowColumnType);
}

function makeBatch(
  schema: Schema,
  extraCount: number,
  types: readonly ArrowColumnType[],
  rows: readonly SpooledRow[],
): RecordBatch {
  const cells: Atom[][] = types.map(() => new Array<Atom>(rows.length).fill(null));
  rows.forEach(({ columns, atoms }, rowIndex) => {
    columns.forEach((column, i) => {
      (cells[column] as Atom[])[rowIndex] = atoms[i] ?? null;
    });
  });
  const children = [
    ...Array.from({ length: extraCount }, (_, i) =>
      arrowData(
        rows.map(({ extras }) => extras[i] as string),
        TEXT_COLUMN,
      ),
    ),
    ...types.map((type, column) => arrowData(cells[column] as Atom[], type)),
  ];
  const data = makeData({
    type: new Struct<TypeMap>(schema.fields),
    length: rows.length,
    nullCount: 0,
    children,
  });
  return new RecordBatch(schema, data);
}

/** Hands each piece of the stream on as soon as it is made. */
class SinkWriter extends RecordBatchStreamWriter {
  readonly #chunks: ChunkSink;

  constructor(chunks: ChunkSink) {
    super();
    this.#chunks = chunks;
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (this._started && chunk.byteLength > 0) {
      // Body buffers come as the typed arrays that they were made of.
      const { buffer, byteOffset, byteLength } = chunk;
      this.#chunks.writeBytes(new Uint8Array(buffer, byteOffset, byteLength));
      this._position += byteLength;
    }
    return this;
  }
}
