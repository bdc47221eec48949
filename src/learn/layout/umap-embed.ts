// Placing new points in a UMAP layout that stays as it is.
import { Random } from '../random.ts';
import { type LayoutModel, meanPosition, nearestTrainingPoints, positionOf } from './model.ts';
import { type Curve, strengths } from './umap.ts';

export interface UmapEmbedOptions extends Curve {
  readonly numNeighbors: number;
  readonly negativeSampleRate: number;
  readonly learningRate: number;
  /** cosine: points are compared by their directions, and kept as unit vectors */
  readonly isCosine: boolean;
  /** the mean distance of neighbours in training */
  readonly meanDistance: number;
}

const EPOCH_COUNT = 60;
const STEP_MAX = 4;

/**
 * Pulls the point towards its neighbours and away from drawn points, as training did.
 * A training point gets its own position. Cost: rows x dimension of the points.
 */
export function embedInUmap(
  model: LayoutModel,
  options: UmapEmbedOptions,
  point: Float64Array,
): Float64Array {
  const rowCount = model.positions.length / model.dimension;
  const query = options.isCosine ? unitVector(point) : point;
  const count = Math.min(rowCount, options.numNeighbors);
  const found = nearestTrainingPoints(model, query, count);
  if (found.distances[0] === 0) return positionOf(model, found.rows[0] as number);
  const distances = options.isCosine ? found.distances.map((d) => d ** 2 / 2) : found.distances;
  const weights = strengths(distances, count, options.meanDistance);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const position = meanPosition(
    model,
    found.rows,
    weights.map((weight) => weight / sum),
  );
  const random = Random.of(1, rowCount);
  const { positions, dimension } = model;
  const { a, b } = options;
  const move = (start: number, rate: number, force: (distance: number) => number): void => {
    let distance = 0;
    for (let j = 0; j < dimension; j++) {
      distance += ((position[j] as number) - (positions[start + j] as number)) ** 2;
    }
    if (distance === 0) return;
    const strength = force(distance);
    for (let j = 0; j < dimension; j++) {
      const difference = (position[j] as number) - (positions[start + j] as number);
      const step = Math.max(-STEP_MAX, Math.min(STEP_MAX, strength * difference));
      position[j] = (position[j] as number) + rate * step;
    }
  };
  const pull = (d: number) => (-2 * a * b * d ** b) / (d * (a * d ** b + 1));
  const push = (d: number) => (2 * b) / ((0.001 + d) * (a * d ** b + 1));
  for (let epoch = 0; epoch < EPOCH_COUNT; epoch++) {
    const rate = options.learningRate * (1 - epoch / EPOCH_COUNT);
    for (const [index, row] of found.rows.entries()) {
      // An edge has as many turns as it weighs.
      if (random.uniform() >= (weights[index] as number)) continue;
      move(row * dimension, rate, pull);
      for (let i = 0; i < options.negativeSampleRate; i++) {
        move(random.below(rowCount) * dimension, rate, push);
      }
    }
  }
  return position;
}

export function unitVector(point: Float64Array): Float64Array {
  const length = Math.hypot(...point) || 1;
  return point.map((value) => value / length);
}
