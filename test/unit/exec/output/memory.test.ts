// A result takes the same memory whatever its number of rows: the whole of a dataset little more
// than its first fifth, read five times so that as much garbage is left, in every format. At the
// full size, `ROWAN_RESULT_ROWS=5000000`, it is 15 % more at most; at the usual size, of which the
// garbage of a moment is a larger part, a third. Results that are held as a whole take several times as much.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../../../support/server-process.ts';

const ROW_COUNT = Number(process.env.ROWAN_RESULT_ROWS ?? 150_000);
const SHARE_MAX = ROW_COUNT > 1_000_000 ? 1.15 : 1.33;
/** When garbage is collected is up to the engine, so the best of some trials counts. */
const TRIAL_COUNT = 3;

const directory = mkdtempSync(join(tmpdir(), 'rowan-memory-'));
let server: ServerProcess;

beforeAll(async () => {
  const file = join(directory, 'rows.csv');
  const lines = Array.from(
    { length: ROW_COUNT },
    (_, i) => `${(i * 7919) % 4000},${i / 8},c${i % 22},place ${(i * 31) % 300},t${i}`,
  );
  writeFileSync(file, `distance,delay,carrier,origin,tail\n${lines.join('\n')}\n`);
  const folder = ['--data-dir', join(directory, 'data'), '--file-root', directory];
  server = await ServerProcess.start(['--workers', '1', ...folder]);
  await run({
    type: 'import.text',
    params: { dataFileUrl: pathToFileURL(file).href, outputDataset: 'closed' },
  });
  await run({
    type: 'transform',
    params: {
      inputData: 'SELECT * FROM closed',
      outputDataset: { id: 'open', type: 'sparse.mutable' },
    },
  });
}, 600_000);

afterAll(async () => {
  await server.kill();
  rmSync(directory, { recursive: true, force: true });
});

async function run({ type, params }: { type: string; params: object }): Promise<void> {
  const reply = await fetch(`${server.origin}/v1/procedures`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type, params: { ...params, runOnCreation: true } }),
  });
  expect(reply.status, await reply.text()).toBe(201);
}

const statusFile = () => `/proc/${server.child.pid}/status`;

/** The greatest size in memory while a result is read some times, in MB. */
async function peakOf(sql: string, format: string, count: number): Promise<number> {
  // The greatest size so far becomes the one of now.
  writeFileSync(`/proc/${server.child.pid}/clear_refs`, '5');
  for (let i = 0; i < count; i++) await read(sql, format);
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(statusFile(), 'utf8'))?.[1]) / 1000;
}

async function read(sql: string, format: string): Promise<void> {
  const query = new URLSearchParams({ q: sql, format });
  const reply = await fetch(`${server.origin}/v1/query?${query}`);
  expect(reply.status).toBe(200);
  let sizeBytes = 0;
  for await (const piece of reply.body ?? []) sizeBytes += piece.length;
  expect(sizeBytes).toBeGreaterThan(1000);
}

const FORMATS = ['ndjson', 'csv', 'arrow', 'table', 'aos', 'soa', 'sparse', 'full'];

test
  .runIf(process.platform === 'linux')
  .each([
    ...FORMATS.map((format) => ['closed', format] as const),
    ...['csv', 'arrow', 'table', 'soa'].map((format) => ['open', format] as const),
  ])(
  'rows of a dataset that is %s take no more memory the more there are, as %s',
  async (dataset, format) => {
    const trials: string[] = [];
    for (let trial = 0; trial < TRIAL_COUNT; trial++) {
      const first = await peakOf(`SELECT * FROM ${dataset} LIMIT ${ROW_COUNT / 5}`, format, 5);
      const all = await peakOf(`SELECT * FROM ${dataset}`, format, 1);
      if (all <= first * SHARE_MAX) return;
      trials.push(`${first} MB, then ${all} MB`);
    }
    expect.fail(trials.join('; '));
  },
  600_000,
);
