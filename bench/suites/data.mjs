// Imports, exports and reshaping beside DuckDB: both in this process, with the same files and threads.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { Rowan } from '../../build/js/index.js';

export const description = 'JSON, Parquet, statistics and reshaping beside DuckDB';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));

const CHILD = fileURLToPath(new URL('../peers/import-file.mjs', import.meta.url));

/** Processor time and peak memory of an import, in a process of its own for each. */
function importCosts(name, type, path) {
  const costOf = (engine, member, scale) => async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, engine, type, path]);
    const costs = JSON.parse(stdout);
    return { value: costs[member] / scale, answer: costs.rowCount };
  };
  const measure = (what, unit, member, scale, goal) => ({
    name: `${what}, import of ${name}`,
    unit,
    contenders: { rowan: costOf('rowan', member, scale), duckdb: costOf('duckdb', member, scale) },
    agree: (ours, theirs) => ours === theirs,
    goal,
  });
  return [
    measure('processor time', 'ms', 'cpuMs', 1, undefined),
    measure('peak memory', 'MB', 'peakBytes', 1e6, 1),
  ];
}

async function writeLines(path, rowCount, lineOf) {
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const out = createWriteStream(path);
  for (let row = 0; row < rowCount; ) {
    const lines = [];
    for (const end = Math.min(rowCount, row + 10_000); row < end; row++) lines.push(lineOf(row));
    if (!out.write(`${lines.join('\n')}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
  return path;
}

const noise = (row, salt) => ((Math.imul(row + salt, 2_654_435_761) >>> 0) % 1_000_003) / 1000;

const flatLine = (row) =>
  `{"id":${row},"city":"c${noise(row, 1) | 0}","price":${noise(row, 2)},"ok":${row % 3 === 0},"note":"row number ${row % 5000}"}`;
const nestedLine = (row) =>
  `{"id":${row},"user":{"name":"u${row % 9973}","age":${row % 90}},"tags":["t${row % 7}","t${row % 11}"],"at":[${noise(row, 3)},${noise(row, 4)}]}`;

export async function prepare({ rowCount }) {
  const folder = mkdtempSync(join(tmpdir(), 'rowan-bench-'));
  const flat = await writeLines(join(CACHE, `flat-${rowCount}.ndjson`), rowCount, flatLine);
  const nested = await writeLines(join(CACHE, `nested-${rowCount}.ndjson`), rowCount, nestedLine);
  const threads = availableParallelism();
  const duckdb = await (
    await DuckDBInstance.create(':memory:', { threads: String(threads) })
  ).connect();
  const rowan = await Rowan.open({ dataDir: null, workers: threads });
  const parquet = join(folder, 'flat.parquet');
  await duckdb.run(`CREATE TABLE flat AS SELECT * FROM read_json('${flat}')`);
  await duckdb.run(`COPY flat TO '${parquet}' (FORMAT parquet, COMPRESSION snappy)`);
  await duckdb.run(
    'CREATE TABLE wide AS SELECT id, id AS a, id + 1 AS b, price AS c, price * 2 AS d FROM flat',
  );
  const run = async (type, params) => {
    const reply = await rowan.put('/v1/procedures/bench', {
      type,
      params: { ...params, runOnCreation: true },
    });
    if (reply.status !== 201) throw new Error(reply.text);
  };
  const count = async (table) =>
    Number(await rowan.query(`SELECT count(*) AS n FROM ${table}`, { format: 'atom' }));
  const duckCount = async (table) => {
    const [[n]] = (await duckdb.runAndReadAll(`SELECT count(*) FROM ${table}`)).getRows();
    return Number(n);
  };
  const into =
    (type, path, more = {}) =>
    async () => {
      await run(type, { dataFileUrl: `file://${path}`, outputDataset: 'o', ...more });
      return count('o');
    };
  const duckInto = (source) => async () => {
    await duckdb.run(`CREATE OR REPLACE TABLE o AS SELECT * FROM ${source}`);
    return duckCount('o');
  };
  await run('import.parquet', { dataFileUrl: `file://${parquet}`, outputDataset: 'flat' });
  await run('import.parquet', {
    dataFileUrl: `file://${parquet}`,
    outputDataset: 'wide',
    select: 'id, id AS a, id + 1 AS b, price AS c, price * 2 AS d',
  });
  const reshape = (type, params) => async () => {
    await run(type, { outputDataset: 'o', ...params });
    return count('o');
  };
  const exporting = (type, name) => async () => {
    await run(type, {
      exportData: 'SELECT * FROM flat',
      dataFileUrl: `file://${join(folder, name)}`,
    });
  };
  const duckCopy = (format, name) => async () => {
    await duckdb.run(`COPY flat TO '${join(folder, name)}' (FORMAT ${format})`);
  };
  const agree = (ours, theirs) => ours === theirs;
  const pair = (name, ours, theirs, goal, same = agree) => ({
    name,
    contenders: { rowan: ours, duckdb: theirs },
    goal,
    ...(same === undefined ? {} : { agree: same }),
  });
  return {
    measures: [
      pair(
        `import of ${rowCount} flat documents`,
        into('import.json', flat),
        duckInto(`read_json('${flat}')`),
        0.7,
      ),
      pair(
        `import of ${rowCount} nested documents`,
        into('import.json', nested),
        duckInto(`read_json('${nested}')`),
        0.7,
      ),
      pair(
        `import of ${rowCount} rows of Parquet`,
        into('import.parquet', parquet),
        duckInto(`'${parquet}'`),
        1.5,
      ),
      pair(
        'export to Parquet',
        exporting('export.parquet', 'r.parquet'),
        duckCopy('parquet', 'd.parquet'),
        2,
        null,
      ),
      pair('export to CSV', exporting('export.csv', 'r.csv'), duckCopy('csv', 'd.csv'), 1, null),
      pair(
        'export to JSON lines',
        exporting('export.json', 'r.ndjson'),
        duckCopy('json', 'd.ndjson'),
        1,
        null,
      ),
      pair(
        'summary.statistics',
        reshape('summary.statistics', { inputData: 'SELECT * FROM flat' }),
        duckInto('(SUMMARIZE flat)'),
        1,
      ),
      pair(
        'ranking',
        reshape('ranking', { inputData: 'SELECT * FROM flat ORDER BY price' }),
        duckInto('(SELECT id, row_number() OVER (ORDER BY price) - 1 AS rank FROM flat)'),
        1,
      ),
      pair(
        'bucketize',
        reshape('bucketize', {
          inputData: 'SELECT * FROM flat ORDER BY price',
          percentileBuckets: { low: [0, 50], high: [50, 100] },
        }),
        duckInto('(SELECT id, ntile(2) OVER (ORDER BY price) AS bucket FROM flat)'),
        1,
      ),
      pair(
        'melt of 4 columns',
        reshape('melt', { inputData: 'SELECT {id} AS to_fix, {a, b, c, d} AS to_melt FROM wide' }),
        duckInto('(UNPIVOT wide ON a, b, c, d)'),
        1,
      ),
      ...importCosts('flat documents', 'import.json', flat),
      ...importCosts('nested documents', 'import.json', nested),
      ...importCosts('Parquet', 'import.parquet', parquet),
    ].map(({ agree: same, ...measure }) => (same === null ? measure : { ...measure, agree: same })),
    close: async () => {
      await rowan.close();
      rmSync(folder, { recursive: true });
    },
  };
}
