// Options of `rowan serve`: declared once, settable on the command line, in the environment and in a
// configuration file, in that order of precedence.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePortRange } from '../rest/address.ts';
import { readConfigFile } from './config-file.ts';

export interface ServeOptions {
  readonly httpListenPort: readonly number[];
  readonly httpListenHost: string;
  readonly numThreads?: number;
  readonly workers?: number;
  readonly watchdogTimeout: number;
  /** `none`: nothing is kept */
  readonly dataDir: string;
  readonly staticAssetsPath?: string;
  readonly staticDocPath?: string;
  readonly cacheDir?: string;
  readonly cacheSize: number;
  readonly configPath?: string;
  readonly credentialsPath?: string;
  readonly console: boolean;
  readonly open: boolean;
  readonly hideInternalEntities: boolean;
  readonly muteFinalOutput: boolean;
  readonly enableAccessLog: boolean;
  readonly httpBaseUrl: string;
  readonly runScript?: string;
  readonly scriptArgs?: string;
  readonly scriptArgsUrl?: string;
  readonly dontExitAfterScript: boolean;
  readonly addCredential: readonly string[];
  readonly addCredentialsFromUrl: readonly string[];
  readonly pluginDirectory: readonly string[];
  readonly runOnCreationDefault: boolean;
  readonly new: boolean;
  readonly columnOrder: 'select' | 'name';
  readonly strictSql: boolean;
  readonly memory?: number;
  readonly maxBodyBytes?: number;
  readonly bodyMemory?: number;
  readonly uploadQuota?: number;
  readonly maxHeaderBytes?: number;
  readonly queryTimeout?: number;
  readonly maxConcurrentQueries?: number;
  readonly headersTimeout?: number;
  readonly bodyIdleTimeout?: number;
  readonly replyIdleTimeout?: number;
  readonly keepAliveTimeout?: number;
  readonly spoolBytes?: number;
  readonly streamMinRate?: number;
  readonly maxConnections?: number;
  readonly scriptTimeout?: number;
  readonly scriptMemory?: number;
  readonly shutdownGrace: number;
  readonly shutdownWaitRuns: boolean;
  readonly replicas?: number;
  readonly corsOrigin: readonly string[];
  readonly fileRoot: readonly string[];
  readonly allowUnauthenticated: boolean;
  readonly allowPrivateUrls: boolean;
  readonly logFormat?: 'json' | 'text';
}

/** Fewer request threads than this make no server. */
const NUM_THREADS_MIN = 4;

export function addServeOptions(command: Command): Command {
  for (const option of serveOptions()) {
    // In the environment switches say yes or no, where their presence alone would switch them on.
    if (!option.isBoolean()) option.env(environmentName(option));
    command.addOption(option);
  }
  // Another name of an option; both may be given.
  command.addOption(new Option(`--${CREDENTIALS_ALIAS} <url>`).hideHelp());
  command.addOption(new Option(`--${PORT_ALIAS} <port>`).argParser(readPorts).hideHelp());
  command.on(`option:${PORT_ALIAS}`, (text: string) => {
    command.setOptionValueWithSource('httpListenPort', readPorts(text), 'cli');
  });
  command.on(`option:${CREDENTIALS_ALIAS}`, (url: string) => {
    const given = command.getOptionValue('addCredentialsFromUrl');
    command.setOptionValueWithSource('addCredentialsFromUrl', collect(url, given), 'cli');
  });
  return command
    .hook('preAction', () => applyEnvironmentSwitches(command))
    .configureHelp({ optionDescription: describeOption })
    .addHelpText('after', ENVIRONMENT_NOTE);
}

const PORT_ALIAS = 'port';
const CREDENTIALS_OPTION = 'add-credentials-from-url';
const CREDENTIALS_ALIAS = 'add-credentials-url';

function applyEnvironmentSwitches(command: Command): void {
  for (const option of command.options) {
    const name = environmentName(option);
    const text = process.env[name];
    const key = option.attributeName();
    const isGiven = command.getOptionValueSource(key) === 'cli';
    if (!option.isBoolean() || text === undefined || isGiven) continue;
    try {
      command.setOptionValueWithSource(key, readBoolean(text), 'env');
    } catch {
      command.error(`error: ${name}: '${text}' is neither yes nor no`);
    }
  }
}

const ENVIRONMENT_NOTE = `
Each option is also read from the environment, for instance --data-dir from
ROWAN_DATA_DIR, and from the file of --config-path, as data-dir=/srv/rowan.`;

/** Defaults that mean "not given" are not worth a word. */
function describeOption({ description, defaultValue, defaultValueDescription }: Option): string {
  const isTelling = !['undefined', 'boolean', 'object'].includes(typeof defaultValue);
  const text = defaultValueDescription ?? (isTelling ? String(defaultValue) : '');
  return text === '' ? description : `${description} (default: ${text})`;
}

function serveOptions(): Option[] {
  return [
    new Option(
      '-p, --http-listen-port <port>',
      'port, or a range of which the first free one is taken',
    )
      .argParser(readPorts)
      .default(readPorts('11700-18000'), '11700-18000'),
    new Option('-h, --http-listen-host <host>', 'address to listen on; * for all').default(
      '127.0.0.1',
    ),
    new Option(
      '-t, --num-threads <n>',
      'accepted for compatibility; --workers sets the threads',
    ).argParser((text) => {
      const count = readCount(text);
      if (count < NUM_THREADS_MIN) throw new InvalidArgumentError(`at least ${NUM_THREADS_MIN}.`);
      return count;
    }),
    new Option(
      '--workers <n>',
      'threads that one query or training may use (default: all cores)',
    ).argParser(readCount),
    new Option('--watchdog-timeout <seconds>', 'end with exit code 1 after so long; -1: never')
      .argParser(readSeconds)
      .default(-1),
    new Option('--data-dir <dir>', 'where everything durable is kept; none: nothing is').default(
      './rowan_data',
    ),
    new Option('--static-assets-path <dir>', 'folder served under /resources'),
    new Option('--static-doc-path <dir>', 'folder served under /doc instead of the shipped pages'),
    new Option(
      '--cache-dir <dir>',
      'keep copies of files read from http(s) and S3, asked about at each use (default: none)',
    ),
    new Option('--cache-size <bytes>', 'most that these copies may take, least used go first')
      .argParser(readBytes)
      .default(readBytes('10G'), '10G'),
    new Option('--config-path <file>', 'INI file of options; the command line wins'),
    new Option(
      '-c, --credentials-path <dir>',
      'where credentials are kept (default: in the data dir)',
    ),
    new Option('--console <bool>', 'whether browsers find the console at /')
      .argParser(readBoolean)
      .default(true),
    new Option('--open', 'open the console in the browser of this machine').default(false),
    new Option(
      '--hide-internal-entities',
      'leave types for tests and tools out of the documentation',
    ).default(false),
    new Option('--mute-final-output', 'do not print the reply of a script that failed').default(
      false,
    ),
    new Option('--enable-access-log', 'log each request').default(false),
    new Option('--http-base-url <url>', 'put before links into /doc and /resources').default(''),
    new Option('--run-script <script>', 'run a script (path or URL ending in .js), then exit'),
    new Option('--script-args <json>', 'arguments of the script'),
    new Option('--script-args-url <url>', 'URL of the arguments of the script; wins'),
    new Option('--dont-exit-after-script [yes]', 'keep serving after the script')
      .argParser(readBoolean)
      .preset('yes')
      .default(false),
    new Option('--add-credential <json>', 'a credential; may be repeated')
      .argParser(collect)
      .default([]),
    new Option('--add-credentials-from-url <url>', 'URL of credentials; may be repeated')
      .argParser(collect)
      .default([]),
    new Option('--plugin-directory <url>', 'folder of plugins to load at start; may be repeated')
      .argParser(collect)
      .default([]),
    new Option('--run-on-creation-default <bool>', 'whether procedures run when they are created')
      .argParser(readBoolean)
      .default(false),
    new Option('--column-order <order>', 'columns of answers: as selected, or by their names')
      .choices(['select', 'name'])
      .default('select'),
    new Option('--strict-sql', 'refuse queries that are warned about').default(false),
    new Option(
      '--memory <bytes>',
      'bytes that all columns may take, K M G accepted (default: 70 %)',
    ).argParser(readBytes),
    new Option('--max-body-bytes <bytes>', 'largest request body (default: 256M)').argParser(
      readBytes,
    ),
    new Option(
      '--upload-quota <bytes>',
      'bytes that all uploaded files may take, K M G accepted (default: 10G)',
    ).argParser(readBytes),
    new Option(
      '--max-header-bytes <bytes>',
      'largest request line and headers (default: 1M)',
    ).argParser(readBytes),
    new Option('--query-timeout <ms>', 'longest time of a query (default: none)').argParser(
      readMilliseconds,
    ),
    new Option(
      '--max-concurrent-queries <n>',
      'heavy requests at the same time (default: 4 for each core)',
    ).argParser(readCount),
    new Option('--max-connections <n>', 'connections at the same time (default: 20000)').argParser(
      readCount,
    ),
    new Option(
      '--headers-timeout <ms>',
      'longest time until the headers of a request have come (default: 60000)',
    ).argParser(readMilliseconds),
    new Option(
      '--body-idle-timeout <ms>',
      'longest silence within the body of a request (default: 30000)',
    ).argParser(readMilliseconds),
    new Option(
      '--reply-idle-timeout <ms>',
      'longest time in which a client takes nothing of a reply (default: 30000)',
    ).argParser(readMilliseconds),
    new Option(
      '--keep-alive-timeout <ms>',
      'longest time between two requests of a connection (default: 65000)',
    ).argParser(readMilliseconds),
    new Option(
      '--body-memory <bytes>',
      'bodies of all requests together, decompressed (default: 1G)',
    ).argParser(readBytes),
    new Option(
      '--spool-bytes <bytes>',
      'results on disk that wait for slow clients, all together (default: 4G)',
    ).argParser(readBytes),
    new Option(
      '--stream-min-rate <bytes>',
      'a second, over a minute: clients that take less of a reply are given up (default: 1K)',
    ).argParser(readBytes),
    new Option(
      '--script-timeout <ms>',
      'longest time of a script (default: 30000 for handlers and programs of plugins, else none)',
    ).argParser(readMilliseconds),
    new Option('--script-memory <bytes>', 'largest memory of a script (default: 512M)').argParser(
      readBytes,
    ),
    new Option('--shutdown-grace <seconds>', 'time that requests in flight get at the end')
      .argParser(readSeconds)
      .default(30),
    new Option(
      '--new',
      'start empty: what the data directory holds is moved to its folder lost+found',
    ).default(false),
    new Option('--shutdown-wait-runs', 'let active runs finish in that time too').default(false),
    new Option(
      '--replicas <n>',
      'processes that answer queries and function calls beside this one, from its data directory',
    ).argParser(readCount),
    new Option('--cors-origin <origin>', 'origin that browsers may call from; may be repeated')
      .argParser(collect)
      .default([]),
    new Option('--file-root <dir>', 'limit file:// to this folder; may be repeated')
      .argParser(collect)
      .default([]),
    new Option('--allow-unauthenticated', 'serve a public address without API keys').default(false),
    new Option(
      '--allow-private-urls',
      'let http(s), s3 and sftp reach this machine from a public address',
    ).default(false),
    new Option('--log-format <format>', 'json or text (default: text on a terminal)').choices([
      'json',
      'text',
    ]),
  ];
}

function environmentName(option: Option): string {
  const long = option.long ?? '';
  return `ROWAN_${long.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`;
}

/**
 * Applies the options of a file that neither command line nor environment set.
 * @throws Error naming the line, for an option that is unknown or a value that it does not take
 */
export function applyConfigFile(command: Command, path: string): void {
  const known = new Map(command.options.map((option) => [option.long?.replace(/^--/, ''), option]));
  for (const { section, name, value, place } of readConfigFile(path)) {
    if (section !== 'options') continue;
    const option = known.get(name === CREDENTIALS_ALIAS ? CREDENTIALS_OPTION : name);
    if (option === undefined) throw new Error(`${place}: '${name}' is no option of rowan serve`);
    const key = option.attributeName();
    const source = command.getOptionValueSource(key);
    if (source === 'cli' || source === 'env') continue;
    try {
      command.setOptionValueWithSource(key, parseValue(command, option, value), 'config');
    } catch (thrown) {
      throw new Error(`${place}: ${name}: ${(thrown as Error).message}`);
    }
  }
}

function parseValue(command: Command, option: Option, text: string): unknown {
  const parse = option.parseArg as ((text: string, previous: unknown) => unknown) | undefined;
  if (parse !== undefined) return parse(text, command.getOptionValue(option.attributeName()));
  return option.isBoolean() ? readBoolean(text) : text;
}

function readPorts(text: string): number[] {
  try {
    return parsePortRange(text);
  } catch (thrown) {
    throw new InvalidArgumentError((thrown as Error).message);
  }
}

function readCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number above 0.');
}

/** Timers take no more. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function readMilliseconds(text: string): number {
  const count = readCount(text);
  if (count <= TIMER_MS_MAX) return count;
  throw new InvalidArgumentError(`At most ${TIMER_MS_MAX} (24 days).`);
}

function readSeconds(text: string): number {
  if (!/^(-1|\d+(\.\d+)?)$/.test(text)) throw new InvalidArgumentError('A number of seconds.');
  const limit = Math.floor(TIMER_MS_MAX / 1000);
  if (Number(text) <= limit) return Number(text);
  throw new InvalidArgumentError(`At most ${limit} (24 days).`);
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

function readBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMG]?)i?B?$/i.exec(text);
  if (match !== null) {
    return Math.floor(Number(match[1]) * (UNITS[(match[2] as string).toUpperCase()] as number));
  }
  throw new InvalidArgumentError('A number of bytes such as 500M or 4G.');
}

function readBoolean(text: string): boolean {
  if (/^(yes|true|1|on)$/i.test(text)) return true;
  if (/^(no|false|0|off)$/i.test(text)) return false;
  throw new InvalidArgumentError('yes or no.');
}

function collect(text: string, previous: unknown): string[] {
  return [...(previous as readonly string[]), text];
}
