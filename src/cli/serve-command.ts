// The commands `rowan serve` and `rowan run`; what they do is loaded when one of them is given.
import type { Command } from 'commander';
import type { ServerOptions } from '../schema/server-options.ts';
import { loadService } from './load-service.ts';
import { addServeOptions } from './serve-options.ts';

/** Adds `rowan serve` and `rowan run`. */
export function addServeCommand(program: Command): void {
  const command = program
    .command('serve', { isDefault: true })
    .description('serve the REST API and the documentation; what rowan alone does')
    .helpOption('--help', 'print this page');
  // What is no command comes here as an argument, since this is what rowan alone does.
  command.allowExcessArguments();
  addServeOptions(command).action(async () => {
    const [stray] = command.args;
    if (stray !== undefined) refuse(command, program, stray);
    await serve(command);
  });
}

/** `rowan run <script>`: the same, with a script to run. */
export function addRunCommand(program: Command): void {
  const command = program
    .command('run <script>')
    .description('run a script against a service of its own, then exit')
    .helpOption('--help', 'print this page');
  addServeOptions(command).action(async (script: string) => {
    command.setOptionValue('runScript', script);
    await serve(command);
  });
}

function refuse(command: Command, program: Command, stray: string): never {
  const names = program.commands.map((each) => each.name());
  command.error(`error: unknown command '${stray}'; there are ${names.join(', ')}`);
}

async function serve(command: Command): Promise<void> {
  const { serve } = await loadService(() => import('./serve.ts'), command.opts<ServerOptions>());
  await serve(command);
}
