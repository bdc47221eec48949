// A ClickHouse server of its own for a suite, behind a proxy that counts the bytes of its answers.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const PROGRAM = 'clickhouse-server';

/** @throws when `clickhouse-server` is not installed */
export async function startClickhouse() {
  const folder = mkdtempSync(join(tmpdir(), 'rowan-bench-clickhouse-'));
  for (const name of ['data', 'tmp', 'files']) mkdirSync(join(folder, name));
  const [http, tcp] = [await freePort(), await freePort()];
  writeFileSync(join(folder, 'config.xml'), configuration(folder, http, tcp));
  writeFileSync(join(folder, 'users.xml'), USERS);
  const server = spawn(PROGRAM, [`--config-file=${join(folder, 'config.xml')}`], {
    stdio: 'ignore',
    cwd: folder,
  });
  const ended = new Promise((resolve, reject) => {
    server.once('exit', resolve);
    server.once('error', reject);
  });
  const url = `http://127.0.0.1:${http}`;
  const run = async (sql) => {
    const reply = await fetch(url, { method: 'POST', body: sql });
    const text = await reply.text();
    if (!reply.ok) throw new Error(text);
    return text;
  };
  const isUp = () => run('SELECT 1').then(Boolean, () => false);
  while (!(await Promise.race([isUp(), ended.then(() => 'ended')]))) await pause(50);
  if (server.exitCode !== null) throw new Error('ClickHouse did not start');
  const proxy = await countingProxy(http);
  return {
    ...proxy,
    run,
    async close() {
      proxy.close();
      server.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function countingProxy(port) {
  let byteCount = 0;
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const onward = request({ port, method, headers, path: url }, (reply) => {
      outgoing.writeHead(reply.statusCode, reply.headers);
      reply.on('data', (chunk) => {
        byteCount += chunk.length;
      });
      reply.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Bytes of answers since the last call. */
    takeByteCount() {
      const taken = byteCount;
      byteCount = 0;
      return taken;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createTcpServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function configuration(folder, http, tcp) {
  return `<yandex>
    <logger><level>none</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
    <http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
    <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
    <user_files_path>${folder}/files/</user_files_path><users_config>${folder}/users.xml</users_config>
    <default_profile>default</default_profile><default_database>default</default_database>
    <mark_cache_size>536870912</mark_cache_size>
  </yandex>`;
}

const USERS = `<yandex>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>`;
