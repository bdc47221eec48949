// `rowan import` and `rowan export`: a file into a dataset, a query into a file.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { failCommand } from './exit.ts';
import type { ProgressBar } from './progress-bar.ts';
import {
  addTargetOptions,
  answerError,
  openTarget,
  readAnswer,
  type Target,
  type TargetOptions,
} from './target.ts';

interface TransferOptions extends TargetOptions {
  readonly params?: string;
}

export function addTransferCommands(program: Command): void {
  const importing = program
    .command('import <file> <dataset>')
    .description('import a delimited text file (path or URL) into a dataset');
  addTransferOptions(importing).action((file: string, dataset: string, options: TransferOptions) =>
    transfer('import.text', { dataFileUrl: urlOf(file), outputDataset: dataset }, options),
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

const POLL_INTERVAL_MS = 100;

/** Runs a procedure that exists only for this command, and prints its result as JSON. */
async function transfer(
  type: string,
  params: Readonly<Record<string, unknown>>,
  options: TransferOptions,
): Promise<void> {
  const target = await openTarget(options);
  const path = `/v1/procedures/cli_${randomUUID().replaceAll('-', '')}`;
  try {
    const more = options.params === undefined ? {} : parseParams(options.params);
    await expectAnswer(target, 'PUT', path, {
      type,
      params: { ...params, ...more, runOnCreation: false },
      persistent: false,
    });
    const { ProgressBar } = await import('./progress-bar.ts');
    const bar = new ProgressBar();
    const run = expectAnswer(target, 'POST', `${path}/runs`, {});
    const watching = watch(target, path, bar, run);
    const { status } = JSON.parse(await run) as { status?: unknown };
    await watching;
    bar.end();
    process.stdout.write(`${JSON.stringify(status ?? null)}\n`);
  } finally {
    await target.call('DELETE', path);
    await target.close();
  }
}

function parseParams(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    return failCommand(`--params: ${(thrown as Error).message}`);
  }
}

/** Shows progress until the run is over. */
async function watch(
  target: Target,
  path: string,
  bar: ProgressBar,
  run: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  run.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  for (;;) {
    await sleep(POLL_INTERVAL_MS);
    if (isOver) return;
    const answer = await target.call('GET', path);
    if (answer.status === 200) bar.show(JSON.parse(await readAnswer(answer)).progress);
  }
}

async function expectAnswer(
  target: Target,
  verb: string,
  path: string,
  body: unknown,
): Promise<string> {
  const answer = await target.call(verb, path, body);
  if (answer.status >= 300) failCommand(await answerError(answer));
  return readAnswer(answer);
}
