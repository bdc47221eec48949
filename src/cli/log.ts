// The log of a server on standard error: lines of JSON, or text for a person at a terminal.
import { createRequire } from 'node:module';
import type { Logger } from '../service/logger.ts';
import { readConfigFile } from './config-file.ts';

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

export interface LogLevels {
  readonly level: Level;
  /** levels of single components, by the name that their lines carry as `logger` */
  readonly components: ReadonlyMap<string, Level>;
  /** keys that are understood by older servers only */
  readonly ignored: readonly string[];
}

const DEFAULT_LEVELS: LogLevels = { level: 'info', components: new Map(), ignored: [] };

/**
 * What the section `[logging]` of a configuration file says.
 * @throws Error naming the line, for a level or key that is unknown
 */
export function readLogLevels(path: string | undefined): LogLevels {
  if (path === undefined) return DEFAULT_LEVELS;
  let { level } = DEFAULT_LEVELS;
  const components = new Map<string, Level>();
  const ignored: string[] = [];
  for (const { section, name, value, place } of readConfigFile(path)) {
    if (section !== 'logging') continue;
    const component = name === 'level' ? '' : /^(.+)\.level$/.exec(name)?.[1];
    if (component === undefined) {
      throw new Error(`${place}: '${name}' is neither level nor <logger>.level`);
    }
    if (component.includes('::')) ignored.push(name);
    else if (component === '') level = parseLevel(value, place);
    else components.set(component, parseLevel(value, place));
  }
  return { level, components, ignored };
}

function parseLevel(text: string, place: string): Level {
  const level = LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  throw new Error(`${place}: unknown log level '${text}'; accepted are ${LEVELS.join(', ')}`);
}

/** A log whose lines are kept or dropped by the level of their component. */
export function makeLogger(levels: LogLevels, isText: boolean): Logger {
  const all = [levels.level, ...levels.components.values()];
  const lowest = LEVELS[Math.min(...all.map((level) => LEVELS.indexOf(level)))] as Level;
  let sink: ReturnType<typeof openSink> | undefined;
  const at = (level: Exclude<Level, 'trace'>): Logger[typeof level] => {
    const rank = LEVELS.indexOf(level);
    return (details, message) => {
      const wanted = levels.components.get(String(details.logger ?? '')) ?? levels.level;
      if (rank < LEVELS.indexOf(wanted)) return;
      sink ??= openSink(lowest, isText);
      sink[level](details, message);
    };
  };
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  for (const key of levels.ignored) {
    logger.warn({ logger: 'cli' }, `the logging option '${key}' has no meaning here`);
  }
  return logger;
}

/** The library is loaded for the first line, at once: a log cannot wait. */
function openSink(level: Level, isText: boolean) {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino(
    { level, base: null, timestamp, messageKey: 'msg', formatters: { level: nameLevel } },
    isText ? { write: writeText } : pino.destination({ dest: 2, sync: true }),
  );
}

const nameLevel = (level: string) => ({ level });

/** What the message of a line says already. */
const IN_MESSAGE = new Set(['verb', 'path', 'status', 'script', 'kind', 'id', 'procedure', 'run']);

function writeText(line: string): void {
  const { time, level, msg, logger, err, stack, ...details } = JSON.parse(line) as {
    readonly [name: string]: unknown;
    readonly err?: { readonly code?: string; readonly message?: string; readonly stack?: string };
  };
  const component = logger === undefined ? '' : ` ${logger}`;
  // A failure with a code says all in its message; others are defects, whose place matters.
  const place = stack ?? (err?.code === undefined ? err?.stack : undefined);
  const why = err?.code === undefined ? '' : `: ${err.message}`;
  const rest = Object.entries(details)
    .filter(([name, value]) => !IN_MESSAGE.has(name) && typeof value !== 'object')
    .map(([name, value]) => ` ${name}=${value}`);
  const lines = [`${time} ${level}${component}: ${msg}${why}${rest.join('')}`];
  if (place !== undefined) lines.push(String(place));
  process.stderr.write(`${lines.join('\n')}\n`);
}
