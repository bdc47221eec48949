// The file of --config-path: options, and under [logging] the levels of the log.
import { readFileSync } from 'node:fs';

/** One `name=value` of a section; options stand before any heading. */
export interface ConfigEntry {
  readonly section: 'options' | 'logging';
  readonly name: string;
  readonly value: string;
  /** file and line, for messages */
  readonly place: string;
}

/** @throws Error naming the line, for what is neither an entry nor a known heading */
export function readConfigFile(path: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section: ConfigEntry['section'] = 'options';
  for (const [index, raw] of readText(path).split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const place = `${path}:${index + 1}`;
    const heading = /^\[(.*)\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = parseHeading(heading.trim(), place);
      continue;
    }
    const [, name, value] = /^([^=]*?)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`${place}: '${line}' is neither option=value nor a [section]`);
    }
    entries.push({ section, name, value, place });
  }
  return entries;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (thrown) {
    throw new Error(`--config-path: ${(thrown as Error).message}`);
  }
}

function parseHeading(name: string, place: string): 'logging' {
  if (name === 'logging') return name;
  throw new Error(
    `${place}: unknown section [${name}]; options stand before any section, levels under [logging]`,
  );
}
