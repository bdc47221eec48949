// A stream that is killed while its pieces change loses no acknowledged row and has none twice. The
// same of datasets in files of their own, and of types that show rows only after a commit.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpClient } from '../support/http.ts';
import { ServerProcess } from '../support/server-process.ts';

const KILL_COUNT = 4;
/** How long after a commit was asked for the server is killed: before, within and after it. */
const KILL_AFTER_MS = [0, 15, 40, 120];

let directory: string;
let server: ServerProcess;
let client: HttpClient;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rowan-stream-'));
});
afterEach(async () => {
  client?.close();
  await server?.kill();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.start(['--data-dir', join(directory, 'data'), '--workers', '1']);
  client = new HttpClient(server.origin);
}

const script = (source: string) => ({
  type: 'script.run',
  params: { language: 'javascript', scriptConfig: { source } },
});

const stream = () => ({
  type: 'continuous',
  params: {
    metadataDataset: {
      id: 'list',
      type: 'sqliteSparse',
      params: { dataFileUrl: `file://${directory}/list.sqlite` },
    },
    createStorageDataset: script(`({ config: { type: 'tabular' } })`),
    saveStorageDataset: script(`
      const path = '/v1/datasets/' + encodeURIComponent(args.datasetId);
      const url = 'file://${directory}/' + args.datasetId + '.piece';
      const saved = rowan.perform('POST', path + '/routes/saves', [], { dataFileUrl: url });
      const { status } = JSON.parse(rowan.perform('GET', path).response);
      ({ config: JSON.parse(saved.response), metadata: { rows: status.rowCount } })`),
  },
});

async function ok(verb: string, path: string, body?: unknown): Promise<string> {
  const { status, text } = await client.send(verb, path, body);
  expect(`${status} ${status < 300 ? '' : text}`).toMatch(/^20/);
  return text;
}

async function names(dataset: string): Promise<string[]> {
  return JSON.parse(await ok('GET', `/v1/datasets/${dataset}/rows`)) as string[];
}

test('acknowledged rows survive kills in the middle of a commit, once each', async () => {
  await start();
  await ok('PUT', '/v1/datasets/s', stream());
  const file = { dataFileUrl: `file://${directory}/rows.sqlite` };
  await ok('PUT', '/v1/datasets/q', { type: 'sqliteSparse', params: file });
  await ok('PUT', '/v1/datasets/b', { type: 'beh.binary.mutable' });
  await ok('PUT', '/v1/datasets/m', { type: 'beh.mutable' });
  await ok('PUT', '/v1/datasets/e', { type: 'embedding', params: { index: 'hnsw' } });
  const recorded: string[] = [];
  for (let round = 0; round < KILL_COUNT; round++) {
    for (let i = 0; i < 5; i++) {
      const row = { rowName: `r${round}-${i}`, columns: [['x', 1, round * 10 + i]] };
      await Promise.all(
        [...'sqbme'].map((dataset) => ok('POST', `/v1/datasets/${dataset}/rows`, row)),
      );
      recorded.push(row.rowName);
    }
    // Rows of this type cannot be read before the commit, which ends the recording.
    if (round === KILL_COUNT - 1) await ok('POST', '/v1/datasets/m/commit', {});
    const commits = ['s', 'e'].map((dataset) =>
      client.send('POST', `/v1/datasets/${dataset}/commit`, {}).catch(() => undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS[round]));
    await server.kill();
    await Promise.all(commits);
    client.close();
    await start();
    await ok('POST', '/v1/datasets/e/commit', {});
    for (const dataset of ['q', 'b', 'e']) {
      expect((await names(dataset)).sort(), dataset).toEqual([...recorded].sort());
    }
  }
  expect((await names('m')).sort()).toEqual([...recorded].sort());
  const late = { rowName: 'late', columns: [['x', 1, 0]] };
  const { status, text } = await client.send('POST', '/v1/datasets/m/rows', late);
  expect(`${status} ${text}`).toMatch(/^400 .*was committed/);
  await ok('POST', '/v1/datasets/s/commit', {});
  await ok('PUT', '/v1/datasets/w', {
    type: 'continuous.window',
    params: { metadataDataset: 'list', from: '1970-01-01', to: '1970-01-02' },
  });
  expect((await names('w')).sort()).toEqual([...recorded].sort());
  const sum = '/v1/query?format=atom&q=SELECT%20sum(metadata.rows)%20AS%20n%20FROM%20list';
  expect(JSON.parse(await ok('GET', sum))).toBe(recorded.length);
}, 240_000);
