// What units of work hold when one of them fails.
import { expect, test } from 'vitest';
import { type ParallelJob, serialParallel } from '../../../src/exec/parallel.ts';

test('results of units are discarded when another one fails', () => {
  const discarded: number[] = [];
  const job: ParallelJob<undefined, number> = {
    name: 'test.discard',
    execute(_, unit) {
      if (unit === 2) throw new Error('the third fails');
      return unit;
    },
    discard: (result) => void discarded.push(result),
  };
  const parallel = serialParallel({ checkCancelled() {} });
  expect(() => parallel.run(job, undefined, 4)).toThrow('the third fails');
  expect(discarded).toEqual([0, 1]);
  expect(parallel.run(job, undefined, 2)).toEqual([0, 1]);
});
