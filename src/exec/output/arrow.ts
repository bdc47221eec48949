// `arrow`: an Arrow IPC stream in batches of at most 65,536 rows.
//
// A column has one type in the whole stream, so the rows are held until the last is known. Then
// each batch is made of typed arrays and leaves at once.
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
import type { RelationRow } from '../../plan/catalog.ts';
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { atomReader, ColumnRows, type ColumnValues } from '../column-rows.ts';
import { type ArrowColumnType, arrowColumnType, arrowData, TEXT_COLUMN } from './arrow-column.ts';
import { extraColumns, extraValues, type OutputOptions } from './options.ts';
import { presentedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';
import { type SpooledRow, type SpooledTable, spoolTable } from './spool.ts';

const BATCH_ROW_COUNT_MAX = 65_536;

export function writeArrow(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  if (rows instanceof ColumnRows) {
    writeColumns(rows, options, sink);
    return;
  }
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

/** Columns tell their types by themselves, so that batches leave one by one. */
function writeColumns(rows: ColumnRows, options: OutputOptions, sink: ChunkSink): void {
  const extras = extraColumns(options);
  const { rowCount } = rows;
  const columns = presentedColumns(rows, options);
  const types = columns.map(({ values }) => arrowColumnType(typicalAtoms(values, rows)));
  const names = columns.map(({ name }) => new Path([name]).toString());
  const schema = new Schema([
    ...extras.map((name) => new Field(name, TEXT_COLUMN.type, true)),
    ...names.map((name, column) => toField(name, types[column] as ArrowColumnType)),
  ]);
  const writer = new SinkWriter(sink);
  writer.reset(undefined, schema);
  const readers = columns.map(({ values }) => atomReader(values));
  for (let start = 0; start < rowCount; start += BATCH_ROW_COUNT_MAX) {
    rows.look();
    const length = Math.min(BATCH_ROW_COUNT_MAX, rowCount - start);
    const named = extras.length === 0 ? [] : extraCells(rows, start, length, options);
    const children = [
      ...named.map((cells) => arrowData(cells, TEXT_COLUMN)),
      ...readers.map((read, column) => {
        const cells = Array.from({ length }, (_, index) => read(start + index));
        return arrowData(cells, types[column] as ArrowColumnType);
      }),
    ];
    writer.write(makeRecords(schema, length, children));
  }
  writer.finish();
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

/** Atoms that decide the type of a column as all of them do: of numbers and texts a few are enough. */
function typicalAtoms(values: ColumnValues, { rowCount, look }: ColumnRows): Atom[] {
  const typical = new TypicalAtoms();
  if (values.kind === 'codes') {
    const codes = new Set<number>();
    for (let index = 0; index < rowCount; index++) {
      if (index % BATCH_ROW_COUNT_MAX === 0) look();
      codes.add(values.codeAt(index));
    }
    for (const code of codes) typical.add(values.atom(code));
  } else {
    const read = atomReader(values);
    for (let index = 0; index < rowCount; index++) {
      if (index % BATCH_ROW_COUNT_MAX === 0) look();
      typical.add(read(index));
      // A fraction makes all numbers doubles.
      if (values.kind === 'numbers' && typical.hasFraction) break;
    }
  }
  return typical.atoms;
}

class TypicalAtoms {
  readonly #others: Atom[] = [];
  #hasText = false;
  #least = Number.POSITIVE_INFINITY;
  #greatest = Number.NEGATIVE_INFINITY;
  #fraction: number | undefined;

  add(atom: Atom): void {
    if (typeof atom === 'number') {
      if (atom < this.#least) this.#least = atom;
      if (atom > this.#greatest) this.#greatest = atom;
      if (this.#fraction === undefined && !Number.isInteger(atom)) this.#fraction = atom;
    } else if (typeof atom === 'string') {
      if (!this.#hasText) this.#others.push(atom);
      this.#hasText = true;
    } else if (atom !== null) this.#others.push(atom);
  }

  get hasFraction(): boolean {
    return this.#fraction !== undefined;
  }

  get atoms(): Atom[] {
    const numbers = this.#least <= this.#greatest ? [this.#least, this.#greatest] : [];
    return [...numbers, ...(this.#fraction === undefined ? [] : [this.#fraction]), ...this.#others];
  }
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
  return makeRecords(schema, rows.length, children);
}

function makeRecords(schema: Schema, length: number, children: Data[]): RecordBatch {
  const type = new Struct<TypeMap>(schema.fields);
  return new RecordBatch(schema, makeData({ type, length, nullCount: 0, children }));
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
