// Semi joins read of their larger side only what has keys of the smaller one.
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../../src/exec/operator/executor.ts';
import { serialParallel } from '../../../../src/exec/parallel.ts';
import { prepareQuery } from '../../../../src/exec/query.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import { explainPlan } from '../../../../src/physical/explain.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';
import { cellsOf } from '../../../../src/value/value.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
useArenas(arenas);

const LARGE = 12_000;

function fill(rowCount: number, cells: (row: number) => Record<string, string | number | null>) {
  const builder = new TableBuilder(arenas);
  for (let row = 0; row < rowCount; row++) {
    const points = Object.entries(cells(row)).map(([name, atom]) => {
      return [Path.of(name), atom, 0] as const;
    });
    builder.addRow(Path.of(`r${row}`), points);
  }
  return snapshotRelation(builder.seal(), arenas);
}

const relations: Readonly<Record<string, Relation>> = {
  large: fill(LARGE, (row) => {
    const k = row % 17 === 0 ? null : (row * 7) % 3000;
    return { k, j: row % 40, s: `s${row % 3000}`, v: (row * 13) % 101 };
  }),
  small: fill(60, (row) => {
    const k = row % 9 === 0 ? null : row * 70;
    return { k, j: row % 40, s: `s${row * 70}`, v: row % 50, g: row % 3 };
  }),
  other: fill(40, (row) => ({ j: row, w: row % 5 })),
};
const namespace: Namespace = {
  dataset: (name) => relations[name] as Relation,
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};
const executor = batchExecutor({ arenas, parallel: serialParallel(NO_CONTEXT), rowCountMin: 0 });

function prepare(sql: string, isReference = false) {
  const context = { namespace, scope: NO_CONTEXT, exactTimestamps: false };
  return prepareQuery(sql, isReference ? context : { ...context, executor });
}

function rowsOf(sql: string, isReference: boolean): string[] {
  return [...prepare(sql, isReference).run()].map(
    ({ row }) => `${cellsOf(row).map(({ path, atom }) => `${path}=${atom}`)}`,
  );
}

function planOf(sql: string): string[] {
  const { plan, runtime } = prepare(sql);
  return explainPlan(plan, runtime.planner).map(({ operator }) => operator);
}

/** Scans of the large table, each with whether only some of its keys are read. */
const isReduced = (sql: string) => {
  const lines = planOf(sql);
  const at = lines.findIndex((line) => line.trim().startsWith('scan large'));
  return lines.slice(Math.max(0, at - 2), at).some((line) => line.trim().startsWith('semi join'));
};

const REDUCED = [
  'SELECT count(*) AS n FROM small WHERE k IN (SELECT k FROM large)',
  'SELECT count(*) AS n FROM small WHERE k NOT IN (SELECT k FROM large WHERE v > 50)',
  'SELECT count(*) AS n, sum(v) AS v FROM small WHERE EXISTS (SELECT * FROM large AS l WHERE l.k = small.k AND l.v > 90)',
  'SELECT count(*) AS n FROM small WHERE NOT EXISTS (SELECT * FROM large AS l WHERE l.s = small.s AND l.v < 20)',
  'SELECT v FROM small WHERE v < (SELECT avg(l.v) FROM large AS l WHERE l.k = small.k) ORDER BY v, k',
  'SELECT count(*) AS n FROM small WHERE EXISTS (SELECT * FROM large AS l WHERE l.k = small.k AND l.j <> small.j)',
  'SELECT g, count(*) AS n FROM small WHERE k IN (SELECT k FROM large GROUP BY k HAVING count(*) > 3) GROUP BY g ORDER BY g',
  'SELECT count(*) AS n FROM small AS a JOIN other AS o ON a.j = o.j WHERE o.w = 1 AND a.k IN (SELECT k FROM large WHERE j < 30)',
  'SELECT count(*) AS n FROM small WHERE k IN (SELECT a.k FROM large AS a JOIN other AS o ON a.j = o.j WHERE o.w > 1)',
  'SELECT count(*) AS n FROM small WHERE k IN (SELECT k FROM large WHERE j IN (SELECT j FROM other WHERE w = 2))',
];

test.each(REDUCED)('the keys of the left side are pushed down the right one: %s', (sql) => {
  expect(isReduced(sql), planOf(sql).join('\n')).toBe(true);
  const usedBefore = arenas.usedBytes;
  expect(rowsOf(sql, false)).toEqual(rowsOf(sql, true));
  expect(arenas.usedBytes).toBe(usedBefore);
});

const KEPT = [
  // There are not so many rows more on the right.
  'SELECT count(*) AS n FROM large WHERE k IN (SELECT k FROM small)',
  'SELECT count(*) AS n FROM large AS a WHERE k IN (SELECT k FROM large WHERE v > 3)',
  // What a name of a row is may be asked for.
  "SELECT count(*) AS n FROM small WHERE rowName() <> 'r3' AND k IN (SELECT k FROM large)",
  // The aggregate is not a key.
  'SELECT count(*) AS n FROM small WHERE v IN (SELECT max(v) FROM large GROUP BY j)',
];

test.each(KEPT)('other semi joins stay as they are: %s', (sql) => {
  expect(planOf(sql).some((line) => line.includes('rows of sub-select'))).toBe(false);
  expect(rowsOf(sql, false)).toEqual(rowsOf(sql, true));
});

test('a semi join over a join goes down to the table that it asks about', () => {
  const sql =
    'SELECT count(*) AS n FROM small AS a JOIN large AS b ON a.j = b.j WHERE a.k IN (SELECT j * 70 AS q FROM other)';
  const lines = planOf(sql).map((line) => line.trim().split(' ').slice(0, 2).join(' '));
  expect(lines.indexOf('inner join')).toBeLessThan(lines.indexOf('semi join'));
  expect(rowsOf(sql, false)).toEqual(rowsOf(sql, true));
});
