// `rowan serve`: the service on the network until it is told to end.
import { accessSync, constants, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Command } from 'commander';
import { Rowan } from '../index.ts';
import type { ReplicaFleet } from '../replica/fleet.ts';
import { isLoopbackHost } from '../rest/address.ts';
import type { RestOptions } from '../rest/options.ts';
import {
  LISTEN_OPTIONS,
  OPEN_OPTIONS,
  type ServerOption,
  type ServerOptions,
} from '../schema/server-options.ts';
import type { FileLimits } from '../service/engine/file-host.ts';
import type { Logger } from '../service/logger.ts';
import { threadOptions, workerFile } from '../util/worker-file.ts';
import { defaultBudgetBytes } from '../value/column/arena-set.ts';
import { openInBrowser } from './browser.ts';
import { EXIT, failCommand, openFailureCode } from './exit.ts';
import { makeLogger, readLogLevels } from './log.ts';
import { runScript, withScriptOutput } from './run-script.ts';
import { applyConfigFile } from './serve-options.ts';
import type { WatchdogSettings } from './watchdog.ts';

/**
 * Starts the service with the options of a parsed command; returns when it listens, or ends the
 * process behind a script.
 */
export async function serve(command: Command): Promise<void> {
  const options = readOptions(command);
  // Nobody may read any more what a server says; it serves on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  watch(options.watchdogSeconds);
  const log = openLog(options);
  const logger = options.runScript === undefined ? log : withScriptOutput(log);
  makeCacheDirectory(options);
  const fleet = await makeFleet(options);
  const rowan = await openService(options, logger, fleet);
  let address: string;
  try {
    const sharing = fleet === undefined ? {} : { sharing: fleet };
    address = await rowan.listen({ ...restOptions(options), ...sharing });
    fleet?.launch(rowan.web);
  } catch (thrown) {
    await rowan.close();
    return failCommand(thrown);
  }
  endOnSignals(rowan, options);
  process.stderr.write(`http listening on ${address}\nRowan ready\n`);
  if (options.hasConsole) process.stderr.write(`console: ${address}/\n`);
  if (options.opensConsole) openInBrowser(`${address}/`);
  if (options.runScript === undefined) return;
  const succeeded = await runScript(rowan, options.runScript, options);
  if (succeeded && options.servesAfterScript) return;
  await rowan.close();
  process.exit(succeeded ? EXIT.ok : EXIT.failed);
}

/** Ends the process when its time is over, whatever it does. */
function watch(seconds: number): void {
  if (seconds <= 0) return;
  const end = () => failCommand(`--watchdog-timeout: ended after ${seconds} s`);
  setTimeout(end, seconds * 1000).unref();
}

function readOptions(command: Command): ServerOptions {
  const { configPath } = command.opts<ServerOptions>();
  if (configPath !== undefined) {
    try {
      applyConfigFile(command, configPath);
    } catch (thrown) {
      failCommand(thrown);
    }
  }
  return command.opts<ServerOptions>();
}

async function makeFleet(options: ServerOptions): Promise<ReplicaFleet | undefined> {
  const { replicaCount = 0, memoryBytes, configPath } = options;
  if (replicaCount === 0) return undefined;
  const dataDir = keptDirectory(options);
  if (dataDir === null) {
    return failCommand(
      '--replicas: the processes share a data directory; --data-dir none has none',
    );
  }
  const format = isTextLog(options) ? 'text' : 'json';
  const { ReplicaFleet } = await import('../replica/fleet.ts');
  return new ReplicaFleet({
    count: replicaCount,
    entry: workerFile('cli/replica-process.ts'),
    args: [format, ...(configPath === undefined ? [] : [configPath])],
    dataDir: resolve(dataDir),
    rest: restOptions(options),
    files: fileLimits(options),
    sql: { columnOrder: options.columnOrder, strict: options.strictSql },
    memoryBytes: processMemory(memoryBytes, replicaCount),
  });
}

/** Each process holds what it serves, so they share what all may take. */
function processMemory(memoryBytes = defaultBudgetBytes(), replicaCount = 0): number {
  return Math.floor(memoryBytes / (replicaCount + 1));
}

/** Copies may be of files that only the user of this process may read. */
function makeCacheDirectory({ cacheDir }: ServerOptions): void {
  if (cacheDir === undefined) return;
  try {
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    accessSync(cacheDir, constants.W_OK);
  } catch (thrown) {
    failCommand(`--cache-dir: ${(thrown as Error).message}`);
  }
}

function fileLimits(options: ServerOptions): FileLimits {
  const isPublic = !isLoopbackHost(options.host);
  const roots = options.fileRoots.length > 0 || isPublic ? options.fileRoots : undefined;
  return {
    ...(roots === undefined ? {} : { fileRoots: roots }),
    readOnlyDirectories: options.pluginDirectories.map((url) => url.replace(/^file:\/\//, '')),
    allowPrivateUrls: !isPublic || options.allowPrivateUrls,
    ...(options.cacheDir === undefined
      ? {}
      : { cache: { directory: resolve(options.cacheDir), sizeBytesMax: options.cacheBytesMax } }),
  };
}

async function openService(
  options: ServerOptions,
  logger: Logger,
  fleet: ReplicaFleet | undefined,
): Promise<Rowan> {
  const { memoryBytes, replicaCount } = options;
  const adminKey = process.env.ROWAN_ADMIN_KEY;
  try {
    return await Rowan.open({
      ...pick(OPEN_OPTIONS, options),
      dataDir: keptDirectory(options),
      logger,
      workers: options.workers ?? availableParallelism(),
      credentials: options.credentials.map(parseCredential),
      files: fileLimits(options),
      ...(fleet === undefined ? {} : { extensions: [fleet] }),
      scripts: {
        ...(options.scriptTimeoutMs === undefined ? {} : { timeoutMs: options.scriptTimeoutMs }),
        ...(options.scriptMemoryBytes === undefined
          ? {}
          : { memoryBytes: options.scriptMemoryBytes }),
      },
      ...(memoryBytes === undefined && fleet === undefined
        ? {}
        : { memoryBytes: processMemory(memoryBytes, replicaCount) }),
      credentialsPath: options.credentialsPath?.replace(/^file:\/\//, ''),
      ...(adminKey === undefined ? {} : { adminKey }),
    });
  } catch (thrown) {
    return failCommand(thrown, openFailureCode(thrown));
  }
}

function keptDirectory({ dataDir }: ServerOptions): string | null {
  return dataDir === 'none' ? null : dataDir;
}

function parseCredential(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return failCommand(`--add-credential: not JSON`);
  }
}

function restOptions(options: ServerOptions): Partial<RestOptions> {
  return pick(LISTEN_OPTIONS, options);
}

/** The options of one of the tables. */
function pick<Table extends Readonly<Record<string, ServerOption>>>(
  table: Table,
  options: ServerOptions,
): Pick<ServerOptions, keyof Table & keyof ServerOptions> {
  const entries = Object.entries(options).filter(([name]) => Object.hasOwn(table, name));
  return Object.fromEntries(entries) as Pick<ServerOptions, keyof Table & keyof ServerOptions>;
}

/** How long it may take to end after requests had their time. */
const END_SECONDS = 5;
const BEAT_MS = 200;

/** Ends the process even when this thread does not come to it. */
function startWatchdog(limitMs: number): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const settings: WatchdogSettings = { beats, limitMs };
  const watchdog = new Worker(workerFile('cli/watchdog.ts'), {
    ...threadOptions(),
    workerData: settings,
  });
  watchdog.unref();
  setInterval(() => {
    Atomics.add(beats, 0, 1);
    Atomics.notify(beats, 0);
  }, BEAT_MS).unref();
}

/** The first signal ends in order, a second one at once; nothing acknowledged is lost either way. */
function endOnSignals(rowan: Rowan, options: ServerOptions): void {
  const { shutdownGraceSeconds, shutdownWaitsForRuns } = options;
  let isEnding = false;
  const end = () => {
    if (isEnding) process.exit(EXIT.failed);
    isEnding = true;
    const limitMs = (shutdownGraceSeconds + END_SECONDS) * 1000;
    setTimeout(() => process.exit(EXIT.ok), limitMs).unref();
    startWatchdog(limitMs + BEAT_MS);
    rowan.close({ waitsForRuns: shutdownWaitsForRuns }).then(
      () => process.exit(EXIT.ok),
      (thrown) => failCommand(thrown),
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const) process.on(signal, end);
  rowan.web.shutDown = end;
}

function isTextLog({ logFormat }: ServerOptions): boolean {
  return (logFormat ?? (process.stderr.isTTY ? 'text' : 'json')) === 'text';
}

function openLog(options: ServerOptions): Logger {
  try {
    return makeLogger(readLogLevels(options.configPath), isTextLog(options));
  } catch (thrown) {
    return failCommand(thrown);
  }
}
