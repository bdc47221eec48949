// Opens a page in the browser of this machine.
import { spawn } from 'node:child_process';

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Says so and goes on when there is no browser. */
export function openInBrowser(url: string): void {
  const [program = 'xdg-open', ...args] = COMMANDS[process.platform] ?? [];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', (error) => {
    process.stderr.write(`--open: ${program} cannot be started (${error.message}); open ${url}\n`);
  });
  child.unref();
}
