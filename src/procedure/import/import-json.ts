// Reads documents, one a line.
import { type Static, Type } from 'typebox';
import { type ParallelJob, registerParallelJob } from '../../exec/parallel.ts';
import { threadArenas } from '../../exec/thread-memory.ts';
import type { OpenFile } from '../../file/file-system.ts';
import { decodePercent } from '../../file/url.ts';
import { LineReader } from '../../format/csv/line-reader.ts';
import {
  type JsonFault,
  jsonFault,
  parseDocument,
  visitJson,
} from '../../format/json/json-columns.ts';
import { JsonImport, jsonLineFailure } from '../../format/json/json-import.ts';
import { type JsonJob, type JsonUnitResult, readJsonUnit } from '../../format/json/json-unit.ts';
import { choice, outputDataset } from '../../schema/declare.ts';
import { JsonSyntaxError } from '../../util/exact-json.ts';
import { Path } from '../../value/path.ts';
import { type Row, RowBuilder, Scalar } from '../../value/value.ts';
import { maxLineBytes, runOnCreation } from '../parameter.ts';
import {
  type OutputDataset,
  type ProcedureContext,
  type ProcedureResult,
  type Progress,
  workerProcedure,
} from '../procedure-type.ts';
import { fileUrls, withFile } from './file-list.ts';
import { importResult } from './import-result.ts';
import { ROW_EXPRESSION_DEFAULTS, RowImport, takesRowsAsTheyAre } from './row-import.ts';

/** Lines between two looks at the cancel flag and reports of progress. */
const LINES_PER_CHECK = 512;

const sql = (description: string, value: string) => Type.String({ description, default: value });

const PARAMETERS = Type.Object({
  dataFileUrl: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      description: 'URL of the documents, or an array of URLs; each may be a pattern',
      isNeeded: true,
      anyOf: [Type.String({ rowan: 'url' }), Type.Array(Type.String({ rowan: 'url' }))],
    }),
  ),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'tabular' }),
  ),
  offset: Type.Integer({ description: 'lines to skip', default: 0, minimum: 0 }),
  limit: Type.Integer({
    description: 'lines to read after the offset; negative: all',
    default: -1,
  }),
  ignoreBadLines: Type.Boolean({
    description: 'skip and count bad lines instead of failing',
    default: false,
  }),
  select: sql('columns to write', ROW_EXPRESSION_DEFAULTS.select),
  where: sql('documents to keep', ROW_EXPRESSION_DEFAULTS.where),
  named: sql('row name', ROW_EXPRESSION_DEFAULTS.named),
  arrays: choice(['parse', 'encode'], {
    description:
      'parse: elements are columns 0, 1, …; encode: an atom is the name of a column, an object is text',
    default: 'parse',
  }),
  ...maxLineBytes,
  ...runOnCreation,
});

type ImportJsonParams = Static<typeof PARAMETERS>;

export const importJson = workerProcedure({
  name: 'import.json',
  summary: 'Reads JSON documents, one a line, into a dataset; nested members become columns.',
  parameters: PARAMETERS,
  check(params) {
    fileUrls(params.dataFileUrl);
  },
  run: (context, params) => new Import(context, params).run(),
});

/** Called after each unit that this thread has read, while it waits for the others. */
let afterUnit: (() => void) | undefined;

const unitJob: ParallelJob<JsonJob, JsonUnitResult> = registerParallelJob({
  name: 'import.json/unit',
  execute(job, unitIndex, scope) {
    const result = readJsonUnit(job, unitIndex, threadArenas(), () => scope.checkCancelled());
    afterUnit?.();
    return result;
  },
});

class Import {
  readonly #context: ProcedureContext;
  readonly #params: ImportJsonParams;
  #hasManyFiles = false;
  #lineCount = 0;
  #badLineCount = 0;
  #offsetLeft: number;
  #limitLeft: number;
  #progress: Progress | undefined;

  constructor(context: ProcedureContext, params: ImportJsonParams) {
    this.#context = context;
    this.#params = params;
    this.#offsetLeft = params.offset;
    this.#limitLeft = params.limit < 0 ? Number.POSITIVE_INFINITY : params.limit;
  }

  async run(): Promise<ProcedureResult> {
    const { dataFileUrl, outputDataset, offset, limit } = this.#params;
    const progress = this.#context.steps([{ name: 'iterating', type: 'lines' }], {
      topLevel: true,
    });
    this.#progress = progress;
    progress.next();
    const urls = await this.#context.files.expand(fileUrls(dataFileUrl));
    this.#hasManyFiles = urls.length > 1;
    const output = this.#context.output(outputDataset, 'tabular', {
      defaultParams: { unknownColumns: 'add' },
    });
    const isFast =
      output.addsColumns && offset === 0 && limit < 0 && takesRowsAsTheyAre(this.#params);
    const rowCount = isFast
      ? await this.#readFast(urls, output)
      : await this.#readRows(urls, output);
    output.commit();
    progress.finish();
    return importResult(output, outputDataset, { rowCount, numLineErrors: this.#badLineCount });
  }

  async #eachFile(
    urls: readonly string[],
    work: (file: OpenFile, url: string, fileIndex: number) => Promise<void>,
  ): Promise<void> {
    for (const [fileIndex, url] of urls.entries()) {
      try {
        await work(await this.#context.files.open(url), decodePercent(url), fileIndex);
      } catch (thrown) {
        throw this.#hasManyFiles ? withFile(thrown, url) : thrown;
      }
    }
  }

  async #readFast(urls: readonly string[], output: OutputDataset): Promise<number> {
    const { parallel, arenas } = this.#context;
    const { arrays, ignoreBadLines, maxLineBytes: lineBytesMax } = this.#params;
    const report = (lineCount: number) => this.#progress?.update(lineCount);
    const table = new JsonImport(
      { arrays, ignoreBadLines, lineBytesMax, hasManyFiles: this.#hasManyFiles },
      {
        threadCount: parallel.threadCount,
        read(job, unitCount) {
          afterUnit = () => report(table.linesInProgress());
          try {
            return parallel.run(unitJob, job, unitCount);
          } finally {
            afterUnit = undefined;
          }
        },
        checkCancelled: () => this.#context.checkCancelled(),
        progress: report,
      },
      arenas,
    );
    try {
      await this.#eachFile(urls, async (file, url, fileIndex) => {
        await table.read({
          url,
          fileIndex,
          ts: file.lastModified,
          path: file.plainPath,
          stream: () => file.stream(),
        });
      });
      this.#badLineCount = table.badLineCount;
      if (table.rowCount > 0) output.recordColumns(table.seal());
      else table.release();
      return table.rowCount;
    } catch (thrown) {
      table.release();
      throw thrown;
    }
  }

  async #readRows(urls: readonly string[], output: OutputDataset): Promise<number> {
    const rows = new RowImport(this.#context, this.#params, output, this.#hasManyFiles);
    await this.#eachFile(urls, async (file, url, fileIndex) => {
      const reader = new LineReader(file.stream(), {
        ...{ url, lineBytesMax: this.#params.maxLineBytes },
      });
      try {
        await this.#readLines(reader, file, url, fileIndex, rows);
      } finally {
        await reader.close();
      }
    });
    rows.finish();
    return rows.rowCount;
  }

  async #readLines(
    reader: LineReader,
    file: OpenFile,
    url: string,
    fileIndex: number,
    rows: RowImport,
  ): Promise<void> {
    // Blank lines at the end of the text are nothing; only what follows can tell.
    let blankCount = 0;
    while (this.#limitLeft > 0) {
      const line = reader.tryNext();
      if (line === undefined) {
        if (await reader.fill()) continue;
        return;
      }
      if (line.trim() === '') {
        blankCount++;
        continue;
      }
      for (; blankCount > 0; blankCount--) {
        if (this.#takesLine()) this.#refuse(EMPTY, '', reader.lineNumber - blankCount, url);
      }
      if (!this.#takesLine()) continue;
      const { lineNumber } = reader;
      const text = Buffer.from(line, 'latin1').toString('utf8');
      const row = this.#rowOf(text, lineNumber, url, file.lastModified);
      if (row === undefined) continue;
      rows.add(row, { lineNumber, fileTimestamp: file.lastModified, dataFileUrl: url, fileIndex });
    }
  }

  /** Counts a line. @returns false when it is to be left out */
  #takesLine(): boolean {
    if (this.#offsetLeft > 0) {
      this.#offsetLeft--;
      return false;
    }
    if (this.#limitLeft === 0) return false;
    this.#limitLeft--;
    if (++this.#lineCount % LINES_PER_CHECK === 0) {
      this.#context.checkCancelled();
      this.#progress?.update(this.#lineCount);
    }
    return true;
  }

  #rowOf(text: string, lineNumber: number, url: string, ts: number): Row | undefined {
    let document: unknown;
    try {
      document = parseDocument(text);
    } catch (thrown) {
      if (!(thrown instanceof JsonSyntaxError)) throw thrown;
      this.#refuse(jsonFault(thrown, text), text, lineNumber, url);
      return undefined;
    }
    if (typeof document !== 'object' || document === null) {
      this.#refuse(NO_DOCUMENT, text, lineNumber, url);
      return undefined;
    }
    const builder = new RowBuilder();
    visitJson(document, this.#params.arrays, (path, atom) => {
      if (path.length > 0) builder.addPath(new Path(path), new Scalar(atom, ts));
    });
    return builder.build();
  }

  #refuse(fault: JsonFault, line: string, lineNumber: number, url: string): void {
    if (!this.#params.ignoreBadLines) throw jsonLineFailure(fault, line, lineNumber, url);
    this.#badLineCount++;
  }
}

const EMPTY: JsonFault = { reason: 'empty line', column: 1 };
const NO_DOCUMENT: JsonFault = { reason: 'expected an object or an array', column: 1 };
