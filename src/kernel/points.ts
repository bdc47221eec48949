/** Kernels over points of a space, column by column, see src/kernel/assembly/points.ts. */
export interface PointKernels {
  /** The number of the nearest centroid for each point, as i32 at `labels`. */
  nearestCentroid(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    centroids: number,
    halfNorms: number,
    centroidCount: number,
    labels: number,
  ): void;
  /** Adds points to the sums of their labels. @returns the sum of squared distances to `centroids` */
  addToCentroids(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    labels: number,
    centroids: number,
    sums: number,
    counts: number,
  ): number;
  /** Squared distances of points to one, as f64 at `out`. */
  squaredDistances(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    center: number,
    out: number,
  ): void;
  /** Dot products of points with one, as f64 at `out`. */
  pointDots(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    center: number,
    out: number,
  ): void;
  /** Squared lengths of `factor * (x - mean)`, as f64 at `out`. */
  factoredDistances(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    mean: number,
    factor: number,
    factorRows: number,
    scratch: number,
    out: number,
  ): void;
  /** Adds weighted moments about `center`, each a pair of f64: weight, first, triangle of second. */
  addMoments(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    weights: number,
    center: number,
    scratch: number,
    moments: number,
  ): void;
  /** The `k` nearest other points of some points, by ascending distance. */
  nearestPoints(
    points: number,
    stride: number,
    count: number,
    dimension: number,
    from: number,
    to: number,
    k: number,
    indices: number,
    distances: number,
    scratch: number,
  ): void;
}

/** Points that are taken together: columns have room for a multiple of it. */
export const POINT_GROUP = 4;
