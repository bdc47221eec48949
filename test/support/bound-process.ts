// Servers of tests that end with the process that started them, however that ends.
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The shell reads its standard input, a pipe from here: it ends when this process closes it, or is
 * gone, and the shell then kills the program.
 */
const WATCHED =
  'exec 3<&0; "$@" </dev/null & program=$!; (cat <&3 >/dev/null; kill -9 $program) & wait $program';

/** Ends by `endBound`, or with this process. */
export function spawnBound(
  program: string,
  args: readonly string[],
  { cwd }: { readonly cwd: string },
): ChildProcess {
  const child = spawn('sh', ['-c', WATCHED, 'sh', program, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd,
  });
  // The shell that watches the pipe is left when the program ends by itself.
  child.once('exit', () => child.stdin?.destroy());
  return child;
}

/** Kills the program at once. */
export async function endBound(child: ChildProcess): Promise<void> {
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  const ended = hasEnded ? undefined : new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.destroy();
  await ended;
}
