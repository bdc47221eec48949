// Queries of a table that is several times as large as the memory give the same answers as with all
// memory: its chunks are read from the dataset file when they are looked at.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const BUDGET_BYTES = 14 * 2 ** 20;
const ROW_COUNT = 140_000;

let directory: string;
/** answers with all memory, by query and format */
const answers = new Map<string, string>();
let rowan: Rowan;

const GROUPED = 'count(*) AS n, sum(distance) AS s, min(late) AS l, max(carrier) AS c';
const QUERIES = [
  "SELECT sum(distance) AS s FROM air WHERE hour > 12 AND carrier = 'C3'",
  'SELECT sum(distance * 2 + late) AS s, avg(delay) AS a, count(delay) AS n FROM air',
  `SELECT ${GROUPED} FROM air GROUP BY carrier ORDER BY carrier`,
  `SELECT ${GROUPED} FROM air GROUP BY carrier, origin ORDER BY carrier, origin`,
  'SELECT distance - distance % 100 AS b, count(*) AS n FROM air GROUP BY distance - distance % 100 ORDER BY b',
  'SELECT count(*) AS n FROM (SELECT distance * 2 AS d FROM air) AS t WHERE d > 1000',
  'SELECT c, count(*) AS n FROM (SELECT carrier AS c FROM air WHERE hour > 6) AS u GROUP BY c ORDER BY c',
  "SELECT CASE WHEN late > 500 THEN 'late' ELSE carrier END AS k, count(*) AS n FROM air GROUP BY CASE WHEN late > 500 THEN 'late' ELSE carrier END ORDER BY k",
  'SELECT CASE WHEN late > 500 THEN late * 2 ELSE distance END AS k, count(*) AS n FROM air GROUP BY CASE WHEN late > 500 THEN late * 2 ELSE distance END ORDER BY n DESC, k LIMIT 20',
  'SELECT carrier + origin AS k, count(*) AS n FROM air GROUP BY carrier + origin ORDER BY k LIMIT 50',
  'SELECT min(origin) AS a, max(origin) AS b, count(DISTINCT origin) AS n FROM air',
  'SELECT d.region AS r, count(*) AS n, sum(a.distance) AS s FROM air AS a JOIN dim AS d ON a.hour = d.hour GROUP BY d.region ORDER BY r',
  'SELECT d.region AS r, count(*) AS n FROM air AS a LEFT JOIN dim AS d ON a.distance = d.hour GROUP BY d.region ORDER BY r',
  'SELECT d.region AS r, e.region AS q, count(*) AS n FROM air AS a JOIN dim AS d ON a.hour = d.hour JOIN dim AS e ON a.month = e.hour GROUP BY d.region, e.region ORDER BY r, q',
  'SELECT count(*) AS n FROM air AS a JOIN (SELECT carrier, max(distance) AS m FROM air GROUP BY carrier) AS t ON a.carrier = t.carrier AND a.distance = t.m',
  "SELECT count(*) AS n FROM air WHERE hour IN (SELECT hour FROM dim WHERE region = 'r1')",
  'SELECT day, delay, at FROM air ORDER BY delay DESC, late, distance LIMIT 100',
  "SELECT at, count(*) AS n FROM air WHERE at > TIMESTAMP '2024-01-02' GROUP BY at ORDER BY n DESC, at LIMIT 10",
  'SELECT * FROM air LIMIT 100 OFFSET 130000',
  'SELECT * FROM holes LIMIT 1000 OFFSET 100000',
  'SELECT sum(x) AS x, count(x) AS n, sum(rare) AS r, count(rare) AS m, count(t) AS t, count(word) AS w, sum(a + b + c) AS s FROM holes',
  'SELECT word, count(*) AS n, sum(rare) AS r FROM holes GROUP BY word ORDER BY word',
  'SELECT * FROM holes WHERE word IS NOT NULL AND x > 1000',
  'SELECT * FROM air WHERE late = 77 AND hour = 3',
  'SELECT * FROM holes ORDER BY x DESC LIMIT 20000',
  'SELECT sum(distance * r) AS s FROM (SELECT distance, late AS r FROM air ORDER BY late LIMIT 6000) AS t',
  'SELECT distance, at, origin FROM air ORDER BY late, origin DESC',
  'SELECT count(*) AS n, sum(c) AS s FROM (SELECT wide, count(*) AS c FROM air GROUP BY wide) AS t',
  'SELECT wide, origin, sum(late) AS s FROM air GROUP BY wide, origin ORDER BY s DESC, wide LIMIT 20',
  'SELECT widest, carrier, count(*) AS n FROM air GROUP BY widest, carrier',
];
const WHOLE = 'SELECT * FROM air';

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-paged-'));
  rowan = await Rowan.open({ dataDir: directory, workers: 2 });
  const columns = [
    ...['n % 12 + 1 AS month', 'n * 7 % 31 + 1 AS day', '(n * 13) % 24 AS hour'],
    ...[
      "'C' + CAST((n * n) % 23 AS string) AS carrier",
      "'A' + CAST((n * 31) % 307 AS string) AS origin",
    ],
    ...['(n * 7919) % 4001 AS distance', '(n * 104729) % 1009 + 0.25 AS late'],
    ...['(n % 1000) / 8.0 AS delay'],
    ...['CAST(1704067200 + n % 5000 * 60.5 AS timestamp) AS at'],
    ...['n * 1.5 AS wide', 'n * 2.5 AS wider', 'n * 3.5 AS widest'],
  ];
  await make('air', `SELECT ${columns} FROM generate_series(1, ${ROW_COUNT}) AS s(n)`);
  const holes = [
    'CASE WHEN n % 3 = 0 THEN n / 8.0 END AS x',
    'CASE WHEN n % 997 = 0 THEN n END AS rare',
  ];
  const texts = ["CASE WHEN n % 5 < 3 THEN 't' + CAST(n % 300 AS string) END AS t"];
  const words = ["CASE WHEN n % 1511 = 0 THEN 'w' + CAST(n % 17 AS string) END AS word"];
  const holey = [...holes, ...texts, ...words, 'n * 0.5 AS a', 'n * 1.5 AS b', 'n * 2.5 AS c'];
  await make('holes', `SELECT ${holey} FROM generate_series(1, ${ROW_COUNT}) AS s(n)`);
  await make(
    'dim',
    "SELECT n AS hour, 'r' + CAST(n % 4 AS string) AS region FROM generate_series(0, 23) AS s(n)",
  );
  for (const q of QUERIES) answers.set(q, await ask(q));
  for (const format of ['csv', 'arrow']) answers.set(format, await ask(WHOLE, format));
  await rowan.close();
  mkdirSync(join(directory, 'scratch'));
  writeFileSync(join(directory, 'scratch', '1-2-3'), 'rows of a process that was killed');
  rowan = await Rowan.open({ dataDir: directory, workers: 2, memoryBytes: BUDGET_BYTES });
}, 300_000);
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function make(id: string, inputData: string): Promise<void> {
  const made = await rowan.put(`/v1/procedures/make_${id}`, {
    type: 'transform',
    params: { inputData, outputDataset: { id, type: 'tabular' }, runOnCreation: true },
  });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
}

async function ask(q: string, format = 'ndjson'): Promise<string> {
  const { status, text } = await rowan.get('/v1/query', { q, format });
  return status === 200 ? text : `${status} ${text}`;
}

test.each(QUERIES)('%s', async (q) => {
  expect(await ask(q)).toBe(answers.get(q));
});

test('nothing stays in the scratch folder', () => {
  // A start empties it, and each query takes what is its own.
  expect(readdirSync(join(directory, 'scratch'))).toEqual([]);
});

test.each(['csv', 'arrow'])('all of it as %s', async (format) => {
  expect((await ask(WHOLE, format)) === answers.get(format)).toBe(true);
});
