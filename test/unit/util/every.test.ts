import { expect, test } from 'vitest';
import { every } from '../../../src/util/every.ts';

test('work is done in each call of that number', () => {
  const done: number[] = [];
  let call = 0;
  const look = every(3, () => done.push(call));
  for (call = 1; call <= 7; call++) look();
  expect(done).toEqual([3, 6]);
});

test('work that throws is due again after as many calls', () => {
  let count = 0;
  const look = every(2, () => {
    count++;
    throw new Error('cancelled');
  });
  look();
  expect(look).toThrow('cancelled');
  look();
  expect(look).toThrow('cancelled');
  expect(count).toBe(2);
});
