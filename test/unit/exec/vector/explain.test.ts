// EXPLAIN names the operators that kernels will run over the data as they are.
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../../src/exec/operator/executor.ts';
import { serialParallel } from '../../../../src/exec/parallel.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import { writeQuery } from '../../../../src/exec/write-query.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { SparseBuilder } from '../../../../src/value/column/sparse-builder.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
useArenas(arenas);

function fill(
  builder: TableBuilder | SparseBuilder,
  rowCount: number,
  valuesAt = (i: number): readonly [x: number, s: string] => [i, `s${i % 5}`],
): Relation {
  for (let i = 0; i < rowCount; i++) {
    const [x, s] = valuesAt(i);
    const cells = [
      ['x', x],
      ['s', s],
    ] as const;
    builder.addRow(
      Path.of(String(i)),
      cells.map(([name, atom]) => [Path.of(name), atom, 0] as const),
    );
  }
  return snapshotRelation(builder.seal(), arenas);
}

const relations: Readonly<Record<string, Relation>> = {
  large: fill(new TableBuilder(arenas), 3000),
  small: fill(new TableBuilder(arenas), 10),
  sparse: fill(new SparseBuilder(arenas), 3000),
  skewed: fill(new TableBuilder(arenas), 3000, (i) => {
    return i % 10 === 0 ? [i, `s${(i / 10) % 10}`] : [5, 'often'];
  }),
};
const namespace: Namespace = {
  dataset: (name) => relations[name] as Relation,
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};
const engine = { arenas, parallel: serialParallel(NO_CONTEXT), rowCountMin: 1024 };

/** The path of each operator, by its first word. */
function paths(sql: string): string[] {
  return explain(sql).map(([operator, path]) => `${operator.trim().split(' ')[0]}: ${path}`);
}

function explain(sql: string): [operator: string, path: string, rows: number][] {
  const pieces: Uint8Array[] = [];
  writeQuery(`EXPLAIN ${sql}`, {
    namespace,
    scope: NO_CONTEXT,
    executor: batchExecutor(engine),
    format: 'table',
    output: { headers: false, rowNames: false, rowHashes: false, sortColumns: false },
    emit: (bytes) => pieces.push(bytes),
  });
  return JSON.parse(Buffer.concat(pieces).toString()) as [string, string, number][];
}

test.each([
  ['SELECT count(*) AS n FROM large WHERE x < 300', 301],
  ['SELECT count(*) AS n FROM large WHERE 2699 < x', 300],
  ["SELECT count(*) AS n FROM large WHERE s = 's1' AND x >= 1500", 300],
  ['SELECT count(*) AS n FROM large WHERE x IS NULL', 0],
  ['SELECT count(*) AS n FROM large WHERE x > 5000', 0],
])('statistics of columns tell how many rows pass: %s', (sql, expected) => {
  const filter = explain(sql).find(([operator]) => operator.trim().startsWith('filter'));
  expect(Math.abs((filter?.[2] ?? Number.NaN) - expected)).toBeLessThanOrEqual(1);
});

test.each([
  ["SELECT count(*) AS n FROM skewed WHERE s = 'often'", 2700],
  ["SELECT count(*) AS n FROM skewed WHERE s = 's7'", 30],
  ["SELECT count(*) AS n FROM skewed WHERE s IN ('often', 's7')", 2730],
  ["SELECT count(*) AS n FROM skewed WHERE s NOT IN ('often')", 300],
  ['SELECT count(*) AS n FROM skewed WHERE x = 5', 2700],
])('frequent values tell how many rows are equal: %s', (sql, expected) => {
  const filter = explain(sql).find(([operator]) => operator.trim().startsWith('filter'));
  expect(Math.abs((filter?.[2] ?? Number.NaN) - expected)).toBeLessThanOrEqual(1);
});

test('joins are estimated by the values of their keys, of which some are frequent', () => {
  const rowsOf = (sql: string) =>
    explain(sql).find(([operator]) => operator.trim().startsWith('inner'))?.[2] ?? 0;
  // Each of 3000 rows finds the one with its number.
  expect(rowsOf('SELECT count(*) AS n FROM large AS a JOIN large AS b ON a.x = b.x')).toBe(3000);
  const even = rowsOf('SELECT count(*) AS n FROM large AS a JOIN large AS b ON a.s = b.s');
  expect(Math.abs(even - (3000 * 3000) / 5)).toBeLessThan(10);
  const skewed = rowsOf('SELECT count(*) AS n FROM skewed AS a JOIN skewed AS b ON a.s = b.s');
  expect(Math.abs(skewed - (2700 * 2700 + 10 * 30 * 30))).toBeLessThan(10);
});

test('groups are estimated by the values of their keys', () => {
  const groups = explain('SELECT s, count(*) AS n FROM large GROUP BY s');
  expect(groups.find(([operator]) => operator.includes('aggregate count(*)'))?.[2]).toBe(5);
});

test('EXPLAIN ANALYZE tells the rows of all operators', () => {
  const pieces: Uint8Array[] = [];
  const sql = `SELECT sum(n) AS s FROM (SELECT s, count(*) AS n FROM large WHERE x < 100 GROUP BY s) AS t`;
  writeQuery(`EXPLAIN ANALYZE ${sql}`, {
    ...{ namespace, scope: NO_CONTEXT, executor: batchExecutor(engine), format: 'aos' },
    output: { headers: false, rowNames: false, rowHashes: false, sortColumns: false },
    emit: (bytes) => pieces.push(bytes),
  });
  const lines = JSON.parse(Buffer.concat(pieces).toString()) as {
    operator: string;
    path: string;
    rows: number | null;
    milliseconds: number | null;
  }[];
  const told = lines.map(({ operator, path, rows }) => [operator.trim().split(' ')[0], path, rows]);
  expect(told).toEqual([
    ['project', 'vector', 1],
    ['aggregate', 'vector', 1],
    ['project', 'vector', 5],
    ['aggregate', 'vector', 5],
    ['filter', 'vector', 100],
    ['scan', 'scan', 3000],
  ]);
  expect(lines[0]?.milliseconds).toBeGreaterThan(0);
});

test.each([
  [
    'SELECT sum(x) AS n FROM large WHERE x > 3',
    ['project: vector', 'aggregate: vector', 'filter: vector', 'scan: scan'],
  ],
  [
    'SELECT sum(x) AS n FROM small WHERE x > 3',
    ['project: general', 'aggregate: general', 'filter: general', 'scan: scan'],
  ],
  [
    'SELECT sum(x) AS n FROM sparse WHERE x > 3',
    ['project: general', 'aggregate: general', 'filter: general', 'scan: scan'],
  ],
  [
    // No kernel knows the aggregate: the function itself takes what the operators give.
    "SELECT string_agg(s, ',') AS n FROM large WHERE x > 3",
    ['project: vector', 'aggregate: vector', 'filter: vector', 'scan: scan'],
  ],
  [
    // Once for each pair of the values of both columns.
    "SELECT count(*) AS n FROM large WHERE s + x = 's12'",
    ['project: vector', 'aggregate: vector', 'filter: vector', 'scan: scan'],
  ],
  [
    'SELECT x FROM large ORDER BY x LIMIT 3',
    ['project: vector', 'limit: vector', 'sort: vector', 'scan: scan'],
  ],
  [
    'SELECT x FROM small ORDER BY x LIMIT 3',
    ['project: general', 'limit: general', 'sort: top rows', 'scan: scan'],
  ],
])('%s', (sql, expected) => {
  const usedBefore = arenas.usedBytes;
  expect(paths(sql)).toEqual(expected);
  expect(arenas.usedBytes).toBe(usedBefore);
});
