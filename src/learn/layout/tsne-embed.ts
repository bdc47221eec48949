// Placing new points in a t-SNE layout that stays as it is.
import { squaredDistance } from '../linear-algebra.ts';
import { affinities } from './affinity.ts';
import { type LayoutModel, meanPosition, nearestTrainingPoints, positionOf } from './model.ts';
import { neighborCountOf } from './tsne.ts';

const STEP_COUNT = 60;
const TOLERANCE = 1e-5;

/**
 * The position with the least divergence from the point's affinities to the training points. A
 * training point gets its own. Cost: rows x (dimension of the points + steps).
 */
export function embedInTsne(
  model: LayoutModel,
  perplexity: number,
  point: Float64Array,
): Float64Array {
  const rowCount = model.positions.length / model.dimension;
  const count = Math.max(1, neighborCountOf(perplexity, rowCount));
  const { rows, distances } = nearestTrainingPoints(model, point, count);
  if (distances[0] === 0 || rowCount === 1) return positionOf(model, rows[0] as number);
  const weights = affinities(distances, Math.min(perplexity, count), TOLERANCE);
  return descend(model, rows, weights);
}

/** Gradient steps that grow while the divergence falls, and shrink where it would rise. */
function descend(model: LayoutModel, rows: readonly number[], weights: Float64Array): Float64Array {
  let position = meanPosition(model, rows, weights);
  let current = evaluate(model, rows, weights, position);
  let size = 1;
  for (let step = 0; step < STEP_COUNT; step++) {
    const next = position.map((value, j) => value - size * (current.gradient[j] as number));
    const found = evaluate(model, rows, weights, next);
    if (found.cost < current.cost) {
      position = next;
      current = found;
      size *= 2;
    } else {
      size /= 4;
    }
  }
  return position;
}

interface Evaluation {
  /** sum of p log(1 + d^2) plus the logarithm of the sum of all q */
  readonly cost: number;
  readonly gradient: Float64Array;
}

function evaluate(
  { positions, dimension }: LayoutModel,
  rows: readonly number[],
  weights: Float64Array,
  position: Float64Array,
): Evaluation {
  const push = new Float64Array(dimension);
  const gradient = new Float64Array(dimension);
  let total = 0;
  for (let start = 0; start < positions.length; start += dimension) {
    const q = 1 / (1 + squaredDistance(position, positions, start));
    total += q;
    for (let j = 0; j < dimension; j++) {
      const difference = (position[j] as number) - (positions[start + j] as number);
      push[j] = (push[j] as number) + q * q * difference;
    }
  }
  let cost = Math.log(total);
  for (const [index, row] of rows.entries()) {
    const start = row * dimension;
    const p = weights[index] as number;
    const distance = 1 + squaredDistance(position, positions, start);
    cost += p * Math.log(distance);
    for (let j = 0; j < dimension; j++) {
      const difference = (position[j] as number) - (positions[start + j] as number);
      gradient[j] = (gradient[j] as number) + (2 * p * difference) / distance;
    }
  }
  for (let j = 0; j < dimension; j++) {
    gradient[j] = (gradient[j] as number) - (2 * (push[j] as number)) / total;
  }
  return { cost, gradient };
}
