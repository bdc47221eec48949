// Plain JSON scores as values do.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const ROW_COUNT = 200;
let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const rows = await rowan.createDataset({ id: 'rows', type: 'sparse.mutable' });
  await rows.recordRows(
    Array.from({ length: ROW_COUNT }, (_, row) => [
      `r${row}`,
      [
        ['color', row % 3 === 0 ? 'red' : 'blue', 0],
        ['size', row % 17, 0],
        ['label', row % 3 === 0 || row % 17 > 9 ? 1 : 0, 0],
      ],
    ]),
  );
  await rows.commit();
  const trained = await rowan.put('/v1/procedures/train', {
    type: 'randomforest.binary.train',
    params: {
      trainingData: 'SELECT {color, size} AS features, label FROM rows',
      modelFileUrl: 'mem://model',
      functionName: 'model',
      runOnCreation: true,
    },
  });
  expect(trained.status).toBe(201);
  // An input of the outer function is a value before the inner one is called.
  const params = { expression: 'model({features: features}) AS model', prepared: true };
  await rowan.put('/v1/functions/outer', { type: 'sql.expression', params });
});

afterAll(() => rowan?.close());

const atom = fc.oneof(
  fc.constantFrom('red', 'blue', 'green', '3', null, true, -0, 1e300),
  fc.integer({ min: -3, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const features = fc.oneof(
  fc.record({ color: atom, size: atom }, { requiredKeys: [] }),
  fc.record({ color: atom, size: fc.oneof(atom, fc.array(atom), fc.record({ size: atom })) }),
  fc.dictionary(fc.constantFrom('color', 'size', 'constructor', 'a.b', '0'), atom),
);

/** What a function gives, or says is wrong. */
function outcome(id: string, input: Record<string, unknown>): Promise<unknown> {
  return rowan.functions
    .get(id)
    .apply(input)
    .catch((error: Error) => error.message);
}

test('a classifier scores plain features as it scores values', async () => {
  await fc.assert(
    fc.asyncProperty(features, async (given) => {
      const input = { features: given };
      const plain = await outcome('model', input);
      const model = typeof plain === 'string' ? plain : { model: plain };
      expect(await outcome('outer', input)).toEqual(model);
    }),
  );
});

test('a classifier takes what is no features for none', async () => {
  const none = await rowan.functions.get('model').apply({ features: {} });
  for (const input of [{}, { features: null }, { features: 'red' }]) {
    expect(await rowan.functions.get('model').apply(input)).toEqual(none);
  }
});

test('the status of a classifier tells its mode and what it is made of', async () => {
  const { json } = await rowan.get('/v1/functions/model/status');
  expect(json).toMatchObject({
    mode: 'boolean',
    summary: 'random_forest of 100 trees, 2 features',
  });
  expect((await rowan.get('/v1/functions/model')).json).toMatchObject({ status: json });
});
