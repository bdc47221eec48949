// k-means: Lloyd's iterations from centroids that lie far apart.
import { POINT_GROUP } from '../../kernel/generated.ts';
import { failure } from '../../util/error.ts';
import {
  type Points,
  pointAt,
  pointColumns,
  squaredDistanceAt,
  unitPoints,
  unitRowCount,
} from '../points.ts';
import { Random } from '../random.ts';
import {
  type FitContext,
  Layout,
  type LearnJob,
  type Workspace,
  withScratch,
} from '../workspace.ts';

export const CLUSTER_METRICS = ['cosine', 'euclidean'] as const;
export type ClusterMetric = (typeof CLUSTER_METRICS)[number];

export interface KmeansOptions {
  readonly numClusters: number;
  readonly maxIterations: number;
  readonly metric: ClusterMetric;
  readonly randomSeed: number;
}

export interface KmeansFit {
  /** numClusters rows of dimension numbers */
  readonly centroids: readonly Float64Array[];
  /** the number of each point's centroid */
  readonly labels: Int32Array;
  /** after each iteration, the sum of squared distances (cosine: of unit vectors) before it */
  readonly losses: readonly number[];
}

/** Candidates for a further initial centroid; also the points a cluster up to which all are. */
const CANDIDATE_COUNT = 100;

/**
 * Cost: rows x dimension x numClusters an iteration, spread over the threads.
 * @param points not changed
 * @throws DATA_ERROR when there are fewer points than clusters
 * @see Lloyd, "Least squares quantization in PCM", 1982
 */
export function fitKmeans(
  context: FitContext,
  points: Points,
  { numClusters, maxIterations, metric, randomSeed }: KmeansOptions,
): KmeansFit {
  checkClusterCount(points, numClusters);
  const { workspace } = context;
  const scaled = metric === 'cosine' ? unitPoints(workspace, points) : undefined;
  try {
    const space = scaled?.points ?? points;
    const first = farApart(context, space, numClusters, randomSeed);
    const lloyd = new Lloyd(context, space, metric, scaled?.zeroRows ?? []);
    return lloyd.run(first, maxIterations);
  } finally {
    if (scaled !== undefined) workspace.memory.free(scaled.points.span);
  }
}

/** @throws DATA_ERROR when there are fewer points than clusters */
export function checkClusterCount({ rowCount }: Points, numClusters: number): void {
  if (rowCount >= numClusters) return;
  throw failure(
    'DATA_ERROR',
    `there are ${rowCount} datapoints for numClusters ${numClusters}; at least one for each cluster is needed`,
  );
}

/** @throws DATA_ERROR when there are fewer points than clusters */
export function requireClusters(rowCount: number, numClusters: number): void {
  if (rowCount >= numClusters) return;
  throw failure(
    'DATA_ERROR',
    `there are ${rowCount} datapoints for numClusters ${numClusters}; at least one for each cluster is needed`,
  );
}

/**
 * The initial centroids that `fitKmeans` begins with, for cosine unit vectors.
 * @param points not changed
 */
export function initialCentroids(
  context: FitContext,
  points: Points,
  { numClusters, metric, randomSeed }: Omit<KmeansOptions, 'maxIterations'>,
): Float64Array[] {
  const { workspace } = context;
  const scaled = metric === 'cosine' ? unitPoints(workspace, points) : undefined;
  try {
    return farApart(context, scaled?.points ?? points, numClusters, randomSeed);
  } finally {
    if (scaled !== undefined) workspace.memory.free(scaled.points.span);
  }
}

/**
 * Initial centroids: a random point, then each time the point that is farthest from its nearest
 * centroid, among all points where there are few and among random candidates otherwise.
 */
export function farApart(
  context: FitContext,
  points: Points,
  count: number,
  seed: number,
): Float64Array[] {
  const { rowCount } = points;
  const columns = pointColumns(context.workspace, points);
  const random = Random.of(seed);
  const chosen = [pointAt(columns, random.below(rowCount))];
  const takesAll = rowCount <= CANDIDATE_COUNT * count;
  const nearest = new Float64Array(takesAll ? rowCount : 0).fill(Number.POSITIVE_INFINITY);
  while (chosen.length < count) {
    context.checkCancelled();
    let farthest = 0;
    let distance = -1;
    const offer = (row: number, toNearest: number): void => {
      if (toNearest <= distance) return;
      distance = toNearest;
      farthest = row;
    };
    if (takesAll) {
      const last = chosen.at(-1) as Float64Array;
      for (let row = 0; row < rowCount; row++) {
        nearest[row] = Math.min(nearest[row] as number, squaredDistanceAt(columns, row, last));
        offer(row, nearest[row] as number);
      }
    } else {
      for (let i = 0; i < CANDIDATE_COUNT; i++) {
        const row = random.below(rowCount);
        const distances = chosen.map((centroid) => squaredDistanceAt(columns, row, centroid));
        offer(row, Math.min(...distances));
      }
    }
    chosen.push(pointAt(columns, farthest));
  }
  return chosen;
}

/** One pass over the points of a unit; addresses are in `arena`. */
interface PassTask {
  readonly points: Points;
  readonly unitRows: number;
  readonly centroids: number;
  readonly halfNorms: number;
  readonly centroidCount: number;
  readonly labels: number;
  /** sums and counts of each unit */
  readonly sums: number;
}

/** f64 that the sums of one unit take: coordinates, then counts. */
function sumsLength(centroidCount: number, dimension: number): number {
  return centroidCount * (dimension + 1);
}

export function kmeansJob(workspace: Workspace): LearnJob<PassTask, number> {
  return {
    name: 'learn.kmeans-pass',
    execute(task, unit, scope) {
      scope.checkCancelled();
      const { points, unitRows, centroids, centroidCount } = task;
      const { dimension, stride, span } = points;
      const from = unit * unitRows;
      const count = Math.min(unitRows, points.rowCount - from);
      const labels = task.labels + from * 4;
      const x = span.offset + from * 8;
      const kernels = workspace.kernels(span.arena);
      kernels.nearestCentroid(
        ...([x, stride, count, dimension, centroids, task.halfNorms] as const),
        ...([centroidCount, labels] as const),
      );
      const length = sumsLength(centroidCount, dimension);
      const sums = task.sums + unit * length * 8;
      const { f64 } = workspace.memory.get(span.arena);
      f64.fill(0, sums >>> 3, (sums >>> 3) + length);
      const counts = sums + centroidCount * dimension * 8;
      return kernels.addToCentroids(x, stride, count, dimension, labels, centroids, sums, counts);
    },
  };
}

class Lloyd {
  readonly #context: FitContext;
  readonly #points: Points;
  readonly #metric: ClusterMetric;
  readonly #zeroRows: readonly number[];

  constructor(
    context: FitContext,
    points: Points,
    metric: ClusterMetric,
    zeroRows: readonly number[],
  ) {
    this.#context = context;
    this.#points = points;
    this.#metric = metric;
    this.#zeroRows = zeroRows;
  }

  run(first: readonly Float64Array[], maxIterations: number): KmeansFit {
    const { workspace } = this.#context;
    const { rowCount, dimension, span } = this.#points;
    const padded = Math.ceil(first.length / POINT_GROUP) * POINT_GROUP;
    const unitRows = unitRowCount(rowCount);
    const unitCount = Math.ceil(rowCount / unitRows);
    const length = sumsLength(padded, dimension);
    const place = (base: number) => {
      const layout = new Layout(base);
      return {
        centroids: layout.take(padded * dimension * 8),
        halfNorms: layout.take(padded * 8),
        labels: layout.take(unitCount * unitRows * 4),
        sums: layout.take(unitCount * length * 8),
        layout,
      };
    };
    const { sizeBytes } = place(0).layout;
    return withScratch(workspace, span.arena, sizeBytes, (base) => {
      const { centroids: at, halfNorms, labels: labelsAt, sums } = place(base);
      const { f64, memory } = workspace.memory.get(span.arena);
      const labels = new Int32Array(memory.buffer, labelsAt, rowCount);
      const task = {
        ...{ points: this.#points, unitRows, centroids: at, halfNorms },
        ...{ centroidCount: padded, labels: labelsAt, sums },
      };
      const centroids = first.map((centroid) => centroid.slice());
      const losses: number[] = [];
      let before = new Int32Array(0);
      for (let iteration = 0; iteration <= maxIterations; iteration++) {
        this.#context.progress?.(iteration, maxIterations);
        this.#place(centroids, padded, f64, at, halfNorms);
        const job = kmeansJob(workspace);
        const partLosses = this.#context.parallel.run(job, task, unitCount);
        this.#placeZeroRows(centroids, labels);
        const isSame = before.length > 0 && before.every((label, row) => label === labels[row]);
        if (isSame || iteration === maxIterations) break;
        losses.push(partLosses.reduce((sum, loss) => sum + loss, 0));
        before = labels.slice();
        this.#moveCentroids(centroids, padded, f64, sums, unitCount);
      }
      return { centroids, labels: labels.slice(), losses };
    });
  }

  /** Writes the centroids, for cosine as unit vectors, where the kernels read them. */
  #place(
    centroids: readonly Float64Array[],
    padded: number,
    f64: Float64Array,
    at: number,
    halfNorms: number,
  ): void {
    const { dimension } = this.#points;
    f64.fill(0, at >>> 3, (at >>> 3) + padded * dimension);
    f64.fill(Number.POSITIVE_INFINITY, halfNorms >>> 3, (halfNorms >>> 3) + padded);
    for (const [index, centroid] of centroids.entries()) {
      const norm = Math.hypot(...centroid);
      // A centroid without direction is farther from every point with one than any other is.
      if (this.#metric === 'cosine' && norm === 0) continue;
      const scale = this.#metric === 'cosine' ? norm : 1;
      const start = (at >>> 3) + index * dimension;
      for (let j = 0; j < dimension; j++) f64[start + j] = (centroid[j] as number) / scale;
      f64[(halfNorms >>> 3) + index] = (norm / scale) ** 2 / 2;
    }
  }

  /** Points without direction belong to the first centroid without one, or to the first of all. */
  #placeZeroRows(centroids: readonly Float64Array[], labels: Int32Array): void {
    if (this.#zeroRows.length === 0) return;
    const zero = centroids.findIndex((centroid) => centroid.every((value) => value === 0));
    for (const row of this.#zeroRows) labels[row] = Math.max(0, zero);
  }

  /** Each centroid to the mean of its points; one without points stays. */
  #moveCentroids(
    centroids: readonly Float64Array[],
    padded: number,
    f64: Float64Array,
    sums: number,
    unitCount: number,
  ): void {
    const { dimension } = this.#points;
    const length = sumsLength(padded, dimension);
    const total = new Float64Array(length);
    for (let unit = 0; unit < unitCount; unit++) {
      const start = (sums >>> 3) + unit * length;
      for (let i = 0; i < length; i++) total[i] = (total[i] as number) + (f64[start + i] as number);
    }
    // Points without direction were summed where the kernel had put them: they add nothing, but count.
    this.#recountZeroRows(centroids, total.subarray(padded * dimension));
    for (const [index, centroid] of centroids.entries()) {
      const count = total[padded * dimension + index] as number;
      if (count === 0) continue;
      for (let j = 0; j < dimension; j++) {
        centroid[j] = (total[index * dimension + j] as number) / count;
      }
    }
  }

  #recountZeroRows(centroids: readonly Float64Array[], counts: Float64Array): void {
    if (this.#zeroRows.length === 0) return;
    const zero = Math.max(
      0,
      centroids.findIndex((centroid) => centroid.every((value) => value === 0)),
    );
    // To the kernel a zero point scores half the norm of each centroid, 1/2 for all with a direction:
    // it chose the first of these.
    const first = centroids.findIndex((centroid) => centroid.some((value) => value !== 0));
    const from = Math.max(0, first);
    counts[from] = (counts[from] as number) - this.#zeroRows.length;
    counts[zero] = (counts[zero] as number) + this.#zeroRows.length;
  }
}
