import { expect, test } from 'vitest';
import { type Permutations, permute } from '../../../src/procedure/permuter-run.ts';

function listOf({ count, at }: Permutations): unknown[] {
  return Array.from({ length: count }, (_, index) => at(index));
}

test('the last leaf varies fastest, leaves in the order of their keys', () => {
  const params = { id: 'out_$permutation', depth: { max: 0 } };
  const permutations = permute(params, { depth: { max: [1, 2] }, alpha: ['x', 'y'] });
  expect(listOf(permutations)).toEqual([
    { id: 'out_permutation_1', alpha: 'x', depth: { max: 1 } },
    { id: 'out_permutation_2', alpha: 'x', depth: { max: 2 } },
    { id: 'out_permutation_3', alpha: 'y', depth: { max: 1 } },
    { id: 'out_permutation_4', alpha: 'y', depth: { max: 2 } },
  ]);
  expect(params.depth.max).toBe(0);
});

test('missing objects are made, no leaf gives one run', () => {
  expect(listOf(permute({}, { a: { b: [1] } }))).toEqual([{ a: { b: 1 } }]);
  expect(listOf(permute({ a: 1 }, {}))).toEqual([{ a: 1 }]);
});

test('no alternative gives no run, and very many are made one by one', () => {
  expect(permute({}, { a: [] }).count).toBe(0);
  const alternatives = Array.from({ length: 1000 }, (_, index) => index);
  const many = permute({}, { a: alternatives, b: alternatives, c: alternatives });
  expect(many.count).toBe(1e9);
  expect(many.at(1e9 - 1)).toEqual({ a: 999, b: 999, c: 999 });
});

test.each([
  [{ a: 'x' }, 'Invalid data type for permutation a'],
  [{ a: { b: 5 } }, 'unsupported type! permutation a.b'],
  [{ a: null }, 'unsupported type!'],
])('%j is refused', (permutations, message) => {
  expect(() => permute({}, permutations)).toThrow(message);
});
