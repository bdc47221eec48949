// Workbooks as other programs write them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { projectRoot } from '../../../support/project.ts';

const BOOK = join(projectRoot, 'test/fixture/tables/book.xlsx');

let rowan: Rowan;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-xlsx-'));
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

function importBook(path: string, params = {}) {
  return rowan.put('/v1/procedures/x', {
    type: 'import.xlsx',
    params: { dataFileUrl: `file://${path}`, output: 'book', runOnCreation: true, ...params },
  });
}

test('every sheet gives its rows, named by sheet and padded number', async () => {
  const reply = await importBook(BOOK);
  expect(reply.status, reply.text).toBe(201);
  const rows = await rowan.query('SELECT * FROM book ORDER BY rowName()', { format: 'full' });
  const plain = (rows as { rowName: string; columns: [string, unknown, unknown][] }[]).map(
    ({ rowName, columns }) => [rowName, columns.map(([name, value]) => [name, value])],
  );
  expect(plain).toEqual([
    [
      'First:01',
      [
        ['A', 'text'],
        ['B', 1],
        ['C', 2.5],
        ['D', 1],
        ['E', { ts: '2020-01-02T03:04:05Z' }],
        ['F', { interval: '1H 30M 0S' }],
      ],
    ],
    [
      'First:12',
      [
        ['A', 'é & <b>'],
        ['AB', null],
        ['C', { ts: '2021-05-06T00:00:00Z' }],
      ],
    ],
    ['Last one:2', [['B', -0.001]]],
  ]);
});

test('sheets can be chosen, and others are refused by name', async () => {
  expect((await importBook(BOOK, { sheets: ['Last one'] })).status).toBe(201);
  expect(await rowan.query('SELECT count(*) AS n FROM book', { format: 'atom' })).toBe(1);
  const reply = await importBook(BOOK, { sheets: ['None'] });
  expect([reply.status, reply.text]).toEqual([
    400,
    expect.stringContaining('First, Empty, Last one'),
  ]);
});

test('damaged workbooks and other files are refused', async () => {
  const whole = readFileSync(BOOK);
  const path = join(directory, 'cut.xlsx');
  for (let share = 0; share < 100; share += 10) {
    writeFileSync(path, whole.subarray(0, Math.floor((whole.length * share) / 100)));
    expect([share, (await importBook(path)).status]).toEqual([share, 400]);
  }
  writeFileSync(path, 'a,b\n1,2\n');
  expect((await importBook(path)).status).toBe(400);
});
