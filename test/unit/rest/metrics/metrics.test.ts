// What the service says of itself to Prometheus.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'rowan-metrics-'));
  rowan = await Rowan.open({ dataDir, workers: 1 });
});

afterAll(async () => {
  await rowan?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const NAMES = [
  'rowan_http_requests_total',
  'rowan_http_request_duration_seconds',
  'rowan_http_requests_in_flight',
  'rowan_queries_total',
  'rowan_query_duration_seconds',
  'rowan_query_rows_total',
  'rowan_function_calls_total',
  'rowan_function_call_duration_seconds',
  'rowan_procedure_runs_total',
  'rowan_procedure_runs_active',
  'rowan_entities',
  'rowan_dataset_rows',
  'rowan_memory_bytes',
  'rowan_log_bytes_total',
  'rowan_log_sync_duration_seconds',
  'rowan_build_info',
  'process_cpu_seconds_total',
  'nodejs_eventloop_lag_seconds',
];

async function metrics(): Promise<string> {
  return (await rowan.get('/v1/metrics')).text;
}

async function readSeries(series: string): Promise<number> {
  const line = (await metrics()).split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

test('every series has a type', async () => {
  const text = await metrics();
  for (const name of NAMES) expect(text).toContain(`# TYPE ${name} `);
});

test('rows of results are counted, in every format', async () => {
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  const rows = Array.from({ length: 5 }, (_, i) => [`r${i}`, [['x', i, 0]]]);
  await rowan.post('/v1/datasets/d/multirows', rows);
  await rowan.post('/v1/datasets/d/commit', {});
  const before = await readSeries('rowan_query_rows_total');
  const formats = ['full', 'table', 'aos', 'soa', 'sparse', 'csv', 'ndjson', 'arrow'];
  for (const format of formats) {
    const reply = await rowan.get('/v1/query', { q: 'SELECT x FROM d', format });
    expect([format, reply.status]).toEqual([format, 200]);
  }
  const after = await readSeries('rowan_query_rows_total');
  expect(after - before).toBe(5 * formats.length);
});

test('runs are counted by how they end', async () => {
  await rowan.put('/v1/procedures/p', { type: 'mock', params: { durationMs: 2 } });
  await rowan.post('/v1/procedures/p/runs', {});
  await rowan.post('/v1/procedures/p/runs', {});
  await rowan.post('/v1/procedures/p/runs', { zork: 1 });
  expect(await readSeries('rowan_procedure_runs_total{type="mock",state="finished"}')).toBe(2);
  expect(await readSeries('rowan_procedure_runs_total{type="mock",state="error"}')).toBe(1);
});

test('writes are counted with their bytes', async () => {
  const writes = await readSeries('rowan_log_sync_duration_seconds_count');
  const bytes = await readSeries('rowan_log_bytes_total');
  const row = { rowName: 'r', columns: [['x', 'y'.repeat(1000), 0]] };
  expect((await rowan.post('/v1/datasets/d/rows', row)).status).toBe(200);
  expect(await readSeries('rowan_log_sync_duration_seconds_count')).toBeGreaterThan(writes);
  expect(await readSeries('rowan_log_bytes_total')).toBeGreaterThan(bytes + 1000);
});
