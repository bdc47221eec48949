// What was acknowledged survives SIGKILL, and nothing is half-made. Writers record rows, commit,
// create, replace and delete functions, datasets, procedures and plugins, and import files, as fast
// as they can; the server is killed at a random moment, now and then also while it starts, and
// started again on the same directory. Everything is then looked at: what had been answered must
// be there as it was answered, what had been deleted must be gone, and what was under way must be
// there as a whole or not at all. Things are deleted as others are made, so that a look costs the
// same in every round, but for some that stay from the first round to the last.
// ROWAN_KILLS sets the number of kills: 10 by default, 200 in the long form.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpClient } from '../support/http.ts';
import { ServerProcess } from '../support/server-process.ts';
import { check } from './check.ts';
import { Ledger, RowLedger } from './ledger.ts';
import { FILE_ROW_COUNTS, fileOf, Writer } from './writer.ts';

const KILL_COUNT = Number(process.env.ROWAN_KILLS ?? 10);
const WRITER_COUNT = 4;
const WORK_MS_MIN = 20;
const WORK_MS_MAX = 420;
/** In one of so many rounds the server is also killed before it is ready. */
const ROUNDS_PER_EARLY_KILL = 5;
const START_MS_MAX = 1500;
/** A dataset with more batches of recorded rows than this is deleted, and another takes its place. */
const BATCH_COUNT_MAX = 3000;

let directory: string;
let server: ServerProcess;
let client: HttpClient;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rowan-kill-'));
  for (const rowCount of FILE_ROW_COUNTS) {
    const lines = Array.from({ length: rowCount }, (_, i) => `${i},text ${i % 7}`);
    await writeFile(fileOf(directory, rowCount), `a,b\n${lines.join('\n')}\n`);
  }
});

afterEach(async () => {
  client?.close();
  await server?.kill();
  await rm(directory, { recursive: true, force: true });
});

const serverArgs = () => ['--data-dir', join(directory, 'data')];

async function start(): Promise<void> {
  server = await ServerProcess.start(serverArgs());
  client = new HttpClient(server.origin);
}

async function killWhileStarting(afterMs: number): Promise<void> {
  server = ServerProcess.launch(serverArgs());
  await pause(afterMs);
  await server.kill();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test(
  `everything acknowledged survives ${KILL_COUNT} kills`,
  async () => {
    const random = randomNumbers(42);
    const ledger = new Ledger();
    let log = '';
    let rows = new RowLedger();
    let batchCount = 0;
    const replaceLog = async (number: number) => {
      if (log !== '') await client.send('DELETE', `/v1/datasets/${log}`);
      ledger.settle(`datasets/${log}`, 'absent');
      batchCount += rows.batchCount;
      log = `log${number}`;
      rows = new RowLedger();
      await client.send('PUT', `/v1/datasets/${log}`, { type: 'sparse.mutable' });
      ledger.settle(`datasets/${log}`, 'mutable');
    };
    await start();
    await replaceLog(0);
    for (let round = 0; round < KILL_COUNT; round++) {
      const { origin } = server;
      const writing = Array.from({ length: WRITER_COUNT }, (_, index) =>
        new Writer({ index, origin, directory, ledger, rows, log, random }).work(),
      );
      await Promise.race([
        pause(WORK_MS_MIN + random() * (WORK_MS_MAX - WORK_MS_MIN)),
        // Nobody comes back before the kill but with a failure.
        ...writing,
      ]);
      await server.kill();
      await Promise.all(writing);
      client.close();
      if (random() * ROUNDS_PER_EARLY_KILL < 1) await killWhileStarting(random() * START_MS_MAX);
      await start();
      await check({ client, ledger, rows, log }).catch((error: Error) => {
        throw new Error(`after kill ${round + 1}: ${error.message}\n${server.log}`);
      });
      if (rows.batchCount > BATCH_COUNT_MAX) await replaceLog(round);
    }
    expect(batchCount + rows.batchCount, 'batches of rows').toBeGreaterThan(KILL_COUNT);
  },
  60_000 + KILL_COUNT * 15_000,
);

/** A linear congruential generator, so that a run can be repeated but for the machine's timing. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
