import { expect, test } from 'vitest';
import { aggregateResults } from '../../../../src/procedure/classifier/experiment-aggregate.ts';

test('numbers become their spread over the folds that have them, in the shape of the last', () => {
  const folds = [
    { auc: 1, best: { mcc: 0.5, name: 'x' }, list: [1] },
    { auc: 0.5, best: { mcc: 1, gain: 2 }, list: [1] },
  ];
  expect(aggregateResults(folds)).toEqual({
    auc: { min: 0.5, max: 1, mean: 0.75, std: 0.25 },
    best: {
      mcc: { min: 0.5, max: 1, mean: 0.75, std: 0.25 },
      gain: { min: 2, max: 2, mean: 2, std: 0 },
    },
  });
});
