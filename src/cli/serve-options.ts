// Options of `rowan serve` on the command line, in the environment and in a configuration file, in
// that order of precedence.
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  defaultText,
  environmentName,
  readOption,
  SERVER_OPTIONS,
  type ServerOption,
} from '../schema/server-options.ts';
import { readConfigFile } from './config-file.ts';

/** Options with their names in programs. */
const OPTIONS: readonly (readonly [name: string, option: ServerOption])[] =
  Object.entries(SERVER_OPTIONS);

/** Adds a flag for each option of the server; the help tells of variables and of the file. */
export function addServeOptions(command: Command): Command {
  for (const [name, option] of OPTIONS) {
    command.addOption(commandOption(name, option));
    if (option.alias !== undefined) addAlias(command, name, option, option.alias);
  }
  return command
    .hook('preAction', () => applyEnvironmentSwitches(command))
    .configureHelp({ optionDescription: (each) => each.description })
    .addHelpText('after', ENVIRONMENT_NOTE);
}

const ENVIRONMENT_NOTE = `
Each option is also read from the environment, for instance --data-dir from
ROWAN_DATA_DIR, and from the file of --config-path, as data-dir=/srv/rowan.`;

function commandOption(name: string, option: ServerOption): Option {
  const { flag, short, kind, placeholder, description } = option;
  const value = placeholder.startsWith('[') ? placeholder : `<${placeholder}>`;
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}`;
  const isSwitch = kind === 'switch';
  const usual = defaultText(option);
  const made = new Option(
    isSwitch ? flags : `${flags} ${value}`,
    usual === '' ? description : `${description} (default: ${usual})`,
  );
  // Commander would name the value after the flag; programs know it by its name in the table.
  made.attributeName = () => name;
  if (option.default !== undefined) made.default(option.default);
  if (isSwitch) return made;
  if (kind === 'boolean') made.preset('yes');
  // In the environment switches say yes or no, where their presence alone would switch them on.
  return made.env(environmentName(option)).argParser(parser(option));
}

/** Reads one value; those of a list are collected. */
function parser(option: ServerOption): (text: string, previous: unknown) => unknown {
  return (text, previous) => {
    try {
      const value = readOption(option, text);
      return option.kind === 'list' ? [...(previous as readonly unknown[]), value] : value;
    } catch (thrown) {
      throw new InvalidArgumentError((thrown as Error).message);
    }
  };
}

/** Another name; both may be given. */
function addAlias(command: Command, name: string, option: ServerOption, alias: string): void {
  const read = parser(option);
  command.addOption(new Option(`--${alias} <${option.placeholder}>`).hideHelp());
  command.on(`option:${alias}`, (text: string) => {
    const value = read(text, command.getOptionValue(name));
    command.setOptionValueWithSource(name, value, 'cli');
  });
}

function applyEnvironmentSwitches(command: Command): void {
  for (const [name, option] of OPTIONS) {
    const variable = environmentName(option);
    const text = process.env[variable];
    const isGiven = command.getOptionValueSource(name) === 'cli';
    if (option.kind !== 'switch' || text === undefined || isGiven) continue;
    try {
      command.setOptionValueWithSource(name, readOption(option, text), 'env');
    } catch {
      command.error(`error: ${variable}: '${text}' is neither yes nor no`);
    }
  }
}

/**
 * Applies the options of a file that neither command line nor environment set.
 * @throws Error naming the line, for an option that is unknown or a value that it does not take
 */
export function applyConfigFile(command: Command, path: string): void {
  const known = new Map(
    OPTIONS.flatMap(([name, option]) =>
      [option.flag, ...(option.alias === undefined ? [] : [option.alias])].map(
        (flag) => [flag, [name, option] as const] as const,
      ),
    ),
  );
  for (const { section, name, value, place } of readConfigFile(path)) {
    if (section !== 'options') continue;
    const found = known.get(name);
    if (found === undefined) throw new Error(`${place}: '${name}' is no option of rowan serve`);
    const [key, option] = found;
    const source = command.getOptionValueSource(key);
    if (source === 'cli' || source === 'env') continue;
    try {
      const read = parser(option)(value, command.getOptionValue(key));
      command.setOptionValueWithSource(key, read, 'config');
    } catch (thrown) {
      throw new Error(`${place}: ${name}: ${(thrown as Error).message}`);
    }
  }
}
