// What replicas add: batches of a forest, computed on the thread that answers, with two replicas
// and with one process. The client's share of a call is small, so that it is not the limit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from '../serving/client.mjs';

export const description = 'batches of a forest of 100 trees, on 2 replicas beside one process';

const REPLICA_COUNT = 2;
const CONNECTION_COUNT = 8;
const REQUEST_COUNT = 1500;
/** As many as are computed without a task of a worker. */
const BATCH_SIZE = 64;
const FEATURE_COUNT = 10;
const GOAL = 1 / 1.7;

export async function prepare() {
  const directory = mkdtempSync(join(tmpdir(), 'rowan-replicas-'));
  const model = join(directory, 'forest.model');
  const alone = await start(join(directory, 'alone'), []);
  await train(alone, model);
  const replicas = await start(join(directory, 'shared'), ['--replicas', String(REPLICA_COUNT)]);
  for (const server of [alone, replicas]) {
    const params = { modelFileUrl: `file://${model}` };
    await send(server, 'PUT', '/v1/functions/forest', { type: 'classifier', params });
  }
  const request = batchRequest();
  const sides = { [`${REPLICA_COUNT} replicas`]: replicas, 'one process': alone };
  const contenders = (measure) =>
    Object.fromEntries(
      Object.entries(sides).map(([name, server]) => [name, () => measure(server, request)]),
    );
  const agree = (a, b) => a === b;
  return {
    measures: [
      {
        ...{ name: 'calls a second', unit: '/s', largerIsBetter: true, goal: GOAL, agree },
        contenders: contenders(callRate),
      },
      {
        ...{ name: 'CPU time a call of each serving thread', unit: 'us', goal: GOAL, agree },
        contenders: contenders(servingTime),
      },
    ],
    async close() {
      for (const { child } of [alone, replicas]) {
        const ended = once(child, 'exit');
        child.kill();
        await ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Elements a second. */
async function callRate(server, request) {
  const startedAt = performance.now();
  const answer = await loadAll(server, request);
  const seconds = (performance.now() - startedAt) / 1000;
  return { value: (REQUEST_COUNT * BATCH_SIZE) / seconds, answer };
}

/**
 * What a call costs the threads that answer, shared among them: the limit of the rate where there
 * are cores enough for all. Other programs on the machine disturb it less than the rate.
 */
async function servingTime(server, request) {
  const pids = await server.pids();
  const before = pids.map(mainThreadMicroseconds);
  const answer = await loadAll(server, request);
  const spent = pids.map((pid, index) => mainThreadMicroseconds(pid) - before[index]);
  const total = spent.reduce((sum, time) => sum + time, 0);
  // The primary of replicas answers nothing here, and what it spends counts all the same.
  const servingCount = Math.max(1, pids.length - 1);
  return { value: total / servingCount / (REQUEST_COUNT * BATCH_SIZE), answer };
}

function loadAll({ port }, request) {
  const options = { connectionCount: CONNECTION_COUNT, requestCount: REQUEST_COUNT };
  return load({ port, request, ...options, sleeps: true });
}

/** As Linux counts it. */
function mainThreadMicroseconds(pid) {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

function batchRequest() {
  const random = randomNumbers();
  const rows = Array.from({ length: BATCH_SIZE }, () => ({ features: makeRow(random) }));
  const body = JSON.stringify({ input: rows });
  return (
    'POST /v1/functions/forest/batch HTTP/1.1\r\nHost: 127.0.0.1\r\n' +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

async function train(server, model) {
  const random = randomNumbers();
  await send(server, 'PUT', '/v1/datasets/points', { type: 'tabular' });
  const rows = Array.from({ length: 5000 }, (_, index) => {
    const row = makeRow(random);
    const label = row.f0 + row.f1 * row.f2 > 0.8 + 0.2 * random() ? 1 : 0;
    const cells = Object.entries({ ...row, label }).map(([name, value]) => [name, value, 0]);
    return [`r${index}`, cells];
  });
  await send(server, 'POST', '/v1/datasets/points/multirows', rows);
  await send(server, 'POST', '/v1/datasets/points/commit', {});
  await send(server, 'PUT', '/v1/procedures/train', {
    type: 'randomforest.binary.train',
    params: {
      trainingData: 'SELECT {* EXCLUDING (label)} AS features, label = 1 AS label FROM points',
      modelFileUrl: `file://${model}`,
      featureVectorSamplings: 10,
      featureSamplings: 10,
      maxDepth: 20,
      runOnCreation: true,
    },
  });
}

function makeRow(random) {
  const names = Array.from({ length: FEATURE_COUNT }, (_, index) => `f${index}`);
  return Object.fromEntries(names.map((name) => [name, Math.round(random() * 1e4) / 1e4]));
}

function randomNumbers() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}

async function start(dataDir, args) {
  const child = spawn(
    process.execPath,
    ['dist/cli/rowan.js', 'serve', '-p', '0', '--data-dir', dataDir, '--workers', '1', ...args],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text) => {
    log += text;
  });
  while (!log.includes('Rowan ready')) {
    if (child.exitCode !== null) throw new Error(log);
    await sleep(20);
  }
  const origin = /http listening on (http:\S+)/.exec(log)[1];
  const health = async () => (await (await fetch(`${origin}/v1/health`)).json()).replicas ?? [];
  while ((await health()).some(({ state }) => state !== 'ok')) await sleep(50);
  const pids = async () => [child.pid, ...(await health()).map(({ pid }) => pid)];
  return { child, origin, port: Number(new URL(origin).port), pids };
}

async function send({ origin }, method, path, body) {
  const reply = await fetch(origin + path, { method, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
}
