// Where a command works: on a server elsewhere, or on a service of its own over a data directory.
import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { RowanApi } from '../client/rowan-api.ts';
import { EXIT, failCommand, openFailureCode } from './exit.ts';
import { loadService } from './load-service.ts';

export interface TargetOptions {
  readonly url?: string;
  readonly key?: string;
  readonly dataDir: string;
}

/** Adds the options that say which server, or which data directory, a command works on. */
export function addTargetOptions(command: Command): Command {
  return command
    .option('--url <url>', 'server to ask, for example http://127.0.0.1:8080')
    .option('--key <key>', 'API key for the server (or ROWAN_API_KEY)')
    .addOption(
      new Option(
        '--data-dir <dir>',
        'data directory to work on without a server (or ROWAN_DATA_DIR); none: an empty one',
      )
        .env('ROWAN_DATA_DIR')
        .default('none'),
    )
    .configureHelp({ optionDescription: ({ description }) => description })
    .helpOption('--help', 'print this page');
}

/** true: neither a server nor a data directory was named */
export function isEmptyTarget({ url, dataDir }: TargetOptions): boolean {
  return url === undefined && dataDir === 'none';
}

/**
 * Does the work of a command; a failure ends the process with its message.
 * @param limits.mustExist the data directory is read only, so a name that is none is a mistake
 */
export async function withTarget(
  options: TargetOptions,
  work: (target: RowanApi) => Promise<void>,
  { mustExist = false } = {},
): Promise<void> {
  endWithReader();
  const { url, dataDir } = options;
  if (mustExist && url === undefined && dataDir !== 'none' && !existsSync(dataDir)) {
    failCommand(`there is no data directory ${dataDir}`, EXIT.dataDirUnusable);
  }
  const target = await openTarget(options).catch((thrown) =>
    failCommand(thrown, openFailureCode(thrown)),
  );
  try {
    await work(target);
  } catch (thrown) {
    await target.close();
    failCommand(thrown);
  }
  await target.close();
}

/** The reader of the output may stop before its end, as `head` does. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    failCommand(error);
  });
}

async function openTarget({ url, key, dataDir }: TargetOptions): Promise<RowanApi> {
  if (url !== undefined) {
    const { connect } = await import('../client/index.ts');
    return connect(url, { apiKey: key ?? process.env.ROWAN_API_KEY });
  }
  const { Rowan } = await loadService(() => import('../index.ts'), { dataDir });
  return Rowan.open({ dataDir: dataDir === 'none' ? null : dataDir });
}
