// The common part of import.parquet, import.arrow and import.sqlite: files whose columns have names and types.
import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Static, Type } from 'typebox';
import { snapshotRelation } from '../../dataset/snapshot-relation.ts';
import type { OpenFile } from '../../file/file-system.ts';
import { decodePercent } from '../../file/url.ts';
import { LineNames } from '../../format/csv/line-names.ts';
import type { ArrayMode } from '../../format/json/json-columns.ts';
import { timestampsOf } from '../../format/json/json-import.ts';
import { choice, outputDataset } from '../../schema/declare.ts';
import { concatenateColumns, freeParts, type TablePart } from '../../value/column/concatenate.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { runOnCreation } from '../parameter.ts';
import type { OutputDataset, ProcedureContext, ProcedureResult } from '../procedure-type.ts';
import { fileUrls, withFile } from './file-list.ts';
import { importResult } from './import-result.ts';
import { ROW_EXPRESSION_DEFAULTS, RowImport, takesRowsAsTheyAre } from './row-import.ts';

const sql = (description: string, value: string) => Type.String({ description, default: value });

export const IMPORT_TABLE_PARAMETERS = Type.Object({
  dataFileUrl: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      description: 'URL of the file, or an array of URLs; each may be a pattern',
      isNeeded: true,
      anyOf: [Type.String({ rowan: 'url' }), Type.Array(Type.String({ rowan: 'url' }))],
    }),
  ),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'tabular' }),
  ),
  offset: Type.Integer({ description: 'rows to skip', default: 0, minimum: 0 }),
  limit: Type.Integer({
    description: 'rows to read after the offset; negative: all',
    default: -1,
  }),
  select: sql('columns to write', ROW_EXPRESSION_DEFAULTS.select),
  where: sql('rows to keep', ROW_EXPRESSION_DEFAULTS.where),
  named: sql('row name', ROW_EXPRESSION_DEFAULTS.named),
  timestamp: sql('timestamp of all values of a row', ROW_EXPRESSION_DEFAULTS.timestamp),
  arrays: choice(['parse', 'encode'], {
    description: 'parse: elements are columns 0, 1, …; encode: an atom is the name of a column',
    default: 'parse',
  }),
  ...runOnCreation,
});

export type ImportTableParams = Static<typeof IMPORT_TABLE_PARAMETERS>;

/** A file whose description has been read. */
export interface TableFile {
  /** names of the columns at the top */
  readonly columns: readonly string[];
  /** Parts in the order of rows, some at a time. */
  read(columns: readonly string[], arrays: ArrayMode): Iterable<readonly TablePart[]>;
  /** Gives back what reading needs beside the file. */
  close?(): void;
}

/** @param path a local file with the content of the URL */
export type OpenTableFile = (path: string, url: string) => TableFile;

const ROWS_PER_CHECK = 512;

/**
 * Imports one file or all that a pattern names, with the select, where, named and timestamp of the
 * parameters.
 */
export async function importTable(
  context: ProcedureContext,
  params: ImportTableParams,
  open: OpenTableFile,
): Promise<ProcedureResult> {
  const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
  progress.next();
  const urls = await context.files.expand(fileUrls(params.dataFileUrl));
  const output = context.output(params.outputDataset, 'tabular', {
    defaultParams: { unknownColumns: 'add' },
  });
  const isPlain =
    output.addsColumns && params.offset === 0 && params.limit < 0 && takesRowsAsTheyAre(params);
  const target = isPlain
    ? new WholeTables(context, urls.length > 1, params.arrays)
    : new FilteredRows(context, params, output, urls.length > 1);
  try {
    for (const [fileIndex, url] of urls.entries()) {
      context.checkCancelled();
      try {
        const file = await context.files.open(url);
        await withLocalPath(file, context, (path) => {
          const table = open(path, url);
          try {
            target.add(table, { url: decodePercent(url), fileIndex, file });
          } finally {
            table.close?.();
          }
        });
      } catch (thrown) {
        throw urls.length > 1 ? withFile(thrown, url) : thrown;
      }
      progress.update((fileIndex + 1) / (urls.length + 1));
    }
    const rowCount = target.finish(output);
    output.commit();
    progress.finish();
    return importResult(output, params.outputDataset, { rowCount, numLineErrors: 0 });
  } catch (thrown) {
    target.release();
    throw thrown;
  }
}

/** Columns are read at places that only a local file has; others are copied to one first. */
async function withLocalPath(
  file: OpenFile,
  context: ProcedureContext,
  work: (path: string) => void,
): Promise<void> {
  if (file.plainPath !== undefined) {
    work(file.plainPath);
    return;
  }
  const directory = context.scratch.createDirectory();
  try {
    const path = join(directory, 'content');
    const stream = watched(file.stream(), () => context.checkCancelled());
    await pipeline(Readable.from(stream), createWriteStream(path));
    work(path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function* watched(
  stream: AsyncIterable<Uint8Array>,
  check: () => void,
): AsyncIterable<Uint8Array> {
  for await (const bytes of stream) {
    check();
    yield bytes;
  }
}

interface FilePlace {
  readonly url: string;
  readonly fileIndex: number;
  readonly file: OpenFile;
}

interface ImportTarget {
  add(table: TableFile, place: FilePlace): void;
  finish(output: OutputDataset): number;
  release(): void;
}

/** All rows as they are, under their numbers. */
class WholeTables implements ImportTarget {
  readonly #context: ProcedureContext;
  readonly #arrays: ArrayMode;
  readonly #parts: TablePart[] = [];
  readonly #times: number[] = [];
  readonly #names: LineNames;
  #rowCount = 0;

  constructor(context: ProcedureContext, hasManyFiles: boolean, arrays: ArrayMode) {
    this.#context = context;
    this.#arrays = arrays;
    this.#names = new LineNames(hasManyFiles);
  }

  add(table: TableFile, { fileIndex, file }: FilePlace): void {
    const before = this.#rowCount;
    for (const parts of table.read(table.columns, this.#arrays)) {
      for (const part of parts) {
        this.#parts.push(part);
        this.#times.push(file.lastModified);
        this.#rowCount += rowCountOf(part);
      }
    }
    this.#names.add(fileIndex, 1, this.#rowCount - before, new Uint32Array(0));
  }

  finish(output: OutputDataset): number {
    const rowCount = this.#rowCount;
    const parts = this.#parts.splice(0);
    if (rowCount === 0) {
      freeParts(parts, this.#context.arenas);
      return 0;
    }
    const { arenas } = this.#context;
    const chunkRowCounts = parts.flatMap((part) => part.chunkRowCounts);
    output.recordColumns({
      layout: 'columnar',
      id: arenas.nextId(),
      rowCount,
      chunkRowCounts,
      columns: concatenateColumns(parts, arenas, () => this.#context.checkCancelled()),
      rowNames: this.#names.seal(chunkRowCounts, arenas),
      timestamps: timestampsOf(parts, this.#times, arenas),
    });
    return rowCount;
  }

  release(): void {
    freeParts(this.#parts.splice(0), this.#context.arenas);
  }
}

/** Rows go through the expressions one by one, a part of the file at a time. */
class FilteredRows implements ImportTarget {
  readonly #context: ProcedureContext;
  readonly #arrays: ArrayMode;
  readonly #rows: RowImport;
  #offsetLeft: number;
  #limitLeft: number;

  constructor(
    context: ProcedureContext,
    params: ImportTableParams,
    output: OutputDataset,
    hasManyFiles: boolean,
  ) {
    this.#context = context;
    this.#arrays = params.arrays;
    this.#rows = new RowImport(context, params, output, hasManyFiles);
    this.#offsetLeft = params.offset;
    this.#limitLeft = params.limit < 0 ? Number.POSITIVE_INFINITY : params.limit;
  }

  add(table: TableFile, { url, fileIndex, file }: FilePlace): void {
    const needed = this.#rows.neededColumns;
    const columns = table.columns.filter((name) => needed === undefined || needed.includes(name));
    // A file without a column that is needed still has its rows.
    const wanted = columns.length === 0 ? table.columns.slice(0, 1) : columns;
    let lineNumber = 0;
    for (const parts of table.read(wanted, this.#arrays)) {
      try {
        for (const part of parts) {
          if (this.#limitLeft === 0) return;
          lineNumber = this.#addPart(part, lineNumber, { url, fileIndex, file });
        }
      } finally {
        freeParts(parts, this.#context.arenas);
      }
    }
  }

  #addPart(part: TablePart, before: number, { url, fileIndex, file }: FilePlace): number {
    const ts = file.lastModified;
    const { arenas } = this.#context;
    const snapshot: ColumnarSnapshot = {
      layout: 'columnar',
      id: arenas.nextId(),
      rowCount: rowCountOf(part),
      chunkRowCounts: part.chunkRowCounts,
      columns: part.columns,
      rowNames: { kind: 'sequence', first: 1 },
      timestamps: { kind: 'constant', ts },
    };
    let lineNumber = before;
    for (const { row } of snapshotRelation(snapshot, arenas).scan('all')) {
      lineNumber++;
      if (lineNumber % ROWS_PER_CHECK === 0) this.#context.checkCancelled();
      if (this.#offsetLeft > 0) {
        this.#offsetLeft--;
        continue;
      }
      if (this.#limitLeft === 0) break;
      this.#limitLeft--;
      this.#rows.add(row, { lineNumber, fileTimestamp: ts, dataFileUrl: url, fileIndex });
    }
    return lineNumber;
  }

  finish(): number {
    this.#rows.finish();
    return this.#rows.rowCount;
  }

  release(): void {}
}

function rowCountOf({ chunkRowCounts }: TablePart): number {
  return chunkRowCounts.reduce((sum, count) => sum + count, 0);
}
