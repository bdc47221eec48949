// Sparse datasets give their columns one by one: the transposition and aggregates of every column
// are those of rows read one by one.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { queryRows } from '../../../../src/exec/query.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import { RowanError } from '../../../../src/util/error.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { freeSnapshot } from '../../../../src/value/column/snapshot-memory.ts';
import { SparseBuilder } from '../../../../src/value/column/sparse-builder.ts';
import { atomToJsonText } from '../../../../src/value/json.ts';
import { Path } from '../../../../src/value/path.ts';
import { cellsOf } from '../../../../src/value/value.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
useArenas(arenas);

type Point = readonly [column: string, atom: Atom, ts: number];

const atom: fc.Arbitrary<Atom> = fc.constantFrom<Atom>(1, 2, -3.5, 'a', 'b', null, 2 ** 40);
const point = (columns: readonly string[]): fc.Arbitrary<Point> =>
  fc.tuple(fc.constantFrom(...columns), atom, fc.constantFrom(0, 7));
const rowsOf = (columns: readonly string[]) =>
  fc.array(fc.array(point(columns), { maxLength: 5 }), { minLength: 1, maxLength: 12 });
const FLAT = ['a', 'b', 'c10', 'c2', '"x.y"'];
/** Also columns below others, and cells of several points. */
const ANY = [...FLAT, 'n.a', 'n.b', 'a.z'];

/** The relation without what it knows of columns. */
function rowByRow(relation: Relation): Relation {
  return {
    rowCount: relation.rowCount,
    columns: () => relation.columns(),
    columnCount: () => relation.columnCount(),
    scan: (needed) => relation.scan(needed),
    findRows: (name, needed) => relation.findRows(name, needed),
    rowNames: () => relation.rowNames(),
  };
}

function ask(rows: readonly (readonly Point[])[], sql: string, byColumns: boolean): string[] {
  const builder = new SparseBuilder(arenas);
  rows.forEach((cells, index) => {
    const recorded = cells.map(([column, value, ts]) => [Path.parse(column), value, ts] as const);
    builder.addRow(Path.of(`r${index}`), recorded);
  });
  const snapshot = builder.seal();
  const relation = snapshotRelation(snapshot, arenas);
  const namespace: Namespace = {
    dataset: () => (byColumns ? relation : rowByRow(relation)),
    findUserFunction: () => undefined,
    builtins: builtinNamespace,
  };
  try {
    return Array.from(queryRows(sql, { namespace, scope: NO_CONTEXT }), ({ name, row }) => {
      const cells = cellsOf(row).map((c) => `${c.path}=${atomToJsonText(c.atom)}@${c.ts}`);
      return `${name} ${cells.join(', ')}`;
    });
  } catch (thrown) {
    if (thrown instanceof RowanError) return [thrown.message];
    throw thrown;
  } finally {
    freeSnapshot(snapshot, arenas);
  }
}

test.each([
  'SELECT * FROM transpose(d)',
  'SELECT count(*) AS n FROM transpose(d)',
  "SELECT columnCount() AS n FROM transpose(d) WHERE rowName() != 'b'",
  'SELECT count({*}) AS * FROM d',
  'SELECT min({*}) AS low, max({*}) AS high, count({*}) AS n FROM d',
  'SELECT count(*) AS rows, count({*}) AS n FROM d',
])('%s', (sql) => {
  const oneEach = rowsOf(FLAT).map((rows) =>
    rows.map((cells) => [...new Map(cells.map((cell) => [cell[0], cell] as const)).values()]),
  );
  fc.assert(
    fc.property(fc.oneof(oneEach, rowsOf(ANY)), (rows) => {
      expect(ask(rows, sql, true)).toEqual(ask(rows, sql, false));
    }),
    { numRuns: 60 },
  );
});

test('columns are read as such where that can be', () => {
  const rows: Point[][] = [
    [['a', 1, 0]],
    [
      ['a', 2, 0],
      ['b', 'x', 0],
    ],
    [],
  ];
  const builder = new SparseBuilder(arenas);
  rows.forEach((cells, index) => {
    builder.addRow(
      Path.of(`r${index}`),
      cells.map(([c, v, ts]) => [Path.of(c), v, ts] as const),
    );
  });
  const snapshot = builder.seal();
  const relation = snapshotRelation(snapshot, arenas);
  expect([...(relation.flatColumns?.(() => undefined) ?? [])].map(({ name }) => name)).toEqual([
    'a',
    'b',
  ]);
  const names = Array.from(relation.transposedRows?.(() => undefined) ?? [], ({ name }) =>
    String(name),
  );
  expect(names).toEqual(['a', 'b']);
  freeSnapshot(snapshot, arenas);
});
