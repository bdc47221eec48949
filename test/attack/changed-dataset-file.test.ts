// The file of a dataset that memory has no room for is cut, changed or removed while it is in use: an
// error says so, no other rows are ever told, and the service goes on.
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';

const COLUMNS = Array.from({ length: 10 }, (_, i) => `n * ${i + 1} + 0.5 AS c${i}`);
const TOTALS = `SELECT ${COLUMNS.map((_, i) => `sum(c${i}) AS s${i}`)} FROM wide`;

let directory: string;
let rowan: Rowan;
let file: string;
let content: Buffer;
let totals: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-changed-'));
  rowan = await Rowan.open({ dataDir: directory, workers: 2 });
  await make('wide', COLUMNS.join(), 70_000);
  await make('small', 'n', 10);
  totals = (await ask(TOTALS)).text;
  await rowan.close();
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => path.endsWith('.arrow'));
  file = files.sort((a, b) => statSync(b).size - statSync(a).size)[0] as string;
  content = readFileSync(file);
  rowan = await open();
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

const open = () => Rowan.open({ dataDir: directory, workers: 2, memoryBytes: 5e6 });

async function make(id: string, select: string, rowCount: number): Promise<void> {
  const inputData = `SELECT ${select} FROM generate_series(1, ${rowCount}) AS s(n)`;
  const made = await rowan.put(`/v1/procedures/make_${id}`, {
    type: 'transform',
    params: { inputData, outputDataset: { id, type: 'tabular' }, runOnCreation: true },
  });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
}

const ask = (q: string) => rowan.get('/v1/query', { q, format: 'ndjson' });

const CHANGES: readonly (readonly [string, () => void, RegExp])[] = [
  ['cut in half', () => truncateSync(file, content.length / 2), /cut off|changed/],
  ['emptied', () => truncateSync(file, 0), /cut off|changed/],
  ['removed', () => renameSync(file, `${file}.away`), /missing/],
  [
    'written over',
    () => writeFileSync(file, Buffer.alloc(content.length, 1)),
    /cut off|changed|damaged/,
  ],
];

test.each(CHANGES)('a file that is %s', async (_, change, reason) => {
  expect((await ask(TOTALS)).text).toBe(totals);
  const running = Array.from({ length: 2 }, () => ask(TOTALS));
  change();
  const answers = await Promise.all([...running, ask(TOTALS)]);
  for (const { status, text } of answers) {
    if (status === 200) expect(text).toBe(totals);
    else if (status === 400) expect(text).toMatch(reason);
    // The first who notices has the dataset be one that could not be read.
    else expect(status).toBe(404);
  }
  expect(answers.map(({ status }) => status)).toContain(400);
  expect((await ask(TOTALS)).status).not.toBe(200);
  const small = await rowan.get('/v1/query', { q: 'SELECT sum(n) FROM small', format: 'atom' });
  expect(small.json).toBe(55);
  await rowan.close();
  rmSync(`${file}.away`, { force: true });
  writeFileSync(file, content);
  rowan = await open();
  expect((await ask(TOTALS)).text).toBe(totals);
});

test('a file of which only the time is another one is verified again', async () => {
  expect((await ask(TOTALS)).text).toBe(totals);
  utimesSync(file, new Date(), new Date(1e12));
  await ask(TOTALS);
  expect((await ask(TOTALS)).text).toBe(totals);
});
