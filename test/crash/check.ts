// Looks at everything that a restarted server has, and compares it with what was promised.
import { expect } from 'vitest';
import type { HttpClient } from '../support/http.ts';
import { ABSENT, type Ledger, type RowLedger } from './ledger.ts';
import { tableOf } from './writer.ts';

const COLLECTIONS = ['functions', 'procedures', 'datasets', 'plugins'] as const;

export interface CheckOptions {
  readonly client: HttpClient;
  readonly ledger: Ledger;
  readonly rows: RowLedger;
  /** the dataset that all record into */
  readonly log: string;
}

/** @throws Error that names what is lost, half made or unasked for */
export async function check(options: CheckOptions): Promise<void> {
  await checkRows(options);
  // Runs come before datasets: one that has finished says what its output must be.
  for (const collection of COLLECTIONS) await checkCollection(collection, options);
}

async function checkRows({ client, rows, log }: CheckOptions): Promise<void> {
  rows.check(await rowNames(client, log), false);
  const commit = await client.send('POST', `/v1/datasets/${log}/commit`, {});
  expect(commit.status, commit.text).toBe(200);
  rows.check(await rowNames(client, log), true);
}

async function rowNames(client: HttpClient, log: string): Promise<Set<string>> {
  const found = await query(client, `SELECT x FROM ${log}`);
  for (const [name, x] of found) expect(x, 'a row is whole').toBe(name);
  return new Set(found.map(([name]) => name as string));
}

async function checkCollection(
  collection: (typeof COLLECTIONS)[number],
  { client, ledger }: CheckOptions,
): Promise<void> {
  const listed = await list(client, `/v1/${collection}`);
  const asked = ledger.names(`${collection}/`).filter((name) => !name.includes('/runs/'));
  const names = new Set([...listed.map((id) => `${collection}/${id}`), ...asked]);
  for (const name of names) {
    const isThere = listed.includes(name.slice(collection.length + 1));
    const outcome = isThere ? await outcomeOf(client, collection, name) : ABSENT;
    ledger.observe(name, outcome);
    if (collection === 'procedures') await checkRuns(client, ledger, name, isThere);
  }
}

async function outcomeOf(
  client: HttpClient,
  collection: (typeof COLLECTIONS)[number],
  name: string,
): Promise<string> {
  const { state, type, config, progress } = await document(client, name);
  if (state === 'error') return failure(progress);
  expect(state, name).toBe('ok');
  switch (collection) {
    case 'functions': {
      const { text } = await client.send('GET', `/v1/${name}/application`);
      return `value ${JSON.parse(text).output.value}`;
    }
    case 'plugins': {
      const { text } = await client.send('GET', `/v1/${name}/routes/value`);
      return `value ${JSON.parse(text).value}`;
    }
    case 'procedures':
      return `loads ${config.params.outputDataset}`;
    case 'datasets':
      return type === 'sparse.mutable' ? 'mutable' : `import ${await wholeRowCount(client, name)}`;
  }
}

async function checkRuns(
  client: HttpClient,
  ledger: Ledger,
  procedure: string,
  isThere: boolean,
): Promise<void> {
  const prefix = `${procedure}/runs/`;
  const listed = isThere ? await list(client, `/v1/${prefix.slice(0, -1)}`) : [];
  const names = new Set([...listed.map((id) => prefix + id), ...ledger.names(prefix)]);
  for (const name of names) {
    if (!listed.includes(name.slice(prefix.length))) {
      ledger.observe(name, ABSENT);
      continue;
    }
    const { state, status, progress } = await document(client, name);
    const outcome = state === 'error' ? failure(progress) : state;
    const wasUnderWay =
      ledger.isPossible(name, 'finished') && ledger.isPossible(name, 'interrupted');
    ledger.observe(name, outcome);
    const rowCount = Number(/_(\d+)$/.exec(name)?.[1]);
    if (outcome === 'finished') expect(status.rowCount, name).toBe(rowCount);
    if (!wasUnderWay) continue;
    // It was the last work of its writer. It has registered its output if and only if it ended.
    const table = tableOf(procedure);
    if (outcome === 'finished') ledger.settle(table, `import ${rowCount}`);
    else ledger.exclude(table, `import ${rowCount}`);
  }
}

function failure(progress: Document['progress']): string {
  const message = progress?.exception?.error ?? 'unknown';
  return message.includes('interrupted by a restart') ? 'interrupted' : `failed: ${message}`;
}

/** The number of rows of a file; the sum tells that they are those of the file. */
async function wholeRowCount(client: HttpClient, name: string): Promise<number> {
  const id = name.slice(name.indexOf('/') + 1);
  const [[, count, sum] = []] = await query(client, `SELECT count(*), sum(a) FROM ${id}`);
  expect(sum, `${name} is whole`).toBe(((count as number) * ((count as number) - 1)) / 2);
  return count as number;
}

interface Document {
  readonly state: string;
  readonly type: string;
  readonly config: { readonly params: Readonly<Record<string, unknown>> };
  readonly status: { readonly rowCount?: number };
  readonly progress?: { readonly exception?: { readonly error: string } };
}

async function document(client: HttpClient, name: string): Promise<Document> {
  const reply = await client.send('GET', `/v1/${name}`);
  expect(reply.status, reply.text).toBe(200);
  return JSON.parse(reply.text) as Document;
}

async function list(client: HttpClient, path: string): Promise<string[]> {
  const reply = await client.send('GET', path);
  expect(reply.status, reply.text).toBe(200);
  return JSON.parse(reply.text) as string[];
}

async function query(client: HttpClient, sql: string): Promise<unknown[][]> {
  const reply = await client.send('POST', '/v1/query', { q: sql, format: 'table', headers: false });
  expect(reply.status, reply.text).toBe(200);
  return JSON.parse(reply.text) as unknown[][];
}
