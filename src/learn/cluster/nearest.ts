// The nearest of some centroids for a single point.
import { dot, squaredDistance } from '../linear-algebra.ts';
import type { ClusterMetric } from './kmeans.ts';

/** A function from a point to the number of its nearest centroid; the lowest among equals. */
export function nearestOf(
  centroids: readonly Float64Array[],
  metric: ClusterMetric,
): (point: Float64Array) => number {
  const distance = metric === 'cosine' ? cosineDistance : squaredDistance;
  return (point) => {
    let nearest = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < centroids.length; index++) {
      const value = distance(point, centroids[index] as Float64Array);
      if (value < least) {
        least = value;
        nearest = index;
      }
    }
    return nearest;
  };
}

/** -cos; a vector without direction is as far as can be from all but its like. */
function cosineDistance(a: Float64Array, b: Float64Array): number {
  const squareA = dot(a, a);
  const squareB = dot(b, b);
  if (squareA === 0 || squareB === 0) return squareA === squareB ? -1 : 2;
  return -dot(a, b) / Math.sqrt(squareA) / Math.sqrt(squareB);
}
