// Seeded random numbers: the same seed gives the same sequence on every machine.

import type { RandomDraws } from '../../../plan/function.ts';

/**
 * Uniform numbers in [0, 1).
 * @see Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (mixing
 *   of a 32-bit Weyl sequence)
 */
export function makeRandom(seed: number): () => number {
  let state = Math.trunc(seed) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** Draws that can begin anew with another seed. */
export function seededDraws(seed: number): RandomDraws {
  let random = makeRandom(seed);
  return {
    next: () => random(),
    restart(other) {
      random = makeRandom(other);
    },
  };
}
