// Two services in one process share its main thread, where light functions are called: each model
// scores in the memory of its own service.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let folder: string;
const services: Rowan[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rowan-two-'));
});
afterAll(async () => {
  for (const service of services) await service.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(name: string): Promise<Rowan> {
  const rowan = await Rowan.open({ dataDir: join(folder, name), workers: 1 });
  services.push(rowan);
  return rowan;
}

/** Trains models of y = sign · x. */
async function train(rowan: Rowan, name: string, sign: number, count: number): Promise<void> {
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  const rows = Array.from({ length: 40 }, (_, i) => [
    `r${i}`,
    [
      ['x', i, 0],
      ['y', sign * i, 0],
    ],
  ]);
  await rowan.post('/v1/datasets/d/multirows', rows);
  await rowan.post('/v1/datasets/d/commit');
  for (let i = 0; i < count; i++) {
    const reply = await rowan.post('/v1/procedures', {
      type: 'classifier.train',
      params: {
        mode: 'regression',
        trainingData: 'SELECT {x} AS features, y AS label FROM d',
        modelFileUrl: `file://${folder}/${name}.cls`,
        algorithm: 'bag',
        configuration: {
          bag: { type: 'bagging', num_bags: 20, weak_learner: { type: 'decision_tree' } },
        },
        functionName: `f${i}`,
        runOnCreation: true,
      },
    });
    expect(reply.status, reply.text).toBe(201);
  }
}

async function scoreOf(rowan: Rowan, x: number): Promise<unknown> {
  const input = JSON.stringify({ features: { x } });
  const reply = await rowan.get('/v1/functions/f0/application', { input });
  return (reply.json as { output: { score: number } }).output.score;
}

test('models of two services score as if each were alone', async () => {
  const first = await open('first');
  await train(first, 'first', 1, 1);
  const alone = [await scoreOf(first, 3), await scoreOf(first, 30)];
  expect(alone[0]).not.toBe(alone[1]);
  // What is compiled in the first service from now on is compiled when the second is the latest.
  const second = await open('second');
  await train(second, 'second', -1, 2);
  await train(first, 'first', 1, 1);
  expect([await scoreOf(first, 3), await scoreOf(first, 30)]).toEqual(alone);
  const other = [await scoreOf(second, 3), await scoreOf(second, 30)];
  expect(other).toEqual(alone.map((score) => -(score as number)));
  expect([await scoreOf(first, 3), await scoreOf(first, 30)]).toEqual(alone);
});
