// `rowan query`: one statement, its result on standard output.
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import type { QueryFormat, QueryWarning } from '../client/query.ts';
import type { RowanApi } from '../client/rowan-api.ts';
import { collectBytes } from '../file/byte-stream.ts';
import { addTargetOptions, isEmptyTarget, type TargetOptions, withTarget } from './target.ts';

interface QueryOptions extends TargetOptions {
  readonly format?: QueryFormat;
}

const FORMATS = [
  'table',
  'aos',
  'soa',
  'sparse',
  'full',
  'atom',
  'csv',
  'ndjson',
  'arrow',
] as const;

/** Adds `rowan query`. */
export function addQueryCommand(program: Command): void {
  const command = program
    .command('query <sql>')
    .description('run a statement and print its result; - reads it from standard input')
    .addOption(
      new Option(
        '--format <format>',
        'table, aos, soa, sparse, full, atom, csv, ndjson or arrow (default: aligned columns on a terminal, else ndjson)',
      ).choices(FORMATS),
    );
  addTargetOptions(command).action((given: string, options: QueryOptions) =>
    withTarget(
      options,
      async (target) => {
        const sql = given === '-' ? await standardInput() : given;
        const { format } = options;
        // People read columns, programs read lines of JSON.
        const hasColumns = process.stdout.isTTY;
        await printResult(target, sql, { format, hasColumns }).catch((thrown: unknown) => {
          throw isEmptyTarget(options) ? withPlace(thrown) : thrown;
        });
      },
      { mustExist: true },
    ),
  );
}

async function standardInput(): Promise<string> {
  return Buffer.from(await collectBytes(process.stdin)).toString('utf8');
}

/** A dataset that is not there may be on a server that was not named. */
function withPlace(thrown: unknown): unknown {
  const { code, message } = thrown as { readonly code?: string; readonly message?: string };
  if (code !== 'ENTITY_NOT_FOUND') return thrown;
  return new Error(
    `${message}\nan empty service of its own was asked: --url names a server, --data-dir a data directory`,
  );
}

export interface PrintOptions {
  readonly format: QueryFormat | undefined;
  /** what no format means: aligned columns, or lines of JSON */
  readonly hasColumns: boolean;
  readonly signal?: AbortSignal;
}

/** Asks, and prints the result while it comes. */
export async function printResult(
  target: RowanApi,
  sql: string,
  { format: given, hasColumns, signal }: PrintOptions,
): Promise<void> {
  const print = async (part: string | Uint8Array): Promise<void> => {
    if (!process.stdout.write(part)) await once(process.stdout, 'drain');
  };
  const query = target.query(sql, signal === undefined ? {} : { signal });
  if (given === undefined && hasColumns) {
    const { tableLines } = await import('./text-table.ts');
    for await (const line of tableLines(query, process.stdout.columns || PAGE_WIDTH)) {
      await print(`${line}\n`);
    }
    tellWarnings(query.warnings);
    return;
  }
  const format = given ?? 'ndjson';
  for await (const part of query.bytes(format)) await print(part);
  if (!['csv', 'ndjson', 'arrow'].includes(format)) process.stdout.write('\n');
  tellWarnings(query.warnings);
}

/** What is probably wrong, beside the result, which stays as it is for programs. */
function tellWarnings(warnings: readonly QueryWarning[]): void {
  for (const { code, message, line, column, suggestion } of warnings) {
    const hint = suggestion === null ? '' : `; write ${suggestion}`;
    process.stderr.write(`warning ${code} at ${line}:${column}: ${message}${hint}\n`);
  }
}

/** Where no terminal tells how wide it is. */
const PAGE_WIDTH = 200;
