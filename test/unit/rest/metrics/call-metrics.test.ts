import { expect, test } from 'vitest';
import { CallMetrics } from '../../../../src/rest/metrics/call-metrics.ts';

function functionsOf(metrics: CallMetrics): unknown[] {
  const [calls] = metrics.series();
  return calls?.values().map(({ labels }) => labels.function) ?? [];
}

test('functions that are gone leave their series to others', () => {
  const metrics = new CallMetrics();
  for (let i = 0; i < 1000; i++) metrics.observe(`f${i}`, 'application', 'ok', 0.001);
  metrics.observe('crowded', 'application', 'ok', 0.001);
  expect(functionsOf(metrics)).toHaveLength(1001);
  expect(functionsOf(metrics).at(-1)).toBe('_other');
  for (let i = 0; i < 1000; i++) metrics.forget(`f${i}`);
  metrics.observe('roomy', 'application', 'ok', 0.001);
  expect(functionsOf(metrics)).toEqual(['_other', 'roomy']);
});
