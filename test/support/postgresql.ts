// A PostgreSQL server of its own for a test file: Debian's, in a temporary folder.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';

const VERSIONS = '/usr/lib/postgresql';
export const PASSWORD = 'lozenge';

export interface PostgresqlServer {
  readonly port: number;
  readonly client: pg.Client;
  stop(): Promise<void>;
}

/** The folder of its programs. */
export function findPostgresql(): string | undefined {
  try {
    const [version] = readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a));
    const folder = join(VERSIONS, version ?? '', 'bin');
    return readdirSync(folder).includes('initdb') ? folder : undefined;
  } catch {
    return undefined;
  }
}

export async function startPostgresql(): Promise<PostgresqlServer> {
  const programs = findPostgresql() as string;
  const folder = mkdtempSync(join(tmpdir(), 'rowan-postgresql-'));
  const owner = unprivileged();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const secret = join(folder, 'secret');
  writeFileSync(secret, PASSWORD);
  if (owner.uid !== undefined) chownSync(secret, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const options = ['-D', data, '-U', 'ann', '--pwfile', secret, '-A', 'scram-sha-256'];
  const encoding = ['-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  execFileSync(join(programs, 'initdb'), [...options, ...encoding], { ...owner, stdio: 'ignore' });
  const port = await freePort();
  const server = spawn(
    join(programs, 'postgres'),
    [
      ...['-D', data, '-p', String(port), '-k', folder],
      ...['-c', 'listen_addresses=127.0.0.1', '-F'],
    ],
    { ...owner, stdio: 'ignore' },
  );
  const client = await connected(server, port);
  return {
    port,
    client,
    async stop() {
      await client.end();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server refuses to run as root. */
function unprivileged():
  | { readonly uid?: number; readonly gid: number }
  | { uid?: undefined; gid: number } {
  if (process.getuid?.() !== 0) return { gid: process.getgid?.() ?? 0 };
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres']));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function connected(server: ChildProcess, port: number): Promise<pg.Client> {
  const settings = { host: '127.0.0.1', port, user: 'ann', password: PASSWORD };
  for (;;) {
    if (server.exitCode !== null) throw new Error('PostgreSQL did not start');
    const client = new pg.Client({ ...settings, database: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch {
      await pause(50);
    }
  }
}
