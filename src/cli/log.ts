// The log of a server on standard error: lines of JSON, or text for a person at a terminal.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Logger } from '../service/logger.ts';

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
  let section = '';
  for (const [index, raw] of readFileSync(path, 'utf8').split('\n').entries()) {
    const line = raw.trim();
    section = /^\[(.+)\]$/.exec(line)?.[1] ?? section;
    if (section !== 'logging' || line === '' || /^[[#;]/.test(line)) continue;
    const [, key = '', value = ''] = /^([^=]*?)\s*=\s*(.*)$/.exec(line) ?? [];
    const name = key === 'level' ? '' : key.endsWith('.level') ? key.slice(0, -6) : undefined;
    if (name === undefined) {
      throw new Error(`${path}:${index + 1}: '${line}' is no level=… or <logger>.level=…`);
    }
    if (name.includes('::')) ignored.push(key);
    else if (name === '') level = parseLevel(value, `${path}:${index + 1}`);
    else components.set(name, parseLevel(value, `${path}:${index + 1}`));
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
    { level, base: null, timestamp, messageKey: 'msg' },
    isText
      ? { write: (line) => writeText(line, pino.levels.labels) }
      : pino.destination({ dest: 2, sync: true }),
  );
}

function writeText(line: string, levelNames: Readonly<Record<number, string>>): void {
  const { time, level, msg, logger, err } = JSON.parse(line) as {
    readonly time: string;
    readonly level: number;
    readonly msg: string;
    readonly logger?: string;
    readonly err?: { readonly stack?: string };
  };
  const name = levelNames[level] ?? level;
  const component = logger === undefined ? '' : ` ${logger}`;
  const stack = err?.stack === undefined ? '' : `\n${err.stack}`;
  process.stderr.write(`${time} ${name}${component}: ${msg}${stack}\n`);
}
