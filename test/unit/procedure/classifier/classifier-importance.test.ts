// Which features a model rests on, over the routes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const ROW_COUNT = 200;
let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const rows = await rowan.createDataset({ id: 'rows', type: 'sparse.mutable' });
  await rows.recordRows(
    Array.from({ length: ROW_COUNT }, (_, row) => {
      const color = row % 3 === 0 ? 'red' : 'blue';
      const size = (row * 7) % 17;
      return [
        `r${row}`,
        [
          ['color', color, 0],
          ['body.size', size, 0],
          ...(row % 5 === 0 ? [] : [['noise', (row * 31) % 23, 0] as [string, number, number]]),
          ['yes', size > 8 ? 1 : 0, 0],
          ['amount', size * 2, 0],
          ['kind', `${color}${size > 8 ? 1 : 0}`, 0],
        ],
      ];
    }),
  );
  await rows.commit();
  const configuration = { type: 'decision_tree', max_depth: 4 };
  for (const [mode, label] of [
    ['boolean', 'yes'],
    ['regression', 'amount'],
    ['categorical', 'kind'],
  ] as const) {
    await post(`train_${mode}`, 'classifier.train', {
      trainingData: `SELECT {body, color} AS features, ${label} AS label FROM rows`,
      mode,
      configuration,
      modelFileUrl: `mem://importance_${mode}`,
      functionName: mode,
    });
  }
});

afterAll(() => rowan?.close());

interface Run {
  readonly baseline: number;
  readonly metric: string;
  readonly features: readonly (readonly [string, number, number])[];
}

async function post(id: string, type: string, params: object): Promise<Run> {
  const put = await rowan.put(`/v1/procedures/${id}`, { type, params });
  expect([put.status, put.text]).toEqual([201, expect.any(String)]);
  const run = await rowan.post(`/v1/procedures/${id}/runs`, {});
  expect([run.status, run.text]).toEqual([201, expect.any(String)]);
  return (run.json as { status: Run }).status;
}

const LABEL = { boolean: 'yes', regression: 'amount', categorical: 'kind' } as const;

function importance(id: string, mode: keyof typeof LABEL, params: object): Promise<Run> {
  return post(id, 'classifier.importance', {
    testingData: `SELECT {body, color, noise} AS features, ${LABEL[mode]} AS label FROM rows`,
    mode,
    ...params,
  });
}

test.each([
  ['boolean', 'auc', ['body.size']],
  ['regression', 'r2', ['body.size']],
  ['categorical', 'accuracy', ['body.size', 'color']],
] as const)('in mode %s, %s tells what the model uses', async (mode, metric, used) => {
  const byFunction = await importance(`f_${mode}`, mode, { functionName: mode });
  const byModel = await importance(`m_${mode}`, mode, {
    modelFileUrl: `mem://importance_${mode}`,
  });
  expect(byModel).toEqual(byFunction);
  expect(byFunction.metric).toBe(metric);
  expect(byFunction.baseline).toBeGreaterThan(0.9);
  const names = byFunction.features.map(([name]) => name);
  expect(names.slice(0, used.length).sort()).toEqual([...used]);
  for (const [name, mean, std] of byFunction.features) {
    if ((used as readonly string[]).includes(name)) expect(mean).toBeGreaterThan(0.1);
    else expect([name, mean, std]).toEqual([name, 0, 0]);
  }
});

test('features become rows, most important first', async () => {
  const status = await importance('ranked', 'boolean', {
    functionName: 'boolean',
    repeats: 2,
    maxRows: 50,
    outputDataset: 'ranks',
  });
  const reply = await rowan.get('/v1/query', {
    q: 'SELECT * FROM ranks ORDER BY rank',
    format: 'table',
  });
  const [header, ...rows] = reply.json as unknown[][];
  expect(header).toEqual(['_rowName', 'importance', 'std', 'baseline', 'rank']);
  expect(rows).toEqual(
    status.features.map(([name, mean, std], rank) => [name, mean, std, status.baseline, rank]),
  );
});

test.each([
  [{}, 400, 'needs either a functionName or a modelFileUrl'],
  [{ functionName: 'boolean', modelFileUrl: 'mem://x' }, 400, 'needs either a functionName'],
  [{ functionName: 'boolean', metric: 'r2' }, 400, 'accepted are auc, accuracy, f1Score, logLoss'],
  [{ functionName: 'absent' }, 404, 'absent'],
  [{ functionName: 'regression', mode: 'categorical' }, 400, 'no classifier of mode categorical'],
  [{ modelFileUrl: 'mem://importance_regression' }, 400, 'of mode regression, not boolean'],
])('%j is refused', async (params, status, message) => {
  const config = {
    type: 'classifier.importance',
    params: {
      testingData: 'SELECT {color} AS features, yes AS label FROM rows',
      runOnCreation: true,
      ...params,
    },
  };
  const reply = await rowan.put('/v1/procedures/refused', config);
  expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(message)]);
});
