// Trainings that cannot be: each is refused with the reason, and leaves neither file nor function.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const rows = await rowan.createDataset({ id: 'rows', type: 'sparse.mutable' });
  await rows.recordRows(
    Array.from({ length: 12 }, (_, row) => [
      `r${row}`,
      [
        ['x', row, 0],
        ['twice', row * 2, 0],
        ['mixed', row % 2 === 0 ? row : `t${row}`, 0],
        ['one', 1, 0],
        ['infinite', row === 3 ? { num: 'Inf' } : row, 0],
        ['nan', row === 3 ? { num: 'NaN' } : row, 0],
        ['nothing', null, 0],
        ['y', row % 2, 0],
      ],
    ]) as never,
  );
  await rows.commit();
  await (await rowan.createDataset({ id: 'empty', type: 'sparse.mutable' })).commit();
});

afterAll(() => rowan?.close());

let number = 0;

/** The reply of a run, after which there is neither file nor function. */
async function refused(type: string, params: object): Promise<string> {
  const id = `bad_${number++}`;
  const url = `mem://${id}`;
  const all = { ...params, modelFileUrl: url, functionName: id };
  const put = await rowan.put(`/v1/procedures/${id}`, { type, params: all });
  const reply = put.status === 201 ? await rowan.post(`/v1/procedures/${id}/runs`, {}) : put;
  expect([reply.status, reply.text]).toEqual([400, expect.any(String)]);
  expect((await rowan.get(`/v1/functions/${id}`)).status).toBe(404);
  const made = await rowan.put(`/v1/functions/${id}`, {
    type: 'classifier',
    params: { modelFileUrl: url },
  });
  expect(made.status).toBeGreaterThanOrEqual(400);
  return (reply.json as { readonly error: string }).error;
}

const TREE = { type: 'decision_tree' };
const GLZ = { type: 'glz' };

test.each([
  ['no row at all', 'SELECT {x} AS features, y AS label FROM empty', TREE, 'as dataset was empty'],
  [
    'no row that passes',
    'SELECT {x} AS features, y AS label FROM rows WHERE x > 99',
    TREE,
    'all rows were filtered',
  ],
  ['no label', 'SELECT {x} AS features, nothing AS label FROM rows', TREE, 'all labels were NULL'],
  [
    'a label among the features',
    'SELECT {*} AS features, y AS label FROM rows',
    TREE,
    "Dataset column 'y' cannot be used in both label and feature",
  ],
  ['an infinite feature', 'SELECT {infinite} AS features, y AS label FROM rows', GLZ, 'infinit'],
  [
    'a negative weight',
    'SELECT {x} AS features, y AS label, sign(0 - x) AS weight FROM rows',
    TREE,
    'classifier example weight cannot be negative',
  ],
  [
    'weights of zero',
    'SELECT {x} AS features, y AS label, sign(0) AS weight FROM rows',
    TREE,
    'weight',
  ],
  [
    'three classes where there are two',
    'SELECT {x} AS features, mixed AS label FROM rows',
    TREE,
    'more than two values',
  ],
])('boolean: %s', async (_, trainingData, configuration, message) => {
  expect(await refused('classifier.train', { trainingData, configuration })).toContain(message);
});

test.each([
  ['a label that is a text', 'mixed', 'Regression labels'],
  ['an infinite label', 'infinite', 'Regression labels must not be infinite or NaN'],
  ['a label that is not a number', 'nan', 'Regression labels must not be infinite or NaN'],
])('regression: %s', async (_, label, message) => {
  const trainingData = `SELECT {x} AS features, ${label} AS label FROM rows`;
  const params = { trainingData, configuration: TREE, mode: 'regression' };
  expect(await refused('classifier.train', params)).toContain(message);
});

test.each([
  ['kmeans.train', { trainingData: 'SELECT x FROM rows', numClusters: 13 }, 'cluster'],
  ['kmeans.train', { trainingData: 'SELECT x FROM rows WHERE x > 99' }, 'at least 1 datapoint'],
  ['kmeans.train', { trainingData: 'SELECT mixed FROM rows', numClusters: 2 }, "column 'mixed'"],
  [
    'kmeans.train',
    { trainingData: 'SELECT infinite FROM rows', numClusters: 2 },
    "column 'infinite'",
  ],
  [
    'gaussianclustering.train',
    { trainingData: 'SELECT x FROM rows', numClusters: 1 },
    "doesn't make any sense",
  ],
  ['tsne.train', { trainingData: 'SELECT nothing FROM rows' }, "column 'nothing'"],
  ['svm.train', { trainingData: 'SELECT x, y FROM rows' }, "'label'"],
  ['svd.train', { trainingData: 'SELECT infinite FROM rows' }, "column 'infinite'"],
  [
    'randomforest.binary.train',
    { trainingData: 'SELECT {x} AS features, one AS label FROM rows' },
    'two classes are needed',
  ],
  [
    'randomforest.binary.train',
    { trainingData: 'SELECT {mixed} AS features, y AS label FROM rows' },
    "can't train on column mixed",
  ],
])('%s %j', async (type, params, message) => {
  expect(await refused(type, params)).toContain(message);
});

test.each([
  ['one class', 'SELECT {x} AS features, one AS label FROM rows'],
  ['features that are one another', 'SELECT {x, twice} AS features, y AS label FROM rows'],
  ['a feature both number and text', 'SELECT {mixed} AS features, y AS label FROM rows'],
  [
    'a constant feature and one without values',
    'SELECT {one, nothing, x} AS features, y AS label FROM rows',
  ],
  ['a feature that is NaN at times', 'SELECT {nan} AS features, y AS label FROM rows'],
])('%s can be learned by all learners, or is refused', async (_, trainingData) => {
  for (const configuration of [
    TREE,
    GLZ,
    { type: 'gbt' },
    { type: 'naive_bayes' },
    { type: 'boosted_stumps' },
    { type: 'perceptron', arch: '3' },
  ]) {
    const id = `good_${number++}`;
    const params = { trainingData, configuration, modelFileUrl: `mem://${id}`, functionName: id };
    await rowan.put(`/v1/procedures/${id}`, { type: 'classifier.train', params });
    const { status, text } = await rowan.post(`/v1/procedures/${id}/runs`, {});
    expect([201, 400], text).toContain(status);
    if (status !== 201) continue;
    const input = { features: { x: 1, twice: 2, mixed: 't1', one: 1, nan: 2 } };
    const reply = await rowan.post(`/v1/functions/${id}/application`, { input });
    const { output } = reply.json as { readonly output: { readonly score: number } };
    expect(output.score, JSON.stringify(configuration)).toEqual(expect.any(Number));
  }
});
