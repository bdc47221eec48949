// `rowan import` and `rowan export`: a file into a dataset, a query into a file.
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { type Command, Option } from 'commander';
import type { RowanApi } from '../client/rowan-api.ts';
import { stringifyJson } from '../util/exact-json.ts';
import { failCommand } from './exit.ts';
import type { ExportFormat, FileProcedure } from './file-format.ts';
import { addTargetOptions, type TargetOptions, withTarget } from './target.ts';

interface TransferOptions extends TargetOptions {
  readonly params?: string;
  readonly format?: string;
  readonly timestamps?: 'object' | 'iso';
}

const loadFormats = () => import('./file-format.ts');

/** Adds `rowan import` and `rowan export`. */
export function addTransferCommands(program: Command): void {
  const importing = program
    .command('import <file> [more...]')
    .usage('[options] <file...> [dataset]')
    .description(
      'import files of one format (path or URL of delimited text, JSON lines, Parquet, Arrow or Excel, text and JSON also compressed; a * in a quoted path stands for any name; -: standard input) into a dataset, named like the first file unless a last argument without a suffix names it',
    )
    .option('--format <format>', 'csv, json, parquet, …, whatever the suffix');
  addTransferOptions(importing).action(
    async (first: string, more: readonly string[], options: TransferOptions) => {
      if (options.url === undefined && options.dataDir === 'none') {
        failCommand('nothing would keep the dataset: give --url of a server or --data-dir');
      }
      const { datasetNameOf, isImportable } = await loadFormats();
      const last = more.at(-1);
      const given = last === undefined || isImportable(last) || isFile(last) ? undefined : last;
      const files = [first, ...(given === undefined ? more : more.slice(0, -1))];
      const isInput = files.some(isStandardInput);
      if (isInput && files.length > 1) {
        failCommand('standard input is imported alone, not with files');
      }
      const format = options.format ?? (isInput ? 'csv' : undefined);
      const { type, params: own } = await formatOf(files, format);
      const dataset = given ?? datasetNameOf(isInput ? 'imported' : first);
      const importFrom = (dataFileUrl: string | readonly string[]) => (target: RowanApi) => {
        const params = { dataFileUrl, outputDataset: dataset, ...own };
        return transfer(target, type, params, options).then(print);
      };
      if (!isInput) {
        const urls = files.map(urlOf);
        await withTarget(options, importFrom(urls.length === 1 ? (urls[0] as string) : urls));
      } else if (options.url !== undefined) {
        await withTarget(options, (target) => withUpload(target, (url) => importFrom(url)(target)));
      } else await withInput((url) => withTarget(options, importFrom(url)));
    },
  );
  const exporting = program
    .command('export <sql> <file>')
    .description(
      'write the result of a SELECT to a .csv, .tsv, .json, .ndjson, .parquet, .arrow or .arrows file (path or URL), compressed when a suffix like .gz follows; -: standard output, as csv unless --format says otherwise',
    )
    .option('--format <format>', 'csv, tsv, json, ndjson, parquet, arrow, …, whatever the suffix');
  exporting.addOption(
    new Option(
      '--timestamps <form>',
      'of json and ndjson: object, {"ts": text}, or iso, text that other tools read as times',
    ).choices(['object', 'iso']),
  );
  addTransferOptions(exporting).action(
    async (sql: string, file: string, options: TransferOptions) => {
      const { exportFormat } = await loadFormats();
      const isOutput = file === '-';
      const found = orFail(() =>
        exportFormat(file, options.format ?? (isOutput ? 'csv' : undefined)),
      );
      if (isOutput && options.url !== undefined && 'type' in found) {
        failCommand('-: a server writes this format to files of its own; ask for ndjson or json');
      }
      const exportTo = (place: string) =>
        withTarget(
          options,
          async (target) => {
            const result = await exportFile(target, sql, place, found, options);
            if (!isOutput) print(result);
          },
          { mustExist: true },
        );
      await (isOutput ? withOutput(exportTo) : exportTo(file));
    },
  );
}

function addTransferOptions(command: Command): Command {
  command.option(
    '--params <json>',
    'further parameters of the procedure, such as those of import.text',
  );
  return addTargetOptions(command);
}

function isStandardInput(file: string): boolean {
  return file === '-' || file === '/dev/stdin';
}

/** A folder may have the name of a dataset. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The procedure that reads all the files, whose suffixes must agree. */
async function formatOf(files: readonly string[], named: string | undefined) {
  const { importFormat } = await loadFormats();
  const formats = files.map((file) => orFail(() => importFormat(file, named)));
  const [first] = formats as [FileProcedure, ...FileProcedure[]];
  const other = formats.findIndex((format) => stringifyJson(format) !== stringifyJson(first));
  if (other !== -1) {
    failCommand(`${files[other]}: files of one import have one format, that of ${files[0]}`);
  }
  return first;
}

/** What comes in is kept by the server while it is read. */
async function withUpload(target: RowanApi, work: (url: string) => Promise<void>): Promise<void> {
  const path = `/v1/uploads/cli-${randomUUID()}`;
  const { status, json, text } = await target.put<{ url: string }>(path, process.stdin);
  if (status >= 300) throw new Error(`the server does not take what comes in: ${text}`);
  try {
    await work(json.url);
  } finally {
    await target.delete(path);
  }
}

/** What comes in as a file: an import reads its text more than once, and from several threads. */
async function withInput(work: (url: string) => Promise<void>): Promise<void> {
  const path = await passingFile();
  await pipeline(process.stdin, createWriteStream(path));
  await work(pathToFileURL(path).href);
}

/** A file goes out when it is whole, so that an export that fails writes nothing. */
async function withOutput(work: (path: string) => Promise<void>): Promise<void> {
  const path = await passingFile();
  await work(path);
  await pipeline(createReadStream(path), process.stdout, { end: false });
}

/** The path of a file that is gone after the command. */
async function passingFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowan-file-'));
  // A command that fails ends the process.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'content');
}

function print(result: unknown): void {
  process.stdout.write(`${stringifyJson(result ?? null)}\n`);
}

function urlOf(file: string): string {
  return file.includes('://') ? file : pathToFileURL(resolve(file)).href;
}

/** Most formats are written by a procedure, those of query results as they come. */
async function exportFile(
  target: RowanApi,
  sql: string,
  file: string,
  format: ExportFormat,
  options: TransferOptions,
): Promise<unknown> {
  if ('type' in format) {
    const params = { exportData: sql, dataFileUrl: urlOf(file), ...format.params };
    return await transfer(target, format.type, params, options);
  }
  if (options.params !== undefined) {
    throw new Error('--params is for formats that a procedure writes; this one has no parameters');
  }
  const { FileSystem } = await import('../file/file-system.ts');
  const sink = await new FileSystem().create(urlOf(file));
  const { signal } = interruptible();
  const { timestamps } = options;
  let byteCount = 0;
  try {
    const query = target.query(sql, { rowNames: false, signal, timestamps });
    for await (const part of query.bytes(format.query)) {
      byteCount += part.length;
      await sink.write(part);
    }
    if (format.query === 'aos') await sink.write(Buffer.from('\n'));
    await sink.commit();
  } catch (thrown) {
    await sink.abort();
    throw thrown;
  }
  return { byteCount };
}

/** Aborts when the user does. */
function interruptible(): AbortController {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  return interruption;
}

/** Runs a procedure that exists only for this command. @returns its result */
async function transfer(
  { procedures }: RowanApi,
  type: string,
  params: Readonly<Record<string, unknown>>,
  options: TransferOptions,
): Promise<unknown> {
  const more = options.params === undefined ? {} : parseParams(options.params);
  const id = `cli_${randomUUID().replaceAll('-', '')}`;
  const made = procedures.put({
    id,
    type,
    params: { ...params, ...more, runOnCreation: false },
    persistent: false,
  });
  const procedure = await made.catch(async (refused) => {
    // What is refused has an entry all the same, which says why.
    await procedures.delete(id).catch(() => undefined);
    throw refused;
  });
  const { signal } = interruptible();
  const { ProgressBar } = await import('./progress-bar.ts');
  const bar = new ProgressBar();
  try {
    const run = procedure.run({}, { signal });
    for await (const { event, data } of run) if (event === 'progress') bar.show(data);
    const { results } = await run;
    bar.end();
    return results;
  } finally {
    await procedure.delete();
  }
}

function parseParams(text: string): Readonly<Record<string, unknown>> {
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch (thrown) {
    throw new Error(`--params: ${(thrown as Error).message}`);
  }
  if (typeof params === 'object' && params !== null && !Array.isArray(params)) {
    return params as Readonly<Record<string, unknown>>;
  }
  throw new Error('--params: a JSON object was expected');
}

function orFail<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    return failCommand(thrown);
  }
}
