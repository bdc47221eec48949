// ClickHouse servers of its own for a test file: Debian's, in temporary folders.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endBound, spawnBound } from './bound-process.ts';
import { freePort } from './free-port.ts';
import { findProgram } from './services.ts';

export const PASSWORD = "lo'zenge";

export interface ClickhouseServer {
  readonly url: string;
  /** Runs a statement as the user `default`, which has no password. @returns the answer as text */
  run(sql: string): Promise<string>;
  kill(): Promise<void>;
  /** Stops the process where it is, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** the data is on a disk of that size */
  readonly diskMegabytes?: number;
}

/** A program with mounts of its own. */
const UNSHARE = ['unshare', '--map-root-user', '--mount'] as const;

/** Whether servers can have small disks here. */
export function hasSmallDisks(): boolean {
  const [program, ...args] = UNSHARE;
  const mounting = 'mount -t tmpfs -o size=1m tmpfs /mnt';
  return spawnSync(program, [...args, 'sh', '-c', mounting]).status === 0;
}

export function findClickhouse(): string | undefined {
  return findProgram('clickhouse-server');
}

/** Servers that know one another as the shards of the cluster `shards`. */
export async function startClickhouse(
  count = 1,
  options: ServerOptions = {},
): Promise<readonly ClickhouseServer[]> {
  const ports: { http: number; tcp: number }[] = [];
  for (let i = 0; i < count; i++) ports.push({ http: await freePort(), tcp: await freePort() });
  return Promise.all(
    ports.map(({ http, tcp }) =>
      start(
        http,
        tcp,
        ports.map((each) => each.tcp),
        options,
      ),
    ),
  );
}

async function start(
  http: number,
  tcp: number,
  shards: readonly number[],
  { diskMegabytes }: ServerOptions,
): Promise<ClickhouseServer> {
  const folder = mkdtempSync(join(tmpdir(), 'rowan-clickhouse-'));
  for (const name of ['data', 'tmp', 'files']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'config.xml'), configuration(folder, http, tcp, shards));
  writeFileSync(join(folder, 'users.xml'), USERS);
  const program = [
    findClickhouse() as string,
    `--config-file=${join(folder, 'config.xml')}`,
    `--pidfile=${join(folder, 'pid')}`,
  ];
  // The disk is there for the server alone, and ends with it.
  const disk = `mount -t tmpfs -o size=${diskMegabytes}m tmpfs data && exec "$@"`;
  const [command = '', ...args] =
    diskMegabytes === undefined ? program : [...UNSHARE, 'sh', '-c', disk, 'sh', ...program];
  const server = spawnBound(command, args, { cwd: folder });
  const url = `http://127.0.0.1:${http}`;
  const kill = () => endBound(server);
  const made: ClickhouseServer = {
    url,
    async run(sql) {
      const reply = await fetch(url, { method: 'POST', body: sql });
      const text = await reply.text();
      if (!reply.ok) throw new Error(text);
      return text;
    },
    kill,
    signal(signal) {
      const pid = readFileSync(join(folder, 'pid'), 'utf8');
      process.kill(Number(pid), signal);
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await answering(server, made);
  return made;
}

async function answering(server: ChildProcess, { run }: ClickhouseServer): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('ClickHouse did not start');
    try {
      await run('SELECT 1');
      return;
    } catch {
      await pause(50);
    }
  }
}

function configuration(
  folder: string,
  http: number,
  tcp: number,
  shards: readonly number[],
): string {
  const replicas = shards
    .map((port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`)
    .join('');
  return `<yandex>
    <logger><level>none</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
    <http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
    <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
    <user_files_path>${folder}/files/</user_files_path>
    <users_config>${folder}/users.xml</users_config>
    <default_profile>default</default_profile><default_database>default</default_database>
    <mark_cache_size>5368709</mark_cache_size><timezone>Europe/Berlin</timezone>
    <remote_servers><shards>${replicas}</shards></remote_servers>
  </yandex>`;
}

const USERS = `<yandex>
  <profiles><default></default></profiles>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></default>
    <ann><password>${PASSWORD}</password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></ann>
  </users>
  <quotas><default></default></quotas>
</yandex>`;
