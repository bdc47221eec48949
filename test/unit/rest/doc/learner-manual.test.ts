// Every learner has a manual, whose example trains and scores.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { LEARNERS } from '../../../../src/learn/learners.ts';
import { LEARNER_MANUALS } from '../../../../src/rest/doc/learner-manual.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const dataset = await rowan.createDataset({ id: 'd', type: 'tabular' });
  await dataset.recordRows(
    Array.from({ length: 60 }, (_, row) => {
      const x = (row * 37) % 60;
      return [
        `r${row}`,
        [
          ['x', x, 0],
          ['n', row % 5, 0],
          ['y', Number(x > 30), 0],
        ],
      ] as const;
    }),
  );
  await dataset.commit();
});

afterAll(() => rowan?.close());

test('learners and manuals are the same list', () => {
  expect(Object.keys(LEARNER_MANUALS).sort()).toEqual(LEARNERS.map(({ type }) => type).sort());
});

const LABELS = {
  boolean: 'y AS label',
  regression: 'x AS label',
  categorical: 'y AS label',
  multilabel: '{CASE y WHEN 1 THEN 1 END AS high, CASE n WHEN 0 THEN 1 END AS zero} AS label',
} as const;

test.each(Object.entries(LEARNER_MANUALS))('the example of %s', async (type, manual) => {
  const { example, mode } = manual;
  const features = mode === 'regression' ? '{n}' : '{x, n}';
  const inner = `SELECT ${features} AS features, ${LABELS[mode]} FROM d`;
  const reply = await rowan.put('/v1/procedures/train', {
    type: 'classifier.train',
    params: {
      // What reads a column as feature and as label reads it of a query.
      trainingData: mode === 'multilabel' ? `SELECT features, label FROM (${inner})` : inner,
      ...{ mode, configuration: example, functionName: 'f', modelFileUrl: `mem://${type}.cls` },
      runOnCreation: true,
    },
  });
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  const scored = await rowan.post('/v1/functions/f/batch', {
    input: [{ features: { x: 50, n: 1 } }],
  });
  expect([scored.status, scored.text]).toEqual([200, expect.stringContaining('score')]);
});
