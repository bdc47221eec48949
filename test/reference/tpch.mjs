// What DuckDB answers to the queries of TPC-H at scale 0.01, for test/unit/exec/tpch.test.ts:
//   node test/reference/tpch.mjs
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { tpchFiles, tpchQueries } from '../../bench/data/tpch.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rowan-tpch-'));
const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
for (const [table, path] of Object.entries(await tpchFiles(0.01, folder))) {
  await duckdb.run(`CREATE TABLE ${table} AS SELECT * FROM read_csv('${path}')`);
}
const lines = [];
for (const { name, sql } of tpchQueries()) {
  const rows = (await duckdb.runAndReadAll(sql)).getRowsJS();
  // An aggregate over no rows gives a row of NULL there and no row here.
  const cells = rows
    .map((row) => row.map(plain))
    .filter((row) => row.some((cell) => cell !== null));
  lines.push(
    `${JSON.stringify(name)}: [\n${cells.map((row) => JSON.stringify(row)).join(',\n')}\n]`,
  );
}
writeFileSync(fileURLToPath(new URL('tpch.json', import.meta.url)), `{\n${lines.join(',\n')}\n}\n`);
rmSync(folder, { recursive: true });

/** As Rowan's JSON has it. */
function plain(cell) {
  if (typeof cell === 'bigint') return Number(cell);
  if (cell instanceof Date) return cell.toISOString().replace('.000Z', 'Z');
  return cell ?? null;
}
