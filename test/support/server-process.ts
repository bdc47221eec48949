// `rowan serve` as a process of its own, started from dist/.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { projectRoot } from './project.ts';

type ServerChild = ChildProcessByStdio<null, null, Readable>;

export class ServerProcess {
  readonly child: ServerChild;
  readonly #ready: Promise<string>;
  #log = '';
  #origin = '';

  private constructor(args: readonly string[], nodeArgs: readonly string[]) {
    this.child = spawn(
      process.execPath,
      [...nodeArgs, 'dist/cli/rowan.js', 'serve', '--http-listen-port', '0', ...args],
      { cwd: projectRoot, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.child.stderr.setEncoding('utf8');
    this.#ready = new Promise((resolve, reject) => {
      this.child.stderr.on('data', (text: string) => {
        this.#log += text;
        const found = /^http listening on (http:\S+)$/m.exec(this.#log)?.[1];
        if (found !== undefined && this.#log.includes('Rowan ready')) resolve(found);
      });
      this.child.once('exit', (code, signal) =>
        reject(new Error(`the server ended with ${code ?? signal}: ${this.#log}`)),
      );
    });
    this.#ready.catch(() => undefined); // Whoever waits for it is told.
  }

  /** Does not wait until the server answers. */
  static launch(args: readonly string[], nodeArgs: readonly string[] = []): ServerProcess {
    return new ServerProcess(args, nodeArgs);
  }

  static async start(
    args: readonly string[],
    nodeArgs: readonly string[] = [],
  ): Promise<ServerProcess> {
    const server = new ServerProcess(args, nodeArgs);
    server.#origin = await server.#ready;
    return server;
  }

  /** scheme, host and port of a server that was waited for */
  get origin(): string {
    return this.#origin;
  }

  /** everything it has written so far */
  get log(): string {
    return this.#log;
  }

  async kill(): Promise<void> {
    const ended = this.#ended();
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Asks it to end. @returns its exit code */
  async stop(): Promise<number | null> {
    const ended = this.#ended();
    this.child.kill('SIGTERM');
    await ended;
    return this.child.exitCode;
  }

  async #ended(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    await once(this.child, 'exit');
  }
}
