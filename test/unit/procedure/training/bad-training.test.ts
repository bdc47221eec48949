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
  [
    'em.train',
    { trainingData: 'SELECT x FROM rows', numClusters: 13 },
    'there are 12 datapoints for numClusters 13',
  ],
  [
    'umap.train',
    { trainingData: 'SELECT x FROM rows', numInputDimensions: 0 },
    'numInputDimensions must be -1, for all, or at least 1',
  ],
  ['tsne.train', { trainingData: 'SELECT nothing FROM rows' }, "column 'nothing'"],
  ['svm.train', { trainingData: 'SELECT x, y FROM rows' }, "'label'"],
  [
    'svm.train',
    { trainingData: 'SELECT x, y AS label FROM rows', configuration: { kernel: 'cubic' } },
    '"linear", "poly", "rbf", "sigmoid", 0, 1, 2, 3',
  ],
  ['svd.train', { trainingData: 'SELECT infinite FROM rows' }, "column 'infinite'"],
  // One infinity everywhere is one value, and no column of numbers to scale.
  ['svd.train', { trainingData: 'SELECT x / 0.0 AS x FROM rows WHERE x > 0' }, "column 'x'"],
  [
    'probabilizer.train',
    { trainingData: 'SELECT x AS score, y AS label FROM rows WHERE x > 99' },
    'Cannot run probabilizer.train procedure on empty test set',
  ],
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

test('multilabel: a column that a wildcard of the label takes cannot be a feature', async () => {
  const tags = await rowan.createDataset({ id: 'tags', type: 'sparse.mutable' });
  await tags.recordRow('r', [
    ['x', 1, 0],
    ['tag.a', 1, 0],
  ]);
  await tags.commit();
  for (const features of ['{*}', '{* EXCLUDING (tag)}', '{x, tag.a}']) {
    const trainingData = `SELECT ${features} AS features, {tag.*} AS label FROM tags`;
    const params = { trainingData, mode: 'multilabel', configuration: TREE };
    expect(await refused('classifier.train', params)).toContain(
      "Dataset column 'tag.a' cannot be used in both label and feature because of label wildcard 'tag'",
    );
  }
});

test.each([
  ['max_depth', 0, 'max_depth must be -1 or at least 1'],
  ['objective_alpha', 1, 'objective_alpha'],
])('gbt: %s %j', async (option, value, message) => {
  const trainingData = 'SELECT {x} AS features, y AS label FROM rows';
  const configuration = { type: 'gbt', [option]: value };
  expect(await refused('classifier.train', { trainingData, configuration })).toContain(message);
});

test.each([
  ['statsTable.train', ['trial'], "outcome 'trial' has the name that the counts of all rows have"],
  ['statsTable.bagOfWords.train', ['a', 'a'], "outcome 'a' has the name that another outcome has"],
  ['distTable.train', ['a', 'a'], "outcome 'a' has the name that another outcome has"],
])('%s refuses outcomes that share a name: %j', async (type, names, message) => {
  const outcomes = names.map((name) => [name, 'y']);
  const params = { trainingData: 'SELECT x FROM rows', outcomes };
  const reply = await rowan.put('/v1/procedures/outcomes', { type, params });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(message)]);
});

test.each([
  ['boolean', 'x, y', 'the score must be a number, not a row of columns x, y'],
  ['categorical', undefined, 'the score must be a row with a column for each label, not 0'],
  ['regression', undefined, 'Regression labels must not be infinite or NaN. Got \\"t1\\"'],
])('classifier.test in mode %s says what score and label must be', async (mode, row, message) => {
  const score = row === undefined ? 'x' : `{${row}}`;
  const label = mode === 'regression' ? 'mixed' : 'y';
  const testingData = `SELECT ${score} AS score, ${label} AS label FROM rows`;
  const params = { testingData, mode, runOnCreation: true };
  const reply = await rowan.put('/v1/procedures/tested', { type: 'classifier.test', params });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(message)]);
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
