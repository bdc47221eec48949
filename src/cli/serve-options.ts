// Options of `rowan serve`: declared once, settable on the command line, in the environment and in a
// configuration file, in that order of precedence.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePortRange } from '../rest/address.ts';

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
  readonly configPath?: string;
  readonly credentialsPath?: string;
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
  readonly memory?: number;
  readonly maxBodyBytes?: number;
  readonly maxHeaderBytes?: number;
  readonly queryTimeout?: number;
  readonly maxConcurrentQueries?: number;
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
    command.addOption(option.env(environmentName(option)));
  }
  // Another name of an option; both may be given.
  command.addOption(new Option('--add-credentials-url <url>').hideHelp());
  command.on('option:add-credentials-url', (url: string) => {
    const given = command.getOptionValue('addCredentialsFromUrl');
    command.setOptionValueWithSource('addCredentialsFromUrl', collect(url, given), 'cli');
  });
  return command
    .configureHelp({ optionDescription: describeOption })
    .addHelpText('after', ENVIRONMENT_NOTE);
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
    new Option('--cache-dir <dir>', 'accepted for compatibility: nothing is cached on disk'),
    new Option('--config-path <file>', 'INI file of options; the command line wins'),
    new Option(
      '-c, --credentials-path <dir>',
      'where credentials are kept (default: in the data dir)',
    ),
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
    new Option(
      '--memory <bytes>',
      'bytes that all columns may take, K M G accepted (default: 70 %)',
    ).argParser(readBytes),
    new Option('--max-body-bytes <bytes>', 'largest request body').argParser(readBytes),
    new Option('--max-header-bytes <bytes>', 'largest request line and headers').argParser(
      readBytes,
    ),
    new Option('--query-timeout <ms>', 'longest time of a query').argParser(readCount),
    new Option('--max-concurrent-queries <n>', 'heavy requests at the same time').argParser(
      readCount,
    ),
    new Option(
      '--script-timeout <ms>',
      'longest time of a script (default: 30000 for handlers and programs of plugins, else none)',
    ).argParser(readCount),
    new Option('--script-memory <bytes>', 'largest memory of a script').argParser(readBytes),
    new Option('--shutdown-grace <seconds>', 'time that requests in flight get at the end')
      .argParser(readSeconds)
      .default(30),
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
      'let http(s) reach this machine from a public address',
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

/** Applies `option=value` lines to options that neither command line nor environment set. */
export function applyConfigFile(command: Command, path: string): void {
  const known = new Map(command.options.map((option) => [option.long?.replace(/^--/, ''), option]));
  let section = '';
  readFileSync(path, 'utf8')
    .split('\n')
    .forEach((raw, index) => {
      const line = raw.trim();
      if (line === '' || line.startsWith('#') || line.startsWith(';')) return;
      const heading = /^\[(.+)\]$/.exec(line);
      if (heading !== null) {
        section = heading[1] as string;
        return;
      }
      // Levels of single loggers are the business of the section that names them.
      if (section !== '') return;
      const [name = '', value] = splitOnce(line, '=');
      const option = known.get(name);
      if (option === undefined || value === undefined) {
        throw new Error(`${path}:${index + 1}: '${line}' is no option=value of rowan serve`);
      }
      const key = option.attributeName();
      const source = command.getOptionValueSource(key);
      if (source !== undefined && source !== 'default') return;
      const parse = option.parseArg as ((text: string, previous: unknown) => unknown) | undefined;
      const fallback = option.isBoolean() ? readBoolean(value) : value;
      const parsed = parse === undefined ? fallback : parse(value, command.getOptionValue(key));
      command.setOptionValueWithSource(key, parsed, 'config');
    });
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  if (at === -1) return [text.trim(), undefined];
  return [text.slice(0, at).trim(), text.slice(at + separator.length).trim()];
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

function readSeconds(text: string): number {
  if (/^(-1|\d+(\.\d+)?)$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A number of seconds.');
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
