// Growing one tree of gradient boosting over rows and their gradients in shared memory.
import type { FeatureMatrix, MatrixColumn } from '../feature/matrix.ts';
import { Random } from '../random.ts';
import type { FitContext, JobContext, LearnJob, Workspace } from '../workspace.ts';
import type { GbtOptions } from './options.ts';
import { leafValue, type NodeSums, type Split, SplitSearch } from './split.ts';

/** Where a tree's working memory lies; plain data. */
export interface GrowPlaces {
  /** u32 a row */
  readonly rows: number;
  /** pairs f32 a row, in the order of `rows` */
  readonly pairs: number;
  readonly spareRows: number;
  readonly sparePairs: number;
  /** histograms, one after another */
  readonly histograms: number;
  readonly histogramCount: number;
  /** bytes of one */
  readonly histogramSize: number;
  /** 256 bytes a node that is being split */
  readonly directions: number;
  /** nodes that can be split at a time */
  readonly directionCount: number;
  /** u32 lists that a kernel call reads, for each unit of a job */
  readonly lists: number;
}

/** Columns that one unit of work covers. */
export const GROUP_COLUMN_COUNT = 4;
/** Bytes of the lists of a unit: column, cells and counts, an address each. */
const LIST_SIZE = GROUP_COLUMN_COUNT * 4 * 3;
/** Work below this many rows times columns is done at once, by this thread. */
const PARALLEL_CELLS = 200_000;

/** A tree as it grows; a split node's children follow one another. */
export interface GrownTree {
  /** position in the matrix's columns; -1 for a leaf */
  readonly columns: number[];
  /** 256 flags a split node: 1 where a code goes right */
  readonly rights: (Uint8Array | undefined)[];
  /** the left child; the right one follows */
  readonly lefts: number[];
  readonly gains: number[];
  /** after shrinking */
  readonly values: number[];
  readonly covers: number[];
  /** stretches of rows of the leaves */
  readonly leaves: { readonly node: number; readonly from: number; readonly count: number }[];
}

interface OpenNode {
  readonly index: number;
  readonly depth: number;
  readonly from: number;
  readonly count: number;
  readonly sums: NodeSums;
  /** its histogram's place; -1: none is kept */
  slot: number;
  split: Split | undefined;
}

interface HistogramTask {
  readonly matrix: FeatureMatrix;
  readonly places: GrowPlaces;
  readonly groups: readonly (readonly number[])[];
  /** where each column's cells begin, in cells */
  readonly offsets: readonly number[];
  readonly cellCount: number;
  readonly nodes: readonly {
    readonly from: number;
    readonly count: number;
    readonly slot: number;
  }[];
}

/** Adds the rows of one node to the histograms of one group of columns. */
export function boostHistogramJob(workspace: Workspace): LearnJob<HistogramTask, void> {
  return {
    name: 'learn.boost-histogram',
    execute(task, unit, scope: JobContext) {
      scope.checkCancelled();
      const { matrix, places, groups, offsets, cellCount } = task;
      const node = task.nodes[Math.floor(unit / groups.length)] as (typeof task.nodes)[number];
      const group = groups[unit % groups.length] as readonly number[];
      const { arena } = matrix.span;
      const { u8, u32 } = workspace.memory.get(arena);
      const lists = places.lists + unit * LIST_SIZE;
      const histogram = places.histograms + node.slot * places.histogramSize;
      for (const [k, column] of group.entries()) {
        const { codeCount, offset } = matrix.columns[column] as MatrixColumn;
        const cells = histogram + (offsets[column] as number) * 16;
        const counts = histogram + cellCount * 16 + (offsets[column] as number) * 4;
        u8.fill(0, cells, cells + codeCount * 16);
        u8.fill(0, counts, counts + codeCount * 4);
        u32[(lists >>> 2) + k] = offset;
        u32[(lists >>> 2) + GROUP_COLUMN_COUNT + k] = cells;
        u32[(lists >>> 2) + 2 * GROUP_COLUMN_COUNT + k] = counts;
      }
      const kernels = workspace.kernels(arena);
      for (let from = 0; from < node.count; from += ROWS_PER_CALL) {
        scope.checkCancelled();
        kernels.boostHistogram(
          places.rows + (node.from + from) * 4,
          places.pairs + (node.from + from) * 8,
          Math.min(ROWS_PER_CALL, node.count - from),
          group.length,
          lists,
          lists + GROUP_COLUMN_COUNT * 4,
          lists + 2 * GROUP_COLUMN_COUNT * 4,
        );
      }
    },
  };
}

const ROWS_PER_CALL = 262_144;

interface PartitionTask {
  readonly arena: number;
  readonly places: GrowPlaces;
  readonly nodes: readonly {
    readonly from: number;
    readonly count: number;
    /** address of the column's codes */
    readonly column: number;
  }[];
}

/** Parts the rows of one node. */
export function boostPartitionJob(workspace: Workspace): LearnJob<PartitionTask, number> {
  return {
    name: 'learn.boost-partition',
    execute({ arena, places, nodes }, unit, scope) {
      scope.checkCancelled();
      const { from, count, column } = nodes[unit] as (typeof nodes)[number];
      return workspace
        .kernels(arena)
        .boostPartition(
          places.rows + from * 4,
          places.pairs + from * 8,
          count,
          column,
          places.directions + unit * 256,
          places.spareRows + from * 4,
          places.sparePairs + from * 8,
        );
    },
  };
}

const STREAM_COLUMNS = 61;
const STREAM_NODES = 62;

export interface TreeSettings {
  readonly options: GbtOptions;
  readonly minChildSamples: number;
  /** -1, 0 or 1 for each column */
  readonly monotone: readonly number[];
  readonly seed: number;
  /** which tree it is */
  readonly number: number;
}

/** Sizes of what a tree needs. */
export function histogramSizeOf(matrix: FeatureMatrix): number {
  const cellCount = matrix.columns.reduce((sum, { codeCount }) => sum + codeCount, 0);
  return Math.ceil((cellCount * 20) / 16) * 16;
}

export function listsSize(columnCount: number, nodeCount: number): number {
  return Math.ceil(columnCount / GROUP_COLUMN_COUNT) * nodeCount * LIST_SIZE;
}

/** Grows a tree on the rows and pairs as they lie; afterwards each leaf's rows are together. */
export class TreeGrower {
  readonly #context: FitContext;
  readonly #matrix: FeatureMatrix;
  readonly #places: GrowPlaces;
  readonly #settings: TreeSettings;
  readonly #offsets: number[];
  readonly #cellCount: number;
  readonly #columns: number[];
  readonly #groups: number[][];
  readonly #freeSlots: number[];
  readonly #tree: GrownTree = {
    ...{ columns: [], rights: [], lefts: [], gains: [], values: [], covers: [], leaves: [] },
  };
  #leafCount = 1;

  constructor(
    context: FitContext,
    matrix: FeatureMatrix,
    places: GrowPlaces,
    settings: TreeSettings,
  ) {
    this.#context = context;
    this.#matrix = matrix;
    this.#places = places;
    this.#settings = settings;
    this.#offsets = [];
    let cells = 0;
    for (const { codeCount } of matrix.columns) {
      this.#offsets.push(cells);
      cells += codeCount;
    }
    this.#cellCount = cells;
    const { options, seed, number } = settings;
    const random = Random.of(seed, STREAM_COLUMNS, number);
    this.#columns = drawColumns([...matrix.columns.keys()], options.columnShare, random);
    this.#groups = [];
    for (let from = 0; from < this.#columns.length; from += GROUP_COLUMN_COUNT) {
      this.#groups.push(this.#columns.slice(from, from + GROUP_COLUMN_COUNT));
    }
    this.#freeSlots = Array.from(
      { length: places.histogramCount },
      (_, slot) => places.histogramCount - 1 - slot,
    );
  }

  grow(rowCount: number, sums: Omit<NodeSums, 'low' | 'high'>): GrownTree {
    const bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
    const root = this.#open(0, 0, rowCount, { ...sums, ...bounds });
    if (this.#groups.length === 0) {
      this.#close(root);
      return this.#tree;
    }
    this.#fill([root]);
    this.#search(root);
    const { growth, leafCountMax, maxDepth } = this.#settings.options;
    // When no leaf can be left over for want of leaves, the order of splits does not matter.
    const isComplete = maxDepth >= 0 && maxDepth < 30 && 2 ** maxDepth <= leafCountMax;
    if (growth === 'depth' || isComplete) this.#growByLevel(root);
    else this.#growByGain(root);
    return this.#tree;
  }

  #growByLevel(root: OpenNode): void {
    let level = [root];
    while (level.length > 0) {
      const next: OpenNode[] = [];
      const room = this.#settings.options.leafCountMax - this.#leafCount;
      const ready = level.filter(({ split }) => split !== undefined);
      const chosen = new Set(ready.length <= room ? ready : [...ready].sort(byGain).slice(0, room));
      for (const node of level) if (!chosen.has(node)) this.#close(node);
      const all = level.filter((node) => chosen.has(node));
      for (let from = 0; from < all.length; from += this.#places.directionCount) {
        next.push(...this.#splitAll(all.slice(from, from + this.#places.directionCount)));
      }
      level = next;
    }
  }

  #growByGain(root: OpenNode): void {
    const open = [root];
    while (open.length > 0 && this.#leafCount < this.#settings.options.leafCountMax) {
      let best = -1;
      for (const [index, node] of open.entries()) {
        if (node.split === undefined) continue;
        const bestNode = open[best];
        if (bestNode === undefined || byGain(node, bestNode) < 0) best = index;
      }
      if (best < 0) break;
      const [node] = open.splice(best, 1) as [OpenNode];
      open.push(...this.#splitAll([node]));
    }
    for (const node of open.sort((a, b) => a.index - b.index)) this.#close(node);
  }

  #open(depth: number, from: number, count: number, sums: NodeSums): OpenNode {
    const tree = this.#tree;
    const { alpha, lambda, learningRate } = this.#settings.options;
    const index = tree.columns.push(-1) - 1;
    tree.rights.push(undefined);
    tree.lefts.push(index);
    tree.gains.push(0);
    const value = leafValue(sums.gradient, sums.hessian, { alpha, lambda });
    const bounded = Math.min(sums.high, Math.max(sums.low, value));
    tree.values.push(learningRate * bounded);
    tree.covers.push(sums.hessian);
    return { index, depth, from, count, sums, slot: -1, split: undefined };
  }

  #close(node: OpenNode): void {
    this.#release(node);
    this.#tree.leaves.push({ node: node.index, from: node.from, count: node.count });
  }

  #release(node: OpenNode): void {
    if (node.slot >= 0) this.#freeSlots.push(node.slot);
    node.slot = -1;
  }

  /** Splits nodes and finds how their children may be split. @returns the children */
  #splitAll(nodes: readonly OpenNode[]): OpenNode[] {
    const { workspace, parallel } = this.#context;
    const { arena } = this.#matrix.span;
    const { u8 } = workspace.memory.get(arena);
    const task: PartitionTask = {
      arena,
      places: this.#places,
      nodes: nodes.map(({ from, count, split }, index) => {
        const { column, right } = split as Split;
        u8.set(right, this.#places.directions + index * 256);
        const { offset } = this.#matrix.columns[column] as MatrixColumn;
        return { from, count, column: offset };
      }),
    };
    const job = boostPartitionJob(workspace);
    const rowCount = nodes.reduce((sum, { count }) => sum + count, 0);
    const leftCounts =
      rowCount < PARALLEL_CELLS || nodes.length === 1
        ? nodes.map((_, unit) => job.execute(task, unit, this.#context))
        : parallel.run(job, task, nodes.length);
    const children: OpenNode[] = [];
    const small: OpenNode[] = [];
    const subtracted: { parent: OpenNode; small: OpenNode; large: OpenNode }[] = [];
    for (const [index, node] of nodes.entries()) {
      const split = node.split as Split;
      const leftCount = leftCounts[index] as number;
      const left = this.#open(node.depth + 1, node.from, leftCount, split.left);
      const right = this.#open(
        node.depth + 1,
        node.from + leftCount,
        node.count - leftCount,
        split.other,
      );
      const tree = this.#tree;
      tree.columns[node.index] = split.column;
      tree.rights[node.index] = split.right;
      tree.lefts[node.index] = left.index;
      tree.gains[node.index] = split.gain;
      this.#leafCount++;
      children.push(left, right);
      const [lesser, larger] = left.count <= right.count ? [left, right] : [right, left];
      if (!this.#mayBeSplit(left) && !this.#mayBeSplit(right)) {
        this.#release(node);
        continue;
      }
      small.push(lesser);
      subtracted.push({ parent: node, small: lesser, large: larger });
    }
    this.#fill(small);
    for (const { parent, small: lesser, large } of subtracted) {
      if (parent.slot >= 0 && lesser.slot >= 0) {
        large.slot = parent.slot;
        parent.slot = -1;
        this.#subtract(large.slot, lesser.slot);
      } else {
        this.#release(parent);
        this.#fill([large]);
      }
      for (const child of [lesser, large]) {
        if (this.#mayBeSplit(child)) this.#search(child);
        else this.#release(child);
      }
    }
    return children;
  }

  #mayBeSplit({ depth, sums }: OpenNode): boolean {
    const { options, minChildSamples } = this.#settings;
    if (options.maxDepth >= 0 && depth >= options.maxDepth) return false;
    return sums.count >= 2 * minChildSamples;
  }

  /** Computes the histograms of nodes from their rows, as far as there is room for them. */
  #fill(nodes: readonly OpenNode[]): void {
    const filled = nodes.filter((node) => {
      const slot = this.#freeSlots.pop();
      if (slot !== undefined) node.slot = slot;
      return slot !== undefined;
    });
    if (filled.length === 0) return;
    const task: HistogramTask = {
      matrix: this.#matrix,
      places: this.#places,
      groups: this.#groups,
      offsets: this.#offsets,
      cellCount: this.#cellCount,
      nodes: filled.map(({ from, count, slot }) => ({ from, count, slot })),
    };
    const { workspace, parallel } = this.#context;
    const job = boostHistogramJob(workspace);
    const unitCount = filled.length * this.#groups.length;
    const rowCount = filled.reduce((sum, { count }) => sum + count, 0);
    if (rowCount * this.#columns.length >= PARALLEL_CELLS) parallel.run(job, task, unitCount);
    else for (let unit = 0; unit < unitCount; unit++) job.execute(task, unit, this.#context);
  }

  /** The histogram at `target` becomes itself minus the other. */
  #subtract(target: number, other: number): void {
    const { histogramSize, histograms } = this.#places;
    const kernels = this.#context.workspace.kernels(this.#matrix.span.arena);
    const at = histograms + target * histogramSize;
    const child = histograms + other * histogramSize;
    kernels.boostSubtract(at, at, child, this.#cellCount, this.#cellCount * 16);
  }

  #search(node: OpenNode): void {
    if (node.slot < 0) return;
    const { options, minChildSamples, monotone, number, seed } = this.#settings;
    const search = new SplitSearch(node.sums, { ...options, minChildSamples });
    const columns =
      options.columnShareByNode === 1
        ? this.#columns
        : drawColumns(
            this.#columns,
            options.columnShareByNode,
            Random.of(seed, STREAM_NODES, number, node.index),
          );
    const { f64, u32 } = this.#context.workspace.memory.get(this.#matrix.span.arena);
    const histogram = this.#places.histograms + node.slot * this.#places.histogramSize;
    for (const column of columns) {
      const { codeCount, feature } = this.#matrix.columns[column] as MatrixColumn;
      const offset = this.#offsets[column] as number;
      const cells = (histogram + offset * 16) >>> 3;
      const counts = (histogram + this.#cellCount * 16 + offset * 4) >>> 2;
      search.search(column, {
        cells: f64.subarray(cells, cells + 2 * codeCount),
        counts: u32.subarray(counts, counts + codeCount),
        codeCount,
        isCategorical: this.#matrix.features[feature]?.kind === 'categorical',
        monotone: monotone[column] as number,
      });
    }
    node.split = search.best();
    if (node.split === undefined) this.#release(node);
  }
}

/** Larger gains first, then earlier nodes. */
function byGain(a: OpenNode, b: OpenNode): number {
  return (b.split?.gain ?? 0) - (a.split?.gain ?? 0) || a.index - b.index;
}

/** A share of the columns, at least one, in their order. */
function drawColumns(columns: readonly number[], share: number, random: Random): number[] {
  const count = Math.max(1, Math.round(columns.length * share));
  if (count >= columns.length) return [...columns];
  const pool = [...columns];
  for (let i = 0; i < count; i++) {
    const other = i + random.below(pool.length - i);
    const column = pool[other] as number;
    pool[other] = pool[i] as number;
    pool[i] = column;
  }
  return pool.slice(0, count).sort((a, b) => a - b);
}
