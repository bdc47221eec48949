import { expect, test } from 'vitest';
import { Exposition } from '../../../../src/rest/metrics/exposition.ts';

test('a metric of many lines is written whole, with one head', async () => {
  const values = Array.from({ length: 450 }, (_, i) => ({ value: i, labels: { name: `f"${i}` } }));
  const series = { name: 'calls_total', help: 'Calls', type: 'counter', values: () => values };
  const text = await new Exposition([series]).text();
  const [block] = text.split('\n\n');
  expect(block?.split('\n')).toEqual([
    '# HELP calls_total Calls',
    '# TYPE calls_total counter',
    ...values.map(({ value }) => `calls_total{name="f\\"${value}"} ${value}`),
  ]);
  expect(text).toMatch(/[^\n]\n$/);
});

test('a metric without values has a head', async () => {
  const series = { name: 'none', help: 'None', type: 'gauge', values: () => [] };
  const text = await new Exposition([series]).text();
  expect(text.startsWith('# HELP none None\n# TYPE none gauge\n\n')).toBe(true);
});
