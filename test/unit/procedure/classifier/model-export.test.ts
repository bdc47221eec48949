// Models written as ONNX and read again score as they did.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { Random } from '../../../../src/learn/random.ts';

let rowan: Rowan;
const ROWS: Readonly<Record<string, unknown>>[] = [];

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const random = Random.of(1);
  for (let row = 0; row < 200; row++) {
    const x = random.uniform() * 10;
    const color = ['red', 'blue', 'green', 'gris é'][random.below(4)];
    const holes = random.uniform() < 0.3 ? null : random.uniform() * 4;
    const kind = random.uniform() < 0.2 ? null : ['u', 'v'][random.below(2)];
    const sum = x + (color === 'red' ? 3 : 0) + (holes ?? 1) + (kind === null ? 2 : 0);
    const level = sum > 10 ? 'high' : sum > 6 ? 'middle' : 'low';
    ROWS.push({ x, color, holes, kind, whole: random.below(5), sum, level, big: sum > 8 ? 1 : 0 });
  }
  const rows = await rowan.createDataset({ id: 'rows', type: 'tabular' });
  await rows.recordRows(
    ROWS.map((row, index) => [
      `r${index}`,
      Object.entries(row).map(([name, value]) => [name, value as number | string | null, 0]),
    ]),
  );
  await rows.commit();
});

afterAll(() => rowan?.close());

async function run(id: string, type: string, params: object) {
  await rowan.put(`/v1/procedures/${id}`, { type, params });
  return rowan.post(`/v1/procedures/${id}/runs`, {});
}

const LABELS = {
  boolean: 'big',
  regression: 'sum',
  categorical: 'level',
  multilabel: "{CASE big WHEN 1 THEN 1 END AS big, CASE level WHEN 'low' THEN 1 END AS low}",
} as const;
type Mode = keyof typeof LABELS;

const FEATURES = '{x, color, holes, kind, whole}';

function train(id: string, mode: Mode, configuration: object) {
  const trainingData =
    mode === 'multilabel'
      ? `SELECT ${FEATURES} AS features, label FROM (SELECT *, ${LABELS[mode]} AS label FROM rows)`
      : `SELECT ${FEATURES} AS features, ${LABELS[mode]} AS label FROM rows`;
  return run(`train_${id}`, 'classifier.train', {
    trainingData,
    mode,
    configuration,
    modelFileUrl: `mem://${id}.cls`,
    functionName: id,
  });
}

async function exportAs(id: string) {
  const reply = await run(`export_${id}`, 'model.export', {
    modelFileUrl: `mem://${id}.cls`,
    outputFileUrl: `mem://${id}.onnx`,
  });
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  const put = await rowan.put(`/v1/functions/${id}_onnx`, {
    type: 'onnx',
    params: { modelFileUrl: `mem://${id}.onnx` },
  });
  expect([put.status, put.text]).toEqual([201, expect.any(String)]);
}

/** Rows as they are, and some with values that training never saw. */
const INPUTS = () => [
  ...ROWS.slice(0, 40),
  { x: 1, color: 'never seen', kind: 'neither' },
  { color: 'red' },
  { x: 0, color: null, holes: null, kind: null, whole: null },
];

async function scoresOf(id: string): Promise<number[][]> {
  const inputs = INPUTS().map((features) => ({ features }));
  const reply = await rowan.post(`/v1/functions/${id}/batch`, { input: inputs });
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  return (reply.json as Readonly<Record<string, unknown>>[]).map((output) => {
    const [scores] = Object.values(output);
    if (typeof scores === 'number') return [scores];
    return Object.values(scores as Readonly<Record<string, number>>);
  });
}

async function expectEqualScores(id: string) {
  await exportAs(id);
  const own = await scoresOf(id);
  const others = await scoresOf(`${id}_onnx`);
  for (const [row, scores] of own.entries()) {
    for (const [k, score] of scores.entries()) {
      const scale = Math.max(1, Math.abs(score));
      expect((others[row]?.[k] as number) / scale).toBeCloseTo(score / scale, 5);
    }
  }
}

const TREE = { type: 'decision_tree', max_depth: 4 };

test.each<[string, object, readonly Mode[]]>([
  ['decision_tree', TREE, ['boolean', 'regression', 'categorical']],
  ['stump', { type: 'stump' }, ['boolean', 'categorical']],
  ['boosted_stumps', { type: 'boosted_stumps', max_iter: 12 }, ['boolean', 'categorical']],
  [
    'boosting',
    { type: 'boosting', min_iter: 2, max_iter: 5, weak_learner: { ...TREE, update_alg: 'gentle' } },
    ['boolean'],
  ],
  [
    'bagging',
    { type: 'bagging', num_bags: 3, weak_learner: TREE },
    ['boolean', 'regression', 'categorical'],
  ],
  ['gbt', { type: 'gbt', num_rounds: 8 }, ['boolean', 'regression', 'categorical', 'multilabel']],
  ['gbt_sets', { type: 'gbt', num_rounds: 8, max_cat_to_onehot: 1 }, ['boolean']],
  ['logit', { type: 'glz' }, ['boolean', 'categorical', 'multilabel']],
  ['probit', { type: 'glz', link_function: 'probit' }, ['boolean']],
  ['comp_log_log', { type: 'glz', link_function: 'comp_log_log' }, ['boolean']],
  ['linear', { type: 'glz', link_function: 'linear' }, ['boolean', 'regression']],
  ['bag_of_glz', { type: 'bagging', num_bags: 2, weak_learner: { type: 'glz' } }, ['boolean']],
  [
    'perceptron',
    { type: 'perceptron', arch: '4', min_iter: 2, max_iter: 5 },
    ['boolean', 'regression', 'categorical'],
  ],
  [
    'softmax',
    {
      type: 'perceptron',
      arch: '4',
      activation: 'tanhs',
      output_activation: 'softmax',
      min_iter: 2,
      max_iter: 5,
    },
    ['categorical'],
  ],
])('%s', async (name, configuration, modes) => {
  for (const mode of modes) {
    const id = `${name}_${mode}`;
    const trained = await train(id, mode, configuration);
    expect([trained.status, trained.text]).toEqual([201, expect.any(String)]);
    await expectEqualScores(id);
  }
});

test('a random forest', async () => {
  await run('train_forest', 'randomforest.binary.train', {
    trainingData: `SELECT ${FEATURES} AS features, big AS label FROM rows`,
    featureVectorSamplings: 2,
    featureSamplings: 3,
    modelFileUrl: 'mem://forest.cls',
    functionName: 'forest',
  });
  await expectEqualScores('forest');
});

test('a model of another family is refused, and no file is left', async () => {
  await train('bayes', 'boolean', { type: 'naive_bayes' });
  const reply = await run('export_bayes', 'model.export', {
    modelFileUrl: 'mem://bayes.cls',
    outputFileUrl: 'mem://bayes.onnx',
  });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain(
    'a model of type naive_bayes cannot be written as ONNX; accepted are',
  );
  const put = await rowan.put('/v1/functions/nothing', {
    type: 'onnx',
    params: { modelFileUrl: 'mem://bayes.onnx' },
  });
  expect(put.status).toBeGreaterThanOrEqual(400);
});

test('what is no model is refused', async () => {
  await train('plain', 'boolean', TREE);
  await exportAs('plain');
  const reply = await run('export_onnx', 'model.export', {
    modelFileUrl: 'mem://plain.onnx',
    outputFileUrl: 'mem://again.onnx',
  });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('mem://plain.onnx')]);
  const put = await rowan.put('/v1/functions/nothing', {
    type: 'onnx',
    params: { modelFileUrl: 'mem://plain.cls' },
  });
  expect([put.status, put.text]).toEqual([400, expect.stringContaining('ONNX file')]);
});

test('wrong types and unknown tensors are named', async () => {
  await train('typed', 'boolean', TREE);
  await exportAs('typed');
  const apply = (features: object) =>
    rowan.post('/v1/functions/typed_onnx/application', { input: { features } });
  const text = await apply({ x: 'ten' });
  expect([text.status, text.text]).toEqual([
    400,
    expect.stringContaining("feature 'x' of tensor 'x' must be a number"),
  ]);
  const unknown = await rowan.put('/v1/functions/mapped', {
    type: 'onnx',
    params: { modelFileUrl: 'mem://typed.onnx', inputs: { y: ['x'] } },
  });
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining("no tensor 'y'")]);
});
