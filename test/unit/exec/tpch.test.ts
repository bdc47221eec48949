// The 22 queries of TPC-H at scale 0.01, with their validation parameters, answer what DuckDB
// answers to the same rows; none of them runs a sub-select once for each row.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tpchFiles, tpchQueries } from '../../../bench/data/tpch.mjs';
import { Rowan } from '../../../src/index.ts';

type Rows = readonly (readonly unknown[])[];

const EXPECTED = JSON.parse(
  readFileSync(new URL('../../reference/tpch.json', import.meta.url), 'utf8'),
) as Record<string, Rows>;

let rowan: Rowan;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rowan-tpch-'));
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
  for (const [id, path] of Object.entries(await tpchFiles(0.01, folder))) {
    const reply = await rowan.post('/v1/procedures', {
      type: 'import.text',
      params: {
        ...{ dataFileUrl: `file://${path}`, outputDataset: id },
        ...{ inferTimestamps: true, runOnCreation: true },
      },
    });
    expect(reply.status).toBe(201);
  }
}, 120_000);

afterAll(async () => {
  await rowan.close();
  rmSync(folder, { recursive: true });
});

test.each(tpchQueries())(
  '$name',
  async ({ name, sql }) => {
    const answer = (await rowan.query(sql, { rowNames: false })) as Rows;
    const rows = answer.slice(1);
    const expected = EXPECTED[name] as Rows;
    expect(rows.length).toBe(expected.length);
    rows.forEach((row, index) => {
      row.forEach((cell, column) => {
        const other = expected[index]?.[column];
        if (typeof cell === 'number' && typeof other === 'number') {
          const tolerance = 1e-9 * Math.max(1, Math.abs(other));
          expect(Math.abs(cell - other)).toBeLessThanOrEqual(tolerance);
        } else expect(cell).toEqual(other);
      });
    });
    const lines = (await rowan.query(`EXPLAIN ${sql}`, { rowNames: false })) as Rows;
    const ways = lines.map((line) => line[1]);
    expect(ways).not.toContain('once for each distinct key');
  },
  60_000,
);
