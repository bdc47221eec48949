// The questions of the H2O.ai database benchmark beside DuckDB, both in this process and warm, DuckDB with
// two threads: ten of groups, five of joins. The rows of each answer are added up, so that both do the
// work and agree, and neither prints. `--rows 10000000` is the size of the benchmark's smallest figures.
import { DuckDBInstance } from '@duckdb/node-api';
import { open } from '../../build/js/index.js';
import { groupCsv, joinCsvs } from '../data/h2o.mjs';

export const description = 'the questions of the H2O.ai benchmark, beside DuckDB';

/** Name, the question, what is added up of its rows; and the question for DuckDB where it differs. */
const QUESTIONS = [
  ['sum v1 by id1', 'SELECT id1, sum(v1) AS v1 FROM g GROUP BY id1', ['v1']],
  ['sum v1 by id1:id2', 'SELECT id1, id2, sum(v1) AS v1 FROM g GROUP BY id1, id2', ['v1']],
  [
    'sum v1 mean v3 by id3',
    'SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM g GROUP BY id3',
    ['v1', 'v3'],
  ],
  [
    'mean v1:v3 by id4',
    'SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM g GROUP BY id4',
    ['v1', 'v2', 'v3'],
  ],
  [
    'sum v1:v3 by id6',
    'SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM g GROUP BY id6',
    ['v1', 'v2', 'v3'],
  ],
  [
    'median v3 sd v3 by id4:id5',
    'SELECT id4, id5, median(v3) AS m, stddev(v3) AS s FROM g GROUP BY id4, id5',
    ['m', 's'],
  ],
  [
    'max v1 - min v2 by id3',
    'SELECT id3, max(v1) - min(v2) AS range_v1_v2 FROM g GROUP BY id3',
    ['range_v1_v2'],
  ],
  [
    'largest two v3 by id6',
    'SELECT id6, v3 FROM (SELECT id6, v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS r FROM g) AS t WHERE r <= 2',
    ['v3'],
  ],
  [
    'regression v1 v2 by id2:id4',
    `SELECT id2, id4, (n * xy - x * y) * (n * xy - x * y) / ((n * xx - x * x) * (n * yy - y * y)) AS r2
     FROM (SELECT id2, id4, count(*) AS n, sum(v1) AS x, sum(v2) AS y, sum(v1 * v2) AS xy,
       sum(v1 * v1) AS xx, sum(v2 * v2) AS yy FROM g GROUP BY id2, id4) AS t`,
    ['r2'],
    'SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM g GROUP BY id2, id4',
  ],
  [
    'sum v3 count by id1:id6',
    'SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS n FROM g GROUP BY id1, id2, id3, id4, id5, id6',
    ['v3', 'n'],
  ],
  joined('small inner on int', 'JOIN small', 'id1'),
  joined('medium inner on int', 'JOIN medium', 'id2'),
  joined('medium outer on int', 'LEFT JOIN medium', 'id2'),
  joined('medium inner on factor', 'JOIN medium', 'id5'),
  joined('big inner on int', 'JOIN big', 'id3'),
];

function joined(name, join, key) {
  const question = `SELECT x.v1 AS v1, r.v2 AS v2 FROM x ${join} AS r ON x.${key} = r.${key}`;
  return [name, question, ['v1', 'v2']];
}

export async function prepare({ rowCount }) {
  const rowan = await open({ dataDir: null });
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const duckdb = await instance.connect();
  for (const [id, path] of Object.entries({ g: groupCsv(rowCount), ...joinCsvs(rowCount) })) {
    const params = { dataFileUrl: `file://${path}`, outputDataset: id, runOnCreation: true };
    const reply = await rowan.post('/v1/procedures', { type: 'import.text', params });
    if (reply.status >= 400) throw new Error(reply.text);
    await duckdb.run(`CREATE TABLE ${id} AS SELECT * FROM read_csv('${path}')`);
  }
  const times = new Map();
  const timed = (contender, name, ask) => async () => {
    const started = performance.now();
    const answer = await ask();
    const value = performance.now() - started;
    const all = times.get(contender) ?? new Map();
    all.set(name, [...(all.get(name) ?? []), value]);
    times.set(contender, all);
    return { value, answer };
  };
  const questions = QUESTIONS.map(([name, question, values, theirs = question], index) => {
    const sums = ['count(*)', ...values.map((value) => `sum(${value})`)];
    const added = (sql) =>
      `SELECT ${sums.map((sum, i) => `${sum} AS s${i}`)} FROM (${sql}) AS answers`;
    const kind = index < 10 ? 'group' : 'join';
    return { name: `${kind}: ${name}`, sql: added(question), theirs: added(theirs) };
  });
  return {
    measures: [
      ...questions.map(({ name, sql, theirs }) => ({
        name,
        goal: 2.5,
        contenders: {
          rowan: timed('rowan', name, async () => (await rowan.query(sql, { rowNames: false }))[1]),
          duckdb: timed(
            'duckdb',
            name,
            async () => (await duckdb.runAndReadAll(theirs)).getRowsJS()[0],
          ),
        },
        agree: (a, b) => a.every((value, i) => isClose(value, Number(b[i]))),
      })),
      {
        name: 'geometric mean of the fifteen',
        goal: 1,
        contenders: {
          rowan: () => meanOf(times.get('rowan')),
          duckdb: () => meanOf(times.get('duckdb')),
        },
      },
    ],
    close: async () => {
      duckdb.closeSync();
      await rowan.close();
    },
  };
}

/** The geometric mean of the medians of all questions, without the round that warms up. */
function meanOf(times) {
  const medians = [...times.values()].map((all) => {
    const sorted = (all.length > 1 ? all.slice(1) : all).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  });
  return {
    value: Math.exp(medians.reduce((sum, value) => sum + Math.log(value), 0) / medians.length),
  };
}

/** Sums of doubles in another order, and correlations by another formula, differ in their last bits. */
function isClose(a, b) {
  return Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
}
