// Scores of columns beside single calls: the operators over batches hand columns to the model, and
// EXPLAIN ANALYZE tells that they did.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRowan, type TestService } from '../../../support/rowan.ts';

// Smaller tables are left to the general evaluator.
const ROW_COUNT = 1300;
const SEEN_ROW_COUNT = 400;
let rowan: TestService;

async function perform(verb: string, path: string, body: unknown): Promise<unknown> {
  const reply = await rowan.perform(verb, path, { body });
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply.text === '' ? undefined : JSON.parse(reply.text);
}

type Rows = readonly Readonly<Record<string, unknown>>[];

const query = async (q: string): Promise<Rows> =>
  (await perform('GET', '/v1/query', { q, format: 'aos', rowNames: false })) as Rows;

/** The rows of a query that operators over batches made from end to end. */
async function queryByBatches(q: string): Promise<Rows> {
  const lines = await query(`EXPLAIN ANALYZE ${q}`);
  for (const { operator, path, why } of lines) {
    expect(String(path), `${operator}: ${why}`).toMatch(/^(vector|scan)/);
  }
  return query(q);
}

interface Item {
  readonly id: number;
  readonly x: number | null;
  readonly size: number;
  readonly color: string | null;
  readonly y: number;
  readonly amount: number;
}

const items: Item[] = Array.from({ length: ROW_COUNT }, (_, id) => {
  const x = (id * 37) % 101;
  const isSeen = id < SEEN_ROW_COUNT;
  return {
    id,
    x: id % 11 === 0 ? null : x / 2,
    size: (id * 7) % 13,
    // Colours that no training row has come later.
    color: id % 5 === 0 ? null : (['red', 'blue', isSeen ? 'red' : 'green'][id % 3] as string),
    y: Number(x > 50 || id % 13 === 2),
    amount: x * 3 + ((id * 7) % 13),
  };
});

const MODELS = {
  gbt: { type: 'gbt', num_rounds: 5, min_child_samples: 2 },
  tree: { type: 'decision_tree', max_depth: 4 },
  forest: { type: 'bagging', num_bags: 3, weak_learner: { type: 'decision_tree', max_depth: 5 } },
  glz: { type: 'glz' },
  bayes: { type: 'naive_bayes' },
};

beforeAll(async () => {
  rowan = await openRowan();
  await perform('PUT', '/v1/datasets/items', { type: 'tabular' });
  const cells = items.map(({ id, ...row }) => [
    `r${String(id).padStart(4, '0')}`,
    Object.entries({ id, ...row }).map(([name, value]) => [name, value, 0]),
  ]);
  await perform('POST', '/v1/datasets/items/multirows', cells);
  await perform('POST', '/v1/datasets/items/commit', {});
  for (const [id, configuration] of Object.entries(MODELS)) await train(id, configuration);
  await train('amounts', MODELS.gbt, 'amount', 'regression');
});
afterAll(() => rowan.close());

const train = (id: string, configuration: object, label = 'y', mode = 'boolean') =>
  perform('PUT', '/v1/procedures/train', {
    type: 'classifier.train',
    params: {
      ...{ mode, functionName: id, modelFileUrl: `mem://${id}.cls`, configuration },
      trainingData: `SELECT {x, size, color} AS features, ${label} AS label FROM items WHERE id < ${SEEN_ROW_COUNT}`,
      runOnCreation: true,
    },
  });

/** Scores by calls of the function, one for each item. */
async function called(model: string, features: (item: Item) => object): Promise<number[]> {
  const input = items.map((item) => ({ features: features(item) }));
  const list = (await perform('POST', `/v1/functions/${model}/batch`, { input })) as Rows;
  return list.map(({ score }) => score as number);
}

const plain = ({ x, size, color }: Item) => ({ x, size, color });
const SCORE = 'gbt({features: {x, size, color}})[score]';

/** Ways to write features, each as SQL and as what a single call gets. */
const FORMS: readonly (readonly [string, (item: Item) => object])[] = [
  ['{features: {x, size, color}}', plain],
  ['{features: {*}}', plain],
  ['{{* EXCLUDING (y, amount)} AS features}', plain],
  ['{features: {x, id AS other}}', ({ x }) => ({ x })],
  [
    "{features: {x * 2 + size AS x, CASE WHEN size > 6 THEN 'red' ELSE color END AS color}}",
    ({ x, size, color }) => ({
      x: x === null ? null : x * 2 + size,
      color: size > 6 ? 'red' : color,
    }),
  ],
  [
    "{features: {size AS x, NULL AS size, 'blue' AS color}}",
    ({ size }) => ({ x: size, color: 'blue' }),
  ],
];

test.each([...Object.keys(MODELS), 'amounts'])(
  'scores of columns by %s are those of single calls, however features are written',
  async (model) => {
    const calls = FORMS.map(([input], form) => `max(${model}(${input})[score]) AS s${form}`);
    const all = await queryByBatches(`SELECT id, ${calls} FROM items GROUP BY id ORDER BY id`);
    // Columns as they lie, which no other form has copied.
    const [stored] = calls;
    const rows = await queryByBatches(`SELECT id, ${stored} FROM items GROUP BY id ORDER BY id`);
    for (const [form, [, features]] of FORMS.entries()) {
      const wanted = await called(model, features);
      expect(all.map((row) => row[`s${form}`])).toEqual(wanted);
      if (form === 0) expect(rows.map(({ s0 }) => s0)).toEqual(wanted);
    }
  },
);

describe('a score stands', () => {
  let scores: number[];
  beforeAll(async () => {
    scores = await called('gbt', plain);
  });
  const idsAbove = (least: number) => items.filter(({ id }) => (scores[id] as number) > least);

  test('in WHERE', async () => {
    const rows = await queryByBatches(`SELECT count(*) AS n FROM items WHERE ${SCORE} > 0.5`);
    expect(rows).toEqual([{ n: idsAbove(0.5).length }]);
  });

  test('above a filter, twice, beside another one', async () => {
    const [row] = await queryByBatches(
      `SELECT max(${SCORE}) AS most, min(1 - ${SCORE}) AS least, max(tree({features: {x}})[score]) AS other
        FROM items WHERE size > 4 AND ${SCORE} < 0.9`,
    );
    const others = await called('tree', ({ x }) => ({ x }));
    const kept = items.filter(({ id, size }) => size > 4 && (scores[id] as number) < 0.9);
    const most = Math.max(...kept.map(({ id }) => scores[id] as number));
    const other = Math.max(...kept.map(({ id }) => others[id] as number));
    expect(row).toEqual({ most, least: 1 - most, other });
  });

  test('as a key of groups and in their order', async () => {
    const rows = await queryByBatches(
      `SELECT ${SCORE} > 0.5 AS above, count(*) AS n FROM items GROUP BY ${SCORE} > 0.5 ORDER BY n`,
    );
    const count = idsAbove(0.5).length;
    const wanted = [
      { above: 1, n: count },
      { above: 0, n: ROW_COUNT - count },
    ];
    expect(rows).toEqual(wanted.sort((a, b) => a.n - b.n));
  });

  test('in the select list and in ORDER BY', async () => {
    const rows = await queryByBatches(
      `SELECT id, ${SCORE} AS s FROM items ORDER BY ${SCORE} DESC, id LIMIT 20`,
    );
    const order = items.map(({ id }) => ({ id, s: scores[id] as number }));
    expect(rows).toEqual(order.sort((a, b) => b.s - a.s || a.id - b.id).slice(0, 20));
  });

  test('in a window over a sub-select', async () => {
    const [row] = await queryByBatches(
      `SELECT sum(n) AS n FROM (SELECT row_number() OVER (ORDER BY ${SCORE} DESC, id) AS n, id FROM
        (SELECT id, x, size, color FROM items)) WHERE id < 10`,
    );
    const order = items.toSorted(
      (a, b) => (scores[b.id] as number) - (scores[a.id] as number) || a.id - b.id,
    );
    const sum = items.slice(0, 10).reduce((all, item) => all + order.indexOf(item) + 1, 0);
    expect(row).toEqual({ n: sum });
  });

  test('with timestamps, row by row', async () => {
    const q = `SELECT max(${SCORE}) AS s FROM items`;
    const full = (await perform('GET', '/v1/query', { q, format: 'full' })) as {
      readonly columns: readonly [string, number, unknown][];
    }[];
    expect(full[0]?.columns[0]?.[1]).toBe(Math.max(...scores));
  });
});

test('a text where training had numbers fails as in a single call', async () => {
  const input = { features: { x: 'blue' } };
  const single = await rowan.perform('GET', '/v1/functions/glz/application', { body: { input } });
  const q = 'SELECT max(glz({features: {color AS x}})[score]) AS s FROM items';
  const many = await rowan.perform('GET', '/v1/query', { body: { q } });
  expect([single.status, many.status]).toEqual([400, 400]);
  const fault = (text: string) => (JSON.parse(text) as { error: string }).error;
  expect(fault(many.text)).toContain(fault(single.text));
});

test('errors of rows that a CASE leaves out are none', async () => {
  const q = `SELECT count(CASE WHEN size < 0 THEN glz({features: {color AS x}})[score] END) AS n FROM items`;
  expect(await query(q)).toEqual([{ n: 0 }]);
});

test('rows are scored one after the other where a LIMIT needs few of them', async () => {
  const q = `SELECT id FROM items WHERE ${SCORE} > 0.5 LIMIT 3`;
  const lines = await query(`EXPLAIN ${q}`);
  expect(JSON.stringify(lines)).toContain('rows are scored until the limit is reached');
  expect(await query(q)).toHaveLength(3);
});
