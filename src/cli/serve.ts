// `rowan serve`: the service on the network until it is told to end.
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { Rowan } from '../index.ts';
import { isLoopbackHost } from '../rest/address.ts';
import type { Logger } from '../service/logger.ts';
import { EXIT, failCommand, openFailureCode } from './exit.ts';
import { makeLogger, readLogLevels } from './log.ts';
import { runScript } from './run-script.ts';
import { addServeOptions, applyConfigFile, type ServeOptions } from './serve-options.ts';

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve', { isDefault: true })
    .description('serve the REST API, the documentation and the web pages')
    .helpOption('--help', 'print this page');
  addServeOptions(command).action(async () => serve(command));
}

/** `rowan run <script>`: the same, with a script to run. */
export function addRunCommand(program: Command): void {
  const command = program
    .command('run <script>')
    .description('run a script against a service of its own, then exit')
    .helpOption('--help', 'print this page');
  addServeOptions(command).action(async (script: string) => {
    command.setOptionValue('runScript', script);
    await serve(command);
  });
}

async function serve(command: Command): Promise<void> {
  const options = readOptions(command);
  if (options.replicas !== undefined) {
    failCommand('--replicas: read-only serving processes are not available in this version');
  }
  const logger = openLog(options);
  const rowan = await openService(options, logger);
  let address: string;
  try {
    address = await listen(rowan, options);
  } catch (thrown) {
    await rowan.close();
    return failCommand(thrown);
  }
  endOnSignals(rowan, options);
  if (options.watchdogTimeout > 0) {
    setTimeout(() => process.exit(EXIT.failed), options.watchdogTimeout * 1000).unref();
  }
  process.stderr.write(`http listening on ${address}\nRowan ready\n`);
  if (options.runScript === undefined) return;
  const succeeded = await runScript(rowan, options.runScript, options);
  if (succeeded && options.dontExitAfterScript) return;
  await rowan.close();
  process.exit(succeeded ? EXIT.ok : EXIT.failed);
}

function readOptions(command: Command): ServeOptions {
  const { configPath } = command.opts<ServeOptions>();
  if (configPath !== undefined) {
    try {
      applyConfigFile(command, configPath);
    } catch (thrown) {
      failCommand(thrown);
    }
  }
  return command.opts<ServeOptions>();
}

async function openService(options: ServeOptions, logger: Logger): Promise<Rowan> {
  const isPublic = !isLoopbackHost(options.httpListenHost);
  const roots = options.fileRoot.length > 0 || isPublic ? options.fileRoot : undefined;
  const adminKey = process.env.ROWAN_ADMIN_KEY;
  try {
    return await Rowan.open({
      dataDir: keptDirectory(options),
      logger,
      workers: options.workers ?? availableParallelism(),
      runOnCreation: options.runOnCreationDefault,
      credentials: options.addCredential.map(parseCredential),
      credentialUrls: options.addCredentialsFromUrl,
      files: {
        ...(roots === undefined ? {} : { fileRoots: rootsWithOwn(roots, options) }),
        allowPrivateUrls: !isPublic || options.allowPrivateUrls,
      },
      pluginDirectories: options.pluginDirectory,
      scripts: {
        ...(options.scriptTimeout === undefined ? {} : { timeoutMs: options.scriptTimeout }),
        ...(options.scriptMemory === undefined ? {} : { memoryBytes: options.scriptMemory }),
      },
      ...(options.memory === undefined ? {} : { memoryBytes: options.memory }),
      ...(options.credentialsPath === undefined
        ? {}
        : { credentialsPath: options.credentialsPath.replace(/^file:\/\//, '') }),
      ...(adminKey === undefined ? {} : { adminKey }),
    });
  } catch (thrown) {
    return failCommand(thrown, openFailureCode(thrown));
  }
}

function keptDirectory({ dataDir }: ServeOptions): string | null {
  return dataDir === 'none' ? null : dataDir;
}

/** What the service keeps itself is always within reach. */
function rootsWithOwn(roots: readonly string[], options: ServeOptions): string[] {
  const dataDir = keptDirectory(options);
  const plugins = options.pluginDirectory.map((url) => url.replace(/^file:\/\//, ''));
  return [...roots, ...(dataDir === null ? [] : [dataDir]), ...plugins];
}

function parseCredential(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return failCommand(`--add-credential: not JSON`);
  }
}

function listen(rowan: Rowan, options: ServeOptions): Promise<string> {
  return rowan.listen({
    host: options.httpListenHost,
    ports: options.httpListenPort,
    shutdownGraceSeconds: options.shutdownGrace,
    corsOrigins: options.corsOrigin,
    allowUnauthenticated: options.allowUnauthenticated,
    hasAccessLog: options.enableAccessLog,
    baseUrl: options.httpBaseUrl,
    docPath: options.staticDocPath,
    assetsPath: options.staticAssetsPath,
    hidesInternalEntities: options.hideInternalEntities,
    queryTimeoutMs: options.queryTimeout,
    ...(options.maxBodyBytes === undefined ? {} : { bodyBytesMax: options.maxBodyBytes }),
    ...(options.maxHeaderBytes === undefined ? {} : { headerBytesMax: options.maxHeaderBytes }),
    ...(options.maxConcurrentQueries === undefined
      ? {}
      : { heavyCountMax: options.maxConcurrentQueries }),
  });
}

/** The first signal ends in order, a second one at once; nothing acknowledged is lost either way. */
function endOnSignals(rowan: Rowan, options: ServeOptions): void {
  const { shutdownGrace, shutdownWaitRuns } = options;
  let isEnding = false;
  const end = () => {
    if (isEnding) process.exit(EXIT.failed);
    isEnding = true;
    const deadline = setTimeout(() => process.exit(EXIT.ok), (shutdownGrace + 5) * 1000);
    deadline.unref();
    rowan.close({ waitsForRuns: shutdownWaitRuns }).then(
      () => process.exit(EXIT.ok),
      (thrown) => failCommand(thrown),
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const) process.on(signal, end);
  rowan.web.shutDown = end;
}

function openLog(options: ServeOptions): Logger {
  const format = options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json');
  try {
    return makeLogger(readLogLevels(options.configPath), format === 'text');
  } catch (thrown) {
    return failCommand(thrown);
  }
}
