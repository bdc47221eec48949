// The options of a server, declared once: the flags of `rowan serve`, the variables of the
// environment, the lines of a configuration file, `Rowan.open`, `listen` and the reference.
// Plain data without libraries, since every command reads it at its start.
import { availableParallelism } from 'node:os';

/** How the text of a flag, a variable or a line becomes a value. */
export type OptionKind =
  | 'text'
  | 'list'
  | 'count'
  | 'bytes'
  | 'milliseconds'
  | 'seconds'
  | 'boolean'
  | 'switch'
  | 'ports'
  | 'choice';

/** One option; its name in programs is its key in the table. */
export interface ServerOption<Value = unknown> {
  readonly kind: OptionKind;
  /** name on the command line, in files and, in capitals, in the environment */
  readonly flag: string;
  readonly short?: string;
  /** another name on the command line and in files */
  readonly alias?: string;
  /** what stands for the value in the help; switches have none */
  readonly placeholder: string;
  readonly description: string;
  /** undefined: something that only the service can find out, see `defaultText` */
  readonly default: Value;
  /** the default as it would be written */
  readonly defaultText?: string;
  /** of `choice` */
  readonly choices?: readonly string[];
  /** of `count`: the smallest that is accepted; default 1 */
  readonly minimum?: number;
}

type Shape = Pick<ServerOption, 'flag' | 'short' | 'alias' | 'defaultText' | 'description'>;

/** An option that is read as another type than its text; without a default it may be undefined. */
function reading<Read>(kind: OptionKind, usual: string) {
  return <const Default extends Read | undefined = undefined>(
    options: Shape & {
      readonly placeholder?: string;
      readonly default?: Default;
      readonly minimum?: number;
    },
  ): ServerOption<Default extends undefined ? Read | undefined : Read> => ({
    kind,
    placeholder: usual,
    ...options,
    default: options.default as Default extends undefined ? Read | undefined : Read,
  });
}

const text = reading<string>('text', 'text');
const count = reading<number>('count', 'n');
const bytes = reading<number>('bytes', 'bytes');
const milliseconds = reading<number>('milliseconds', 'ms');
const seconds = reading<number>('seconds', 'seconds');
/** Takes a value: yes or no. */
const boolean = reading<boolean>('boolean', 'bool');
const ports = reading<readonly number[]>('ports', 'port');

/** On the command line its presence says yes. */
function toggle(options: Shape): ServerOption<boolean> {
  return { kind: 'switch', placeholder: '', ...options, default: false };
}

/** May be given several times. */
function list(options: Shape & { readonly placeholder: string }): ServerOption<readonly string[]> {
  return { kind: 'list', ...options, default: [] };
}

function choice<const Choice extends string>(
  choices: readonly Choice[],
  options: Shape & { readonly placeholder: string },
): ServerOption<Choice | undefined>;
function choice<const Choice extends string>(
  choices: readonly Choice[],
  options: Shape & { readonly placeholder: string; readonly default: Choice },
): ServerOption<Choice>;
function choice(
  choices: readonly string[],
  options: Shape & { readonly placeholder: string; readonly default?: string },
): ServerOption<string | undefined> {
  return { kind: 'choice', choices, ...options, default: options.default };
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** What `Rowan.open` takes by the same names. */
export const OPEN_OPTIONS = {
  workers: count({
    flag: 'workers',
    description: 'threads that one query or training may use',
    defaultText: 'all cores',
  }),
  memoryBytes: bytes({
    flag: 'memory',
    description: 'bytes that all columns may take, K M G accepted',
    defaultText: '70 %',
  }),
  uploadQuotaBytes: bytes({
    flag: 'upload-quota',
    description: 'bytes that all uploaded files may take, K M G accepted',
    default: 10 * GIB,
    defaultText: '10G',
  }),
  spoolBytes: bytes({
    flag: 'spool-bytes',
    description: 'results on disk that wait for slow clients, all together',
    default: 4 * GIB,
    defaultText: '4G',
  }),
  runOnCreation: boolean({
    flag: 'run-on-creation-default',
    description: 'whether procedures run when they are created',
    default: false,
  }),
  columnOrder: choice(['select', 'name'], {
    flag: 'column-order',
    placeholder: 'order',
    description: 'columns of answers: as selected, or by their names',
    default: 'select',
  }),
  strictSql: toggle({ flag: 'strict-sql', description: 'refuse queries that are warned about' }),
  startsAnew: toggle({
    flag: 'new',
    description: 'start empty: what the data directory holds is moved to its folder lost+found',
  }),
  credentialsPath: text({
    flag: 'credentials-path',
    short: 'c',
    placeholder: 'dir',
    description: 'where credentials are kept',
    defaultText: 'in the data dir',
  }),
  credentialUrls: list({
    flag: 'add-credentials-from-url',
    alias: 'add-credentials-url',
    placeholder: 'url',
    description: 'URL of credentials; may be repeated',
  }),
  pluginDirectories: list({
    flag: 'plugin-directory',
    placeholder: 'url',
    description: 'folder of plugins to load at start; may be repeated',
  }),
};

/** What `listen` takes by the same names. */
export const LISTEN_OPTIONS = {
  ports: ports({
    flag: 'http-listen-port',
    short: 'p',
    alias: 'port',
    description: 'port, or a range of which the first free one is taken',
    default: range(11_700, 18_000),
    defaultText: '11700-18000',
  }),
  host: text({
    flag: 'http-listen-host',
    short: 'h',
    placeholder: 'host',
    description: 'address to listen on; * for all',
    default: '127.0.0.1',
  }),
  baseUrl: text({
    flag: 'http-base-url',
    placeholder: 'url',
    description: 'put before links into /doc and /resources, and in place of {{HTTP_BASE_URL}}',
    default: '',
  }),
  assetsPath: text({
    flag: 'static-assets-path',
    placeholder: 'dir',
    description: 'folder served under /resources',
  }),
  docPath: text({
    flag: 'static-doc-path',
    placeholder: 'dir',
    description: 'folder served under /doc instead of the shipped pages',
  }),
  hasConsole: boolean({
    flag: 'console',
    description: 'whether browsers find the console at /',
    default: true,
  }),
  hidesInternalEntities: toggle({
    flag: 'hide-internal-entities',
    description: 'leave types for tests and tools out of the documentation',
  }),
  hasAccessLog: toggle({ flag: 'enable-access-log', description: 'log each request' }),
  corsOrigins: list({
    flag: 'cors-origin',
    placeholder: 'origin',
    description: 'origin that browsers may call from; may be repeated',
  }),
  allowUnauthenticated: toggle({
    flag: 'allow-unauthenticated',
    description: 'serve a public address without API keys',
  }),
  bodyBytesMax: bytes({
    flag: 'max-body-bytes',
    description: 'largest request body',
    default: 256 * MIB,
    defaultText: '256M',
  }),
  bodyMemoryBytes: bytes({
    flag: 'body-memory',
    description: 'bodies of all requests together, decompressed',
    default: GIB,
    defaultText: '1G',
  }),
  headerBytesMax: bytes({
    flag: 'max-header-bytes',
    description: 'largest request line and headers',
    default: MIB,
    defaultText: '1M',
  }),
  queryTimeoutMs: milliseconds({
    flag: 'query-timeout',
    description: 'longest time of a query',
    defaultText: 'none',
  }),
  heavyCountMax: count({
    flag: 'max-concurrent-queries',
    description: 'heavy requests at the same time',
    default: 4 * availableParallelism(),
    defaultText: '4 for each core',
  }),
  connectionCountMax: count({
    flag: 'max-connections',
    description: 'connections at the same time; those beyond get 503',
    default: 20_000,
  }),
  headersTimeoutMs: milliseconds({
    flag: 'headers-timeout',
    description: 'longest time until the headers of a request have come',
    default: 60_000,
  }),
  bodyIdleTimeoutMs: milliseconds({
    flag: 'body-idle-timeout',
    description: 'longest silence within the body of a request',
    default: 30_000,
  }),
  replyIdleTimeoutMs: milliseconds({
    flag: 'reply-idle-timeout',
    description: 'longest time in which a client takes nothing of a reply',
    default: 30_000,
  }),
  keepAliveTimeoutMs: milliseconds({
    flag: 'keep-alive-timeout',
    description: 'longest time between two requests of a connection',
    default: 65_000,
  }),
  streamMinRate: bytes({
    flag: 'stream-min-rate',
    description: 'a second, over a minute: clients that take less of a reply are given up',
    default: 1024,
    defaultText: '1K',
  }),
  shutdownGraceSeconds: seconds({
    flag: 'shutdown-grace',
    description: 'time that requests in flight get at the end',
    default: 30,
  }),
};

/** What only the command takes. */
export const COMMAND_OPTIONS = {
  dataDir: text({
    flag: 'data-dir',
    placeholder: 'dir',
    description: 'where everything durable is kept; none: nothing is',
    default: './rowan_data',
  }),
  configPath: text({
    flag: 'config-path',
    placeholder: 'file',
    description: 'INI file of options; the command line wins',
  }),
  threadCount: count({
    flag: 'num-threads',
    short: 't',
    description: 'accepted for compatibility; --workers sets the threads',
    // Fewer request threads than this make no server.
    minimum: 4,
  }),
  replicaCount: count({
    flag: 'replicas',
    description:
      'processes that answer queries and function calls beside this one, from its data directory',
  }),
  watchdogSeconds: seconds({
    flag: 'watchdog-timeout',
    description: 'end with exit code 1 after so long; -1: never',
    default: -1,
  }),
  cacheDir: text({
    flag: 'cache-dir',
    placeholder: 'dir',
    description: 'keep copies of files read from http(s) and S3, asked about at each use',
    defaultText: 'none',
  }),
  cacheBytesMax: bytes({
    flag: 'cache-size',
    description: 'most that these copies may take, least used go first',
    default: 10 * GIB,
    defaultText: '10G',
  }),
  fileRoots: list({
    flag: 'file-root',
    placeholder: 'dir',
    description: 'limit file:// to this folder; may be repeated',
  }),
  allowPrivateUrls: toggle({
    flag: 'allow-private-urls',
    description: 'let http(s), s3 and sftp reach this machine from a public address',
  }),
  credentials: list({
    flag: 'add-credential',
    placeholder: 'json',
    description: 'a credential; may be repeated',
  }),
  scriptTimeoutMs: milliseconds({
    flag: 'script-timeout',
    description: 'longest time of a script',
    defaultText: '30000 for handlers and programs of plugins, else none',
  }),
  scriptMemoryBytes: bytes({
    flag: 'script-memory',
    description: 'largest memory of a script',
    defaultText: '512M',
  }),
  runScript: text({
    flag: 'run-script',
    placeholder: 'script',
    description: 'run a script (path or URL ending in .js), then exit',
  }),
  scriptArgs: text({
    flag: 'script-args',
    placeholder: 'json',
    description: 'arguments of the script',
  }),
  scriptArgsUrl: text({
    flag: 'script-args-url',
    placeholder: 'url',
    description: 'URL of the arguments of the script; wins',
  }),
  mutesFinalOutput: toggle({
    flag: 'mute-final-output',
    description: 'do not print the reply of a script that failed',
  }),
  servesAfterScript: boolean({
    flag: 'dont-exit-after-script',
    placeholder: '[yes]',
    description: 'keep serving after the script',
    default: false,
  }),
  shutdownWaitsForRuns: toggle({
    flag: 'shutdown-wait-runs',
    description: 'let active runs finish in that time too',
  }),
  opensConsole: toggle({
    flag: 'open',
    description: 'open the console in the browser of this machine',
  }),
  logFormat: choice(['json', 'text'], {
    flag: 'log-format',
    placeholder: 'format',
    description: 'json or text',
    defaultText: 'text on a terminal',
  }),
};

/** All of them, by their names in programs. */
export const SERVER_OPTIONS = { ...LISTEN_OPTIONS, ...OPEN_OPTIONS, ...COMMAND_OPTIONS };

/** The values of a table of options by name. */
export type OptionValues<Table extends Readonly<Record<string, ServerOption>>> = {
  readonly [Name in keyof Table]: Table[Name]['default'];
};

export type ServerOptions = OptionValues<typeof SERVER_OPTIONS>;

/** What a table says when nothing is given. */
export function optionDefaults<Table extends Readonly<Record<string, ServerOption>>>(
  table: Table,
): OptionValues<Table> {
  const entries = Object.entries(table).map(([name, option]) => [name, option.default]);
  return Object.fromEntries(entries) as OptionValues<Table>;
}

/** The variable of the environment that sets an option. */
export function environmentName({ flag }: ServerOption): string {
  return `ROWAN_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** The default as one would write it; empty when there is none to tell. */
export function defaultText(option: ServerOption): string {
  if (option.defaultText !== undefined) return option.defaultText;
  const isTelling = ['string', 'number'].includes(typeof option.default) && option.default !== '';
  if (isTelling) return String(option.default);
  return option.kind === 'boolean' ? (option.default === true ? 'yes' : 'no') : '';
}

/** Timers take no more. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const UNITS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: MIB, G: GIB };

/** The value that a text stands for. @throws Error that says what is accepted */
export function readOption(option: ServerOption, given: string): unknown {
  switch (option.kind) {
    case 'text':
    case 'list':
      return given;
    case 'count':
      return readCount(given, option.minimum ?? 1);
    case 'bytes':
      return readBytes(given);
    case 'milliseconds':
      return readMilliseconds(given);
    case 'seconds':
      return readSeconds(given);
    case 'boolean':
    case 'switch':
      return readBoolean(given);
    case 'ports':
      return readPorts(given);
    case 'choice':
      return readChoice(given, option.choices ?? []);
  }
}

function readCount(given: string, minimum: number): number {
  if (!/^[1-9]\d*$/.test(given)) throw new Error('A whole number above 0.');
  if (Number(given) < minimum) throw new Error(`at least ${minimum}.`);
  return Number(given);
}

function readBytes(given: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMG]?)i?B?$/i.exec(given);
  if (match === null) throw new Error('A number of bytes such as 500M or 4G.');
  return Math.floor(Number(match[1]) * (UNITS[(match[2] as string).toUpperCase()] as number));
}

function readMilliseconds(given: string): number {
  const read = readCount(given, 1);
  if (read <= TIMER_MS_MAX) return read;
  throw new Error(`At most ${TIMER_MS_MAX} (24 days).`);
}

function readSeconds(given: string): number {
  if (!/^(-1|\d+(\.\d+)?)$/.test(given)) throw new Error('A number of seconds.');
  const limit = Math.floor(TIMER_MS_MAX / 1000);
  if (Number(given) <= limit) return Number(given);
  throw new Error(`At most ${limit} (24 days).`);
}

function readBoolean(given: string): boolean {
  if (/^(yes|true|1|on)$/i.test(given)) return true;
  if (/^(no|false|0|off)$/i.test(given)) return false;
  throw new Error('yes or no.');
}

function readChoice(given: string, choices: readonly string[]): string {
  if (choices.includes(given)) return given;
  throw new Error(`Allowed choices are ${choices.join(', ')}.`);
}

/** One port, or the first and the last of a range. */
function readPorts(given: string): readonly number[] {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(given);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match === null || first > 65_535 || last > 65_535 || last < first) {
    throw new Error(`port '${given}' is neither a number up to 65535 nor a range like 11700-18000`);
  }
  return range(first, last);
}
