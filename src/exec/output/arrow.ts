// `arrow`: an Arrow IPC stream in batches of at most 8192 rows.
//
// A column has one type in the whole stream. Columns of datasets tell it by themselves; other rows
// go to disk until the last is known. Each batch is made of typed arrays and leaves at once.
import {
  type Data,
  Field,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  type TypeMap,
} from 'apache-arrow';
import type { RelationRow } from '../../plan/namespace.ts';
import type { Atom } from '../../value/atom.ts';
import { TypicalAtoms } from '../../value/column/typical-atoms.ts';
import { atomReader, type ColumnRows, type RowColumn } from '../column-rows.ts';
import {
  type ArrowColumnType,
  arrowColumnType,
  arrowData,
  columnReader,
  TEXT_COLUMN,
} from './arrow-column.ts';
import { extraColumns, extraValues, type OutputOptions } from './options.ts';
import { liesInColumns, presentedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';
import { withSpooledTable } from './spool.ts';
import type { SpooledRow } from './spooled-row.ts';

const BATCH_ROW_COUNT_MAX = 8192;
/** The first batch is small, so that a reader has something to begin with. */
const FIRST_BATCH_ROW_COUNT = 2048;

export function writeArrow(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  if (liesInColumns(rows)) {
    writeColumns(rows, options, sink);
    return;
  }
  const typical: TypicalAtoms[] = [];
  const onCell = (column: number, atom: Atom) => {
    let atoms = typical[column];
    if (atoms === undefined) {
      atoms = new TypicalAtoms();
      typical[column] = atoms;
    }
    atoms.add(atom);
  };
  withSpooledTable(rows, options, { onCell }, ({ columns, positions, rows: spooled }) => {
    const types = new Array<ArrowColumnType>(columns.length).fill(TEXT_COLUMN);
    positions.forEach((position, number) => {
      types[position] = arrowColumnType(typical[number]?.atoms ?? []);
    });
    const extras = extraColumns(options);
    const stream = new ArrowStream(
      sink,
      [...extras, ...columns],
      [...extras.map(() => TEXT_COLUMN), ...types],
    );
    for (const batch of inBatches(spooled)) {
      stream.write(batch.length, [
        ...extras.map((_, i) => batch.map((row) => row.extras[i] as string)),
        ...cellsByColumn(batch, types.length),
      ]);
    }
    stream.finish();
  });
}

function* inBatches(rows: Iterable<SpooledRow>): Iterable<SpooledRow[]> {
  let batch: SpooledRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROW_COUNT_MAX) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function cellsByColumn(rows: readonly SpooledRow[], columnCount: number): Atom[][] {
  const cells = Array.from({ length: columnCount }, () => new Array<Atom>(rows.length).fill(null));
  rows.forEach(({ columns, atoms }, rowIndex) => {
    columns.forEach((column, i) => {
      (cells[column] as Atom[])[rowIndex] = atoms[i] ?? null;
    });
  });
  return cells;
}

/** Columns tell their types by themselves, so that batches leave one by one. */
function writeColumns(rows: ColumnRows, options: OutputOptions, sink: ChunkSink): void {
  const extras = extraColumns(options);
  const columns = presentedColumns(rows, options);
  const types = columns.map((column) => arrowColumnType(typicalAtoms(column, rows)));
  const stream = new ArrowStream(
    sink,
    [...extras, ...columns.map(({ path }) => path.toString())],
    [...extras.map(() => TEXT_COLUMN), ...types],
  );
  const readers = columns.map(({ values }, i) => columnReader(values, types[i] as ArrowColumnType));
  let length = FIRST_BATCH_ROW_COUNT;
  for (let start = 0; start < rows.rowCount; start += length) {
    if (start > 0) length = BATCH_ROW_COUNT_MAX;
    rows.look();
    const end = Math.min(start + length, rows.rowCount);
    stream.write(end - start, [
      ...(extras.length === 0 ? [] : extraCells(rows, start, end - start, options)),
      ...readers.map((read) => read(start, end)),
    ]);
  }
  stream.finish();
}

/** The extra columns of some rows, column by column. */
function extraCells(
  rows: ColumnRows,
  start: number,
  length: number,
  options: OutputOptions,
): string[][] {
  const cells = extraColumns(options).map(() => new Array<string>(length));
  for (let index = 0; index < length; index++) {
    extraValues(rows.nameAt(start + index), options).forEach((text, i) => {
      (cells[i] as string[])[index] = text;
    });
  }
  return cells;
}

/** Atoms that decide the type of a column; those of a stored column are known without a look at its rows. */
function typicalAtoms(
  { values, typicalAtoms: known }: RowColumn,
  rows: ColumnRows,
): readonly Atom[] {
  if (known !== undefined) return known();
  const typical = new TypicalAtoms();
  const read = atomReader(values);
  for (let index = 0; index < rows.rowCount; index++) {
    if (index % BATCH_ROW_COUNT_MAX === 0) rows.look();
    typical.add(read(index));
  }
  return typical.atoms;
}

/** A stream of batches, each of which leaves at once. */
class ArrowStream {
  readonly #schema: Schema;
  readonly #types: readonly ArrowColumnType[];
  readonly #writer: SinkWriter;

  constructor(sink: ChunkSink, names: readonly string[], types: readonly ArrowColumnType[]) {
    this.#types = types;
    this.#schema = new Schema(
      types.map(
        ({ type, mixed }, i) =>
          new Field(names[i] as string, type, true, mixed ? MIXED_METADATA : undefined),
      ),
    );
    this.#writer = new SinkWriter(sink);
    this.#writer.reset(undefined, this.#schema);
  }

  /** @param columns atoms, or what was made of them already */
  write(length: number, columns: readonly (readonly Atom[] | Data)[]): void {
    const children = columns.map((column, i) =>
      Array.isArray(column)
        ? arrowData(column, this.#types[i] as ArrowColumnType)
        : (column as Data),
    );
    const type = new Struct<TypeMap>(this.#schema.fields);
    const data = makeData({ type, length, nullCount: 0, children });
    this.#writer.write(new RecordBatch(this.#schema, data));
  }

  finish(): void {
    this.#writer.finish();
  }
}

const MIXED_METADATA = new Map([['rowan.mixed', 'true']]);

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
