// `soa`: an object of columns, each an array with an entry for every row.
import type { RelationRow } from '../../plan/namespace.ts';
import { ByteSpool } from '../../util/byte-spool.ts';
import { type ColumnRows, ROWS_PER_LOOK, textReader } from '../column-rows.ts';
import { extraColumns, extraValues, jsonWriter, type OutputOptions } from './options.ts';
import { liesInColumns, presentedColumns } from './presented-columns.ts';
import type { ChunkSink } from './sink.ts';
import { numberedRows, presented } from './spool.ts';

export function writeSoa(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  sink: ChunkSink,
): void {
  if (liesInColumns(rows)) writeColumns(rows, options, sink);
  else writeSpooled(rows, { ...options, knownColumns: undefined }, sink);
}

/** Cells are written as they lie in columns, one column after the other. */
function writeColumns(rows: ColumnRows, options: OutputOptions, sink: ChunkSink): void {
  const { rowCount } = rows;
  const members = new Members(sink);
  // Without an order of columns nobody counts on those that do not occur.
  if (rowCount > 0 || options.order !== undefined) {
    extraColumns(options).forEach((name, i) => {
      const textAt = (row: number) =>
        JSON.stringify(extraValues(rows.nameAt(row), options)[i] as string);
      members.begin(name);
      writeCells(textAt, rows, sink);
    });
    for (const { path, values } of presentedColumns(rows, options)) {
      members.begin(path.toString());
      writeCells(textReader(values, jsonWriter(options)), rows, sink);
    }
  }
  members.end();
}

function writeCells(textAt: (row: number) => string, rows: ColumnRows, sink: ChunkSink): void {
  for (let row = 0; row < rows.rowCount; row++) {
    if (row % ROWS_PER_LOOK === 0) rows.look();
    sink.write(row === 0 ? textAt(row) : `,${textAt(row)}`);
  }
  sink.write(']');
}

/** Names of columns and the brackets around them. */
class Members {
  readonly #sink: ChunkSink;
  #separator = '{';

  constructor(sink: ChunkSink) {
    this.#sink = sink;
  }

  begin(name: string): void {
    this.#sink.write(`${this.#separator}${JSON.stringify(name)}:[`);
    this.#separator = ',';
  }

  end(): void {
    this.#sink.write(this.#separator === '{' ? '{}' : '}');
  }
}

/** Rows whose cells are gathered by column before they go to disk. */
const BLOCK_ROW_COUNT = 4096;

/** Cells of some rows of one column, on disk. */
interface Segment {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly position: number;
  readonly sizeBytes: number;
}

function writeSpooled(rows: Iterable<RelationRow>, options: OutputOptions, sink: ChunkSink): void {
  const spool = new ByteSpool();
  try {
    const extras = extraColumns(options);
    const numbers = new Map<string, number>();
    const columns = new SpooledColumns(spool);
    const toJson = jsonWriter(options);
    for (const row of numberedRows(rows, options, numbers)) {
      row.extras.forEach((text, i) => {
        columns.add(i, JSON.stringify(text));
      });
      row.columns.forEach((column, i) => {
        columns.add(extras.length + column, toJson(row.atoms[i] ?? null));
      });
      columns.endRow();
    }
    columns.endBlock();
    const members = new Members(sink);
    const { rowCount } = columns;
    if (rowCount > 0 || options.order !== undefined) {
      extras.forEach((name, i) => {
        members.begin(name);
        columns.write(i, sink);
      });
      const known = rowCount === 0 ? undefined : [...numbers.keys()];
      const { columns: names, positions } = presented(known, options);
      const numberAt = new Array<number>(names.length);
      positions.forEach((position, number) => {
        numberAt[position] = number;
      });
      names.forEach((name, position) => {
        members.begin(name);
        columns.write(extras.length + (numberAt[position] as number), sink);
      });
    }
    members.end();
  } finally {
    spool.close();
  }
}

const encoder = new TextEncoder();

/** JSON texts by column: those of a block of rows in memory, those before them on disk. */
class SpooledColumns {
  rowCount = 0;
  readonly #spool: ByteSpool;
  #blockStart = 0;
  /** by column number: the texts of the block, absent where a row has none */
  #block = new Map<number, string[]>();
  readonly #segments = new Map<number, Segment[]>();

  constructor(spool: ByteSpool) {
    this.#spool = spool;
  }

  add(column: number, text: string): void {
    let texts = this.#block.get(column);
    if (texts === undefined) {
      texts = [];
      this.#block.set(column, texts);
    }
    for (let i = texts.length; i < this.rowCount - this.#blockStart; i++) texts.push('null');
    texts.push(text);
  }

  endRow(): void {
    this.rowCount++;
    if (this.rowCount - this.#blockStart === BLOCK_ROW_COUNT) this.endBlock();
  }

  endBlock(): void {
    for (const [column, texts] of this.#block) {
      const bytes = encoder.encode(texts.join(','));
      const segments = this.#segments.get(column) ?? [];
      segments.push({
        firstRow: this.#blockStart,
        rowCount: texts.length,
        position: this.#spool.sizeBytes,
        sizeBytes: bytes.length,
      });
      this.#segments.set(column, segments);
      this.#spool.append(bytes);
    }
    this.#block.clear();
    this.#blockStart = this.rowCount;
  }

  write(column: number, sink: ChunkSink): void {
    let row = 0;
    const skipTo = (end: number) => {
      for (; row < end; row++) sink.write(row === 0 ? 'null' : ',null');
    };
    for (const { firstRow, rowCount, position, sizeBytes } of this.#segments.get(column) ?? []) {
      skipTo(firstRow);
      const bytes = new Uint8Array(sizeBytes);
      this.#spool.read(position, bytes);
      if (row > 0) sink.write(',');
      sink.writeBytes(bytes);
      row += rowCount;
    }
    skipTo(this.rowCount);
    sink.write(']');
  }
}
