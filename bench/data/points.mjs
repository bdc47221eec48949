// Points of a few normal distributions, row by row, the same for a seed.
import { randomNormals } from './random.mjs';

/** @returns count x dimension numbers */
export function normalPoints(count, dimension, seed) {
  const normal = randomNormals(seed);
  const centers = Array.from({ length: 20 * dimension }, () => 3 * normal());
  const rows = new Float64Array(count * dimension);
  for (let i = 0; i < count; i++) {
    const center = (i % 20) * dimension;
    for (let j = 0; j < dimension; j++) rows[i * dimension + j] = centers[center + j] + normal();
  }
  return rows;
}
