// `rowan check` and `rowan repair`: a data directory that no server uses.
import type { Command } from 'commander';
import { EXIT, failCommand, openFailureCode } from './exit.ts';

const load = () => import('../service/persist/directory-check.ts');

/** Adds `rowan check` and `rowan repair`. */
export function addDirectoryCommands(program: Command): void {
  program
    .command('check <dir>')
    .description('read everything in a data directory and tell what is damaged')
    .action((directory: string) =>
      run(async () => {
        const { checkDirectory } = await load();
        return checkDirectory(directory);
      }),
    );
  program
    .command('repair <dir>')
    .description('restore a damaged or missing catalogue from its last copy, and tell what is lost')
    .action((directory: string) =>
      run(async () => {
        const { repairDirectory } = await load();
        const report = await repairDirectory(directory);
        for (const line of report.done) process.stdout.write(`${line}\n`);
        return report;
      }),
    );
}

async function run(
  work: () => Promise<{
    readonly problems: readonly string[];
    readonly entityCount: number;
    readonly fileCount: number;
  }>,
): Promise<void> {
  try {
    const { problems, entityCount, fileCount } = await work();
    for (const problem of problems) process.stdout.write(`${problem}\n`);
    const verdict = problems.length === 0 ? 'all whole' : `problems: ${problems.length}`;
    process.stdout.write(`${entityCount} entities, ${fileCount} dataset files; ${verdict}\n`);
    process.exitCode = problems.length === 0 ? EXIT.ok : EXIT.failed;
  } catch (thrown) {
    failCommand(thrown, openFailureCode(thrown));
  }
}
