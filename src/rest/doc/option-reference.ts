// The page of server options, from their declarations.
import {
  COMMAND_OPTIONS,
  defaultText,
  environmentName,
  LISTEN_OPTIONS,
  OPEN_OPTIONS,
  type ServerOption,
} from '../../schema/server-options.ts';

type Table = Readonly<Record<string, ServerOption>>;

/** The reference of the options of `rowan serve`, `Rowan.open` and `listen` as Markdown. */
export function optionReference(): string {
  return `# Options of the server

Each is a flag of \`rowan serve\`, a variable of the environment, and a line \`option=value\` in the file of \`--config-path\`; the command line wins over the environment,
and that over the file. Bytes take K, M and G (powers of 1,024), booleans yes and no. In programs the options of the first table are those of
\`rowan.listen({…})\`, the options of the second those of \`Rowan.open({…})\`, by the names of the last column.

## HTTP

${tableOf(LISTEN_OPTIONS, true)}

## Service

${tableOf(OPEN_OPTIONS, true)}

## Command only

${tableOf(COMMAND_OPTIONS, false)}
`;
}

function tableOf(options: Table, hasNames: boolean): string {
  const heads = ['option', 'variable', 'what it does', 'default', ...(hasNames ? ['name'] : [])];
  const rows = Object.entries(options).map(([name, option]) => [
    flagOf(option),
    `\`${environmentName(option)}\``,
    describe(option),
    defaultText(option),
    ...(hasNames ? [`\`${name}\``] : []),
  ]);
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function flagOf({ flag, short, alias, kind, placeholder }: ServerOption): string {
  const value = placeholder.startsWith('[') ? placeholder : `<${placeholder}>`;
  const names = [short && `-${short}`, `--${flag}`, alias && `--${alias}`].filter(Boolean);
  return `\`${names.join(', ')}${kind === 'switch' ? '' : ` ${value}`}\``;
}

function describe({ description, choices, minimum }: ServerOption): string {
  if (choices !== undefined) return `${description} (${choices.join(', ')})`;
  return minimum === undefined ? description : `${description}; at least ${minimum}`;
}
