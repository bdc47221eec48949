// What model cards tell, over the routes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const rows = await rowan.createDataset({ id: 'rows', type: 'sparse.mutable' });
  await rows.recordRows(
    Array.from({ length: 40 }, (_, row) => [
      `r${row}`,
      [
        ['size', row % 4, 1000 + row],
        ['color', row % 3 === 0 ? 'red' : 'blue', 0],
        ['height', (row * 7) % 11, 0],
        ...(row % 4 === 0 ? [] : [['noise', row / 2, 0] as [string, number, number]]),
        ...(row < 4 ? [] : [['yes', row % 4 > 1 ? 1 : 0, 0] as [string, number, number]]),
      ],
    ]),
  );
  await rows.commit();
});

afterAll(() => rowan?.close());

type Card = Readonly<Record<string, unknown>>;

async function run(id: string, type: string, params: object): Promise<unknown> {
  const put = await rowan.put(`/v1/procedures/${id}`, { type, params });
  expect([put.status, put.text]).toEqual([201, expect.any(String)]);
  const posted = await rowan.post(`/v1/procedures/${id}/runs`, {});
  expect([posted.status, posted.text]).toEqual([201, expect.any(String)]);
  const { id: runId } = posted.json as { id: string };
  return (await rowan.get(`/v1/procedures/${id}/runs/${runId}/details`)).json;
}

async function card(id: string): Promise<Card> {
  const reply = await rowan.get(`/v1/functions/${id}/card`);
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  return reply.json as Card;
}

const QUERY = 'SELECT {size, color, noise} AS features, yes AS label FROM rows';

function train(id: string, extra: object = {}): Promise<unknown> {
  return run(`train_${id}`, 'classifier.train', {
    trainingData: QUERY,
    configuration: { t: { type: 'bagging', num_bags: 2, weak_learner: { type: 'decision_tree' } } },
    algorithm: 't',
    modelFileUrl: `mem://${id}.cls`,
    functionName: id,
    ...extra,
  });
}

test('a classifier tells from what and how it was trained', async () => {
  const { modelCard } = (await train('told')) as { readonly modelCard: Card };
  const told = await card('told');
  expect(told).toEqual(modelCard);
  expect(told).toMatchObject({
    kind: 'classifier',
    mode: 'boolean',
    algorithm: 'bagging',
    configuration: { type: 'bagging', num_bags: 2, weak_learner: { type: 'decision_tree' } },
    trainingQuery: QUERY,
    datasets: [{ id: 'rows', rowCount: 40, latestTimestamp: '1970-01-01T00:17:19Z' }],
    rows: { used: 36, skippedNullLabel: 4 },
    labelDistribution: [
      [0, 18],
      [1, 18],
    ],
    featureCount: 3,
    metrics: null,
    randomSeed: 1,
    parentProcedure: 'train_told',
    runId: expect.any(String),
    rowanVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect(told.durationSecs).toBeGreaterThanOrEqual(0);
  expect(told.features).toEqual([
    { name: 'color', type: 'category', missing: 0, distinct: 2, min: null, max: null, mean: null },
    { name: 'noise', type: 'number', missing: 0.25, distinct: 27, min: 2.5, max: 19.5, mean: 11 },
    { name: 'size', type: 'number', missing: 0, distinct: 4, min: 0, max: 3, mean: 1.5 },
  ]);
});

test('the card is in the file, for other functions and other servers', async () => {
  await train('filed');
  await rowan.put('/v1/functions/again', {
    type: 'classifier.explain',
    params: { modelFileUrl: 'mem://filed.cls' },
  });
  expect(await card('again')).toEqual(await card('filed'));
});

test('statistics of features can be left out', async () => {
  await train('redacted', { redactFeatureStats: true });
  expect((await card('redacted')).features).toEqual([
    { name: 'color', type: 'category' },
    { name: 'noise', type: 'number' },
    { name: 'size', type: 'number' },
  ]);
});

test('the last test of the function is on the card, until it is trained again', async () => {
  await train('tested');
  const testing = (threshold: number) =>
    run('test_tested', 'classifier.test', {
      testingData: `SELECT tested({features: {size, color, noise}})[score] AS score, yes AS label FROM rows WHERE size >= ${threshold}`,
    });
  expect(await testing(0)).toMatchObject({ testedFunction: 'tested' });
  const first = (await card('tested')).metrics;
  expect(first).toMatchObject({ auc: 1 });
  await testing(2);
  expect((await card('tested')).metrics).toMatchObject({ auc: 0 });
  await train('tested');
  expect((await card('tested')).metrics).toBeNull();
});

test('an experiment tests all the functions that it makes', async () => {
  await run('experiment', 'classifier.experiment', {
    experimentName: 'exp',
    inputData: QUERY,
    kfold: 2,
    configuration: { type: 'decision_tree' },
    modelFileUrlPattern: 'mem://$runid.cls',
  });
  const runs = (await rowan.get('/v1/procedures/experiment/runs')).json as string[];
  const { status } = (await rowan.get(`/v1/procedures/experiment/runs/${runs[0]}`)).json as {
    status: { folds: readonly { readonly resultsTest: unknown }[] };
  };
  for (const n of [0, 1]) {
    const made = await card(`exp_scorer_${n}`);
    expect(made.metrics).toEqual(status.folds[n]?.resultsTest);
    expect(made.parentProcedure).toBe('exp_trainer');
  }
});

test.each([
  ['kmeans.train', 'kmeans', { numClusters: 3 }],
  ['gaussianclustering.train', 'gaussianclustering', { numClusters: 2 }],
  ['tsne.train', 'tsne.embedRow', { maxIterations: 10 }],
  ['umap.train', 'umap.embedRow', { numEpochs: 10 }],
  ['svd.train', 'svd.embedRow', { numSingularValues: 1 }],
])('%s', async (type, kind, params) => {
  const id = type.replace(/\W/g, '_');
  await run(`train_${id}`, type, {
    trainingData: 'SELECT size, height FROM rows',
    modelFileUrl: `mem://${id}`,
    functionName: id,
    ...params,
  });
  const made = await card(id);
  expect(made).toMatchObject({ kind, rows: { used: 40 }, configuration: params, featureCount: 2 });
  expect((made.features as { name: string }[]).map(({ name }) => name).sort()).toEqual([
    'height',
    'size',
  ]);
});

test.each([
  [
    'randomforest.binary.train',
    'classifier',
    { trainingData: QUERY, featureVectorSamplings: 1, featureSamplings: 2 },
  ],
  [
    'svm.train',
    'svm',
    { trainingData: 'SELECT size, height, yes AS label FROM rows WHERE yes >= 0' },
  ],
  [
    'probabilizer.train',
    'probabilizer',
    { trainingData: 'SELECT height AS score, yes AS label FROM rows', method: 'isotonic' },
  ],
  ['tfidf.train', 'tfidf', { trainingData: 'SELECT color, size FROM rows' }],
])('%s', async (type, kind, params) => {
  const id = type.replace(/\W/g, '_');
  await run(`train_${id}`, type, { ...params, modelFileUrl: `mem://${id}`, functionName: id });
  expect(await card(id)).toMatchObject({ kind, trainingQuery: params.trainingData });
});

test.each([
  [
    'statsTable.train',
    'statsTable.getCounts',
    { trainingData: 'SELECT color FROM rows', outcomes: [['yes', 'yes = 1']] },
  ],
  [
    'experimental.distTable.train',
    'experimental.distTable.getStats',
    { trainingData: 'SELECT color FROM rows', outcomes: [['size', 'size']] },
  ],
])('%s', async (type, kind, params) => {
  const id = type.replace(/\W/g, '_');
  const parameter = type.startsWith('stats') ? 'statsTableFileUrl' : 'distTableFileUrl';
  await run(`train_${id}`, type, { ...params, [parameter]: `mem://${id}`, functionName: id });
  expect(await card(id)).toMatchObject({ kind, rows: { used: 40 } });
});

test('a function that is no model has no card', async () => {
  await rowan.put('/v1/functions/plain', {
    type: 'sql.expression',
    params: { expression: 'x + 1 AS y' },
  });
  const reply = await rowan.get('/v1/functions/plain/card');
  expect(reply.status).toBe(404);
  expect(reply.text).toContain("function 'plain' has no model card");
});

test('a card lists a thousand features at most', async () => {
  const wide = await rowan.createDataset({ id: 'wide', type: 'sparse.mutable' });
  await wide.recordRows(
    Array.from({ length: 4 }, (_, row) => [
      `w${row}`,
      [
        ['label', row % 2, 0],
        ...Array.from({ length: 600 }, (_, i): [string, number, number] => [
          `f${i * 4 + row}`,
          1,
          0,
        ]),
      ],
    ]),
  );
  await wide.commit();
  await train('broad', {
    trainingData: 'SELECT {* EXCLUDING (label)} AS features, label FROM wide',
    configuration: { t: { type: 'naive_bayes' } },
  });
  const broad = await card('broad');
  expect(broad.featureCount).toBe(2400);
  expect(broad.features).toHaveLength(1000);
});
