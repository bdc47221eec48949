// What EXPLAIN says of columns and expressions is what runs.
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../../src/exec/operator/executor.ts';
import { serialParallel } from '../../../../src/exec/parallel.ts';
import { prepareQuery } from '../../../../src/exec/query.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import { explainPlan } from '../../../../src/physical/explain.ts';
import { type Observation, Observations } from '../../../../src/physical/observation.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { SparseBuilder } from '../../../../src/value/column/sparse-builder.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
useArenas(arenas);

function fill(builder: TableBuilder | SparseBuilder, rowCount: number): Relation {
  for (let i = 0; i < rowCount; i++) {
    builder.addRow(Path.of(`r${i}`), [
      [Path.of('k'), i % 100, 0],
      [Path.of('s'), `s${i % 5}`, 0],
      [Path.of('x'), i, 0],
      [Path.of('y'), i / 3, 0],
    ]);
  }
  return snapshotRelation(builder.seal(), arenas);
}

const relations: Readonly<Record<string, Relation>> = {
  t: fill(new TableBuilder(arenas), 3000),
  u: fill(new TableBuilder(arenas), 200),
  sparse: fill(new SparseBuilder(arenas), 200),
};
const namespace: Namespace = {
  dataset: (name) => relations[name] as Relation,
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};
const executor = batchExecutor({ arenas, parallel: serialParallel(NO_CONTEXT), rowCountMin: 0 });

interface Told extends Observation {
  readonly operator: string;
}

/** What each operator tells, by its depth and kind. */
function told(sql: string, isDry: boolean): Told[] {
  const observations = new Observations();
  const usedBefore = arenas.usedBytes;
  const { plan, runtime, run } = prepareQuery(sql, {
    ...{ namespace, scope: NO_CONTEXT, executor, exactTimestamps: false },
    ...{ observe: observations.add, isDry },
  });
  if (!isDry) for (const _ of run()) NO_CONTEXT.checkCancelled();
  expect(arenas.usedBytes).toBe(usedBefore);
  return explainPlan(plan, runtime.planner).map(({ operator, physical }) => {
    return { operator, ...(physical && observations.of(physical.logical)) };
  });
}

const QUERIES = [
  "SELECT count(*) AS n FROM t WHERE y * 2 + 1 > 300 AND lower(s) = 's1'",
  'SELECT x - x % 100 AS b, sum(y * 2) AS v FROM t GROUP BY x - x % 100 ORDER BY v DESC LIMIT 3',
  'SELECT d, count(*) AS n FROM (SELECT y * 2 AS d FROM t) AS i WHERE d > 100 GROUP BY d',
  "SELECT t.s, sum(u.x) AS z FROM t JOIN u ON t.k = u.k WHERE u.s LIKE 's1%' GROUP BY t.s",
  'SELECT x, s FROM t WHERE x > 10 ORDER BY y LIMIT 5',
  "SELECT n + 1 AS m, s || 'a' AS q FROM (SELECT s, count(*) AS n FROM t GROUP BY s) AS i WHERE n > 3",
  "SELECT string_agg(s, ',') AS a FROM t WHERE x > 2990",
  "SELECT concat_ws(',', y, s) AS q, x FROM t ORDER BY x LIMIT 3",
  "SELECT count(*) AS n FROM t WHERE concat_ws(',', y, s, x) > '2'",
  'SELECT x, row_number() OVER (PARTITION BY s ORDER BY y + 1) AS r FROM t',
  'SELECT count(*) AS n FROM t WHERE k IN (SELECT k FROM u WHERE x > 100)',
  'SELECT x FROM t WHERE x > (SELECT avg(x) FROM u) LIMIT 3',
  'SELECT count(*) AS n FROM sparse WHERE x * 2 > 3',
  'SELECT lower(s) AS l, k FROM sparse WHERE x > 3',
  'SELECT t.x AS x FROM t LEFT JOIN u ON t.k = u.k AND u.x > t.y * 2 WHERE t.x < 20',
  'SELECT max(y + x) AS m, s FROM t GROUP BY s UNION ALL SELECT min(y - x) AS m, s FROM u GROUP BY s',
  "SELECT CASE WHEN x > 5 THEN y * 2 ELSE 1 END AS c, x FROM t WHERE s = 's2'",
  'SELECT s, k + 1 AS j, sum(x * y) AS v FROM t GROUP BY ROLLUP (s, k + 1)',
];

test.each(QUERIES)('EXPLAIN says what runs: %s', (sql) => {
  const expected = told(sql, true);
  const ran = told(sql, false);
  expect(expected.map(({ operator }) => operator)).toEqual(ran.map(({ operator }) => operator));
  let comparedCount = 0;
  expected.forEach(({ expressions = [], columns = [] }, index) => {
    const { expressions: notes = [], columns: made = [], operator } = ran[index] as Told;
    for (const { text, ways, isOpen } of expressions) {
      const note = notes.find((each) => each.text === text);
      if (note === undefined && isOpen === true) continue;
      comparedCount++;
      if (isOpen === true)
        expect(ways, operator).toEqual(expect.arrayContaining([...(note?.ways ?? [])]));
      else expect({ operator, text, ways: note?.ways }).toEqual({ operator, text, ways });
    }
    for (const { name, type } of columns) {
      if (type === 'decided by its values') continue;
      comparedCount++;
      const column = made.find((each) => each.name === name);
      // How many entries a dictionary has is known when its values are.
      expect(`${operator}: ${name} ${column?.type}`).toContain(`${operator}: ${name} ${type}`);
    }
  });
  expect(comparedCount).toBeGreaterThan(0);
});

/** The ways of all expressions of a query, from its root down. */
function ways(sql: string, isDry = false) {
  return told(sql, isDry).flatMap(({ expressions = [] }) => expressions.map((note) => note.ways));
}

test('each expression has the way that suits it', () => {
  expect(ways('SELECT count(*) AS n FROM t WHERE y * 2 > 300')).toEqual([['kernel program']]);
  expect(ways("SELECT count(*) AS n FROM t WHERE lower(s) = 's1'")).toEqual([
    ['once per distinct value'],
  ]);
  expect(ways("SELECT count(*) AS n FROM t WHERE concat_ws(',', y, s, x) > '2'")).toEqual([
    ['generated JavaScript'],
  ]);
  expect(ways('SELECT count(*) AS n FROM sparse WHERE x * 2 > 3')[0]).toEqual([
    'generated JavaScript',
  ]);
  expect(ways('SELECT lower(s) AS l FROM sparse')).toEqual([['closure']]);
});

test('rows, bytes and types of columns are told of each operator', () => {
  const lines = told(
    'SELECT t.s, sum(u.x) AS z FROM t JOIN u ON t.k = u.k WHERE u.x > 9 GROUP BY t.s',
    false,
  );
  const found = lines.map(({ operator, rowCount, bytes, columns }) => {
    return { kind: operator.trim().split(' ')[0], rowCount, hasBytes: (bytes ?? 0) > 0, columns };
  });
  const [project, aggregate, join, ...inputs] = found;
  expect(project).toMatchObject({ kind: 'project', rowCount: 5 });
  expect(aggregate).toMatchObject({ kind: 'aggregate', rowCount: 5, hasBytes: true });
  expect(join).toMatchObject({ kind: 'inner', rowCount: 30 * 190, hasBytes: true });
  expect(inputs).toMatchObject([
    { kind: 'scan', rowCount: 3000, hasBytes: true },
    { kind: 'filter', rowCount: 190 },
    { kind: 'scan', rowCount: 200, hasBytes: true },
  ]);
  expect(inputs[0]?.columns).toContainEqual({ name: 's', type: 'codes of 5 texts' });
  expect(inputs[0]?.columns).toContainEqual({ name: 'k', type: 'int32' });
});
