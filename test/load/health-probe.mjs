// Asks for the health of a server every few milliseconds, from a process that does nothing else,
// and, at other times, for the constant answer of a bare server in another process that does nothing
// else either: what that takes longer is the machine's doing.
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { Connection } from './connection.mjs';

const INTERVAL_MS = 10;

if (process.argv[2] === 'bare') serveBare();
else await probe(process.argv[2]);

function serveBare() {
  const server = createServer((_, response) => response.end('{"status":"ok"}'));
  server.listen(0, '127.0.0.1', () => {
    process.send(`http://127.0.0.1:${server.address().port}`);
  });
  process.on('disconnect', () => process.exit());
}

async function probe(origin) {
  const bare = fork(import.meta.filename, ['bare']);
  const bareOrigin = await new Promise((resolve) => bare.once('message', resolve));
  const times = { health: [], bare: [] };
  const failures = [];
  let isOver = false;
  process.once('message', () => {
    isOver = true;
  });
  const health = new Connection(origin);
  const constant = new Connection(bareOrigin);
  await health.send('GET', '/v1/health');
  await constant.send('GET', '/');
  process.send('ready');
  while (!isOver) {
    times.health.push(await timeOf(() => health.send('GET', '/v1/health'), failures));
    await pause();
    times.bare.push(await timeOf(() => constant.send('GET', '/'), failures));
    await pause();
  }
  bare.disconnect();
  process.send({ health: summary(times.health), bare: summary(times.bare), failures }, () =>
    process.exit(),
  );
}

async function timeOf(ask, failures) {
  const start = performance.now();
  try {
    const { status, text } = await ask();
    if (status !== 200 || !text.includes('"status":"ok"')) failures.push(`${status} ${text}`);
  } catch (error) {
    failures.push(error.message);
  }
  return performance.now() - start;
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, INTERVAL_MS / 2));
}

/** Milliseconds. */
function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] * 100) / 100;
  return { count: times.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
