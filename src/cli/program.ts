// All commands of `rowan`.
import { Command } from 'commander';
import { packageVersion } from '../util/package-file.ts';
import { addDirectoryCommands } from './directory.ts';
import { addKeysCommand } from './keys.ts';
import { addQueryCommand } from './query.ts';
import { addRunCommand, addServeCommand } from './serve-command.ts';
import { addShellCommand } from './shell.ts';
import { addTransferCommands } from './transfer.ts';

/** The program with all its commands, ready to parse arguments. */
export function makeProgram(): Command {
  const program = new Command('rowan')
    .description('A machine-learning data service: import, query, train, serve.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this page')
    .showHelpAfterError('(rowan <command> --help lists what there is)');
  addServeCommand(program);
  addRunCommand(program);
  addQueryCommand(program);
  addShellCommand(program);
  addTransferCommands(program);
  addKeysCommand(program);
  addDirectoryCommands(program);
  return program;
}
