// The examples that documents point to run as they stand.
import { expect, test } from 'vitest';
import { story } from '../../examples/story.ts';

test('the story runs in-process and the model ranks strikes well', async () => {
  const { auc, score } = await story();
  expect(auc).toBeGreaterThan(0.75);
  expect(score).toBeGreaterThan(0);
  expect(score).toBeLessThan(1);
}, 60_000);
