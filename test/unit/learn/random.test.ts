import { describe, expect, test } from 'vitest';
import { Random, randomState } from '../../../src/learn/random.ts';

describe('Random', () => {
  test('gives the numbers of the published generator', () => {
    // First outputs of xoshiro128++ from the state 1, 2, 3, 4, by the authors' reference code.
    const random = new Random([1, 2, 3, 4]);
    expect([random.next(), random.next(), random.next()]).toEqual([641, 1573767, 3222811527]);
  });

  test('tells seeds and streams apart, also beyond 32 bits', () => {
    const states = [randomState(1), randomState(2), randomState(1, 1), randomState(1 + 2 ** 32)];
    expect(new Set(states.map(String)).size).toBe(states.length);
    expect(randomState(7, 3)).toEqual(randomState(7, 3));
  });

  test('spreads evenly over its range', () => {
    const random = Random.of(5);
    const counts = new Array(10).fill(0);
    for (let i = 0; i < 100_000; i++) counts[random.below(10)]++;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    let sum = 0;
    for (let i = 0; i < 10_000; i++) sum += random.uniform();
    expect(sum / 10_000).toBeCloseTo(0.5, 1);
  });
});
