// `rowan import` and `rowan export`: a file into a dataset, a query into a file.
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { type Command, Option } from 'commander';
import type { RowanApi } from '../client/rowan-api.ts';
import { stringifyJson } from '../util/exact-json.ts';
import { failCommand } from './exit.ts';
import type { ExportFormat } from './file-format.ts';
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
    .command('import <file> [dataset]')
    .description(
      'import a file (path or URL of delimited text, JSON lines, Parquet, Arrow or Excel, text and JSON also compressed; -: standard input) into a dataset, named like the file unless another name is given',
    )
    .option('--format <format>', 'csv, json, parquet, …, whatever the suffix');
  addTransferOptions(importing).action(
    async (file: string, given: string | undefined, options: TransferOptions) => {
      if (options.url === undefined && options.dataDir === 'none') {
        failCommand('nothing would keep the dataset: give --url of a server or --data-dir');
      }
      const isInput = file === '-' || file === '/dev/stdin';
      if (isInput && options.url !== undefined) {
        failCommand(`${file}: a server cannot read what comes in here; write it to a file first`);
      }
      const { datasetNameOf, importFormat } = await loadFormats();
      const format = options.format ?? (isInput ? 'csv' : undefined);
      const { type, params: own } = orFail(() => importFormat(file, format));
      const dataset = given ?? datasetNameOf(isInput ? 'imported' : file);
      const importFrom = (url: string) => {
        const params = { dataFileUrl: url, outputDataset: dataset, ...own };
        return withTarget(options, async (target) => {
          print(await transfer(target, type, params, options));
        });
      };
      if (isInput) await withInput(importFrom);
      else await importFrom(urlOf(file));
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
