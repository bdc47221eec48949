import { expect, test } from 'vitest';
import { tableLines } from '../../../src/cli/text-table.ts';
import type { Cell } from '../../../src/client/cell.ts';

type TestRow = Record<string, Cell>;

async function* each(rows: Iterable<TestRow>): AsyncIterable<TestRow> {
  yield* rows;
}

async function lines(rows: Iterable<TestRow>, width = 80): Promise<string[]> {
  const found: string[] = [];
  for await (const line of tableLines(each(rows), width)) found.push(line);
  return found;
}

test('numbers stand at the right, texts at the left', async () => {
  const rows = [
    { name: 'ann', n: 5, at: { ts: '2024-01-01T00:00:00Z' } },
    { name: 'berta', n: -120.5, at: null },
  ];
  expect(await lines(rows)).toEqual([
    'name        n  at',
    '-----  ------  --------------------',
    'ann         5  2024-01-01T00:00:00Z',
    'berta  -120.5  NULL',
    '(2 rows)',
  ]);
});

test('absent cells are empty, columns come as they first appear', async () => {
  expect(await lines([{ a: 1 }, { b: 'x' }])).toEqual(['a  b', '-  -', '1', '   x', '(2 rows)']);
});

test('no rows', async () => {
  expect(await lines([])).toEqual(['(0 rows)']);
});

test('the widest columns give way first', async () => {
  const found = await lines([{ id: 7, text: 'x'.repeat(100), more: 'y'.repeat(20) }], 30);
  expect(found).toEqual([
    'id  text          more',
    '--  ------------  ------------',
    ' 7  xxxxxxxxxxx…  yyyyyyyyyyy…',
    '(1 row)',
  ]);
  expect(Math.max(...found.map((line) => line.length))).toBe(30);
});

test('columns without room are counted', async () => {
  const row = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`column${i}`, i]));
  const found = await lines([row], 40);
  expect(found[0]).toBe('column0  column1  column2  column3');
  expect(found.at(-1)).toBe('(1 row; 4 of 20 columns, --format csv shows all)');
});

test('rows beyond those that were measured are cut', async () => {
  const rows = Array.from({ length: 1500 }, (_, i) => ({ a: 'x'.repeat(i < 1000 ? 3 : 9) }));
  const found = await lines(rows);
  expect(found[2]).toBe('xxx');
  expect(found[1400]).toBe('xx…');
  expect(found.at(-1)).toBe('(1500 rows)');
});

test('line ends do not break lines, wide characters take two cells', async () => {
  expect(await lines([{ a: 'x\ny' }, { a: '日本' }, { a: 'é' }], 80)).toEqual([
    'a',
    '----',
    'x\\ny',
    '日本',
    'é',
    '(3 rows)',
  ]);
  expect(await lines([{ a: '日本語日本語' }], 8)).toEqual(
    ['a', '--------', '日本語… ', '(1 row)'].map((l) => l.trimEnd()),
  );
});
