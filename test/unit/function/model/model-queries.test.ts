// Models and their explanations inside queries of every shape, beside one call after another; and
// training queries of every shape, beside the same rows in a dataset.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRowan, type TestService } from '../../../support/rowan.ts';

const ROW_COUNT = 120;
let rowan: TestService;

async function perform(verb: string, path: string, body: unknown): Promise<unknown> {
  const reply = await rowan.perform(verb, path, { body });
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply.text === '' ? undefined : JSON.parse(reply.text);
}

type Rows = readonly Readonly<Record<string, unknown>>[];

const query = async (q: string): Promise<Rows> =>
  (await perform('GET', '/v1/query', { q, format: 'aos', rowNames: false })) as Rows;

async function record(id: string, rows: readonly object[]) {
  await perform('PUT', `/v1/datasets/${id}`, { type: 'tabular' });
  const cells = rows.map((row, i) => [
    `r${String(i).padStart(3, '0')}`,
    Object.entries(row).map(([name, value]) => [name, value, 0]),
  ]);
  await perform('POST', `/v1/datasets/${id}/multirows`, cells);
  await perform('POST', `/v1/datasets/${id}/commit`, {});
}

const train = (trainingData: string, id: string, mode = 'boolean') =>
  perform('PUT', '/v1/procedures/train', {
    type: 'classifier.train',
    params: {
      ...{ trainingData, mode, functionName: id, modelFileUrl: `mem://${id}.cls` },
      configuration: { type: 'gbt', num_rounds: 5, min_child_samples: 2 },
      runOnCreation: true,
    },
  });

interface Item {
  readonly k: number;
  readonly x: number;
  readonly color: string | null;
  readonly y: number;
}
const items: Item[] = Array.from({ length: ROW_COUNT }, (_, row) => ({
  k: row % 7,
  x: (row * 37) % 50,
  color: row % 5 === 0 ? null : (['red', 'blue'][row % 2] as string),
  y: Number((row * 37) % 50 > 25 || row % 7 === 2),
}));
const groups = Array.from({ length: 7 }, (_, k) => ({ k, size: (k * k) % 5 }));

beforeAll(async () => {
  rowan = await openRowan();
  await record('items', items);
  await record('kinds', groups);
  await train('SELECT {x, color} AS features, y AS label FROM items', 'model');
  for (const method of ['path', 'treeshap']) {
    await perform('PUT', `/v1/functions/why_${method}`, {
      type: 'classifier.explain',
      params: { modelFileUrl: 'mem://model.cls', method },
    });
  }
});
afterAll(() => rowan.close());

/** Scores of all items, by calls of the function. */
async function scores(): Promise<number[]> {
  const input = items.map(({ x, color }) => ({ features: { x, color } }));
  const list = (await perform('POST', '/v1/functions/model/batch', { input })) as Rows;
  return list.map(({ score }) => score as number);
}

describe.each(['path', 'treeshap'])('explanations by %s', (method) => {
  test('are rows of a query, as one call after another gives them', async () => {
    const rows = await query(
      `SELECT why_${method}({features: {x, color}, label: 1})[explanation] AS why,
        why_${method}({features: {x, color}, label: 1})[bias] AS bias FROM items ORDER BY rowName()`,
    );
    expect(rows).toHaveLength(ROW_COUNT);
    for (const row of [0, 1, 2, 33, 119]) {
      const { x, color } = items[row] as Item;
      const input = { features: { x, color }, label: 1 };
      const reply = await perform('GET', `/v1/functions/why_${method}/application`, { input });
      const { bias, explanation } = (reply as { output: Record<string, unknown> }).output as {
        readonly bias: number;
        readonly explanation: readonly [string, [number, string]][];
      };
      const { bias: own, ...parts } = rows[row] as Readonly<Record<string, number>>;
      expect(own).toBeCloseTo(bias, 12);
      const wanted = Object.fromEntries(
        explanation.map(([name, [value]]) => [`why.${name}`, value]),
      );
      expect(Object.keys(parts).sort()).toEqual(Object.keys(wanted).sort());
      for (const [name, value] of Object.entries(wanted)) expect(parts[name]).toBeCloseTo(value, 9);
    }
  });

  test('with their bias are aggregated like other columns', async () => {
    const [row] = await query(
      `SELECT sum(e.bias + ifnull(e.explanation.x, 0) + ifnull(e.explanation.color, 0)) AS total
        FROM (SELECT why_${method}({features: {x, color}, label: 1}) AS e FROM items)`,
    );
    const margins = (await scores()).map((score) => Math.log(score / (1 - score)));
    expect(row?.total).toBeCloseTo(
      margins.reduce((sum, each) => sum + each, 0),
      6,
    );
  });
});

const SCORE = 'model({features: {x, color}})[score]';

test.each([
  ['in WHERE', `SELECT count(*) AS n FROM items WHERE ${SCORE} > 0.5`],
  ['of a sub-select', `SELECT count(*) AS n FROM (SELECT ${SCORE} AS s FROM items) WHERE s > 0.5`],
  [
    'of one side of a join',
    `SELECT count(*) AS n FROM items AS i JOIN kinds AS g ON i.k = g.k
      WHERE model({features: {i.x AS x, i.color AS color}})[score] > 0.5`,
  ],
  [
    'of a common table expression, in groups and HAVING',
    `WITH scored AS (SELECT ${SCORE} AS s, k FROM items)
      SELECT sum(n) AS n FROM (SELECT count(*) AS n FROM scored WHERE s > 0.5 GROUP BY k HAVING count(*) > 0)`,
  ],
  [
    'as keys of groups',
    `SELECT sum(n) AS n FROM (SELECT ${SCORE} > 0.5 AS yes, count(*) AS n FROM items GROUP BY ${SCORE} > 0.5) WHERE yes`,
  ],
  [
    'as the order of a window',
    `SELECT count(*) AS n FROM (SELECT s, row_number() OVER (ORDER BY s DESC) AS r
      FROM (SELECT ${SCORE} AS s FROM items)) WHERE s > 0.5 AND r > 0`,
  ],
])('scores %s are those of single calls', async (_, q) => {
  const wanted = (await scores()).filter((score) => score > 0.5).length;
  expect(wanted).toBeGreaterThan(10);
  expect(await query(q)).toEqual([{ n: wanted }]);
});

test('scores are the order of rows', async () => {
  const rows = await query(`SELECT ${SCORE} AS s FROM items ORDER BY ${SCORE} DESC LIMIT 20`);
  const sorted = (await scores()).sort((a, b) => b - a).slice(0, 20);
  expect(rows.map(({ s }) => s)).toEqual(sorted);
});

test.each([
  [
    'a join',
    'SELECT {i.x AS x, g.size AS size} AS features, i.y AS label FROM items AS i JOIN kinds AS g ON i.k = g.k',
  ],
  [
    'computed features',
    'SELECT {x * 2 + k AS x, x % 3 AS size} AS features, y AS label FROM items',
  ],
  [
    'a window',
    `SELECT {x, size} AS features, y AS label FROM
      (SELECT x, y, avg(x) OVER (PARTITION BY k) AS size FROM items)`,
  ],
  [
    'groups',
    `SELECT {x, size} AS features, y > 0 AS label FROM
      (SELECT k AS x, count(*) AS size, max(y) - min(x) % 2 AS y FROM items GROUP BY k, color)`,
  ],
  [
    'sub-selects of the row around them',
    `SELECT {x, size} AS features, y AS label FROM
      (SELECT x, y, (SELECT max(size) FROM kinds AS g WHERE g.k = i.k) AS size FROM items AS i)`,
  ],
])('a model learns the same from %s and from their rows in a dataset', async (_, trainingData) => {
  await train(trainingData, 'direct');
  await perform('PUT', '/v1/procedures/keep', {
    type: 'transform',
    params: {
      inputData: `SELECT features.x AS x, features.size AS size, label FROM (${trainingData})`,
      outputDataset: { id: 'kept', type: 'tabular' },
      runOnCreation: true,
    },
  });
  await train('SELECT {x, size} AS features, label FROM kept', 'stored');
  const cases = [0, 1, 2, 3, 5, 9].flatMap((x) => [0, 1, 4, 17, 24.5].map((size) => ({ x, size })));
  const input = cases.map((features) => ({ features }));
  const [direct, stored] = await Promise.all(
    ['direct', 'stored'].map((id) => perform('POST', `/v1/functions/${id}/batch`, { input })),
  );
  expect(new Set((direct as Rows).map(({ score }) => score)).size).toBeGreaterThan(1);
  expect(direct).toEqual(stored);
});

test.each([
  ['svd.train', 'modelFileUrl', {}, 'row'],
  ['statsTable.train', 'statsTableFileUrl', {}, 'keys'],
  ['distTable.train', 'distTableFileUrl', { outcomes: [['y', 'y']] }, 'features'],
])(
  'a misspelt column of what %s made is refused when strict, and taken else',
  async (type, url, more, member) => {
    const params = { trainingData: 'SELECT x, k FROM items', [url]: 'mem://named', ...more };
    await perform('PUT', '/v1/procedures/make', {
      type,
      params: { ...params, functionName: 'named', runOnCreation: true },
    });
    const q = `SELECT named({${member}: {x, kk: k}}) AS o FROM items LIMIT 1`;
    const told = await rowan.perform('GET', '/v1/query', { body: { q } });
    expect(told.status).toBe(200);
    const strict = await rowan.perform('GET', '/v1/query', { body: { q, strict: true } });
    expect([strict.status, strict.text]).toEqual([
      400,
      expect.stringContaining("named was not trained on a feature 'kk'"),
    ]);
  },
);
