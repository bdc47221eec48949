// Messages of runs: in the details of the run, and as events while it works.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await rowan.put('/v1/datasets/points', { type: 'sparse.mutable' });
  const rows = Array.from({ length: 30 }, (_, i) => [
    `r${i}`,
    [
      ['x', i, 0],
      ['y', i % 2, 0],
    ],
  ]);
  await rowan.post('/v1/datasets/points/multirows', rows);
  await rowan.post('/v1/datasets/points/commit', {});
});

afterAll(() => rowan?.close());

const TRAINING = {
  trainingData: 'SELECT {x} AS features, y AS label FROM points',
  modelFileUrl: 'mem://m.cls',
};

/** Runs a new procedure under the run id `r`. */
async function run(type: string, params: object): Promise<Run> {
  const path = `/v1/procedures/${type}`;
  expect((await rowan.put(path, { type, params })).status).toBe(201);
  const reply = await rowan.put(`${path}/runs/r`, {});
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  const details = (await rowan.get(`${path}/runs/r/details`)).json as Run['details'];
  const { text: events } = await rowan.get(`${path}/runs/r/events`);
  return { details, messages: details?.logs?.map(({ c }) => c) ?? [], events };
}

interface Run {
  readonly details: {
    readonly logs?: readonly { readonly ts: string; readonly s: string; readonly c: string }[];
  } | null;
  readonly messages: readonly string[];
  readonly events: string;
}

test('a forest tells of each tree when it is asked to', async () => {
  const forest = { ...TRAINING, featureVectorSamplings: 2, featureSamplings: 1 };
  const silent = await run('randomforest.binary.train', forest);
  expect(Object.keys(silent.details as object).sort()).toEqual(['modelCard', 'randomSeed']);
  const { details, messages, events } = await run('randomforest.binary.train', {
    ...forest,
    verbosity: true,
  });
  expect(messages).toEqual([
    'trained 2 trees on 30 rows of 1 columns\n',
    expect.stringMatching(/^tree 0: \d+ nodes, \d+ levels\n$/),
    expect.stringMatching(/^tree 1: /),
  ]);
  expect(details).toMatchObject({
    randomSeed: 1,
    logs: [{ ts: expect.any(String), s: 'log' }, {}, {}],
  });
  expect(events.match(/event: log\ndata: .*"level":"info","message":"tree 0/)).not.toBeNull();
});

test('a learner tells of its data and its times when it is asked to', async () => {
  const { messages } = await run('classifier.train', {
    ...TRAINING,
    configuration: { type: 'decision_tree', max_depth: 2, verbosity: 3, profile: true },
  });
  expect(messages).toEqual([
    expect.stringMatching(/^extracting features took \d+ ms\n$/),
    'training decision_tree on 30 rows of 1 columns\n',
    expect.stringMatching(/^training took /),
    expect.stringMatching(/^saving model took /),
  ]);
});

test('what a script logs is an event at once', async () => {
  const scriptConfig = { source: 'mldb.log("one"); plugin.log("two", {a: 1}); 3' };
  const { details, events } = await run('script.run', { scriptConfig });
  expect(details).toMatchObject({
    statusCode: 200,
    result: 3,
    logs: [
      { s: 'log', c: 'one\n' },
      { s: 'logs', c: 'two {\n  "a": 1\n}\n' },
    ],
  });
  const names = [...events.matchAll(/event: (\w+)/g)].map(([, name]) => name);
  expect(names.filter((name) => name !== 'progress')).toEqual([
    'state',
    'state',
    'log',
    'log',
    'state',
    'result',
  ]);
});
