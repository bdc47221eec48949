// What must not change a model does not change it: one table of learners, one of changes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { Random } from '../../../../src/learn/random.ts';

type Cell = number | string | null;

const ROW_COUNT = 300;
const services: Rowan[] = [];

function makeRows(): (readonly [string, readonly (readonly [string, Cell, number])[]])[] {
  const random = Random.of(5);
  return Array.from({ length: ROW_COUNT }, (_, row) => {
    const a = Math.round(random.uniform() * 1000) / 8;
    const b = random.uniform() < 0.2 ? null : random.below(9);
    const c = random.uniform() < 0.1 ? null : (['red', 'green', 'blue'][random.below(3)] as string);
    const sum = a / 60 + (b ?? 4) / 9 + (c === 'red' ? 1 : 0) + random.uniform();
    const cells: [string, Cell, number][] = [
      ['a', a, 0],
      ['b', b, 0],
      ['c', c, 0],
      ['y', sum > 2.2 ? 1 : 0, 0],
    ];
    return [`r${row}`, cells] as const;
  });
}

beforeAll(async () => {
  const rows = makeRows();
  for (const workers of [1, 2, 3]) {
    const rowan = await Rowan.open({ dataDir: null, workers });
    services.push(rowan);
    for (const [id, list] of [
      ['base', rows],
      ['reversed', rows.toReversed()],
    ] as const) {
      const dataset = await rowan.createDataset({ id, type: 'tabular' });
      await dataset.recordRows(list);
      await dataset.commit();
    }
  }
});

afterAll(async () => {
  for (const rowan of services) await rowan.close();
});

const TREE = { type: 'decision_tree', max_depth: 4 };

/** Learners, small enough to be quick. */
const LEARNERS: Readonly<Record<string, object>> = {
  bagging: { type: 'bagging', num_bags: 3, weak_learner: TREE },
  boosted_stumps: { type: 'boosted_stumps', min_iter: 3, max_iter: 8 },
  boosting: {
    type: 'boosting',
    min_iter: 2,
    max_iter: 4,
    weak_learner: { ...TREE, update_alg: 'gentle' },
  },
  decision_tree: TREE,
  fasttext: { type: 'fasttext', epoch: 2, dims: 4 },
  gbt: { type: 'gbt', num_rounds: 8 },
  glz: { type: 'glz' },
  'glz with l1': { type: 'glz', regularization: 'l1', regularization_factor: 0.01 },
  naive_bayes: { type: 'naive_bayes' },
  null: { type: 'null' },
  perceptron: { type: 'perceptron', arch: '3', min_iter: 2, max_iter: 4, batch_size: 50 },
  stump: { type: 'stump' },
};

const NAMES = Object.keys(LEARNERS);
const except = (...names: string[]) => NAMES.filter((name) => !names.includes(name));

/** Scores of all rows of `base`, by a model that was trained on `features` of a dataset. */
async function scores(
  name: string,
  { rowan = services[0] as Rowan, from = 'base', features = '{a, b, c}' },
): Promise<readonly number[]> {
  const reply = await rowan.put('/v1/procedures/train', {
    type: 'classifier.train',
    params: {
      trainingData: `SELECT ${features} AS features, y AS label FROM ${from}`,
      configuration: LEARNERS[name],
      modelFileUrl: 'mem://metamorphic.cls',
      functionName: 'model',
      runOnCreation: true,
    },
  });
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  const answer = await rowan.get('/v1/query', {
    q: `SELECT model({features: ${features}})[score] AS s FROM base ORDER BY rowName()`,
    format: 'table',
    headers: 'false',
    rowNames: 'false',
  });
  const list = (answer.json as readonly (readonly [number])[]).map(([score]) => score);
  expect(list).toHaveLength(ROW_COUNT);
  return list;
}

const known = new Map<string, Promise<readonly number[]>>();

/** Scores of the model that is to stay the same. */
function unchanged(name: string): Promise<readonly number[]> {
  const found = known.get(name) ?? scores(name, {});
  known.set(name, found);
  return found;
}

function expectClose(own: readonly number[], others: readonly number[]): void {
  for (const [row, score] of own.entries()) expect(score).toBeCloseTo(others[row] as number, 6);
}

describe.each(NAMES)('%s', (name) => {
  test('does not depend on the order in which rows were recorded', async () => {
    expect(await scores(name, { from: 'reversed' })).toEqual(await unchanged(name));
  });

  test('does not depend on the names of features', async () => {
    const features = '{a AS first, b AS second, c AS third}';
    expect(await scores(name, { features })).toEqual(await unchanged(name));
  });

  test('is the same on one thread, on two and on three', async () => {
    for (const rowan of services.slice(1)) {
      expect(await scores(name, { rowan })).toEqual(await unchanged(name));
    }
  });
});

// Counts of words mean what they are, so fasttext is not among these.
test.each(except('fasttext'))('%s does not depend on the scale of numbers', async (name) => {
  const features = '{a * 4 AS a, b * 0.5 AS b, c}';
  expectClose(await scores(name, { features }), await unchanged(name));
});

// A further input changes what a network draws, and is a word to fasttext.
test.each(except('fasttext', 'perceptron'))(
  '%s ignores a constant feature and one that is always missing',
  async (name) => {
    const features = '{a, b, c, 7 AS d, null AS e}';
    expectClose(await scores(name, { features }), await unchanged(name));
  },
);

const POINTS = 'SELECT a, ifnull(b, 4) AS b, a * ifnull(b, 4) AS d FROM base';

/** Procedures that read points, and the output that shows what they found. */
const POINT_TRAININGS: readonly (readonly [string, object, string])[] = [
  ['kmeans.train', { numClusters: 4, metric: 'euclidean' }, 'outputDataset'],
  ['gaussianclustering.train', { numClusters: 3, maxIterations: 8 }, 'outputDataset'],
  ['svd.train', { numSingularValues: 2 }, 'rowOutputDataset'],
  ['tsne.train', { maxIterations: 30, minIterations: 10 }, 'rowOutputDataset'],
  ['umap.train', { numEpochs: 15 }, 'rowOutputDataset'],
];

test.each(POINT_TRAININGS)(
  '%s is the same on one thread, on two and on three',
  async (type, params, output) => {
    const found = [];
    for (const rowan of services) {
      const reply = await rowan.put('/v1/procedures/points', {
        type,
        params: {
          trainingData: POINTS,
          ...params,
          [output]: { id: 'found', type: 'tabular' },
          runOnCreation: true,
        },
      });
      expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
      const query = { q: 'SELECT * FROM found ORDER BY rowName()', format: 'table' };
      found.push((await rowan.get('/v1/query', query)).json);
    }
    expect(found[0]).toHaveLength(ROW_COUNT + 1);
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
  },
);
