// One import of a file into memory, measured from inside its process:
//   node import-file.mjs rowan|duckdb import.json|import.parquet <file>
// prints milliseconds of processor time, peak memory in bytes, and the rows that there are then.

import { availableParallelism } from 'node:os';
import { peakMemory } from './peak-memory.mjs';

const [engine, type, path] = process.argv.slice(2);
const threads = availableParallelism();

const engines = {
  async rowan() {
    const { Rowan } = await import('../../dist/index.js');
    const rowan = await Rowan.open({ dataDir: null, workers: threads });
    await rowan.query('SELECT 1');
    return {
      async load() {
        const params = { dataFileUrl: `file://${path}`, outputDataset: 'o', runOnCreation: true };
        const reply = await rowan.put('/v1/procedures/import', { type, params });
        if (reply.status !== 201) throw new Error(reply.text);
      },
      count: () => rowan.query('SELECT count(*) AS n FROM o', { format: 'atom' }),
      close: () => rowan.close(),
    };
  },
  async duckdb() {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) });
    const connection = await instance.connect();
    const source = type === 'import.json' ? `read_json('${path}')` : `'${path}'`;
    return {
      load: () => connection.run(`CREATE TABLE o AS SELECT * FROM ${source}`),
      async count() {
        return (await connection.runAndReadAll('SELECT count(*) FROM o')).getRows()[0][0];
      },
      close: async () => connection.closeSync(),
    };
  },
};

const { load, count, close } = await engines[engine]();
const before = process.cpuUsage();
await load();
const { user, system } = process.cpuUsage(before);
const rowCount = Number(await count());
await close();
const peakBytes = peakMemory();
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, peakBytes, rowCount }));
