import { expect, test } from 'vitest';
import { ArenaLease, ArenaSet } from '../../../src/value/column/arena-set.ts';
import { SparseBuilder } from '../../../src/value/column/sparse-builder.ts';
import { type RecordedCell, TableBuilder } from '../../../src/value/column/table-builder.ts';
import { Path } from '../../../src/value/path.ts';

const ROW_COUNT = 40_000;
const arenas = ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });

function* rows(): Iterable<[Path, RecordedCell[]]> {
  const columns = ['a', 'b', 'c', 'd'].map((name) => new Path([name]));
  for (let row = 0; row < ROW_COUNT; row++) {
    const cells = columns.map((column, i) => [column, `${i}-${row % 999}`, row] as const);
    yield [new Path([`row ${row}`]), cells];
  }
}

/** Builds, and gives up at that check. @returns how many checks there were */
function build(kind: 'columnar' | 'sparse', failAt: number): number {
  const scope = new ArenaLease(arenas);
  const builder = kind === 'columnar' ? new TableBuilder(scope) : new SparseBuilder(scope);
  let checkCount = 0;
  try {
    for (const [name, cells] of rows()) builder.addRow(name, cells);
    builder.seal(() => {
      if (++checkCount === failAt) throw new Error('cancelled');
    });
  } catch (thrown) {
    expect(thrown).toEqual(new Error('cancelled'));
  } finally {
    scope.release();
  }
  return checkCount;
}

test.each([
  ['columnar', 4],
  ['sparse', 10],
] as const)('sealing a %s table stops at any of its checks', (kind, countMin) => {
  const before = arenas.usedBytes;
  const count = build(kind, 0);
  expect(count).toBeGreaterThanOrEqual(countMin);
  for (const failAt of [1, 2, count >> 1, count]) {
    expect(build(kind, failAt)).toBe(failAt);
    expect(arenas.usedBytes).toBe(before);
  }
});
