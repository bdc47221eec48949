// `rowan query`: one SELECT, its result on standard output.
import { once } from 'node:events';
import type { Command } from 'commander';
import type { QueryFormat } from '../client/query.ts';
import type { RowanApi } from '../client/rowan-api.ts';
import { addTargetOptions, type TargetOptions, withTarget } from './target.ts';

interface QueryOptions extends TargetOptions {
  readonly format?: QueryFormat;
}

export function addQueryCommand(program: Command): void {
  const command = program
    .command('query <sql>')
    .description('run a SELECT and print its result')
    .option(
      '--format <format>',
      'table, aos, soa, sparse, full, atom, csv, ndjson or arrow (default: aligned columns on a terminal, else ndjson)',
    );
  addTargetOptions(command).action((sql: string, options: QueryOptions) =>
    withTarget(options, (target) => printResult(target, sql, options), { mustExist: true }),
  );
}

async function printResult(target: RowanApi, sql: string, options: QueryOptions): Promise<void> {
  const print = async (part: string | Uint8Array): Promise<void> => {
    if (!process.stdout.write(part)) await once(process.stdout, 'drain');
  };
  // People read columns, programs read lines of JSON.
  if (options.format === undefined && process.stdout.isTTY) {
    const { tableLines } = await import('./text-table.ts');
    for await (const line of tableLines(target.query(sql), process.stdout.columns)) {
      await print(`${line}\n`);
    }
    return;
  }
  const format = options.format ?? 'ndjson';
  for await (const part of target.query(sql).bytes(format)) await print(part);
  if (!['csv', 'ndjson', 'arrow'].includes(format)) process.stdout.write('\n');
}
