// t-SNE: a layout in few dimensions in which near points stay near.
import {
  TREE_CELL_SIZE,
  TREE_DIMENSION_MAX,
  TREE_TASK,
  TREE_TASK_SIZE,
} from '../../kernel/generated.ts';
import { nearestNeighbors } from '../neighbor/exact.ts';
import type { Points } from '../points.ts';
import { Random } from '../random.ts';
import {
  type FitContext,
  Layout,
  type LearnJob,
  lookEvery,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import { affinities } from './affinity.ts';
import { type Edges, symmetricEdges } from './edges.ts';

export interface TsneOptions {
  readonly numOutputDimensions: number;
  readonly perplexity: number;
  /** of the entropy of each point's affinities */
  readonly tolerance: number;
  readonly learningRate: number;
  readonly minIterations: number;
  readonly maxIterations: number;
  readonly randomSeed: number;
}

export interface LayoutFit {
  /** numOutputDimensions numbers a point, point by point */
  readonly positions: Float64Array;
  /** what was minimised, at some of the iterations */
  readonly costs: readonly { readonly iteration: number; readonly cost: number }[];
}

/** Cells that are wider than this share of their distance are opened. */
const OPENING_RATIO = 0.6;
const NEIGHBOR_COUNT_MAX = 100;
const EXAGGERATION = 12;
const EXAGGERATION_ITERATIONS = 250;
/**
 * Larger steps than rows / exaggeration throw few points apart, which then do not find back.
 * @see Belkina et al., "Automated optimized parameters for t-distributed stochastic neighbor
 *   embedding", Nature Communications 10, 2019
 */
const RATE_MIN = 10;
const GAIN_MIN = 0.01;
/** The layout stands still when no coordinate moves by more than this share of its spread. */
const MOVEMENT_MIN = 5e-4;
const ITERATIONS_PER_COST = 50;
const ROWS_PER_UNIT = 1024;

/** The perplexity that so many points allow. */
export function usedPerplexity(perplexity: number, rowCount: number): number {
  return Math.min(perplexity, Math.max(1, (rowCount - 1) / 3));
}

export function neighborCountOf(perplexity: number, rowCount: number): number {
  return Math.min(rowCount - 1, Math.ceil(3 * perplexity), NEIGHBOR_COUNT_MAX);
}

/**
 * Cost: rows x log(rows) an iteration for up to three dimensions, rows^2 beyond, after rows^2 x
 * dimension for the neighbours; spread over the threads.
 * @see van der Maaten, "Accelerating t-SNE using tree-based algorithms", 2014
 */
export function fitTsne(context: FitContext, points: Points, options: TsneOptions): LayoutFit {
  const { rowCount } = points;
  const { numOutputDimensions: dimension } = options;
  if (rowCount === 1) return { positions: new Float64Array(dimension), costs: [] };
  const perplexity = usedPerplexity(options.perplexity, rowCount);
  const neighbors = nearestNeighbors(context, points, neighborCountOf(perplexity, rowCount));
  const look = lookEvery(context);
  const { count, distances } = neighbors;
  const weights = new Float64Array(distances.length);
  for (let row = 0; row < rowCount; row++) {
    context.checkCancelled();
    const own = distances.subarray(row * count, (row + 1) * count);
    weights.set(affinities(own, perplexity, options.tolerance), row * count);
  }
  const edges = symmetricEdges(neighbors, weights, (a, b) => (a + b) / (2 * rowCount), look);
  const arena = points.span.arena;
  return withForces(context, edges, { rowCount, dimension, arena }, (forces) =>
    descend(context, edges, forces, options),
  );
}

interface ForceTask {
  readonly arena: number;
  readonly rowCount: number;
  readonly dimension: number;
  /** 0: repulsion is computed pair by pair */
  readonly tree: number;
  readonly cellCount: number;
  readonly positions: number;
  readonly starts: number;
  readonly ends: number;
  readonly weights: number;
  readonly attraction: number;
  readonly repulsion: number;
}

/** Answers the sum of all q of the unit's points. */
export function layoutForcesJob(workspace: Workspace): LearnJob<ForceTask, number> {
  return {
    name: 'learn.layout-forces',
    execute(task, unit, scope) {
      scope.checkCancelled();
      const { dimension, positions, rowCount, tree } = task;
      const kernels = workspace.kernels(task.arena);
      const from = unit * ROWS_PER_UNIT;
      const to = Math.min(rowCount, from + ROWS_PER_UNIT);
      kernels.edgeAttraction(
        ...([positions, dimension, from, to] as const),
        ...([task.starts, task.ends, task.weights, task.attraction] as const),
      );
      return tree === 0
        ? kernels.plainRepulsion(positions, rowCount, dimension, from, to, task.repulsion)
        : kernels.treeRepulsion(tree, task.cellCount, from, to, task.repulsion);
    },
  };
}

/** The forces on a layout in shared memory. */
interface Forces {
  readonly positions: Float64Array;
  /** sum of p q (y_i - y_j) */
  readonly attraction: Float64Array;
  /** sum of q^2 (y_i - y_j) */
  readonly repulsion: Float64Array;
  /** Computes both for the positions as they are. @returns the sum of all q */
  compute(): number;
}

function withForces<Result>(
  context: FitContext,
  edges: Edges,
  { rowCount, dimension, arena }: { rowCount: number; dimension: number; arena: number },
  use: (forces: Forces) => Result,
): Result {
  const { workspace, parallel } = context;
  const hasTree = dimension <= TREE_DIMENSION_MAX;
  const size = rowCount * dimension * 8;
  const place = (base: number) => {
    const layout = new Layout(base);
    const tree = hasTree ? layout.take(TREE_TASK_SIZE) : 0;
    const room = (bytes: number) => (hasTree ? layout.take(bytes) : 0);
    return {
      tree,
      positions: layout.take(size),
      attraction: layout.take(size),
      repulsion: layout.take(size),
      starts: layout.take((rowCount + 1) * 4),
      ends: layout.take(edges.ends.length * 4),
      weights: layout.take(edges.weights.length * 8),
      keys: room(rowCount * 8),
      spare: room(rowCount * 8),
      order: room(rowCount * 4),
      sorted: room(rowCount * 24),
      sums: room(Math.max(1024, (rowCount + 1) * 24)),
      cells: room(2 * rowCount * TREE_CELL_SIZE),
      layout,
    };
  };
  return withScratch(workspace, arena, place(0).layout.sizeBytes, (base) => {
    const at = place(base);
    const { f64, memory } = workspace.memory.get(arena);
    new Int32Array(memory.buffer, at.starts, rowCount + 1).set(edges.starts);
    new Int32Array(memory.buffer, at.ends, edges.ends.length).set(edges.ends);
    f64.set(edges.weights, at.weights >>> 3);
    if (hasTree) {
      const { positions, keys, spare, order, sorted, sums, cells } = at;
      const words = { positions, keys, spare, order, sorted, sums, cells };
      const task = { ...words, count: rowCount, dimension };
      const view = new DataView(memory.buffer, at.tree, TREE_TASK_SIZE);
      for (const [name, value] of Object.entries(task)) {
        view.setUint32(TREE_TASK[name as keyof typeof TREE_TASK], value, true);
      }
      view.setFloat64(TREE_TASK.openness, 1 / OPENING_RATIO ** 2, true);
    }
    const job = layoutForcesJob(workspace);
    const kernels = workspace.kernels(arena);
    const viewOf = (address: number) => f64.subarray(address >>> 3, (address + size) >>> 3);
    return use({
      positions: viewOf(at.positions),
      attraction: viewOf(at.attraction),
      repulsion: viewOf(at.repulsion),
      compute() {
        const cellCount = hasTree ? kernels.layoutTree(at.tree) : 0;
        const { tree, positions, starts, ends, weights, attraction, repulsion } = at;
        const task: ForceTask = {
          ...{ arena, rowCount, dimension, tree, cellCount, positions },
          ...{ starts, ends, weights, attraction, repulsion },
        };
        const sums = parallel.run(job, task, Math.ceil(rowCount / ROWS_PER_UNIT));
        return sums.reduce((total, sum) => total + sum, 0);
      },
    });
  });
}

function descend(
  context: FitContext,
  edges: Edges,
  { positions, attraction, repulsion, compute }: Forces,
  { learningRate, minIterations, maxIterations, randomSeed, numOutputDimensions }: TsneOptions,
): LayoutFit {
  placeAtRandom(positions, randomSeed);
  const velocity = new Float64Array(positions.length);
  const gains = new Float64Array(positions.length).fill(1);
  const costs: { iteration: number; cost: number }[] = [];
  const early = Math.min(EXAGGERATION_ITERATIONS, Math.floor(maxIterations / 4));
  const rowCount = positions.length / numOutputDimensions;
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    context.checkCancelled();
    context.progress?.(iteration, maxIterations);
    const total = compute();
    const exaggeration = iteration < early ? EXAGGERATION : 1;
    const momentum = iteration < early ? 0.5 : 0.8;
    const rate = Math.min(learningRate, Math.max(RATE_MIN, rowCount / exaggeration));
    let largest = 0;
    for (let i = 0; i < positions.length; i++) {
      const pull = exaggeration * (attraction[i] as number) - (repulsion[i] as number) / total;
      const gradient = 4 * pull;
      const before = velocity[i] as number;
      const gain = gradient * before < 0 ? (gains[i] as number) + 0.2 : (gains[i] as number) * 0.8;
      gains[i] = Math.max(GAIN_MIN, gain);
      const step = momentum * before - rate * (gains[i] as number) * gradient;
      velocity[i] = step;
      positions[i] = (positions[i] as number) + step;
      largest = Math.max(largest, Math.abs(step));
    }
    const spread = center(positions, numOutputDimensions);
    if ((iteration + 1) % ITERATIONS_PER_COST === 0) {
      const cost = divergence(edges, positions, numOutputDimensions, total);
      costs.push({ iteration: iteration + 1, cost });
    }
    if (iteration >= early && iteration + 1 >= minIterations && largest <= MOVEMENT_MIN * spread) {
      break;
    }
  }
  return { positions: positions.slice(), costs };
}

/** Coordinates of a normal distribution of deviation 1e-4. */
export function placeAtRandom(positions: Float64Array, seed: number): void {
  const random = Random.of(seed);
  for (let i = 0; i < positions.length; i++) {
    const radius = Math.sqrt(-2 * Math.log(1 - random.uniform()));
    positions[i] = 1e-4 * radius * Math.cos(2 * Math.PI * random.uniform());
  }
}

/** Moves the mean to the origin. @returns the widest extent of a dimension */
function center(positions: Float64Array, dimension: number): number {
  let spread = 0;
  for (let j = 0; j < dimension; j++) {
    let sum = 0;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = j; i < positions.length; i += dimension) {
      const value = positions[i] as number;
      sum += value;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const mean = (sum * dimension) / positions.length;
    for (let i = j; i < positions.length; i += dimension) {
      positions[i] = (positions[i] as number) - mean;
    }
    spread = Math.max(spread, high - low);
  }
  return spread;
}

/** Kullback-Leibler divergence of the layout from the affinities. @param total the sum of all q */
function divergence(
  { starts, ends, weights }: Edges,
  positions: Float64Array,
  dimension: number,
  total: number,
): number {
  let cost = 0;
  for (let row = 0; row + 1 < starts.length; row++) {
    for (let e = starts[row] as number; e < (starts[row + 1] as number); e++) {
      const p = weights[e] as number;
      const other = (ends[e] as number) * dimension;
      let distance = 0;
      for (let j = 0; j < dimension; j++) {
        const difference =
          (positions[row * dimension + j] as number) - (positions[other + j] as number);
        distance += difference * difference;
      }
      cost += p * Math.log(p * (1 + distance) * total);
    }
  }
  return cost;
}
