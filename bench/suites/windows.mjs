// Window functions over a large table, and the closure of a graph by recursion, beside DuckDB with
// two threads, both in this process and warm. Each answer is one row of sums, on which both must agree.
import { DuckDBInstance } from '@duckdb/node-api';
import { open } from '../../build/js/index.js';
import { airlineCsv } from '../data/airline.mjs';

export const description = 'window functions and recursion, beside DuckDB';

/** 20,000 chains of five edges: the closure has 300,000 pairs. */
const EDGES = 'SELECT x AS a, x + 1 AS b FROM range(0, 120000) AS r(x) WHERE x % 6 < 5';

const ROWS = 'SELECT UniqueCarrier AS c, Origin AS o, Distance AS d, DepTime AS t FROM air';
const WINDOWS = [
  {
    name: 'row_number by group',
    sql: `SELECT sum(r) AS a, max(r) AS b FROM (SELECT row_number() OVER (PARTITION BY o ORDER BY t, d) AS r FROM (${ROWS}) s) w`,
  },
  {
    name: 'running sum',
    sql: `SELECT sum(r) AS a, max(r) AS b FROM (SELECT sum(d) OVER (PARTITION BY c ORDER BY t) AS r FROM (${ROWS}) s) w`,
  },
  {
    name: 'moving average of 7 rows',
    sql: `SELECT sum(r) AS a, count(*) AS b FROM (SELECT avg(d) OVER (PARTITION BY o ORDER BY t, d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS r FROM (${ROWS}) s) w`,
  },
  {
    name: 'lag',
    sql: `SELECT sum(d - r) AS a, count(r) AS b FROM (SELECT d, lag(d) OVER (PARTITION BY o ORDER BY t, d) AS r FROM (${ROWS}) s) w`,
  },
  {
    name: 'top 3 of each group',
    sql: `SELECT sum(d) AS a, count(*) AS b FROM (SELECT d FROM (${ROWS}) s QUALIFY row_number() OVER (PARTITION BY o ORDER BY d DESC, t) <= 3) w`,
  },
];
const CLOSURE = `WITH RECURSIVE reach(a, b) AS (SELECT a, b FROM edge UNION SELECT reach.a, edge.b FROM reach JOIN edge ON reach.b = edge.a) SELECT count(*) AS a, sum(b - a) AS b FROM reach`;

export async function prepare({ rowCount }) {
  const rowan = await open({ dataDir: null });
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const duckdb = await instance.connect();
  const path = airlineCsv(rowCount, 3);
  const run = async (type, params) => {
    const body = { type, params: { ...params, runOnCreation: true } };
    const reply = await rowan.post('/v1/procedures', body);
    if (reply.status >= 400) throw new Error(reply.text);
  };
  await run('import.text', { dataFileUrl: `file://${path}`, outputDataset: 'air' });
  await run('transform', {
    inputData: EDGES,
    outputDataset: { id: 'edge', type: 'tabular' },
  });
  await duckdb.run(`CREATE TABLE air AS SELECT * FROM read_csv('${path}')`);
  await duckdb.run(`CREATE TABLE edge AS ${EDGES}`);
  const measure = (name, sql, goal) => ({
    name,
    goal,
    contenders: {
      rowan: async () => (await rowan.query(sql, { rowNames: false }))[1],
      duckdb: async () => (await duckdb.runAndReadAll(sql)).getRowsJS()[0].map(Number),
    },
    agree: (ours, theirs) =>
      ours.every((cell, i) => Math.abs(cell - theirs[i]) <= 1e-9 * Math.max(1, Math.abs(cell))),
  });
  return {
    measures: [
      ...WINDOWS.map(({ name, sql }) => measure(`${name}, ${rowCount} rows`, sql, 1.5)),
      measure('closure of 100,000 edges', CLOSURE, 3),
    ],
    close: async () => {
      duckdb.closeSync();
      await rowan.close();
    },
  };
}
