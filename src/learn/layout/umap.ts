// UMAP: a layout in which each point's neighbours stay near, whatever the density around it.
import { UMAP_TASK, UMAP_TASK_SIZE } from '../../kernel/generated.ts';
import { type Neighbors, nearestNeighbors } from '../neighbor/exact.ts';
import { type Points, unitPoints } from '../points.ts';
import { Random, randomState } from '../random.ts';
import { type FitContext, Layout, lookEvery, withScratch } from '../workspace.ts';
import { type Edges, symmetricEdges } from './edges.ts';
import { spectralLayout } from './spectral.ts';

export const UMAP_METRICS = ['euclidean', 'cosine'] as const;
export const UMAP_INITS = ['spectral', 'random'] as const;

export interface UmapOptions {
  readonly numOutputDimensions: number;
  readonly numNeighbors: number;
  readonly minDist: number;
  readonly spread: number;
  readonly metric: (typeof UMAP_METRICS)[number];
  /** 0: by the number of points */
  readonly numEpochs: number;
  readonly learningRate: number;
  readonly negativeSampleRate: number;
  readonly init: (typeof UMAP_INITS)[number];
  /** 1: an edge in either direction counts; 0: only edges in both */
  readonly setOpMixRatio: number;
  readonly randomSeed: number;
}

export interface UmapFit {
  /** numOutputDimensions numbers a point, point by point */
  readonly positions: Float64Array;
  /** of all points to their neighbours */
  readonly meanDistance: number;
}

/** Exponents of the curve 1 / (1 + a d^2b) that distances in the layout follow. */
export interface Curve {
  readonly a: number;
  readonly b: number;
}

const EDGES_PER_CHECK = 65_536;
/** The longest side of the layout at the start. */
const START_SPREAD = 10;
const START_NOISE = 1e-4;

export function epochCountOf(numEpochs: number, rowCount: number): number {
  if (numEpochs > 0) return numEpochs;
  return rowCount < 10_000 ? 500 : 200;
}

/**
 * The descent runs on one thread, so that the layout depends on the seed alone.
 * Cost: rows x numNeighbors an epoch, after rows^2 x dimension for the neighbours.
 * @see McInnes, Healy & Melville, "UMAP: Uniform manifold approximation and projection", 2018
 */
export function fitUmap(context: FitContext, points: Points, options: UmapOptions): UmapFit {
  const { rowCount } = points;
  const { numOutputDimensions: dimension } = options;
  if (rowCount === 1) return { positions: new Float64Array(dimension), meanDistance: 0 };
  const neighbors = neighborsBy(context, points, options);
  const look = lookEvery(context);
  const mix = options.setOpMixRatio;
  const edges = symmetricEdges(
    neighbors,
    membershipStrengths(neighbors, options.numNeighbors),
    (a, b) => mix * (a + b - a * b) + (1 - mix) * a * b,
    look,
  );
  const start =
    options.init === 'spectral'
      ? spectralLayout(context, points, edges, dimension)
      : randomLayout(rowCount * dimension, options.randomSeed);
  stretch(start, options.randomSeed);
  const positions = descend(context, points.span.arena, edges, start, options);
  return { positions, meanDistance: meanOf(neighbors.distances) };
}

function neighborsBy(
  context: FitContext,
  points: Points,
  { metric, numNeighbors }: UmapOptions,
): Neighbors {
  // The point itself counts as one of them.
  const count = Math.min(points.rowCount - 1, Math.max(1, numNeighbors - 1));
  if (metric === 'euclidean') return nearestNeighbors(context, points, count);
  const { points: unit } = unitPoints(context.workspace, points);
  try {
    const { indices, distances } = nearestNeighbors(context, unit, count);
    return { count, indices, distances: distances.map((distance) => distance ** 2 / 2) };
  } finally {
    context.workspace.memory.free(unit.span);
  }
}

const SCALE_STEPS = 64;
const SCALE_TOLERANCE = 1e-5;
const SCALE_MIN = 1e-3;

/**
 * How strongly each neighbour belongs to a point: exp(-(d - nearest) / scale), the scale chosen so
 * that all of them have a sum of log2(neighbours).
 * @param distances ascending, of one point
 * @param mean of all distances, a floor of the scale
 */
export function strengths(
  distances: Float64Array,
  numNeighbors: number,
  mean: number,
): Float64Array {
  const target = Math.log2(Math.max(2, numNeighbors));
  const nearest = distances.find((distance) => distance > 0) ?? 0;
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  let scale = 1;
  for (let step = 0; step < SCALE_STEPS; step++) {
    let sum = 0;
    for (const distance of distances) sum += Math.exp(-Math.max(0, distance - nearest) / scale);
    if (Math.abs(sum - target) < SCALE_TOLERANCE) break;
    if (sum > target) {
      high = scale;
      scale = (low + high) / 2;
    } else {
      low = scale;
      scale = high === Number.POSITIVE_INFINITY ? scale * 2 : (low + high) / 2;
    }
  }
  scale = Math.max(scale, SCALE_MIN * (nearest > 0 ? meanOf(distances) : mean));
  return distances.map((distance) =>
    scale > 0 ? Math.exp(-Math.max(0, distance - nearest) / scale) : 1,
  );
}

function meanOf(distances: Float64Array): number {
  return distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
}

function membershipStrengths({ count, distances }: Neighbors, numNeighbors: number): Float64Array {
  const mean = meanOf(distances);
  const weights = new Float64Array(distances.length);
  for (let start = 0; start < distances.length; start += count) {
    const own = distances.subarray(start, start + count);
    weights.set(strengths(own, Math.min(numNeighbors, count + 1), mean), start);
  }
  return weights;
}

const CURVE_POINTS = 300;
const CURVE_STEPS = 200;

/** The curve nearest to 1 up to `minDist` and exp(-(d - minDist) / spread) beyond, by least squares. */
export function fitCurve(minDist: number, spread: number): Curve {
  let a = 1;
  let b = 1;
  let damping = 1e-3;
  const xs = Array.from({ length: CURVE_POINTS }, (_, i) => ((i + 1) / CURVE_POINTS) * 3 * spread);
  const wanted = (x: number) => (x < minDist ? 1 : Math.exp(-(x - minDist) / spread));
  const error = (p: number, q: number) =>
    xs.reduce((sum, x) => sum + (1 / (1 + p * x ** (2 * q)) - wanted(x)) ** 2, 0);
  let current = error(a, b);
  // Levenberg-Marquardt steps in two parameters.
  for (let step = 0; step < CURVE_STEPS; step++) {
    let aa = 0;
    let ab = 0;
    let bb = 0;
    let ra = 0;
    let rb = 0;
    for (const x of xs) {
      const power = x ** (2 * b);
      const value = 1 / (1 + a * power);
      const da = -power * value * value;
      const db = -2 * a * power * Math.log(x) * value * value;
      const residual = value - wanted(x);
      aa += da * da;
      ab += da * db;
      bb += db * db;
      ra += da * residual;
      rb += db * residual;
    }
    const determinant = aa * (1 + damping) * bb * (1 + damping) - ab * ab;
    const nextA = a - (ra * bb * (1 + damping) - rb * ab) / determinant;
    const nextB = b - (rb * aa * (1 + damping) - ra * ab) / determinant;
    const next = nextA > 0 && nextB > 0 ? error(nextA, nextB) : Number.POSITIVE_INFINITY;
    if (next < current) {
      const isSettled = current - next < 1e-14;
      a = nextA;
      b = nextB;
      current = next;
      damping /= 5;
      if (isSettled) break;
    } else {
      damping *= 5;
    }
  }
  return { a, b };
}

function randomLayout(length: number, seed: number): Float64Array {
  const random = Random.of(seed, 1);
  return Float64Array.from({ length }, () => random.uniform() - 0.5);
}

/** Gives the layout its size at the start, and tells equal positions apart. */
function stretch(positions: Float64Array, seed: number): void {
  const random = Random.of(seed, 2);
  const largest = positions.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  for (let i = 0; i < positions.length; i++) {
    const noise = START_NOISE * (random.uniform() - 0.5);
    positions[i] = ((positions[i] as number) / largest) * START_SPREAD + noise;
  }
}

function descend(
  context: FitContext,
  arena: number,
  edges: Edges,
  start: Float64Array,
  options: UmapOptions,
): Float64Array {
  const { workspace } = context;
  const { numOutputDimensions: dimension, learningRate, negativeSampleRate } = options;
  const pointCount = start.length / dimension;
  const epochCount = epochCountOf(options.numEpochs, pointCount);
  const turns = edgeTurns(edges, epochCount);
  const edgeCount = turns.heads.length;
  const place = (base: number) => {
    const layout = new Layout(base);
    return {
      task: layout.take(UMAP_TASK_SIZE),
      random: layout.take(16),
      positions: layout.take(start.length * 8),
      heads: layout.take(edgeCount * 4),
      tails: layout.take(edgeCount * 4),
      intervals: layout.take(edgeCount * 8),
      nextTurns: layout.take(edgeCount * 8),
      nextPushes: layout.take(edgeCount * 8),
      layout,
    };
  };
  return withScratch(workspace, arena, place(0).layout.sizeBytes, (base) => {
    const { task, layout: _, ...at } = place(base);
    const { f64, memory } = workspace.memory.get(arena);
    new Uint32Array(memory.buffer, at.random, 4).set(randomState(options.randomSeed, 3));
    new Int32Array(memory.buffer, at.heads, edgeCount).set(turns.heads);
    new Int32Array(memory.buffer, at.tails, edgeCount).set(turns.tails);
    f64.set(start, at.positions >>> 3);
    f64.set(turns.intervals, at.intervals >>> 3);
    f64.set(turns.intervals, at.nextTurns >>> 3);
    f64.set(
      turns.intervals.map((interval) => interval / negativeSampleRate),
      at.nextPushes >>> 3,
    );
    const view = new DataView(memory.buffer, task, UMAP_TASK_SIZE);
    for (const [name, value] of Object.entries({ ...at, pointCount, dimension })) {
      view.setUint32(UMAP_TASK[name as keyof typeof UMAP_TASK], value, true);
    }
    const { a, b } = fitCurve(options.minDist, options.spread);
    for (const [name, value] of Object.entries({ negativeSampleRate, a, b })) {
      view.setFloat64(UMAP_TASK[name as keyof typeof UMAP_TASK], value, true);
    }
    const kernels = workspace.kernels(arena);
    for (let epoch = 0; epoch < epochCount; epoch++) {
      context.progress?.(epoch, epochCount);
      const rate = learningRate * (1 - epoch / epochCount);
      for (let from = 0; from < edgeCount; from += EDGES_PER_CHECK) {
        context.checkCancelled();
        kernels.umapEpoch(task, from, Math.min(edgeCount, from + EDGES_PER_CHECK), epoch, rate);
      }
    }
    return f64.slice(at.positions >>> 3, (at.positions >>> 3) + start.length);
  });
}

interface EdgeTurns {
  readonly heads: Int32Array;
  readonly tails: Int32Array;
  /** epochs between two turns: 1 for the heaviest edge */
  readonly intervals: Float64Array;
}

/** Edges that have a turn at all, in order of their heads. */
function edgeTurns({ starts, ends, weights }: Edges, epochCount: number): EdgeTurns {
  const heaviest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  const heads: number[] = [];
  const tails: number[] = [];
  const intervals: number[] = [];
  for (let row = 0; row + 1 < starts.length; row++) {
    for (let e = starts[row] as number; e < (starts[row + 1] as number); e++) {
      const interval = heaviest / (weights[e] as number);
      if (interval > epochCount) continue;
      heads.push(row);
      tails.push(ends[e] as number);
      intervals.push(interval);
    }
  }
  return {
    heads: Int32Array.from(heads),
    tails: Int32Array.from(tails),
    intervals: Float64Array.from(intervals),
  };
}
