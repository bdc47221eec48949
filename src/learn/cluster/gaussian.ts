// Clusters that are normal distributions of their own, fitted by expectation and maximisation.
import { type Eigen, symmetricEigen } from '../linear-algebra.ts';
import { type Points, unitRowCount } from '../points.ts';
import {
  type FitContext,
  Layout,
  type LearnJob,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import { checkClusterCount, farApart } from './kmeans.ts';

export interface GaussianOptions {
  readonly numClusters: number;
  readonly maxIterations: number;
  readonly randomSeed: number;
}

/** A normal distribution over `mean.length` dimensions. */
export interface Gaussian {
  readonly mean: Float64Array;
  /** row by row */
  readonly covariance: Float64Array;
}

export interface GaussianFit {
  readonly clusters: readonly Gaussian[];
  /** the number of each point's cluster */
  readonly labels: Int32Array;
  /** the log likelihood before each iteration */
  readonly logLikelihoods: readonly number[];
}

/** Eigenvalues of a covariance below it are taken for 0. */
const EIGENVALUE_MIN = 1e-4;
/** Iterations end when nothing moves by more. */
const MOVEMENT_MIN = 1e-9;

/**
 * Responsibilities leave out the proportions of the clusters. They are computed from logarithms,
 * so that points far from every cluster still belong to the nearest one.
 * Cost: rows x dimension^2 x numClusters an iteration, spread over the threads.
 * @see Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977
 */
export function fitGaussians(
  context: FitContext,
  points: Points,
  { numClusters, maxIterations, randomSeed }: GaussianOptions,
): GaussianFit {
  checkClusterCount(points, numClusters);
  const { dimension } = points;
  let clusters: Gaussian[] = farApart(context, points, numClusters, randomSeed).map((mean) => ({
    mean,
    covariance: identity(dimension),
  }));
  const expectation = new Expectation(context, points, numClusters);
  return expectation.use((pass) => {
    const logLikelihoods: number[] = [];
    let before = pass(clusters);
    for (let iteration = 0; iteration < maxIterations; iteration++) {
      context.checkCancelled();
      context.progress?.(iteration, maxIterations);
      logLikelihoods.push(before.logLikelihood);
      const moved = before.moments.map((moments, index) =>
        maximise(moments, clusters[index] as Gaussian),
      );
      const movement = largestMovement(clusters, moved);
      clusters = moved;
      const next = pass(clusters);
      const isSame = next.labels.every((label, row) => label === before.labels[row]);
      before = next;
      if (isSame && movement <= MOVEMENT_MIN) break;
    }
    return { clusters, labels: before.labels, logLikelihoods };
  });
}

function identity(size: number): Float64Array {
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) matrix[i * size + i] = 1;
  return matrix;
}

/** What a density needs of its distribution: log N = logScale - |factor (x - mean)|^2 / 2. */
export interface Density {
  readonly mean: Float64Array;
  /** `factorRows` rows of `mean.length` numbers, whose product with itself is the inverse covariance */
  readonly factor: Float64Array;
  readonly factorRows: number;
  readonly logScale: number;
}

/** Of a singular covariance the pseudo-inverse and the pseudo-determinant. */
export function densityOf({ mean, covariance }: Gaussian): Density {
  const size = mean.length;
  const { values, vectors }: Eigen = symmetricEigen(covariance, size);
  const kept = [...values.keys()].filter((index) => (values[index] as number) >= EIGENVALUE_MIN);
  const factor = new Float64Array(kept.length * size);
  let logDeterminant = 0;
  for (const [row, index] of kept.entries()) {
    const value = values[index] as number;
    logDeterminant += Math.log(value);
    const vector = vectors[index] as Float64Array;
    for (let j = 0; j < size; j++) {
      factor[row * size + j] = (vector[j] as number) / Math.sqrt(value);
    }
  }
  const logScale = -(size * Math.log(2 * Math.PI) + logDeterminant) / 2;
  return { mean, factor, factorRows: kept.length, logScale };
}

/** log N of one point. */
export function logDensity(
  { mean, factor, factorRows, logScale }: Density,
  point: Float64Array,
): number {
  let sum = 0;
  for (let row = 0; row < factorRows; row++) {
    let value = 0;
    for (let j = 0; j < mean.length; j++) {
      const difference = (point[j] as number) - (mean[j] as number);
      value += (factor[row * mean.length + j] as number) * difference;
    }
    sum += value * value;
  }
  return logScale - sum / 2;
}

/** Weight, first moments and triangle of second moments about the cluster's mean. */
type Moments = Float64Array;

function momentCount(dimension: number): number {
  return 1 + dimension + (dimension * (dimension + 1)) / 2;
}

/** The weighted mean and covariance; a cluster without weight stays. */
function maximise(moments: Moments, before: Gaussian): Gaussian {
  const size = before.mean.length;
  const weight = moments[0] as number;
  if (!(weight > 0)) return before;
  const shift = Float64Array.from({ length: size }, (_, j) => (moments[1 + j] as number) / weight);
  const covariance = new Float64Array(size * size);
  let at = 1 + size;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const value =
        (moments[at++] as number) / weight - (shift[i] as number) * (shift[j] as number);
      covariance[i * size + j] = value;
      covariance[j * size + i] = value;
    }
  }
  return { mean: before.mean.map((value, j) => value + (shift[j] as number)), covariance };
}

function largestMovement(before: readonly Gaussian[], after: readonly Gaussian[]): number {
  let largest = 0;
  for (const [index, { mean, covariance }] of after.entries()) {
    const old = before[index] as Gaussian;
    for (const [j, value] of mean.entries()) {
      largest = Math.max(largest, Math.abs(value - (old.mean[j] as number)));
    }
    for (const [j, value] of covariance.entries()) {
      largest = Math.max(largest, Math.abs(value - (old.covariance[j] as number)));
    }
  }
  return largest;
}

interface ClusterAddress {
  readonly mean: number;
  readonly factor: number;
  readonly factorRows: number;
  readonly logScale: number;
}

/** One pass over the points of a unit; addresses are in the arena of the points. */
interface ExpectationTask {
  readonly points: Points;
  readonly unitRows: number;
  readonly clusters: readonly ClusterAddress[];
  readonly labels: number;
  /** room of each unit: log densities of a unit's points for each cluster, moments, scratch */
  readonly room: number;
  readonly roomSize: number;
}

interface UnitLayout {
  readonly densities: number;
  readonly moments: number;
  readonly scratch: number;
  readonly sizeBytes: number;
}

function unitLayout(
  base: number,
  unitRows: number,
  clusters: number,
  dimension: number,
): UnitLayout {
  const layout = new Layout(base);
  return {
    densities: layout.take(unitRows * clusters * 8),
    moments: layout.take(clusters * momentCount(dimension) * 16),
    scratch: layout.take(dimension * 32),
    sizeBytes: layout.sizeBytes,
  };
}

/** Answers the log likelihood of the unit's points. */
export function expectationJob(workspace: Workspace): LearnJob<ExpectationTask, number> {
  return {
    name: 'learn.gaussian-pass',
    execute(task, unit, scope) {
      scope.checkCancelled();
      const { points, unitRows, clusters } = task;
      const { span, dimension, stride } = points;
      const from = unit * unitRows;
      const count = Math.min(unitRows, points.rowCount - from);
      const kernels = workspace.kernels(span.arena);
      const { f64, memory } = workspace.memory.get(span.arena);
      const base = task.room + unit * task.roomSize;
      const room = unitLayout(base, unitRows, clusters.length, dimension);
      const x = span.offset + from * 8;
      for (const [k, { mean, factor, factorRows }] of clusters.entries()) {
        scope.checkCancelled();
        const out = room.densities + k * unitRows * 8;
        kernels.factoredDistances(
          ...([x, stride, count, dimension, mean, factor, factorRows, room.scratch, out] as const),
        );
      }
      const labels = new Int32Array(memory.buffer, task.labels + from * 4, count);
      const densities = clusters.map(({ logScale }, k) => {
        const start = (room.densities >>> 3) + k * unitRows;
        return { values: f64.subarray(start, start + unitRows), logScale };
      });
      const total = makeResponsibilities(densities, labels);
      const momentSize = momentCount(dimension) * 16;
      f64.fill(0, room.moments >>> 3, (room.moments + momentSize * clusters.length) >>> 3);
      for (const [k, { mean }] of clusters.entries()) {
        scope.checkCancelled();
        const weights = room.densities + k * unitRows * 8;
        const moments = room.moments + k * momentSize;
        kernels.addMoments(
          ...([x, stride, count, dimension, weights, mean, room.scratch, moments] as const),
        );
      }
      return total;
    },
  };
}

interface DensityColumn {
  /** squared lengths before, responsibilities after; 0 behind the last point */
  readonly values: Float64Array;
  readonly logScale: number;
}

function makeResponsibilities(columns: readonly DensityColumn[], labels: Int32Array): number {
  let logLikelihood = 0;
  for (let row = 0; row < labels.length; row++) {
    let largest = Number.NEGATIVE_INFINITY;
    let label = 0;
    for (let k = 0; k < columns.length; k++) {
      const { values, logScale } = columns[k] as DensityColumn;
      const density = logScale - (values[row] as number) / 2;
      values[row] = density;
      if (density > largest) {
        largest = density;
        label = k;
      }
    }
    labels[row] = label;
    let sum = 0;
    for (let k = 0; k < columns.length; k++) {
      const { values } = columns[k] as DensityColumn;
      const share = Math.exp((values[row] as number) - largest);
      values[row] = share;
      sum += share;
    }
    for (let k = 0; k < columns.length; k++) {
      const { values } = columns[k] as DensityColumn;
      values[row] = (values[row] as number) / sum;
    }
    logLikelihood += largest + Math.log(sum);
  }
  for (const { values } of columns) values.fill(0, labels.length);
  return logLikelihood;
}

interface PassResult {
  readonly labels: Int32Array;
  readonly logLikelihood: number;
  readonly moments: readonly Moments[];
}

class Expectation {
  readonly #context: FitContext;
  readonly #points: Points;
  readonly #count: number;

  constructor(context: FitContext, points: Points, count: number) {
    this.#context = context;
    this.#points = points;
    this.#count = count;
  }

  use<Result>(work: (pass: (clusters: readonly Gaussian[]) => PassResult) => Result): Result {
    const { workspace } = this.#context;
    const { rowCount, dimension, span } = this.#points;
    const unitRows = Math.min(unitRowCount(rowCount), 8192);
    const unitCount = Math.ceil(rowCount / unitRows);
    const roomSize = unitLayout(0, unitRows, this.#count, dimension).sizeBytes;
    const place = (base: number) => {
      const layout = new Layout(base);
      return {
        labels: layout.take(unitCount * unitRows * 4),
        means: layout.take(this.#count * dimension * 8),
        factors: layout.take(this.#count * dimension * dimension * 8),
        room: layout.take(unitCount * roomSize),
        sizeBytes: layout.sizeBytes,
      };
    };
    return withScratch(workspace, span.arena, place(0).sizeBytes, (base) => {
      const { labels, means, factors, room } = place(base);
      const { f64, memory } = workspace.memory.get(span.arena);
      return work((clusters) => {
        const addresses = clusters.map((cluster, k): ClusterAddress => {
          const { mean, factor, factorRows, logScale } = densityOf(cluster);
          const meanAt = means + k * dimension * 8;
          const factorAt = factors + k * dimension * dimension * 8;
          f64.set(mean, meanAt >>> 3);
          f64.set(factor, factorAt >>> 3);
          return { mean: meanAt, factor: factorAt, factorRows, logScale };
        });
        const task: ExpectationTask = {
          ...{ points: this.#points, unitRows, clusters: addresses, labels, room, roomSize },
        };
        const job = expectationJob(workspace);
        const parts = this.#context.parallel.run(job, task, unitCount);
        return {
          labels: new Int32Array(memory.buffer, labels, rowCount).slice(),
          logLikelihood: parts.reduce((sum, part) => sum + part, 0),
          moments: this.#sumMoments(f64, task, unitCount),
        };
      });
    });
  }

  /** In the order of the units, so that the sums do not depend on the threads. */
  #sumMoments(f64: Float64Array, task: ExpectationTask, unitCount: number): Moments[] {
    const { dimension } = this.#points;
    const length = momentCount(dimension);
    const sums = Array.from({ length: this.#count }, () => new Float64Array(length));
    for (let unit = 0; unit < unitCount; unit++) {
      const base = task.room + unit * task.roomSize;
      const { moments } = unitLayout(base, task.unitRows, this.#count, dimension);
      for (const [k, sum] of sums.entries()) {
        const start = (moments >>> 3) + k * length * 2;
        for (let i = 0; i < length; i++) {
          const pair = start + 2 * i;
          sum[i] = (sum[i] as number) + (f64[pair] as number) + (f64[pair + 1] as number);
        }
      }
    }
    return sums;
  }
}
