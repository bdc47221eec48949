import { expect, test } from 'vitest';
import { permute } from '../../../src/procedure/permuter-run.ts';

test('the last leaf varies fastest, leaves in the order of their keys', () => {
  const params = { id: 'out_$permutation', depth: { max: 0 } };
  const configurations = permute(params, { depth: { max: [1, 2] }, alpha: ['x', 'y'] });
  expect(configurations).toEqual([
    { id: 'out_permutation_1', alpha: 'x', depth: { max: 1 } },
    { id: 'out_permutation_2', alpha: 'x', depth: { max: 2 } },
    { id: 'out_permutation_3', alpha: 'y', depth: { max: 1 } },
    { id: 'out_permutation_4', alpha: 'y', depth: { max: 2 } },
  ]);
  expect(params.depth.max).toBe(0);
});

test('missing objects are made, no leaf gives one run', () => {
  expect(permute({}, { a: { b: [1] } })).toEqual([{ a: { b: 1 } }]);
  expect(permute({ a: 1 }, {})).toEqual([{ a: 1 }]);
});

test.each([
  [{ a: 'x' }, 'Invalid data type for permutation a'],
  [{ a: { b: 5 } }, 'unsupported type! permutation a.b'],
  [{ a: null }, 'unsupported type!'],
])('%j is refused', (permutations, message) => {
  expect(() => permute({}, permutations)).toThrow(message);
});
