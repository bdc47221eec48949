import type { OpenFile } from '../../file/file-system.ts';
import { decodePercent } from '../../file/url.ts';
import type { FastText } from '../../format/csv/fast-import.ts';
import { FastImport } from '../../format/csv/fast-import.ts';
import type { TextColumn } from '../../format/csv/header.ts';
import { columnsOf, isUnfinished, splitHeader } from '../../format/csv/header.ts';
import { withInferredTimestamps } from '../../format/csv/infer-timestamps.ts';
import { lineFailure } from '../../format/csv/line-error.ts';
import { LineReader, type ReadLine } from '../../format/csv/line-reader.ts';
import type { TextFormat } from '../../format/csv/text-format.ts';
import { splitLine, trimLine } from '../../format/csv/text-format.ts';
import { failure } from '../../util/error.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import {
  type OutputDataset,
  type ProcedureContext,
  type ProcedureResult,
  type Progress,
  workerProcedure,
} from '../procedure-type.ts';
import { fileUrls, withFile } from './file-list.ts';
import { importResult } from './import-result.ts';
import {
  completedOutput,
  recordedOutput,
  type TextOutput,
  tableOutput,
} from './import-text-output.ts';
import {
  checkImportText,
  type ImportTextParams,
  importTextParameters,
  skipPattern,
  textFormatOf,
} from './import-text-parameters.ts';
import { type RowCounts, RowReader } from './import-text-rows.ts';
import { bindExpressions, type LineState, type TextExpressions } from './import-text-select.ts';
import { importThreads } from './import-text-threads.ts';

/** Reads delimited text (CSV, TSV) or plain lines into a dataset. */
export const importText = workerProcedure({
  name: 'import.text',
  summary: 'Reads delimited text (CSV, TSV) or plain lines into a dataset.',
  parameters: importTextParameters,
  check: checkImportText,
  run: (context, params) => new TextImport(context, params).run(),
});

/** The columns of the first file, to which later files must fit. */
interface Layout {
  readonly columns: readonly TextColumn[];
  readonly expressions: TextExpressions;
}

/** A file whose header has been read. */
interface TextStart {
  readonly reader: LineReader;
  /** the names of the file's own fields */
  readonly columns: readonly TextColumn[];
  /** physical lines that the header was made of, beyond the first */
  readonly joinedCount: number;
}

class TextImport {
  readonly #context: ProcedureContext;
  readonly #params: ImportTextParams;
  readonly #format: TextFormat;
  readonly #skip: RegExp | undefined;
  readonly #counts: RowCounts;
  readonly #line: LineState = {
    lineNumber: 0,
    fileTimestamp: 0,
    dataFileUrl: '',
    fileIndex: 0,
    rowName: new Path([]),
  };
  #offsetLeft: number;
  #hasManyFiles = false;
  #layout: Layout | undefined;
  #output: OutputDataset | undefined;
  #fast: FastImport | undefined;
  #rows: TextOutput | undefined;
  #progress: Progress | undefined;

  constructor(context: ProcedureContext, params: ImportTextParams) {
    this.#context = context;
    this.#params = params;
    this.#format = textFormatOf(params);
    this.#skip = skipPattern(params.skipLineRegex);
    const limit = params.limit < 0 ? Number.POSITIVE_INFINITY : params.limit;
    this.#counts = { lines: 0, badLines: 0, limit };
    this.#offsetLeft = params.offset;
  }

  async run(): Promise<ProcedureResult> {
    const { dataFileUrl, outputDataset } = this.#params;
    const progress = this.#context.steps([{ name: 'iterating', type: 'lines' }], {
      topLevel: true,
    });
    this.#progress = progress;
    progress.next();
    const urls = await this.#context.files.expand(fileUrls(dataFileUrl));
    this.#hasManyFiles = urls.length > 1;
    this.#output = this.#context.output(outputDataset, 'tabular');
    try {
      for (const [fileIndex, url] of urls.entries()) {
        try {
          await this.#readFile(url, fileIndex);
        } catch (thrown) {
          throw this.#hasManyFiles ? withFile(thrown, url) : thrown;
        }
      }
      this.#finish(this.#output);
    } catch (thrown) {
      this.#fast?.release();
      this.#rows?.release();
      throw thrown;
    }
    progress.finish();
    const { lines, badLines } = this.#counts;
    return importResult(this.#output, outputDataset, { rowCount: lines, numLineErrors: badLines });
  }

  #finish(output: OutputDataset): void {
    const { fast, rows } = { fast: this.#fast, rows: this.#rows };
    this.#fast = undefined;
    this.#rows = undefined;
    if (fast !== undefined) {
      this.#counts.lines = fast.lineCount;
      this.#counts.badLines = fast.badLineCount;
      // A header names columns, with rows or without.
      output.recordColumns(this.#complete(fast.seal()));
    }
    rows?.finish();
    output.commit();
  }

  async #readFile(url: string, fileIndex: number): Promise<void> {
    const file = await this.#context.files.open(url);
    const line = this.#line;
    line.dataFileUrl = decodePercent(url);
    line.fileIndex = fileIndex;
    line.fileTimestamp = file.lastModified;
    const limit = { url: line.dataFileUrl, lineBytesMax: this.#params.maxLineBytes };
    const reader = new LineReader(file.stream(), limit);
    try {
      const start = await this.#readHeader(reader);
      if (start === undefined) return;
      const isFirst = this.#layout === undefined;
      this.#layout ??= this.#makeLayout(start.columns);
      const fields = this.#matchColumns(start.columns, this.#layout, isFirst, url);
      await this.#skipOffset(reader);
      if (this.#isFast(this.#layout, isFirst)) {
        await this.#readFast(file, start, fields, this.#layout);
      } else await this.#readRows(start, fields, this.#layout);
    } finally {
      await reader.close();
    }
  }

  /** @returns undefined when there is no line that could be a header or data */
  async #readHeader(reader: LineReader): Promise<TextStart | undefined> {
    const { headers, autoGenerateHeaders, preHeaderOffset } = this.#params;
    for (let i = 0; i < preHeaderOffset; i++) {
      if ((await reader.next()) === undefined) return undefined;
    }
    const none = { reader, joinedCount: 0 };
    if (this.#format.delimiter === '') {
      const name = headers[0] ?? (autoGenerateHeaders ? '0' : 'lineText');
      return { ...none, columns: this.#columnsOf([name]) };
    }
    if (headers.length > 0) return { ...none, columns: this.#columnsOf(headers) };
    if (autoGenerateHeaders) return this.#countColumns(reader);
    return this.#splitHeader(reader);
  }

  /** Columns named 0, 1, … as many as the first line has fields. */
  async #countColumns(reader: LineReader): Promise<TextStart | undefined> {
    const known = this.#layout?.columns;
    if (known !== undefined) return { reader, columns: known, joinedCount: 0 };
    const lines: ReadLine[] = [];
    for (;;) {
      const start = reader.offset;
      const text = await reader.next();
      if (text === undefined) return undefined;
      lines.push({ text, start, end: reader.offset });
      if (this.#isSkipped(text)) continue;
      const fields: string[] = [];
      const end = splitLine(trimLine(text, this.#format.delimiter), this.#format, fields);
      if (typeof end !== 'number') {
        throw lineFailure(end, text, reader.lineNumber, this.#line.dataFileUrl);
      }
      reader.unread(lines);
      const columns = this.#columnsOf(fields.map((_, index) => String(index)));
      return { reader, columns, joinedCount: 0 };
    }
  }

  async #splitHeader(reader: LineReader): Promise<TextStart | undefined> {
    let joinedCount = 0;
    let text = await reader.next();
    while (text !== undefined && this.#isSkipped(text)) text = await reader.next();
    if (text === undefined) return undefined;
    const { lineNumber } = reader;
    for (;;) {
      const names = splitHeader(text, this.#format);
      if (Array.isArray(names)) {
        return { reader, columns: this.#columnsOf(names), joinedCount };
      }
      const next: string | undefined =
        this.#params.allowMultiLines && isUnfinished(names) ? await reader.next() : undefined;
      if (next === undefined) {
        throw lineFailure(names, text, lineNumber, this.#line.dataFileUrl);
      }
      text = `${text} ${next}`;
      joinedCount++;
    }
  }

  #columnsOf(names: readonly string[]): TextColumn[] {
    return columnsOf(names, this.#params.structuredColumnNames);
  }

  #isSkipped(line: string): boolean {
    return this.#skip?.test(Buffer.from(line, 'latin1').toString('utf8')) === true;
  }

  #makeLayout(columns: readonly TextColumn[]): Layout {
    const expressions = bindExpressions(this.#params, columns, this.#context, this.#line);
    return { columns, expressions };
  }

  /** @returns for each field of this file its column in the first file, -1 for none */
  #matchColumns(
    own: readonly TextColumn[],
    { columns }: Layout,
    isFirst: boolean,
    url: string,
  ): number[] {
    if (isFirst) return own.map((_, index) => index);
    const known = new Map(
      columns.flatMap(({ path }, index) => (path === undefined ? [] : [[path.toString(), index]])),
    );
    return own.map(({ path }) => {
      const column = path === undefined ? -1 : known.get(path.toString());
      if (column !== undefined) return column;
      if (this.#params.ignoreExtraColumns) return -1;
      throw failure('DATA_ERROR', `Columns of file '${url}' do not match the first file: ${path}`, {
        columnName: path?.toString(),
        knownColumnNames: [...known.keys()],
      });
    });
  }

  /** Skips lines after the header, as many as are left to skip of all files. */
  async #skipOffset(reader: LineReader): Promise<void> {
    for (; this.#offsetLeft > 0; this.#offsetLeft--) {
      if ((await reader.next()) === undefined) return;
      this.#context.checkCancelled();
    }
  }

  #isFast({ columns, expressions }: Layout, isFirst: boolean): boolean {
    if (!isFirst) return this.#fast !== undefined;
    const { limit, allowMultiLines } = this.#params;
    const { encoding, replacement } = this.#format;
    return (
      expressions.copied !== undefined &&
      expressions.copied.length > 0 &&
      expressions.where === undefined &&
      expressions.name === undefined &&
      expressions.timestamp === undefined &&
      columns.length > 0 &&
      limit < 0 &&
      !allowMultiLines &&
      this.#skip === undefined &&
      encoding !== 'latin1' &&
      replacement === '' &&
      this.#output?.takesColumns === true
    );
  }

  async #readFast(
    file: OpenFile,
    { reader, columns }: TextStart,
    fields: readonly number[],
    { expressions }: Layout,
  ): Promise<void> {
    const copied = expressions.copied ?? [];
    this.#fast ??= this.#openFast(copied.map(({ path }) => path.elements));
    const text: FastText = {
      url: this.#line.dataFileUrl,
      fileIndex: this.#line.fileIndex,
      ts: file.lastModified,
      firstLine: reader.lineNumber + 1,
      columnCount: columns.length,
      columns: copied.map(({ column }) => fields.indexOf(column)),
      ...(file.plainPath === undefined ? {} : { path: file.plainPath }),
      start: reader.offset,
      stream: reader.remaining(),
    };
    await this.#fast.read(text);
  }

  #openFast(paths: readonly (readonly string[])[]): FastImport {
    const report = (lineCount: number) => this.#progress?.update(lineCount);
    const threads = importThreads(
      this.#context,
      () => report(this.#fast?.linesInProgress() ?? 0),
      report,
    );
    const { ignoreBadLines, maxLineBytes: lineBytesMax } = this.#params;
    const hasManyFiles = this.#hasManyFiles;
    return new FastImport(
      { format: this.#format, ignoreBadLines, lineBytesMax, paths, hasManyFiles },
      threads,
      this.#context.arenas,
    );
  }

  async #readRows(
    { reader, columns, joinedCount }: TextStart,
    fields: readonly number[],
    layout: Layout,
  ): Promise<void> {
    const { expressions } = layout;
    this.#rows ??= this.#openRows(expressions.outputPaths);
    const { ignoreBadLines, allowMultiLines } = this.#params;
    const rows = new RowReader(
      {
        format: this.#format,
        ignoreBadLines,
        allowMultiLines,
        skip: this.#skip,
        hasManyFiles: this.#hasManyFiles,
        checkCancelled: () => this.#context.checkCancelled(),
        progress: (lineCount) => this.#progress?.update(lineCount),
      },
      this.#counts,
      this.#line,
    );
    const { columns: known } = layout;
    await rows.read(reader, columns.length, fields, known, expressions, this.#rows, joinedCount);
  }

  #openRows(paths: readonly Path[] | undefined): TextOutput {
    const output = this.#output as OutputDataset;
    const { arenas } = this.#context;
    const complete = (table: ColumnarSnapshot) => this.#complete(table);
    if (output.takesColumns && paths !== undefined) {
      return tableOutput(output, paths, arenas, complete);
    }
    // What a column holds is only known when all of it was read.
    if (this.#params.inferTimestamps) return completedOutput(output, paths, arenas, complete);
    return recordedOutput(output, paths);
  }

  #complete(table: ColumnarSnapshot): ColumnarSnapshot {
    if (!this.#params.inferTimestamps) return table;
    const { arenas } = this.#context;
    return withInferredTimestamps(table, arenas, () => this.#context.checkCancelled());
  }
}
