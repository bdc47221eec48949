// Training queries of any shape: columns that operators make give the models that rows give.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { Random } from '../../../../src/learn/random.ts';

let rowan: Rowan;
const ROW_COUNT = 1500;

type Cell = [string, number | string, number];

/** Datasets in columns, and the same as sparse rows, which operators leave to the rows. */
const FORMS = { columns: 'tabular', rows: 'sparse.mutable' } as const;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  for (const [form, type] of Object.entries(FORMS)) {
    const random = Random.of(7);
    const shops = Array.from({ length: 20 }, (_, shop): [string, Cell[]] => [
      `s${shop}`,
      [
        ['shop', shop, 0],
        ['size', random.below(9), 0],
        ...(shop % 4 === 0 ? [] : [['city', ['Bonn', 'Köln'][shop % 2] as string, 0] as Cell]),
      ],
    ]);
    const sales = Array.from({ length: ROW_COUNT }, (_, row): [string, Cell[]] => {
      const price = random.below(1000) / 10;
      return [
        `r${(row * 7919) % ROW_COUNT}`,
        [
          ['shop', random.below(22), 0],
          ['price', price, 0],
          ...(random.below(5) === 0 ? [] : [['count', random.below(6), 0] as Cell]),
          ['color', ['red', 'green', 'blue'][random.below(3)] as string, 0],
          ...(random.below(20) === 0 ? [] : [['good', price > 40 ? 1 : 0, 0] as Cell]),
        ],
      ];
    });
    for (const [name, rows] of Object.entries({ shops, sales })) {
      const params = type === 'tabular' ? { unknownColumns: 'add' } : {};
      const dataset = await rowan.createDataset({ id: `${name}_${form}`, type, params });
      await dataset.recordRows(rows);
      await dataset.commit();
    }
  }
});

afterAll(() => rowan?.close());

interface Learned {
  readonly details: unknown;
  readonly card: unknown;
}

async function learn(form: keyof typeof FORMS, query: string, mode: string): Promise<Learned> {
  const params = {
    trainingData: query.replaceAll(/\b(sales|shops)\b/g, `$1_${form}`),
    mode,
    configuration: { type: 'decision_tree', max_depth: 6 },
    modelFileUrl: `mem://${form}.cls`,
    functionName: 'model',
  };
  const put = await rowan.put('/v1/procedures/train', { type: 'classifier.train', params });
  expect([put.status, put.text]).toEqual([201, expect.any(String)]);
  const run = await rowan.post('/v1/procedures/train/runs', {});
  expect([run.status, run.text]).toEqual([201, expect.any(String)]);
  const details = (await rowan.get('/v1/functions/model/details')).json;
  const { rows, labelDistribution, features } = (await rowan.get('/v1/functions/model/card'))
    .json as Readonly<Record<string, unknown>>;
  return { details, card: { rows, labelDistribution, features } };
}

test.each([
  [
    'computed features',
    'SELECT {price * 2 AS twice, price + count AS sum, color} AS features, good AS label FROM sales',
  ],
  [
    'functions',
    "SELECT {sqrt(price) AS root, upper(color) AS color, CASE WHEN count > 2 THEN 'many' END AS many} AS features, good AS label FROM sales",
  ],
  [
    'a filter',
    "SELECT {price, color} AS features, good AS label FROM sales WHERE count > 1 AND color != 'red'",
  ],
  [
    'a weight',
    'SELECT {price, color} AS features, good AS label, sqrt(count) AS weight FROM sales WHERE count IS NOT NULL',
  ],
  ['a computed label', 'SELECT {count, color} AS features, price > 50 AS label FROM sales'],
  [
    'an inner join',
    'SELECT {a.price, b.size, b.city} AS features, a.good AS label FROM sales AS a JOIN shops AS b ON a.shop = b.shop',
  ],
  [
    'an outer join',
    'SELECT {a.price, b.*} AS features, a.good AS label FROM sales AS a LEFT JOIN shops AS b ON a.shop = b.shop',
  ],
  [
    'a grouped sub-select',
    'SELECT {n, most} AS features, good AS label FROM (SELECT shop, good, count(*) AS n, max(price) AS most FROM sales WHERE good IS NOT NULL GROUP BY shop, good)',
  ],
  [
    'a join with groups',
    'SELECT {a.price - b.most AS over, a.color} AS features, a.good AS label FROM sales AS a JOIN (SELECT shop, max(price) AS most FROM sales GROUP BY shop) AS b ON a.shop = b.shop',
  ],
  [
    'a window',
    'SELECT {price, before} AS features, good AS label FROM (SELECT price, good, lag(price) OVER (PARTITION BY shop ORDER BY price, rowName()) AS before FROM sales)',
  ],
  [
    'a limit',
    'SELECT {price, color} AS features, good AS label FROM sales ORDER BY rowHash() LIMIT 300',
  ],
  ['nested rows', 'SELECT {{price, count} AS inner, color} AS features, good AS label FROM sales'],
  [
    'wildcards',
    'SELECT {* EXCLUDING (good)} AS features, good AS label FROM (SELECT price / 3 AS price, color, good FROM sales)',
  ],
  [
    'a sub-query',
    'SELECT {price - (SELECT max(price) FROM sales) AS over, color} AS features, good AS label FROM sales',
  ],
])('boolean: %s', async (_, query) => {
  expect(await learn('columns', query, 'boolean')).toEqual(await learn('rows', query, 'boolean'));
});

test.each([
  [
    'regression',
    'SELECT {log(price + 1) AS price, color} AS features, sqrt(count) AS label FROM sales',
  ],
  [
    'categorical',
    'SELECT {price, b.size} AS features, upper(a.color) AS label FROM sales AS a JOIN shops AS b ON a.shop = b.shop',
  ],
  [
    'multilabel',
    'SELECT {price} AS features, {CASE WHEN good THEN 1 END AS good, CASE WHEN count > 3 THEN 1 END AS many} AS label FROM sales',
  ],
])('%s', async (mode, query) => {
  expect(await learn('columns', query, mode)).toEqual(await learn('rows', query, mode));
});

test.each([
  [
    'a label that is a row',
    'SELECT {price} AS features, {good} AS label FROM sales',
    'single value, not a row',
  ],
  [
    'a negative weight',
    'SELECT {price * 2 AS p} AS features, good AS label, sign(count - 3) AS weight FROM sales',
    'weight',
  ],
  [
    'three labels',
    'SELECT {price * 2 AS p} AS features, color AS label FROM sales',
    'more than two values',
  ],
  [
    'no rows',
    'SELECT {price * 2 AS p} AS features, good AS label FROM sales WHERE price > 5000',
    'No feature vectors',
  ],
  [
    'an unknown column',
    'SELECT {price * nothing AS p} AS features, nothing AS label FROM sales',
    'No feature vectors',
  ],
])('%s is refused in the same words', async (_, query, message) => {
  const replies = await Promise.all(
    (['columns', 'rows'] as const).map(async (form) => {
      const params = {
        trainingData: query.replaceAll(/\b(sales|shops)\b/g, `$1_${form}`),
        configuration: { type: 'decision_tree' },
        modelFileUrl: `mem://refused_${form}.cls`,
      };
      await rowan.put(`/v1/procedures/refuse_${form}`, { type: 'classifier.train', params });
      return rowan.post(`/v1/procedures/refuse_${form}/runs`, {});
    }),
  );
  for (const { status, text } of replies) {
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  }
});

test.each([
  ['no weight', '', 6],
  ['a weight that is 0 or null at times', ', weight', 4],
])('a forest over values trains on the rows that count: %s', async (_, weight, rows) => {
  const made = await rowan.put('/v1/procedures/forest', {
    type: 'randomforest.binary.train',
    params: {
      trainingData: `SELECT {x} AS features, label${weight} FROM (VALUES (1, 0, 1), (2, 0, 1), (3, 0, 0), (7, 1, 1), (8, 1, 1), (9, 1, NULL)) AS t(x, label, weight)`,
      ...{ modelFileUrl: 'mem://forest.cls', functionName: 'forest', runOnCreation: true },
    },
  });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  const card = (await rowan.get('/v1/functions/forest/card')).json;
  expect(card).toMatchObject({ rows: { used: rows } });
  await rowan.delete('/v1/procedures/forest');
});
