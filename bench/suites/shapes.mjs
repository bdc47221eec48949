// Queries of many shapes beside DuckDB: Rowan over HTTP on a kept connection, DuckDB in this process
// with two threads, both warm. Each answer is one row, and both must agree on it.

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { DuckDBInstance } from '@duckdb/node-api';
import { open } from '../../build/js/index.js';
import { airlineCsv } from '../data/airline.mjs';
import { dimCsv, factCsv } from '../data/facts.mjs';

export const description = 'queries of many shapes over HTTP, beside DuckDB';

export const { shapes } = JSON.parse(
  readFileSync(new URL('../data/shapes.json', import.meta.url), 'utf8'),
);

export async function prepare({ rowCount }) {
  const { ours, theirs, close } = await openShapes(rowCount);
  return {
    measures: shapes.map((shape) => ({
      name: shape.name,
      goal: 2.5,
      contenders: { rowan: () => ours(shape), duckdb: () => theirs(shape) },
      // An aggregate over no rows gives no row here, and one of nulls there.
      agree: (a, b) => b.every((value, i) => isClose(a?.[i] ?? null, value)),
    })),
    close,
  };
}

/** Both services with the tables of the shapes, of which two have `rowCount` rows. */
export async function openShapes(rowCount) {
  const files = { air: airlineCsv(rowCount, 3), fact: factCsv(rowCount), dim: dimCsv() };
  const rowan = await open({ dataDir: null });
  const address = new URL(await rowan.listen({ host: '127.0.0.1', port: 0 }));
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const duckdb = await instance.connect();
  for (const [id, path] of Object.entries(files)) {
    const params = { dataFileUrl: `file://${path}`, outputDataset: { id, type: 'tabular' } };
    const reply = await rowan.post('/v1/procedures', {
      type: 'import.text',
      params: { ...params, runOnCreation: true },
    });
    if (reply.status >= 400) throw new Error(reply.text);
    await duckdb.run(`CREATE TABLE ${id} AS SELECT * FROM read_csv('${path}')`);
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ours: ({ sql }) => queryOverHttp(address, agent, sql),
    theirs: async ({ sql, duckdb: peer }) =>
      (await duckdb.runAndReadAll(peer ?? sql)).getRowsJS()[0].map(plain),
    async close() {
      agent.destroy();
      duckdb.closeSync();
      await rowan.close();
    },
  };
}

/** The values of the first row. */
function queryOverHttp(address, agent, sql) {
  const { hostname: host, port } = address;
  const path = `/v1/query?format=table&rowNames=false&q=${encodeURIComponent(sql)}`;
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, agent }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (piece) => {
        text += piece;
      });
      reply.on('end', () => {
        if (reply.statusCode === 200) resolve(JSON.parse(text)[1]);
        else reject(new Error(text));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

function plain(value) {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Doubles may differ in their last bits: they are added up in another order. */
function isClose(a, b) {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}
