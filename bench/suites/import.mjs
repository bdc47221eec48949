// A CSV file of the airline table into a durable, queryable table. Each import has a process of its
// own, so that its memory is its own as well.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { airlineCsv } from '../data/airline.mjs';

export const description = 'CSV import beside DuckDB, a process for each';

const CHILD = fileURLToPath(new URL('../peers/import-csv.mjs', import.meta.url));
const run = promisify(execFile);

export async function prepare({ rowCount }) {
  const path = airlineCsv(rowCount);
  const peaks = {};
  const contender = (engine) => async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rowan-bench-'));
    try {
      const { stdout } = await run(process.execPath, [CHILD, engine, path, folder]);
      const { ms, cpuMs, peakBytes, answer } = JSON.parse(stdout);
      peaks[engine] = { cpuMs, peakBytes };
      return { value: ms, answer };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const agree = (ours, theirs) =>
    ours.count === theirs.count && Math.abs(ours.sum - theirs.sum) <= 1e-9 * theirs.sum;
  const measured = (engine, member) => async () => {
    if (peaks[engine] === undefined) await contender(engine)();
    return { value: peaks[engine][member] / (member === 'peakBytes' ? 1e6 : 1) };
  };
  return {
    measures: [
      {
        name: `import of ${rowCount} rows`,
        contenders: { rowan: contender('rowan'), duckdb: contender('duckdb') },
        agree,
        goal: 0.5,
      },
      {
        name: 'processor time of the last import',
        contenders: { rowan: measured('rowan', 'cpuMs'), duckdb: measured('duckdb', 'cpuMs') },
      },
      {
        name: 'peak memory of the last import',
        unit: 'MB',
        contenders: {
          rowan: measured('rowan', 'peakBytes'),
          duckdb: measured('duckdb', 'peakBytes'),
        },
        goal: 1,
      },
    ],
  };
}
