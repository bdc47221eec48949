// The frequent values of a column are found in a sample of its rows.
import { expect, test } from 'vitest';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { frequentValuesOf } from '../../../../src/value/column/frequent-values.ts';
import type { ColumnSnapshot } from '../../../../src/value/column/snapshot.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });

function columnOf(rowCount: number, atomAt: (row: number) => string | number | null) {
  const builder = new TableBuilder(arenas);
  for (let row = 0; row < rowCount; row++) {
    builder.addRow(Path.of(String(row)), [[Path.of('c'), atomAt(row), 0]]);
  }
  return frequentValuesOf(builder.seal().columns[0] as ColumnSnapshot, arenas);
}

test('of few rows all values are counted', () => {
  const found = columnOf(100, (row) => (row < 60 ? 'a' : row < 90 ? 'b' : null));
  expect(found.values).toEqual([
    { atom: 'a', share: 0.6 },
    { atom: 'b', share: 0.3 },
  ]);
  expect(found.shareOf('a', 2)).toBe(0.6);
  expect(found.restShare).toBeCloseTo(0);
  expect(found.shareOf('c', 2)).toBeCloseTo(0);
});

test.each([
  ['texts', (value: number) => `s${value}`],
  ['numbers', (value: number) => value],
  ['fractions', (value: number) => value + 0.25],
])('of many rows a sample tells the frequent %s, and others share the rest', (_, atomOf) => {
  const rare = 4000;
  // Half of the rows have the first value, a quarter the second one; the others differ.
  const found = columnOf(100_000, (row) => {
    const draw = (row * 7919) % 100;
    return atomOf(draw < 50 ? 0 : draw < 75 ? 1 : 2 + ((row * 104_729) % rare));
  });
  expect(found.values.slice(0, 2).map(({ atom }) => atom)).toEqual([atomOf(0), atomOf(1)]);
  expect(Math.abs(found.shareOf(atomOf(0), rare + 2) - 0.5)).toBeLessThan(0.05);
  expect(Math.abs(found.shareOf(atomOf(1), rare + 2) - 0.25)).toBeLessThan(0.05);
  expect(found.shareOf(atomOf(77), rare + 2)).toBeLessThan(0.002);
  expect(found.shareOf(atomOf(77), rare + 2)).toBeGreaterThan(0);
});

test('a column without values has no frequent ones', () => {
  const found = columnOf(10, () => null);
  expect(found.values).toEqual([]);
  expect(found.shareOf('a', 1)).toBe(0);
});
