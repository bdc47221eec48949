// Physical plans: which choice takes which part of a plan, and why the others do not.
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../src/exec/operator/executor.ts';
import { serialParallel } from '../../../src/exec/parallel.ts';
import { prepareQuery } from '../../../src/exec/query.ts';
import { useArenas } from '../../../src/exec/thread-memory.ts';
import type { ChoiceName } from '../../../src/physical/choice/choice.ts';
import { pathOf } from '../../../src/physical/explain.ts';
import type { PhysicalNode } from '../../../src/physical/physical.ts';
import { planQuery } from '../../../src/physical/planner.ts';
import type { Namespace } from '../../../src/plan/namespace.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import { SparseBuilder } from '../../../src/value/column/sparse-builder.ts';
import { TableBuilder } from '../../../src/value/column/table-builder.ts';
import { Path } from '../../../src/value/path.ts';
import { cellsOf } from '../../../src/value/value.ts';
import { NO_CONTEXT } from '../../support/memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
useArenas(arenas);

function relation(builder: TableBuilder | SparseBuilder) {
  for (let i = 0; i < 40; i++) {
    builder.addRow(Path.of(String(i)), [
      [Path.of('k'), i % 7, 0],
      [Path.of('x'), (i * 13) % 17, 0],
      [Path.of('s'), `s${i % 5}`, 0],
    ]);
  }
  return snapshotRelation(builder.seal(), arenas);
}

const t = relation(new TableBuilder(arenas));
const sparse = relation(new SparseBuilder(arenas));
const namespace: Namespace = {
  dataset: (name) => (name === 'sparse' ? sparse : t),
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};
const executor = batchExecutor({ arenas, parallel: serialParallel(NO_CONTEXT), rowCountMin: 0 });

function prepare(sql: string, off: readonly ChoiceName[] = []) {
  const without = new Set(off);
  return prepareQuery(sql, {
    ...{ namespace, scope: NO_CONTEXT, executor, without, exactTimestamps: false },
  });
}

function planOf(sql: string, off: readonly ChoiceName[] = []): PhysicalNode {
  const { plan, runtime } = prepare(sql, off);
  return planQuery(plan, runtime.planner).root;
}

/** The operators from the root down the first inputs. */
function chain(node: PhysicalNode): string[] {
  const [input] = node.inputs;
  const own = `${node.logical.kind}: ${pathOf(node)}`;
  return input === undefined ? [own] : [own, ...chain(input)];
}

test.each([
  [
    'SELECT count(*) AS n FROM atom_dataset({x: 1}) AS r JOIN t ON r.value = t.k',
    ['project: vector', 'aggregate: vector', 'join: vector: hash join', 'row-dataset: vector'],
  ],
  [
    'SELECT k, count(*) AS n FROM sample(t, {rows: 20, seed: 1}) WHERE x > 1 GROUP BY k',
    ['project: vector', 'aggregate: vector', 'filter: vector', 'sample: vector', 'scan: scan'],
  ],
  ['SELECT * FROM sample(t, {rows: 2})', ['project: vector', 'sample: vector', 'scan: scan']],
  [
    'SELECT k, sum(x) AS s FROM t GROUP BY k ORDER BY s DESC LIMIT 2',
    [
      'project: vector',
      'limit: vector',
      'sort: vector: sorted groups',
      'aggregate: vector',
      'scan: scan',
    ],
  ],
  [
    'SELECT x, s FROM t WHERE k > 2',
    ['project: vector: stored columns', 'filter: vector', 'scan: scan'],
  ],
  ['SELECT x + 1 AS y FROM t WHERE k > 2', ['project: general', 'filter: vector', 'scan: scan']],
  [
    'SELECT * FROM t ORDER BY x LIMIT 3',
    ['project: vector', 'limit: vector', 'sort: vector', 'scan: scan'],
  ],
  [
    'SELECT a.x AS x FROM t AS a JOIN t AS b ON a.k = b.k ORDER BY a.x, b.x LIMIT 3',
    ['project: vector', 'limit: vector', 'sort: vector', 'join: vector: hash join', 'scan: scan'],
  ],
  [
    'SELECT a.x AS x FROM t AS a JOIN t AS b ON a.k = b.k LIMIT 3',
    ['project: vector', 'limit: vector', 'join: vector: ordered join', 'scan: scan'],
  ],
  [
    'SELECT count(*) AS n FROM sparse WHERE x > 3',
    ['project: general', 'aggregate: general', 'filter: general', 'scan: scan'],
  ],
])('%s', (sql, expected) => {
  const plan = planOf(sql);
  expect(chain(plan)).toEqual(expected);
  // Plain data: it can be printed and compared.
  expect(structuredClone(plan)).toEqual(plan);
});

test.each([
  ['SELECT count(*) AS n FROM sparse', 'aggregate', "dataset 'sparse' does not lie in columns"],
  ['SELECT array_agg(s) AS n FROM t', 'project', 'an aggregate gives rows or lists'],
  ['SELECT x + 1 AS y FROM t', 'project', 'rows leave one by one as they are read'],
  ['SELECT x NAMED s FROM t', 'project', 'rows are named by an expression'],
])('a refused choice says why: %s', (sql, kind, because) => {
  const find = (node: PhysicalNode): PhysicalNode | undefined =>
    node.logical.kind === kind ? node : node.inputs.map(find).find((found) => found !== undefined);
  expect(find(planOf(sql))?.refusals).toContainEqual({ choice: 'batches', because });
});

const QUERIES = [
  'SELECT k, sum(x) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 3',
  'SELECT s, x FROM t WHERE k > 2',
  'SELECT * FROM t WHERE x > 4 ORDER BY s, x DESC LIMIT 5',
  'SELECT DISTINCT ON (s) s, x FROM t ORDER BY s, x',
  'SELECT s, count(*) AS n FROM t WHERE x < 9 GROUP BY s LIMIT 2',
];

test.each(QUERIES)('choices that are switched off change no row: %s', (sql) => {
  const rows = (off: readonly ChoiceName[]) =>
    [...prepare(sql, off).run()].map(
      ({ name, row }) => `${name} ${cellsOf(row).map(({ path, atom }) => `${path}=${atom}`)}`,
    );
  const reference = rows(['batches', 'row-numbers']);
  for (const off of [
    'batches',
    'row-numbers',
    'first-groups',
    'grouped-twice',
    'stored-columns',
  ] as const) {
    expect(rows([off]), off).toEqual(reference);
  }
  expect(rows([])).toEqual(reference);
});

test('a plan is made anew when a dataset has become another one', () => {
  let current = sparse;
  const changing: Namespace = { ...namespace, dataset: () => current };
  const prepared = prepareQuery('SELECT count(*) AS n FROM d WHERE x > 3', {
    ...{ namespace: changing, scope: NO_CONTEXT, executor },
  });
  const count = () => [...prepared.run()].map(({ row }) => cellsOf(row)[0]?.atom);
  const before = count();
  current = t;
  expect(count()).toEqual(before);
  expect(planQuery(prepared.plan, prepared.runtime.planner).root.way).toBe('batches');
});
