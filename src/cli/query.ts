// `rowan query`: one SELECT, its result on standard output.
import { once } from 'node:events';
import type { Command } from 'commander';
import { failCommand } from './exit.ts';
import { addTargetOptions, answerError, openTarget, type TargetOptions } from './target.ts';

interface QueryOptions extends TargetOptions {
  readonly format?: string;
}

export function addQueryCommand(program: Command): void {
  const command = program
    .command('query <sql>')
    .description('run a SELECT and print its result')
    .option('--format <format>', 'table, aos, soa, sparse, full, atom, csv, ndjson or arrow');
  addTargetOptions(command).action(async (sql: string, options: QueryOptions) => {
    const target = await openTarget(options);
    try {
      // People read columns, programs read lines of JSON.
      const format = options.format ?? (process.stdout.isTTY ? 'csv' : 'ndjson');
      const answer = await target.call('POST', '/v1/query', { q: sql, format });
      if (answer.status !== 200) failCommand(await answerError(answer));
      for await (const part of answer.body) {
        if (!process.stdout.write(part)) await once(process.stdout, 'drain');
      }
      if (!['csv', 'ndjson', 'arrow'].includes(format)) process.stdout.write('\n');
    } finally {
      await target.close();
    }
  });
}
