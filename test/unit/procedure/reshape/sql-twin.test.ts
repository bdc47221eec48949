// What reshaping procedures make of random rows is what SQL says of the same rows.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const RUN_COUNT = 12;

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan.close());

/** Few different values, so that keys tie; nulls; numbers beside texts. */
const cell = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.5, -0.25, 1e10),
  fc.constantFrom('', 'a', 'B', '10', 'é'),
  fc.constant(null),
);
const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 60 });
const type = fc.constantFrom('tabular', 'sparse.mutable');
type Rows = readonly (readonly [Cell, Cell, Cell])[];
type Cell = number | string | null;

const properties = { numRuns: RUN_COUNT };

async function ok(reply: Promise<{ status: number; text: string }>): Promise<string> {
  const { status, text } = await reply;
  expect(`${status} ${status < 300 ? '' : text}`).toMatch(/^20/);
  return text;
}

/** The dataset `t` with the columns id, x, y and z. */
async function load(kind: string, cells: Rows): Promise<void> {
  const params = kind === 'tabular' ? { unknownColumns: 'add' } : {};
  await ok(rowan.put('/v1/datasets/t', { type: kind, params }));
  const recorded = cells.map(([x, y, z], id) => [
    `r${id}`,
    [
      ['id', id, 0],
      ['x', x, 0],
      ['y', y, 0],
      ['z', z, 0],
    ],
  ]);
  await ok(rowan.post('/v1/datasets/t/multirows', recorded));
  await ok(rowan.post('/v1/datasets/t/commit', {}));
}

async function run(procedure: string, params: object): Promise<unknown> {
  const config = { type: procedure, params: { ...params, runOnCreation: true } };
  return JSON.parse(await ok(rowan.put('/v1/procedures/p', config))).status.firstRun.status;
}

const table = (sql: string) =>
  rowan.query(sql, { format: 'table', headers: false, rowNames: false }) as Promise<unknown[][]>;

const orders = fc
  .array(fc.constantFrom('x', 'y DESC', 'z', 'x DESC', "y = 'a'"), { maxLength: 3 })
  // No two rows are equal: SQL leaves the order of those that are open.
  .chain((keys) => fc.constantFrom([...keys, 'id'], [...keys, 'id DESC']))
  .map((keys) => keys.join(', '));

test('ranking counts the rows before each one', async () => {
  await fc.assert(
    fc.asyncProperty(type, rows, orders, async (kind, cells, order) => {
      await load(kind, cells);
      await run('ranking', {
        inputData: `SELECT * FROM t ORDER BY ${order}`,
        outputDataset: 'ranked',
      });
      expect(await table('SELECT rowName() AS name, rank FROM ranked ORDER BY rank')).toEqual(
        await table(
          `SELECT rowName() AS name, row_number() OVER (ORDER BY ${order}) - 1 AS rank FROM t ORDER BY rank`,
        ),
      );
    }),
    properties,
  );
});

test('bucketize gives rows the bucket of their share of the order', async () => {
  // Quarters are exact in binary fractions: no rounding decides.
  const bounds = fc.uniqueArray(fc.constantFrom(0, 12.5, 25, 50, 75, 100), {
    minLength: 2,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(type, rows, orders, bounds, async (kind, cells, order, drawn) => {
      const edges = drawn.sort((a, b) => a - b);
      const buckets = edges.slice(1).map((high, i) => [`b${i}`, [edges[i] ?? 0, high]] as const);
      await load(kind, cells);
      await run('bucketize', {
        inputData: `SELECT * FROM t ORDER BY ${order}`,
        percentileBuckets: Object.fromEntries(buckets),
        outputDataset: 'bucketed',
      });
      const n = cells.length;
      const cases = buckets.map(
        ([name, [low, high]]) =>
          `WHEN rank >= floor(${low} * ${n} / 100) AND rank < floor(${high} * ${n} / 100) THEN '${name}'`,
      );
      const ranked = `SELECT id, row_number() OVER (ORDER BY ${order}) - 1 AS rank FROM t`;
      expect(await table('SELECT rowName(), bucket FROM bucketed ORDER BY rowName()')).toEqual(
        await table(
          `SELECT 'r' || id AS name, bucket FROM (SELECT id, CASE ${cases.join(' ')} END AS bucket FROM (${ranked})) WHERE bucket IS NOT NULL ORDER BY name`,
        ),
      );
    }),
    properties,
  );
});

test('melt is a union of the columns', async () => {
  const columns = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1, maxLength: 3 });
  const where = fc.constantFrom('true', 'x IS NOT NULL', "y = 'a'", 'id % 2 = 0', 'false');
  await fc.assert(
    fc.asyncProperty(type, rows, columns, where, async (kind, cells, melted, condition) => {
      await load(kind, cells);
      await run('melt', {
        inputData: `SELECT {id} AS to_fix, {${melted.join(', ')}} AS to_melt FROM t WHERE ${condition}`,
        outputDataset: 'melted',
      });
      const part = (name: string) =>
        `SELECT id, '${name}' AS key, ${name} AS value FROM t WHERE ${condition}`;
      const sorted = (from: string) => table(`SELECT id, key, value FROM ${from} ORDER BY id, key`);
      expect(await sorted('melted')).toEqual(
        await sorted(`(${melted.map(part).join(' UNION ALL ')})`),
      );
    }),
    properties,
  );
});

test('split keeps each row once, and says which labels the last part lacks', async () => {
  const shares = fc.constantFrom([0.5, 0.5], [0.75, 0.25], [0.5, 0.25, 0.25]);
  await fc.assert(
    fc.asyncProperty(type, rows, shares, async (kind, cells, splits) => {
      await load(kind, cells);
      const parts = splits.map((_, i) => `part${i}`);
      const result = (await run('split', {
        labels: 'SELECT x, y FROM t',
        outputDatasets: parts.map((id) => ({ id, type: 'sparse.mutable' })),
        splits,
      })) as { incompleteLabels: string[] };
      const all = (from: string) => `SELECT id, x, y, z FROM ${from}`;
      const union = parts.map(all).join(' UNION ALL ');
      expect(await table(`SELECT * FROM (${union}) ORDER BY id`)).toEqual(
        await table(`${all('t')} ORDER BY id`),
      );
      const last = parts.at(-1);
      const lacking: string[] = [];
      for (const label of ['x', 'y']) {
        const count = (from = '') => table(`SELECT count(${label}) > 0 FROM ${from}`);
        const [[isThere] = [], [isInLast] = []] = [...(await count('t')), ...(await count(last))];
        if (isThere === 1 && isInLast !== 1) lacking.push(label);
      }
      expect(result.incompleteLabels).toEqual(lacking);
    }),
    properties,
  );
});
