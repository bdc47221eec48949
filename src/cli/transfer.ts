// `rowan import` and `rowan export`: a file into a dataset, a query into a file.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { stringifyJson } from '../util/exact-json.ts';
import { failCommand } from './exit.ts';
import { addTargetOptions, type TargetOptions, withTarget } from './target.ts';

interface TransferOptions extends TargetOptions {
  readonly params?: string;
}

export function addTransferCommands(program: Command): void {
  const importing = program
    .command('import <file> <dataset>')
    .description('import a delimited text file (path or URL) into a dataset');
  addTransferOptions(importing).action(
    (file: string, dataset: string, options: TransferOptions) => {
      if (options.url === undefined && options.dataDir === 'none') {
        failCommand('nothing would keep the dataset: give --url of a server or --data-dir');
      }
      return transfer('import.text', { dataFileUrl: urlOf(file), outputDataset: dataset }, options);
    },
  );
  const exporting = program
    .command('export <sql> <file>')
    .description('write the result of a SELECT to a CSV file (path or URL)');
  addTransferOptions(exporting).action((sql: string, file: string, options: TransferOptions) =>
    transfer('export.csv', { exportData: sql, dataFileUrl: urlOf(file) }, options),
  );
}

function addTransferOptions(command: Command): Command {
  command.option('--params <json>', 'further parameters of the procedure');
  return addTargetOptions(command);
}

function urlOf(file: string): string {
  return file.includes('://') ? file : pathToFileURL(resolve(file)).href;
}

/** Runs a procedure that exists only for this command, and prints its result as JSON. */
function transfer(
  type: string,
  params: Readonly<Record<string, unknown>>,
  options: TransferOptions,
): Promise<void> {
  const more = options.params === undefined ? {} : parseParams(options.params);
  return withTarget(options, async ({ procedures }) => {
    const procedure = await procedures.put({
      id: `cli_${randomUUID().replaceAll('-', '')}`,
      type,
      params: { ...params, ...more, runOnCreation: false },
      persistent: false,
    });
    const interruption = new AbortController();
    process.once('SIGINT', () => interruption.abort());
    const { ProgressBar } = await import('./progress-bar.ts');
    const bar = new ProgressBar();
    try {
      const run = procedure.run({}, { signal: interruption.signal });
      for await (const { event, data } of run) if (event === 'progress') bar.show(data);
      const { results } = await run;
      bar.end();
      process.stdout.write(`${stringifyJson(results ?? null)}\n`);
    } finally {
      await procedure.delete();
    }
  });
}

function parseParams(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    return failCommand(`--params: ${(thrown as Error).message}`);
  }
}
