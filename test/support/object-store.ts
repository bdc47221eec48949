// A server that speaks S3's protocol over a folder: versitygw.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { projectRoot } from './project.ts';

/** Where `.ci/run` puts it. */
const PROGRAM = join(projectRoot, 'build/object-store/versitygw');

export interface ObjectStore {
  /** host and port */
  readonly host: string;
  readonly account: { readonly id: string; readonly secret: string };
  /** a folder for each bucket */
  readonly folder: string;
  /** Kills the server; what it holds stays. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Its path. */
export function findObjectStore(): string | undefined {
  return existsSync(PROGRAM) ? PROGRAM : undefined;
}

/** @param buckets names of buckets that are there from the start */
export async function startObjectStore(buckets: readonly string[]): Promise<ObjectStore> {
  const base = mkdtempSync(join(tmpdir(), 'rowan-object-store-'));
  const folder = join(base, 'buckets');
  const sidecar = join(base, 'facts');
  for (const made of [sidecar, ...buckets.map((name) => join(folder, name))]) {
    mkdirSync(made, { recursive: true });
  }
  const host = `127.0.0.1:${await freePort()}`;
  const account = { id: 'store-key', secret: 'store-secret' };
  const environment = {
    ...process.env,
    ROOT_ACCESS_KEY: account.id,
    ROOT_SECRET_KEY: account.secret,
  };
  const args = ['--port', host, '--quiet', 'posix', '--sidecar', sidecar, folder];
  let server: ChildProcess;
  const start = async () => {
    server = spawn(PROGRAM, args, { stdio: 'ignore', env: environment });
    await answering(server, host);
  };
  const kill = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    host,
    account,
    folder,
    kill,
    restart: start,
    async stop() {
      await kill();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

async function answering(server: ChildProcess, host: string): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('the object store did not start');
    try {
      await fetch(`http://${host}/`);
      return;
    } catch {
      await pause(20);
    }
  }
}
