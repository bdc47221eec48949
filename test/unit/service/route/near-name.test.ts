// Names that nobody knows suggest the nearest that somebody does.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await rowan.put('/v1/datasets/flights', { type: 'sparse.mutable' });
  await rowan.put('/v1/functions/speed', { type: 'sql.expression', params: { expression: 'x' } });
});
afterAll(() => rowan.close());

test.each([
  ['/v1/dataset', 'unknown resource GET /v1/dataset; did you mean /v1/datasets?'],
  [
    '/v1/functions/speed/aplication',
    'unknown resource GET /v1/functions/speed/aplication; did you mean /v1/functions/speed/application?',
  ],
  ['/v1/zzzzzz', 'unknown resource GET /v1/zzzzzz'],
  ['/v1/datasets/flight', "dataset entry 'flight' doesn't exist; did you mean 'flights'?"],
  ['/v1/datasets/zzzzzz', "dataset entry 'zzzzzz' doesn't exist"],
  [
    '/v1/datasets/fligths/rows',
    "dataset entry 'fligths' does not exist or has been deleted; did you mean 'flights'?",
  ],
  [
    '/v1/functions/sped/info',
    "function entry 'sped' does not exist or has been deleted; did you mean 'speed'?",
  ],
  [
    '/v1/query?q=SELECT%201%20FROM%20flihgts',
    "dataset entry 'flihgts' doesn't exist; did you mean 'flights'?",
  ],
])('%s', async (path, message) => {
  const { status, json } = await rowan.get<{ error: string }>(path);
  expect([status, json.error]).toEqual([404, message]);
});

test('types', async () => {
  const { json } = await rowan.put<{ error: string }>('/v1/datasets/d', { type: 'sparse.mutabl' });
  expect(json.error).toBe(
    "couldn't find type 'sparse.mutabl' in registry; did you mean 'sparse.mutable'?",
  );
});

test('a redirection names the cause first', async () => {
  const call = { target: '/v1/datasets/flight', body: {} };
  const { json } = await rowan.post<{ error: string }>('/v1/redirect/get', call);
  expect(json.error).toBe(
    "dataset entry 'flight' doesn't exist; did you mean 'flights'? (failed to redirect call)",
  );
});
