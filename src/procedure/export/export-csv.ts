import { type Static, Type } from 'typebox';
import { queryTextOf } from '../../dataset/parameter.ts';
import { decodeBatch, encodeBatch } from '../../dataset/recorded-batch.ts';
import type { RecordedCell, RecordedRow } from '../../dataset/recorded-row.ts';
import { headerName } from '../../exec/output/csv.ts';
import { ChunkSink } from '../../exec/output/sink.ts';
import { hasTable, readQuery } from '../../exec/query.ts';
import type { FileSink } from '../../file/scheme.ts';
import { parseFileUrl } from '../../file/url.ts';
import { CsvFieldWriter } from '../../format/csv/csv-field.ts';
import type { RelationRow } from '../../plan/namespace.ts';
import { inputQuery, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { compareSeconds } from '../../value/timestamp.ts';
import { flatten } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, type ProcedureResult, workerProcedure } from '../procedure-type.ts';
import { separatedRow, separateItems } from './export-columns.ts';
import {
  type ExportSource,
  isInOrder,
  openExportSource,
  ROWS_ARE_MADE,
  writeExportSource,
  writtenBy,
} from './export-source.ts';
import { writeWholeFile } from './whole-file.ts';

/** Rows between two looks at the cancel flag and reports of progress, and in a spooled batch. */
const ROWS_PER_REPORT = 512;

const PARAMETERS = Type.Object({
  exportData: inputQuery({ description: 'the query; it must have a FROM clause' }),
  dataFileUrl: url({ description: 'file to write, compressed when its suffix says so' }),
  headers: Type.Boolean({ description: 'write a line of column names first', default: true }),
  delimiter: Type.String({ description: 'byte between fields', default: ',' }),
  quoteChar: Type.String({
    description: 'byte around fields that need it',
    default: '"',
    aliases: ['quotechar'],
  }),
  skipDuplicateCells: Type.Boolean({
    description: 'write the latest value of cells that have several, instead of failing',
    default: false,
  }),
  ...runOnCreation,
});

type ExportCsvParams = Static<typeof PARAMETERS>;

/** Writes the result of a query as delimited text. */
export const exportCsv = workerProcedure({
  name: 'export.csv',
  summary: 'Writes the result of a query as delimited text.',
  parameters: PARAMETERS,
  check: check,
  run: (context, params) => new CsvExport(context, params).run(),
});

function check({ exportData, dataFileUrl, delimiter, quoteChar }: ExportCsvParams): void {
  if (Buffer.byteLength(delimiter) !== 1) {
    throw failure('INVALID_PARAMETER', 'delimiter must be 1 char long.', { delimiter });
  }
  if (Buffer.byteLength(quoteChar) !== 1) {
    throw failure('INVALID_PARAMETER', 'Quotechar must be 1 char long.', { quoteChar });
  }
  if (delimiter === quoteChar || /[\r\n]/.test(delimiter + quoteChar)) {
    throw failure('INVALID_PARAMETER', 'delimiter, quoteChar and line ends must be different', {
      delimiter,
      quoteChar,
    });
  }
  parseFileUrl(dataFileUrl);
  if (!hasTable(readQuery(queryTextOf(exportData)))) {
    throw failure('INVALID_PARAMETER', 'export.csv must contain a FROM clause');
  }
}

/** One column of the file: the number of its item in the select list, and its path. */
interface ExportColumn {
  readonly item: number;
  readonly path: Path;
}

class CsvExport {
  readonly #context: ProcedureContext;
  readonly #params: ExportCsvParams;
  readonly #fields: CsvFieldWriter;

  constructor(context: ProcedureContext, params: ExportCsvParams) {
    this.#context = context;
    this.#params = params;
    this.#fields = new CsvFieldWriter(params);
  }

  async run(): Promise<ProcedureResult> {
    const { exportData, dataFileUrl } = this.#params;
    const progress = this.#context.steps([{ name: 'iterating', type: 'percentile' }]);
    progress.next();
    // How many rows there will be is not known; the value nears 1.
    const report = (rowCount: number) =>
      progress.update(1 - ROWS_PER_REPORT / (rowCount + ROWS_PER_REPORT));
    const source = openExportSource(this.#context, exportData);
    try {
      const why = this.#whyByRows(source);
      const rowCount = await writeWholeFile(this.#context, dataFileUrl, (sink) =>
        why === undefined
          ? this.#writeColumns(source, sink, report)
          : this.#writeQuery(source.known, sink, report),
      );
      progress.finish();
      return { result: { rowCount }, details: writtenBy(why) };
    } finally {
      source.release();
    }
  }

  /** What keeps the file from being written by column; undefined: nothing. */
  #whyByRows(source: ExportSource): string | undefined {
    if (source.columns === undefined) return ROWS_ARE_MADE;
    if (!isInOrder(source)) return 'only the rows tell which columns there are';
    const isPlain = !/[0-9A-Za-z+\-.:]/.test(this.#params.delimiter + this.#params.quoteChar);
    return isPlain ? undefined : 'numbers and times may contain delimiter or quoteChar';
  }

  async #writeColumns(
    source: ExportSource,
    sink: FileSink,
    report: (rowCount: number) => void,
  ): Promise<number> {
    const header = this.#header((source.columns ?? []).map(({ path }) => path));
    if (header !== '') await sink.write(Buffer.from(header));
    const { delimiter, quoteChar } = this.#params;
    const form = { kind: 'csv', delimiter, quoteChar } as const;
    return writeExportSource(this.#context, source, { form, sink, report });
  }

  async #writeQuery(
    known: ExportSource['known'],
    sink: FileSink,
    report: (rowCount: number) => void,
  ): Promise<number> {
    const query = this.#context.query(this.#params.exportData, separateItems);
    const rows = this.#watched(recordedRows(query.run()), report);
    const table = known.every((paths) => paths !== undefined)
      ? { columns: columnsOf(known), rows }
      : spool(rows, known);
    return this.#write(table.columns, table.rows, sink);
  }

  #header(columns: readonly Path[]): string {
    const { headers, delimiter } = this.#params;
    if (!headers) return '';
    const names = columns.map((path) => this.#fields.text(headerName(path.toString())));
    return `${names.join(delimiter)}\n`;
  }

  *#watched(rows: Iterable<RecordedRow>, report: (rowCount: number) => void) {
    let rowCount = 0;
    for (const row of rows) {
      if (rowCount++ % ROWS_PER_REPORT === 0) {
        this.#context.checkCancelled();
        report(rowCount);
      }
      yield row;
    }
  }

  /** @returns rows written, without the header */
  async #write(
    columns: readonly ExportColumn[],
    rows: Iterable<RecordedRow>,
    sink: FileSink,
  ): Promise<number> {
    const ready: Uint8Array[] = [];
    const text = new ChunkSink((bytes) => ready.push(bytes));
    text.write(this.#header(columns.map(({ path }) => path)));
    const numbers = new Map(columns.map((column, index) => [keyOf(column), index]));
    let rowCount = 0;
    for (const row of rows) {
      if (rowCount++ % ROWS_PER_REPORT === 0) this.#context.checkCancelled();
      this.#writeRow(row, numbers, text);
      for (let bytes = ready.shift(); bytes !== undefined; bytes = ready.shift()) {
        await sink.write(bytes);
      }
    }
    text.end();
    for (const bytes of ready) await sink.write(bytes);
    return rowCount;
  }

  #writeRow(row: RecordedRow, numbers: ReadonlyMap<string, number>, text: ChunkSink): void {
    const atoms = new Array<Atom>(numbers.size).fill(null);
    const times = new Array<number | undefined>(numbers.size);
    for (const [column, atom, ts] of row.cells) {
      const number = numbers.get(column.toString());
      if (number === undefined) continue;
      const previous = times[number];
      if (previous !== undefined) {
        this.#checkMultiple(row, column);
        if (compareSeconds(ts, previous) <= 0) continue;
      }
      atoms[number] = atom;
      times[number] = ts;
    }
    const { delimiter } = this.#params;
    for (const [index, atom] of atoms.entries()) {
      if (index > 0) text.write(delimiter);
      if (atom === null) continue;
      if (atom instanceof Uint8Array) text.writeBytes(this.#fields.bytes(atom));
      else text.write(this.#fields.text(atomText(atom)));
    }
    text.write('\n');
  }

  #checkMultiple({ name }: RecordedRow, column: Path): void {
    if (this.#params.skipDuplicateCells) return;
    const path = new Path(column.elements.slice(1));
    throw failure(
      'DATA_ERROR',
      `CSV export does not work over cells having multiple values, at row '${name}' for column '${path}'`,
      { row: name.toString(), column: path.toString() },
    );
  }
}

/** Flat rows; the first element of each column is the number of its item. */
function* recordedRows(rows: Iterable<RelationRow>): Iterable<RecordedRow> {
  for (const { name, row } of rows) {
    const cells: RecordedCell[] = [];
    flatten(separatedRow(row), [], (path, atom, ts) => cells.push([path, atom, ts]));
    yield { name, cells };
  }
}

function keyOf({ item, path }: ExportColumn): string {
  return new Path([String(item), ...path.elements]).toString();
}

function columnsOf(known: readonly (readonly Path[] | undefined)[]): ExportColumn[] {
  return known.flatMap((paths, item) => (paths ?? []).map((path) => ({ item, path })));
}

/** Holds all rows until the last has told whether it has a column of its own. */
function spool(
  rows: Iterable<RecordedRow>,
  known: readonly (readonly Path[] | undefined)[],
): { readonly columns: readonly ExportColumn[]; readonly rows: Iterable<RecordedRow> } {
  const batches: Uint8Array[] = [];
  const found = known.map(() => new FoundColumns());
  let batch: RecordedRow[] = [];
  const keepBatch = () => {
    batches.push(encodeBatch(batch));
    batch = [];
  };
  for (const row of rows) {
    for (const [column, atom] of row.cells) {
      found[Number(column.elements[0])]?.add(column, atom);
    }
    if (batch.push(row) === ROWS_PER_REPORT) keepBatch();
  }
  keepBatch();
  return {
    columns: columnsOf(known.map((paths, item) => paths ?? found[item]?.paths() ?? [])),
    rows: (function* () {
      for (const bytes of batches) yield* decodeBatch(bytes);
    })(),
  };
}

/** The columns that the rows of one item have. */
class FoundColumns {
  readonly #columns = new Map<string, { readonly path: Path; hasValue: boolean }>();

  add(column: Path, atom: Atom): void {
    const key = column.toString();
    const known = this.#columns.get(key);
    if (known !== undefined) known.hasValue ||= atom !== null;
    else {
      const path = new Path(column.elements.slice(1));
      this.#columns.set(key, { path, hasValue: atom !== null });
    }
  }

  /** In natural order; without the null that a row stands for where it is absent. */
  paths(): Path[] {
    const all = [...this.#columns.values()];
    return all
      .filter(({ path, hasValue }) => hasValue || !all.some((other) => isBelow(other.path, path)))
      .map(({ path }) => path)
      .sort(comparePaths);
  }
}

function isBelow(path: Path, above: Path): boolean {
  return (
    path.length > above.length &&
    above.elements.every((element, index) => path.elements[index] === element)
  );
}
