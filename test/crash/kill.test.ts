// What was acknowledged survives SIGKILL, and nothing is half-made. A writer records rows, commits,
// creates functions and imports files as fast as it can; the server is killed at a random moment and
// started again on the same directory; everything that had been answered must be there.
// ROWAN_KILLS sets the number of kills: 10 by default, 200 in the long form.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpClient } from '../support/http.ts';

const KILL_COUNT = Number(process.env.ROWAN_KILLS ?? 10);
const ROWS_PER_IMPORT = 500;

let dataDir: string;
let server: ChildProcess;
let client: HttpClient;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'rowan-kill-'));
});

afterEach(async () => {
  client?.close();
  server?.kill('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = spawn(
    process.execPath,
    ['dist/cli/rowan.js', 'serve', '--http-listen-port', '0', '--data-dir', join(dataDir, 'data')],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  server.stderr?.setEncoding('utf8');
  const address = await new Promise<string>((resolve, reject) => {
    server.stderr?.on('data', (text: string) => {
      log += text;
      const found = /http listening on (http:\S+)/.exec(log)?.[1];
      if (found !== undefined && log.includes('Rowan ready')) resolve(found);
    });
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${log}`)));
  });
  server.removeAllListeners('exit');
  client = new HttpClient(address);
}

async function kill(): Promise<void> {
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
  client.close();
}

/** Everything that a 2xx promised, and everything that was at least asked for. */
class Ledger {
  readonly recordedRows = new Set<string>();
  /** rows that were recorded before a commit was acknowledged */
  readonly visibleRows = new Set<string>();
  readonly askedRows = new Set<string>();
  readonly functions = new Map<string, number>();
  readonly askedFunctions = new Set<string>();
  readonly imports = new Set<string>();
  readonly askedImports = new Set<string>();
  count = 0;
}

/** Works until the connection breaks. */
async function write(ledger: Ledger, random: () => number): Promise<void> {
  try {
    for (;;) {
      const number = ledger.count++;
      const choice = random();
      if (choice < 0.6) await recordRow(ledger, `row${number}`);
      else if (choice < 0.75) await commit(ledger);
      else if (choice < 0.95) await createFunction(ledger, `f${number}`, number);
      else await importFile(ledger, `table${number}`);
    }
  } catch (error) {
    // The kill: whatever was under way may or may not have happened.
    if (!(error instanceof Error) || !/socket|ECONN|aborted|hang up/i.test(error.message))
      throw error;
  }
}

async function expectSuccess(verb: string, path: string, body: unknown): Promise<void> {
  const reply = await client.send(verb, path, body);
  if (reply.status >= 300)
    throw new Error(`${verb} ${path} answered ${reply.status} ${reply.text}`);
}

async function recordRow(ledger: Ledger, row: string): Promise<void> {
  ledger.askedRows.add(row);
  await expectSuccess('POST', '/v1/datasets/log/rows', { rowName: row, columns: [['x', row, 0]] });
  ledger.recordedRows.add(row);
}

async function commit(ledger: Ledger): Promise<void> {
  const before = [...ledger.recordedRows];
  await expectSuccess('POST', '/v1/datasets/log/commit', {});
  for (const row of before) ledger.visibleRows.add(row);
}

async function createFunction(ledger: Ledger, id: string, value: number): Promise<void> {
  ledger.askedFunctions.add(id);
  await expectSuccess('PUT', `/v1/functions/${id}`, {
    type: 'sql.expression',
    params: { expression: `${value} AS value`, prepared: true },
  });
  ledger.functions.set(id, value);
}

async function importFile(ledger: Ledger, table: string): Promise<void> {
  ledger.askedImports.add(table);
  await expectSuccess('PUT', `/v1/procedures/load_${table}`, {
    type: 'import.text',
    params: {
      dataFileUrl: pathToFileURL(join(dataDir, 'rows.csv')).href,
      outputDataset: table,
      runOnCreation: true,
    },
  });
  ledger.imports.add(table);
}

async function query(sql: string): Promise<unknown[][]> {
  const reply = await client.send('POST', '/v1/query', { q: sql, format: 'table', headers: false });
  expect(reply.status, reply.text).toBe(200);
  return JSON.parse(reply.text) as unknown[][];
}

async function ids(collection: string): Promise<string[]> {
  const reply = await client.send('GET', `/v1/${collection}`);
  return JSON.parse(reply.text) as string[];
}

async function check(ledger: Ledger): Promise<void> {
  const visible = new Set((await query('SELECT x FROM log')).map(([name]) => name as string));
  for (const row of ledger.visibleRows) expect(visible, 'committed rows').toContain(row);
  await expectSuccess('POST', '/v1/datasets/log/commit', {});
  const recorded = (await query('SELECT x FROM log')).map(([name, x]) => [name, x] as const);
  for (const [name, x] of recorded) {
    expect(x, 'a row is whole').toBe(name);
    expect(ledger.askedRows, 'a row was asked for').toContain(name);
  }
  const names = new Set(recorded.map(([name]) => name));
  for (const row of ledger.recordedRows) expect(names, 'acknowledged rows').toContain(row);
  const functions = await ids('functions');
  for (const id of functions) expect(ledger.askedFunctions).toContain(id);
  for (const [id, value] of ledger.functions) {
    const reply = await client.send('GET', `/v1/functions/${id}/application`);
    expect(reply.text).toBe(JSON.stringify({ output: { value } }));
  }
  const datasets = (await ids('datasets')).filter((id) => id !== 'log');
  for (const id of ledger.imports) expect(datasets, 'acknowledged imports').toContain(id);
  for (const id of datasets) {
    expect(ledger.askedImports).toContain(id);
    expect(await query(`SELECT count(*) FROM ${id}`), 'an import is whole or not there').toEqual([
      ['[]', ROWS_PER_IMPORT],
    ]);
  }
}

test(
  `everything acknowledged survives ${KILL_COUNT} kills`,
  async () => {
    let state = 42;
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    const lines = Array.from({ length: ROWS_PER_IMPORT }, (_, i) => `${i},text ${i % 7}`);
    await writeFile(join(dataDir, 'rows.csv'), `a,b\n${lines.join('\n')}\n`);
    const ledger = new Ledger();
    await start();
    await expectSuccess('PUT', '/v1/datasets/log', { type: 'sparse.mutable' });
    for (let round = 0; round < KILL_COUNT; round++) {
      const writing = write(ledger, random);
      await new Promise((resolve) => setTimeout(resolve, 20 + random() * 400));
      await kill();
      await writing;
      await start();
      await check(ledger);
    }
    expect(ledger.recordedRows.size).toBeGreaterThan(KILL_COUNT);
  },
  60_000 + KILL_COUNT * 10_000,
);
