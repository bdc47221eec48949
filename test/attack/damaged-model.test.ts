// Attack on model files: bytes that change on disk. A damaged model is refused; it never predicts
// something else than the model that was saved.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { checkModelFile, encodeModelFile } from '../../src/learn/model/container.ts';

let folder: string;
let rowan: Rowan;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rowan-model-'));
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  const rows = Array.from({ length: 40 }, (_, i) => [
    `r${i}`,
    [
      ['x', (i * 7) % 40, 0],
      ['y', i % 2, 0],
    ],
  ]);
  await rowan.post('/v1/datasets/d/multirows', rows);
  await rowan.post('/v1/datasets/d/commit');
});
afterAll(async () => {
  await rowan?.close();
  rmSync(folder, { recursive: true, force: true });
});

const modelFile = () => join(folder, 'model.cls');

async function load(): Promise<{ status: number; text: string; score?: unknown }> {
  const params = { modelFileUrl: `file://${modelFile()}` };
  const made = await rowan.put('/v1/functions/f', { type: 'classifier', params });
  if (made.status !== 201) return made;
  const input = JSON.stringify({ features: { x: 17 } });
  const reply = await rowan.get('/v1/functions/f/application', { input });
  return { status: reply.status, text: reply.text, score: reply.json };
}

test('a changed byte anywhere is refused, or changes nothing', { timeout: 60_000 }, async () => {
  const trained = await rowan.post('/v1/procedures', {
    type: 'classifier.train',
    params: {
      mode: 'boolean',
      trainingData: 'SELECT {x} AS features, y = 1 AS label FROM d',
      modelFileUrl: `file://${modelFile()}`,
      algorithm: 'dt',
      configuration: { dt: { type: 'decision_tree', max_depth: 4 } },
      runOnCreation: true,
    },
  });
  expect(trained.status, trained.text).toBe(201);
  const whole = readFileSync(modelFile());
  const { score } = await load();
  expect(score).toBeDefined();
  let refused = 0;
  const step = Math.ceil(whole.length / 60);
  for (let position = 0; position < whole.length; position += step) {
    const bytes = Buffer.from(whole);
    // Digits become digits, letters letters: still JSON, where a checksum alone can tell.
    bytes[position] = (bytes[position] as number) ^ 1;
    writeFileSync(modelFile(), bytes);
    const outcome = await load();
    if (outcome.status === 400) {
      expect(outcome.text).toContain('cannot read the model file');
      refused++;
    } else expect(outcome.score).toEqual(score);
  }
  expect(refused).toBeGreaterThan(40);
});

test('each byte of a model counts, and files without a checksum are read', () => {
  const whole = encodeModelFile({ format: 'rowan.model', weights: [0.25, 1e-9, 12], text: 'é' });
  expect(JSON.parse(new TextDecoder().decode(whole))).toMatchObject({ weights: [0.25, 1e-9, 12] });
  expect(() => checkModelFile(whole)).not.toThrow();
  expect(() => checkModelFile(Buffer.from('{"format":"rowan.model"}'))).not.toThrow();
  const end = whole.length - ',"sha256":""}'.length - 64;
  for (let position = 0; position < end; position++) {
    const bytes = Uint8Array.from(whole);
    bytes[position] = (bytes[position] as number) ^ 1;
    expect(() => checkModelFile(bytes), String(position)).toThrow('damaged');
  }
});
