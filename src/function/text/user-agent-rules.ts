// The rules by which user agents are told apart: uap-core's regexes.yaml, of which this reads the
// form that such files have: three lists of maps with scalar values.
import { failure } from '../../util/error.ts';

export type Rule = ReadonlyMap<string, string>;

export interface UserAgentRules {
  readonly user_agent_parsers: readonly Rule[];
  readonly os_parsers: readonly Rule[];
  readonly device_parsers: readonly Rule[];
}

/** @throws DATA_ERROR naming the line that is of another form */
export function readRules(text: string, url: string): UserAgentRules {
  const lists = new Map<string, Map<string, string>[]>();
  let list: Map<string, string>[] | undefined;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line) || line === '---') continue;
    const head = /^([a-z_]+):\s*(#.*)?$/.exec(line);
    if (head !== null) {
      list = [];
      lists.set(head[1] as string, list);
      continue;
    }
    const entry = /^\s+(- +)?([a-z0-9_]+):\s+(.*)$/.exec(line);
    const value = entry === null ? undefined : scalarOf(entry[3] as string);
    if (entry === null || value === undefined || list === undefined) {
      throw failure(
        'DATA_ERROR',
        `line ${index + 1} of ${url} is no rule of a user agent parser: ${line.slice(0, 200)}`,
        { url, line: index + 1 },
      );
    }
    if (entry[1] !== undefined) list.push(new Map());
    list[list.length - 1]?.set(entry[2] as string, value);
  }
  const rules = (name: string) => lists.get(name) ?? [];
  return {
    user_agent_parsers: rules('user_agent_parsers'),
    os_parsers: rules('os_parsers'),
    device_parsers: rules('device_parsers'),
  };
}

/** A quoted or plain scalar of one line, a comment behind it left out. */
function scalarOf(text: string): string | undefined {
  const single = /^'((?:[^']|'')*)'\s*(#.*)?$/.exec(text);
  if (single !== null) return (single[1] as string).replaceAll("''", "'");
  const double = /^("(?:[^"\\]|\\.)*")\s*(#.*)?$/.exec(text);
  if (double !== null) {
    try {
      return JSON.parse(double[1] as string) as string;
    } catch {
      return undefined;
    }
  }
  return /^['"]/.test(text) ? undefined : text.replace(/\s+#.*$/, '').trim();
}
