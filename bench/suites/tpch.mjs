// The 22 queries of TPC-H beside DuckDB, both in this process and warm: Rowan through its API with
// answers as JSON, DuckDB with two threads. `--rows` picks the scale: 1,000,000 rows of lineitem are
// 1/6; the default is 0.1, and 6,000,000 rows or more are scale 1.
import { DuckDBInstance } from '@duckdb/node-api';
import { open } from '../../build/js/index.js';
import { tpchFiles, tpchQueries } from '../data/tpch.mjs';

export const description = 'the queries of TPC-H, beside DuckDB';

export async function prepare({ rowCount }) {
  const scale = rowCount >= 6_000_000 ? 1 : 0.1;
  const rowan = await open({ dataDir: null });
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const duckdb = await instance.connect();
  for (const [id, path] of Object.entries(await tpchFiles(scale))) {
    const reply = await rowan.post('/v1/procedures', {
      type: 'import.text',
      params: {
        ...{ dataFileUrl: `file://${path}`, outputDataset: id },
        ...{ inferTimestamps: true, runOnCreation: true },
      },
    });
    if (reply.status >= 400) throw new Error(reply.text);
    await duckdb.run(`CREATE TABLE ${id} AS SELECT * FROM read_csv('${path}')`);
  }
  const queries = tpchQueries();
  const ours = async (sql) => (await rowan.query(sql, { rowNames: false })).slice(1);
  const theirs = async (sql) => (await duckdb.runAndReadAll(sql)).getRowsJS();
  const all = (ask) => async () => {
    const answers = [];
    for (const { sql } of queries) answers.push(await ask(sql));
    return answers;
  };
  return {
    measures: [
      ...queries.map(({ name, sql }) => ({
        name,
        goal: 5,
        contenders: { rowan: () => ours(sql), duckdb: () => theirs(sql) },
        agree,
      })),
      {
        name: `all 22 at scale ${scale}`,
        goal: 1.5,
        contenders: { rowan: all(ours), duckdb: all(theirs) },
        agree: (a, b) => a.every((answer, index) => agree(answer, b[index])),
      },
    ],
    close: async () => {
      duckdb.closeSync();
      await rowan.close();
    },
  };
}

/** Rows with equal cells; sums of decimals within 1e-9 of their size. */
function agree(ours, theirs) {
  return (
    ours.length === theirs.length &&
    ours.every((row, i) => row.every((cell, j) => isSame(cell, theirs[i][j])))
  );
}

function isSame(ours, theirs) {
  if (theirs instanceof Date) return Date.parse(ours) === theirs.getTime();
  if (typeof ours !== 'number') return ours === (theirs ?? null);
  return Math.abs(ours - Number(theirs)) <= 1e-9 * Math.max(1, Math.abs(ours));
}
