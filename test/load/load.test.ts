// Many users at the same time, each on a connection of its own: mixed reads, writes and runs. Every
// reply is as it must be, memory does not grow, health answers at once, and the server ends in order
// with everything that it had. `npm run load -- --seconds 60` runs the long form.
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpClient } from '../support/http.ts';
import { ServerProcess } from '../support/server-process.ts';
import { growthOf } from './memory.ts';

const SECONDS = Number(process.env.ROWAN_LOAD_SECONDS ?? 5);
const USER_COUNT = Number(process.env.ROWAN_LOAD_USERS ?? 200);
/** The long form judges figures; in the short form other tests have the machine too. */
const IS_LONG = SECONDS >= 30;
/** Code is compiled, heaps and pools find their size. */
const WARM_UP_SHARE = 0.25;
const GROWTH_MAX = 0.1;
const HEALTH_P99_MS_MAX = 10;
/** What the main thread itself may take of that. */
const COMPUTED_P99_MS_MAX = 10;
/** Columns that may stay in memory when everything that users made is gone. */
const COLUMN_BYTES_MAX = 64 * 1024;

interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

interface Sample {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly cpuSeconds: number;
  /** how late the event loop was, every few milliseconds */
  readonly lateMs: readonly number[];
  /** processor time of the main thread between these moments, which other programs do not prolong */
  readonly computedMs: readonly number[];
  readonly rejections: readonly string[];
}

interface Tally {
  readonly name: string;
  readonly count: number;
  readonly failedCount: number;
  readonly p50: number;
  readonly p99: number;
}

let directory: string;
let server: ServerProcess | undefined;
const children: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rowan-load-'));
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server?.kill();
  await rm(directory, { recursive: true, force: true });
});

test(`${USER_COUNT} users get what they ask for, for ${SECONDS} seconds`, {
  timeout: 240_000 + SECONDS * 3000,
}, async () => {
  await start();
  const generator = await spawnGenerator();
  const before = await contents();
  const probe = await spawnProbe();
  const sampleCount = (await samples()).length;
  generator.send('go');
  const { tallies, failures } = await messageOf<{ tallies: Tally[]; failures: string[] }>(
    generator,
  );
  const during = (await samples()).slice(sampleCount);
  probe.send('end');
  const health = await messageOf<{ health: Times; bare: Times; failures: string[] }>(probe);

  await settled(before.columnBytes);
  const after = await contents();
  expect(await server?.stop(), server?.log).toBe(0);
  const warmed = during.slice(Math.ceil(during.length * WARM_UP_SHARE));
  const growth = growthOf(warmed.map(({ rss }) => rss));
  if (IS_LONG) report(tallies, health, during, growth);

  expect(failures).toEqual([]);
  expect(tallies.filter(({ failedCount }) => failedCount > 0)).toEqual([]);
  expect(health.failures).toEqual([]);
  expect((await samples()).flatMap(({ rejections }) => rejections)).toEqual([]);
  expect(complaints()).toEqual([]);
  expect({ ...after, columnBytes: 0 }).toEqual({ ...before, columnBytes: 0 });
  expect(after.columnBytes - before.columnBytes).toBeLessThan(COLUMN_BYTES_MAX);
  if (IS_LONG) {
    const computed = during.flatMap(({ computedMs }) => computedMs);
    expect(percentile(computed, 0.99), 'computation of the main thread').toBeLessThan(
      COMPUTED_P99_MS_MAX,
    );
    expect(growth, 'growth of memory').toBeLessThan(GROWTH_MAX);
    expect(health.health.p99, 'p99 of health').toBeLessThan(HEALTH_P99_MS_MAX + health.bare.p99);
  }

  await start();
  expect(await contents(), 'after a restart').toMatchObject({ ids: before.ids });
  expect(await server?.stop(), server?.log).toBe(0);
});

async function start(): Promise<void> {
  const observer = new URL('observer.mjs', import.meta.url).href;
  process.env.ROWAN_OBSERVER = join(directory, 'samples');
  server = await ServerProcess.start(
    ['--data-dir', join(directory, 'data')],
    ['--import', observer],
  );
}

/** A process of its own, so that its work delays nobody's measurements. */
function spawnChild(file: string, argument: string): ChildProcess {
  const child = fork(new URL(file, import.meta.url), [argument], { serialization: 'advanced' });
  children.push(child);
  return child;
}

async function spawnGenerator(): Promise<ChildProcess> {
  const origin = server?.origin;
  const options = { origin, userCount: USER_COUNT, seconds: SECONDS, directory };
  const generator = spawnChild('generator.mjs', JSON.stringify(options));
  await messageOf(generator);
  return generator;
}

async function spawnProbe(): Promise<ChildProcess> {
  const probe = spawnChild('health-probe.mjs', server?.origin ?? '');
  await messageOf(probe);
  return probe;
}

function messageOf<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Message));
    child.once('exit', (code) => reject(new Error(`a process of the load ended with ${code}`)));
  });
}

/** What there is on the server. */
async function contents() {
  const client = new HttpClient(server?.origin ?? '');
  const read = async (path: string) => (await client.send('GET', path)).text;
  const ids: Record<string, unknown> = {};
  for (const kind of ['datasets', 'functions', 'procedures', 'plugins']) {
    ids[kind] = JSON.parse(await read(`/v1/${kind}`));
  }
  for (const procedure of ids.procedures as string[]) {
    ids[`runs of ${procedure}`] = JSON.parse(await read(`/v1/procedures/${procedure}/runs`));
  }
  const rows = JSON.parse(await read('/v1/query?q=SELECT%20count(*)%20FROM%20big&format=atom'));
  const metrics = await read('/v1/metrics');
  client.close();
  const columns = /^rowan_memory_bytes\{kind="columns"\} (\d+)/m.exec(metrics)?.[1];
  return { ids, rows, columnBytes: Number(columns) };
}

/** Work that nobody waits for any more may take a moment to stop. */
async function settled(columnBytes: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline) {
    if ((await contents()).columnBytes - columnBytes < COLUMN_BYTES_MAX) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** What the observer has told so far, the first sample awaited. */
async function samples(): Promise<Sample[]> {
  const file = join(directory, 'samples');
  await expect.poll(() => existsSync(file), { timeout: 30_000 }).toBe(true);
  const text = await readFile(file, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample);
}

/** Lines of the log at warning and above. */
function complaints(): string[] {
  const lines = server?.log.split('\n').filter((line) => line.startsWith('{')) ?? [];
  return lines.filter((line) => (JSON.parse(line) as { level: number | string }).level !== 30);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

function report(
  tallies: readonly Tally[],
  { health, bare }: { readonly health: Times; readonly bare: Times },
  during: readonly Sample[],
  growth: number,
): void {
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  const count = tallies.reduce((sum, tally) => sum + tally.count, 0);
  const [first, last] = [during[0], during.at(-1)];
  console.table(tallies);
  console.table({ health, 'bare server': bare });
  const limit = HEALTH_P99_MS_MAX + bare.p99;
  console.log(
    `health: p99 ${health.p99.toFixed(2)} ms, at most ${HEALTH_P99_MS_MAX} ms + p99 of the bare server ` +
      `${bare.p99.toFixed(2)} ms = ${limit.toFixed(2)} ms: ${health.p99 < limit ? 'passed' : 'FAILED'}`,
  );
  console.table(
    during.map(({ rss, heapUsed, external, lateMs, computedMs }) => ({
      ...{ rss: megabytes(rss), heap: megabytes(heapUsed), external: megabytes(external) },
      ...{ 'late p99': percentile(lateMs, 0.99), 'computed p99': percentile(computedMs, 0.99) },
      'computed max': percentile(computedMs, 1),
    })),
  );
  const cpu = (last?.cpuSeconds ?? 0) - (first?.cpuSeconds ?? 0);
  const all = (pick: (sample: Sample) => readonly number[]) =>
    percentile(during.flatMap(pick), 0.99);
  console.log(
    `event loop: p99 ${all(({ lateMs }) => lateMs)} ms late, ` +
      `${all(({ computedMs }) => computedMs)} ms computed`,
  );
  console.log(
    `${count} actions of ${USER_COUNT} users in ${SECONDS} s on ${availableParallelism()} cores; ` +
      `${Math.round(cpu)} CPU seconds; memory grew by ${(growth * 100).toFixed(1)} %`,
  );
}
