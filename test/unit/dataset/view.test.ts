// Views are built from a dataset that is wide and long; what each needs of its context is counted.
import { expect, test } from 'vitest';
import type { DatasetType, Params } from '../../../src/dataset/dataset-type.ts';
import { joined } from '../../../src/dataset/joined.ts';
import { merged } from '../../../src/dataset/merged.ts';
import { sampled } from '../../../src/dataset/sampled.ts';
import { snapshotRelation } from '../../../src/dataset/snapshot-relation.ts';
import { transposed } from '../../../src/dataset/transposed.ts';
import { union } from '../../../src/dataset/union.ts';
import { prepareQuery } from '../../../src/exec/query.ts';
import type { Namespace, Relation } from '../../../src/plan/namespace.ts';
import { failure } from '../../../src/util/error.ts';
import { ArenaLease, ArenaSet } from '../../../src/value/column/arena-set.ts';
import { Path } from '../../../src/value/path.ts';
import { cellsOf } from '../../../src/value/value.ts';
import { FEW_FUNCTIONS } from '../../support/few-functions.ts';
import { buildTable, type PlainRow } from '../../support/snapshots.ts';

const arenas = ArenaSet.create({ budgetBytes: 500e6, arenaPageCount: 8192 });

const ROW_COUNT = 10_000;
const CELL_COUNT = 2 * ROW_COUNT;
const rows = Array.from({ length: ROW_COUNT }, (_, row): PlainRow => {
  const cells: PlainRow[1] = [
    [Path.of('x'), row, 0],
    [Path.of('y'), `text ${row % 7}`, 0],
  ];
  return [Path.of(`row ${row}`), cells];
});
const source = snapshotRelation(buildTable(rows, arenas), arenas);

const namespace: Namespace = {
  builtins: FEW_FUNCTIONS,
  dataset: () => source,
  findUserFunction: () => undefined,
};

/** Builds a view and reads it; it is cancelled at that check. */
function build<Result>(
  type: DatasetType,
  params: Params,
  read: (view: Relation) => Result,
  checkMax = 0,
): { readonly checkCount: number; readonly result: Result | undefined } {
  const memory = new ArenaLease(arenas);
  let checkCount = 0;
  const checkCancelled = () => {
    if (++checkCount === checkMax) throw failure('CANCELLED', 'the task was cancelled');
  };
  const scope = { host: undefined, checkCancelled };
  const start = () =>
    type.view?.build({
      params: { fraction: 0, rows: 0, ...params },
      dataset: () => source,
      parts: [],
      status: () => null,
      arenas: memory,
      query: (text) => ({
        [Symbol.iterator]: () => prepareQuery(text, { namespace, scope }).run()[Symbol.iterator](),
      }),
      checkCancelled,
    });
  try {
    if (checkMax > 0) {
      expect(start).toThrow('the task was cancelled');
      return { checkCount, result: undefined };
    }
    const content = start();
    if (content === undefined) throw new Error(`${type.name} is no view`);
    return { checkCount, result: read(snapshotRelation(content.snapshot, arenas)) };
  } finally {
    memory.release();
  }
}

const namesOf = (view: Relation) => [...view.rowNames()].map(String);
const VIEWS: readonly (readonly [DatasetType, Params])[] = [
  [sampled, { dataset: 't', fraction: 0.5, seed: 1 }],
  [sampled, { dataset: { id: 't' }, rows: 8000, withReplacement: true, seed: 1 }],
  [transposed, { dataset: { id: 't' } }],
  [merged, { datasets: [{ id: 't' }, { id: 'u' }] }],
  [union, { datasets: [{ id: 't' }, { id: 'u' }] }],
  [joined, { left: 't AS a', right: 't AS b', on: 'a.x = b.x', qualification: 'JOIN_INNER' }],
];

test.each(VIEWS.map(([type, params]) => [type.name, type, params] as const))(
  'building a view %s is left at any check, and gives its memory back',
  (_, type, params) => {
    const before = arenas.usedBytes;
    const { checkCount } = build(type, params, namesOf);
    expect(arenas.usedBytes).toBe(before);
    // The cells that are read are recorded, and sealed row by row.
    expect(checkCount).toBeGreaterThan(CELL_COUNT / 8192);
    for (const checkMax of [1, 2, checkCount >> 1, checkCount]) {
      expect(build(type, params, namesOf, checkMax).checkCount).toBe(checkMax);
      expect(arenas.usedBytes).toBe(before);
    }
  },
);

test('a transposed view has all cells of a column in one row, rows in the order of columns', () => {
  const { result } = build(transposed, { dataset: { id: 't' } }, (view) =>
    [...view.scan('all')].map(({ name, row }) => ({ name: String(name), cells: cellsOf(row) })),
  );
  expect(result?.map(({ name }) => name)).toEqual(['x', 'y']);
  for (const { name, cells } of result ?? []) {
    expect(cells).toHaveLength(ROW_COUNT);
    for (const { path, atom, ts } of cells) {
      const row = Number(String(path).slice('row '.length));
      expect([atom, ts]).toEqual([name === 'x' ? row : `text ${row % 7}`, 0]);
    }
  }
});

test('a sample is the same by id and by text, in the order of the source', () => {
  const params = { fraction: 0.1, seed: 7 };
  const byText = build(sampled, { dataset: 't', ...params }, namesOf).result;
  const byId = build(sampled, { dataset: { id: 't' }, ...params }, namesOf).result;
  expect(byId).toEqual(byText);
  expect(byId).toHaveLength(ROW_COUNT / 10);
  const all = namesOf(source);
  const positions = byId?.map((name) => all.indexOf(name)) ?? [];
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
});

test('a sample with replacement has rows in the order of the draws', () => {
  const params = { dataset: 't', rows: 1000, withReplacement: true };
  const { result } = build(sampled, { ...params, seed: 3 }, namesOf);
  expect(result).toHaveLength(1000);
  expect(new Set(result).size).toBeLessThan(1000);
  const again = build(sampled, { ...params, dataset: { id: 't' }, seed: 3 }, namesOf);
  expect(again.result).toEqual(result);
  expect(build(sampled, { ...params, seed: 4 }, namesOf).result).not.toEqual(result);
});
