import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRowan, type TestService } from '../../../support/rowan.ts';

let rowan: TestService;

beforeAll(async () => {
  rowan = await openRowan();
});

afterAll(() => rowan.close());

async function perform(verb: string, path: string, body: unknown): Promise<unknown> {
  const reply = await rowan.perform(verb, path, { body });
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply.text === '' ? undefined : JSON.parse(reply.text);
}

test('explains against rows of a query, once for each thread', async () => {
  await perform('PUT', '/v1/datasets/line', { type: 'sparse.mutable' });
  const rows = [0, 1, 2, 3].map((x) => [
    `r${x}`,
    [
      ['x', x, 0],
      ['y', 2 * x + 1, 0],
    ],
  ]);
  await perform('POST', '/v1/datasets/line/multirows', rows);
  await perform('POST', '/v1/datasets/line/commit', {});
  await perform('PUT', '/v1/procedures/fit', {
    type: 'classifier.train',
    params: {
      trainingData: 'SELECT {x} AS features, y AS label FROM line',
      mode: 'regression',
      algorithm: 'glz_linear',
      modelFileUrl: 'mem://line.cls',
      runOnCreation: true,
    },
  });
  await perform('PUT', '/v1/functions/why', {
    type: 'classifier.explain',
    params: {
      modelFileUrl: 'mem://line.cls',
      method: 'interventional',
      backgroundData: 'SELECT x FROM line',
    },
  });
  const input = { features: { x: 3 }, label: 1 };
  const reply = await perform('GET', '/v1/functions/why/application', { input });
  const { output } = reply as { output: { bias: number; explanation: [[string, [number]]] } };
  const [[name, [contribution]]] = output.explanation;
  // The mean over the background and what the value adds to it are the score of the row.
  expect(name).toBe('x');
  expect(output.bias).toBeCloseTo(4, 4);
  expect(output.bias + contribution).toBeCloseTo(7, 4);
});

test('a label that a model of two classes does not know is refused', async () => {
  await perform('PUT', '/v1/procedures/fit', {
    type: 'classifier.train',
    params: {
      trainingData: 'SELECT {x} AS features, y > 3 AS label FROM line',
      algorithm: 'naive_bayes',
      configuration: { naive_bayes: { type: 'naive_bayes' }, dt: { type: 'decision_tree' } },
      modelFileUrl: 'mem://bayes.cls',
      runOnCreation: true,
    },
  });
  await perform('POST', '/v1/procedures/fit/runs', {
    params: { algorithm: 'dt', modelFileUrl: 'mem://tree.cls' },
  });
  await perform('PUT', '/v1/functions/tree', {
    type: 'classifier.explain',
    params: { modelFileUrl: 'mem://tree.cls' },
  });
  const application = '/v1/functions/tree/application';
  for (const label of ['yes', 2]) {
    const body = { input: { features: { x: 3 }, label } };
    const reply = await rowan.perform('GET', application, { body });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('it knows 0, 1')]);
  }
});

test.each(['path', 'treeshap', 'interventional'])(
  'method %s is refused where the model has no explanations, before any call',
  async (method) => {
    const params = {
      modelFileUrl: 'mem://bayes.cls',
      method,
      backgroundData: 'SELECT x FROM line',
    };
    const reply = await rowan.perform('PUT', '/v1/functions/none', {
      body: { type: 'classifier.explain', params },
    });
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringContaining('is not available for naive_bayes'),
    ]);
  },
);
