// `rowan serve --replicas 2`: one port, three processes, one truth.
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { HttpClient, type HttpReply } from '../../support/http.ts';
import { ServerProcess } from '../../support/server-process.ts';

// Each server is three processes, and machines that test are busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const REPLICAS = ['--replicas', '2', '--workers', '1', '--memory', '600M'];

let folder: string;
let server: ServerProcess;

interface ReplicaHealth {
  readonly number: number;
  readonly state: string;
  readonly pid: number;
  readonly restarts: number;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rowan-replica-'));
  server = await ServerProcess.start(['--data-dir', join(folder, 'data'), ...REPLICAS]);
  await allWork(server);
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Over a connection of its own, so that another process may answer each time. */
async function send(
  verb: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<HttpReply> {
  const client = new HttpClient(server.origin);
  try {
    return await client.send(verb, path, body, headers);
  } finally {
    client.close();
  }
}

async function ok(verb: string, path: string, body?: unknown): Promise<unknown> {
  const reply = await send(verb, path, body);
  expect(reply.status < 300 ? '' : reply.text).toBe('');
  return reply.text === '' ? undefined : JSON.parse(reply.text);
}

async function health(of: ServerProcess): Promise<readonly ReplicaHealth[]> {
  const reply = await fetch(`${of.origin}/v1/health`);
  return ((await reply.json()) as { replicas: ReplicaHealth[] }).replicas;
}

async function allWork(of: ServerProcess): Promise<readonly ReplicaHealth[]> {
  return vi.waitFor(
    async () => {
      const replicas = await health(of);
      expect(replicas.map(({ state }) => state)).toEqual(['ok', 'ok']);
      return replicas;
    },
    { timeout: 60_000, interval: 50 },
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function answeredByReplicas(): Promise<number> {
  const { text } = await send('GET', '/v1/metrics');
  return Number(/^rowan_replica_requests_total\{answered="replica"\} (\d+)$/m.exec(text)?.[1]);
}

const APPLY = '/v1/functions/double/application?input=%7B%22x%22%3A21%7D';
const double = (expression: string) =>
  ok('PUT', '/v1/functions/double', {
    type: 'sql.expression',
    params: { expression, prepared: true },
  });

test('replicas give the answers of the primary', async () => {
  await double('x * 2 AS y');
  await ok('PUT', '/v1/functions/total', {
    type: 'sql.expression',
    params: { expression: 'horizontal_sum(x)', prepared: true, raw: true, autoInput: true },
  });
  await ok('PUT', '/v1/datasets/d', { type: 'tabular' });
  const rows = Array.from({ length: 500 }, (_, i) => [`r${i}`, [['n', i, 0]]]);
  await ok('POST', '/v1/datasets/d/multirows', rows);
  await ok('POST', '/v1/datasets/d/commit', {});
  await ok('PUT', '/v1/functions/largest', {
    type: 'sql.query',
    params: { query: 'SELECT max(n) AS m FROM d WHERE n < $limit' },
  });
  const before = await answeredByReplicas();
  for (let i = 0; i < 4; i++) {
    expect(await ok('GET', APPLY)).toEqual({ output: { y: 42 } });
    expect(await ok('POST', '/v1/functions/total/batch', { input: [[1, 2], [], [3]] })).toEqual([
      ...[3, 0, 3],
    ]);
    expect(await ok('POST', '/v1/query', { q: 'SELECT sum(n) FROM d', format: 'atom' })).toBe(
      124_750,
    );
    expect(await ok('GET', '/v1/datasets/d/rows?limit=2')).toHaveLength(2);
    expect(
      await ok('GET', '/v1/functions/largest/application?input=%7B%22limit%22%3A9%7D'),
    ).toEqual({ output: { m: 8 } });
    const redirected = { target: '/v1/query', body: { q: 'SELECT 1 AS x', format: 'aos' } };
    expect(await ok('POST', '/v1/redirect/get', redirected)).toMatchObject([{ x: 1 }]);
    const lines = await send('POST', '/v1/functions/double/stream', { x: 4 });
    expect(lines.text).toBe('{"y":8}\n');
  }
  // One that has just been told of a write may pass a request on.
  expect((await answeredByReplicas()) - before).toBeGreaterThan(20);
});

test('what only the primary knows, it answers', async () => {
  await ok('PUT', '/v1/datasets/now', {
    type: 'sparse.mutable',
    params: { consistencyLevel: 'consistentAfterWrite' },
  });
  const code = 'return x + 1;';
  for (let i = 0; i < 6; i++) {
    await ok('POST', '/v1/datasets/now/rows', { rowName: `r${i}`, columns: [['n', i, 0]] });
    expect(await ok('GET', '/v1/query?q=SELECT+count(*)+FROM+now&format=atom')).toBe(i + 1);
    expect(await ok('GET', '/v1/datasets')).toContain('now');
    const q = `SELECT try(jseval('${code}', 'x', ${i}), 'nobody')`;
    expect(await ok('POST', '/v1/query', { q, format: 'atom' })).toBe(i + 1);
    expect(await send('GET', '/v1/query?q=SELECT+none(1)')).toMatchObject({ status: 400 });
    expect(await send('GET', '/v1/functions/none/application')).toMatchObject({ status: 404 });
  }
  await ok('PUT', '/v1/datasets/lost', { type: 'tabular', persistent: false });
  for (let i = 0; i < 4; i++) {
    expect(await ok('GET', '/v1/query?q=SELECT+count(*)+FROM+lost&format=atom')).toBe(0);
  }
});

test('a write that was acknowledged is seen by every connection', async () => {
  await ok('PUT', '/v1/datasets/seen', { type: 'sparse.mutable' });
  for (let i = 0; i < 50; i++) {
    await double(`x + ${i} AS y`);
    expect(await ok('GET', APPLY)).toEqual({ output: { y: 21 + i } });
    if (i % 5 !== 0) continue;
    await ok('POST', '/v1/datasets/seen/rows', { rowName: `r${i}`, columns: [['n', i, 0]] });
    await ok('POST', '/v1/datasets/seen/commit', {});
    expect(await ok('GET', '/v1/query?q=SELECT+count(*)+FROM+seen&format=atom')).toBe(i / 5 + 1);
  }
  await ok('DELETE', '/v1/functions/double');
  for (let i = 0; i < 4; i++) expect((await send('GET', APPLY)).status).toBe(404);
  await ok('DELETE', '/v1/datasets/seen');
  for (let i = 0; i < 4; i++) {
    expect((await send('GET', '/v1/query?q=SELECT+*+FROM+seen')).status).toBe(404);
  }
});

test('prepared functions stay bound to what there was', async () => {
  const put = (id: string, expression: string) =>
    ok('PUT', `/v1/functions/${id}`, {
      type: 'sql.expression',
      params: { expression, prepared: true },
    });
  await put('inner', 'x + 1 AS y');
  await put('outer', 'inner({x})[y] * 10 AS z');
  await put('inner', 'x + 2 AS y');
  // A replica that starts now finds only the second form.
  const [first] = await health(server);
  process.kill((first as ReplicaHealth).pid, 'SIGKILL');
  await vi.waitFor(async () => expect((await health(server))[0]?.restarts).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 50,
  });
  await allWork(server);
  for (let i = 0; i < 4; i++) {
    const reply = await ok('GET', '/v1/functions/outer/application?input=%7B%22x%22%3A1%7D');
    expect(reply).toEqual({ output: { z: 20 } });
  }
});

test('a replica that dies is replaced, and nobody waits for it', async () => {
  const before = await allWork(server);
  for (const { pid } of before) process.kill(pid, 'SIGKILL');
  await sleep(20);
  for (let i = 0; i < 10; i++) expect(await ok('GET', '/v1/query?q=SELECT+1&format=atom')).toBe(1);
  const after = await vi.waitFor(
    async () => {
      const replicas = await allWork(server);
      const pids = replicas.map(({ pid }) => pid);
      for (const { pid } of before) expect(pids).not.toContain(pid);
      return replicas;
    },
    { timeout: 60_000, interval: 50 },
  );
  expect(after.map(({ number }) => number)).toEqual([1, 2]);
  expect(server.log).toContain('is started again');
});

test('a silent replica gets no connections until it has caught up', async () => {
  const [first] = await allWork(server);
  const { pid } = first as ReplicaHealth;
  process.kill(pid, 'SIGSTOP');
  try {
    // One of two is given to the replica that sleeps, which has it when it wakes up.
    const asked = [1, 2].map((n) => ok('GET', `/v1/query?q=SELECT+${n}&format=atom`));
    await sleep(1000);
    const { replicas } = (await ok('GET', '/v1/health')) as { replicas: ReplicaHealth[] };
    expect(replicas[0]?.state).toBe('silent');
    for (let i = 0; i < 4; i++) {
      await double(`x + ${i} AS y`);
      expect(await ok('GET', APPLY)).toEqual({ output: { y: 21 + i } });
    }
    process.kill(pid, 'SIGCONT');
    expect(await Promise.all(asked)).toEqual([1, 2]);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect((await allWork(server))[0]?.pid).toBe(pid);
});

test('bodies stream through, and wait to be asked for', async () => {
  await ok('PUT', '/v1/datasets/big', { type: 'sparse.mutable' });
  const count = 20_000;
  const hasContinue = await new Promise<boolean>((resolve, reject) => {
    let wasAsked = false;
    const outgoing = request(`${server.origin}/v1/datasets/big/multirows`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/x-ndjson', expect: '100-continue' },
    });
    outgoing.on('continue', () => {
      wasAsked = true;
      for (let i = 0; i < count; i++) {
        outgoing.write(`{"rowName":"r${i}","columns":[["text","${'x'.repeat(100)}",0]]}\n`);
      }
      outgoing.end();
    });
    outgoing.on('response', (reply) => {
      reply.resume();
      reply.on('end', () =>
        reply.statusCode === 200 ? resolve(wasAsked) : reject(new Error(`${reply.statusCode}`)),
      );
    });
    outgoing.on('error', reject);
    outgoing.flushHeaders();
  });
  expect(hasContinue).toBe(true);
  await ok('POST', '/v1/datasets/big/commit', {});
  expect(await ok('GET', '/v1/query?q=SELECT+count(*)+FROM+big&format=atom')).toBe(count);
});

test('events of a run arrive while it works', async () => {
  await ok('PUT', '/v1/procedures/p', {
    type: 'transform',
    params: {
      inputData: 'SELECT 1 AS x',
      outputDataset: 'made',
    },
  });
  await ok('PUT', '/v1/procedures/p/runs/r', {});
  const { text, headers } = await send('GET', '/v1/procedures/p/runs/r/events');
  expect(headers['content-type']).toContain('text/event-stream');
  expect(text).toContain('event: result');
  expect(await ok('GET', '/v1/query?q=SELECT+x+FROM+made&format=atom')).toBe(1);
});

test('keys hold from the moment they are made until they are revoked', async () => {
  const own = await ServerProcess.start(['--data-dir', join(folder, 'keyed'), ...REPLICAS], []);
  const ask = async (key: string | undefined, path = '/v1/query?q=SELECT+1&format=atom') => {
    const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key };
    const { status } = await fetch(own.origin + path, {
      headers: { ...headers, connection: 'close' },
    });
    return status;
  };
  try {
    await allWork(own);
    const make = async (role: string, key?: string) => {
      const reply = await fetch(`${own.origin}/v1/keys`, {
        method: 'POST',
        body: JSON.stringify({ role }),
        headers: key === undefined ? {} : { 'x-api-key': key },
      });
      return (await reply.json()) as { id: string; key: string };
    };
    const admin = await make('admin');
    const reader = await make('reader', admin.key);
    for (let i = 0; i < 4; i++) {
      expect(await ask(undefined)).toBe(401);
      expect(await ask(reader.key)).toBe(200);
      expect(await ask(reader.key, '/v1/keys')).toBe(403);
    }
    await fetch(`${own.origin}/v1/keys/${reader.id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': admin.key },
    });
    for (let i = 0; i < 4; i++) expect(await ask(reader.key)).toBe(401);
  } finally {
    await own.stop();
  }
});

test('what replicas pass on does not count among the connections of clients', async () => {
  const args = ['--data-dir', join(folder, 'few'), ...REPLICAS, '--max-connections', '4'];
  const own = await ServerProcess.start(args);
  const { port } = new URL(own.origin);
  const count = 40;
  for (let i = 0; i < 3; i++) {
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (part) => {
      received += part.toString('latin1');
    });
    socket.write('GET /v1/plugins HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count));
    const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
    await expect.poll(statuses, { timeout: 10_000 }).toEqual(Array(count).fill('200'));
    socket.destroy();
  }
  expect(await own.stop()).toBe(0);
});

test('replicas end with their primary, however it ends', async () => {
  const args = ['--data-dir', join(folder, 'ending'), ...REPLICAS];
  for (const end of ['kill', 'stop'] as const) {
    const own = await ServerProcess.start(args);
    const pids = (await allWork(own)).map(({ pid }) => pid);
    const code = await own[end]();
    if (end === 'stop') expect(code).toBe(0);
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 10_000 });
  }
});
