// One import of a CSV file, measured from inside its process:
//   node import-csv.mjs rowan|duckdb <file> <empty folder>
// prints milliseconds of wall clock and processor, peak memory, and what a query then says.

import { join } from 'node:path';
import { peakMemory } from './peak-memory.mjs';

const [engine, path, folder] = process.argv.slice(2);
const QUERY = 'SELECT count(*) AS n, sum(Distance) AS s FROM flights';

const engines = {
  async rowan() {
    const { Rowan } = await import('../../dist/index.js');
    const rowan = await Rowan.open({ dataDir: folder });
    // A server has its threads running before the first request comes.
    await rowan.perform('GET', '/v1/query', { query: { q: 'SELECT 1' } });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const params = { dataFileUrl: `file://${path}`, outputDataset: 'flights', runOnCreation: true };
    return {
      async load() {
        const body = { type: 'import.text', params };
        const reply = await rowan.perform('PUT', '/v1/procedures/import', { body });
        if (reply.status !== 201) throw new Error(reply.text);
      },
      async check() {
        const query = { q: QUERY, format: 'aos' };
        const reply = await rowan.perform('GET', '/v1/query', { query });
        const [row] = reply.json;
        return { count: row.n, sum: row.s };
      },
      close: () => rowan.close(),
    };
  },
  async duckdb() {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(join(folder, 'flights.duckdb'));
    const connection = await instance.connect();
    return {
      async load() {
        await connection.run(`CREATE TABLE flights AS SELECT * FROM read_csv('${path}')`);
        await connection.run('CHECKPOINT');
      },
      async check() {
        const reader = await connection.runAndReadAll(QUERY);
        const [count, sum] = reader.getRows()[0];
        return { count: Number(count), sum: Number(sum) };
      },
      close: async () => connection.closeSync(),
    };
  },
};

const { load, check, close } = await engines[engine]();
const cpu = process.cpuUsage();
const start = performance.now();
await load();
const ms = performance.now() - start;
const { user, system } = process.cpuUsage(cpu);
const answer = await check();
await close();
const peakBytes = peakMemory();
console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000, peakBytes, answer }));
