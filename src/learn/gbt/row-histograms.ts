// Rows in shared memory and their gradients, as the trees of gradient boosting grow over them.
import type { FeatureMatrix, MatrixColumn } from '../feature/matrix.ts';
import type { FitContext, JobContext, LearnJob, Workspace } from '../workspace.ts';
import type { Family, NodeCells, RowsOfNodes, SplitRows } from './grow.ts';

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

/** The rows of a node: a stretch of the list of rows. */
export interface RowRange {
  readonly from: number;
  readonly count: number;
  /** its histogram's place; -1: none is kept */
  slot: number;
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

/** Sizes of what a tree needs. */
export function histogramSizeOf(matrix: FeatureMatrix): number {
  const cellCount = matrix.columns.reduce((sum, { codeCount }) => sum + codeCount, 0);
  return Math.ceil((cellCount * 20) / 16) * 16;
}

export function listsSize(columnCount: number, nodeCount: number): number {
  return Math.ceil(columnCount / GROUP_COLUMN_COUNT) * nodeCount * LIST_SIZE;
}

/** Parts rows in place, and adds up their histograms: of the smaller child, the other is what is left. */
export class RowHistograms implements RowsOfNodes<RowRange> {
  readonly batchSize: number;
  readonly #context: FitContext;
  readonly #matrix: FeatureMatrix;
  readonly #places: GrowPlaces;
  readonly #offsets: number[] = [];
  readonly #cellCount: number;
  readonly #freeSlots: number[];
  #columns: readonly number[] = [];
  #groups: number[][] = [];

  constructor(context: FitContext, matrix: FeatureMatrix, places: GrowPlaces) {
    this.#context = context;
    this.#matrix = matrix;
    this.#places = places;
    this.batchSize = places.directionCount;
    let cells = 0;
    for (const { codeCount } of matrix.columns) {
      this.#offsets.push(cells);
      cells += codeCount;
    }
    this.#cellCount = cells;
    this.#freeSlots = Array.from(
      { length: places.histogramCount },
      (_, slot) => places.histogramCount - 1 - slot,
    );
  }

  start(columns: readonly number[]): RowRange {
    this.#columns = columns;
    for (let from = 0; from < columns.length; from += GROUP_COLUMN_COUNT) {
      this.#groups.push(columns.slice(from, from + GROUP_COLUMN_COUNT));
    }
    const root = { from: 0, count: this.#matrix.rowCount, slot: -1 };
    if (columns.length > 0) this.#fill([root]);
    return root;
  }

  part(nodes: readonly SplitRows<RowRange>[]): (readonly [RowRange, RowRange])[] {
    const { workspace, parallel } = this.#context;
    const { arena } = this.#matrix.span;
    const { u8 } = workspace.memory.get(arena);
    const task: PartitionTask = {
      arena,
      places: this.#places,
      nodes: nodes.map(({ rows: { from, count }, split }, index) => {
        u8.set(split.right, this.#places.directions + index * 256);
        const { offset } = this.#matrix.columns[split.column] as MatrixColumn;
        return { from, count, column: offset };
      }),
    };
    const job = boostPartitionJob(workspace);
    const rowCount = nodes.reduce((sum, { rows }) => sum + rows.count, 0);
    const leftCounts =
      rowCount < PARALLEL_CELLS || nodes.length === 1
        ? nodes.map((_, unit) => job.execute(task, unit, this.#context))
        : parallel.run(job, task, nodes.length);
    return nodes.map(({ rows: { from, count } }, index) => {
      const leftCount = leftCounts[index] as number;
      return [
        { from, count: leftCount, slot: -1 },
        { from: from + leftCount, count: count - leftCount, slot: -1 },
      ] as const;
    });
  }

  prepare(families: readonly Family<RowRange>[]): void {
    this.#fill(families.map(smallerOf));
  }

  finish(family: Family<RowRange>): void {
    const { parent, left, right } = family;
    const lesser = smallerOf(family);
    const large = lesser === left ? right : left;
    if (parent.slot >= 0 && lesser.slot >= 0) {
      large.slot = parent.slot;
      parent.slot = -1;
      this.#subtract(large.slot, lesser.slot);
    } else {
      this.release(parent);
      this.#fill([large]);
    }
  }

  release(rows: RowRange): void {
    if (rows.slot >= 0) this.#freeSlots.push(rows.slot);
    rows.slot = -1;
  }

  cells({ slot }: RowRange, column: number): NodeCells | undefined {
    if (slot < 0) return undefined;
    const { f64, u32 } = this.#context.workspace.memory.get(this.#matrix.span.arena);
    const histogram = this.#places.histograms + slot * this.#places.histogramSize;
    const { codeCount } = this.#matrix.columns[column] as MatrixColumn;
    const offset = this.#offsets[column] as number;
    const cells = (histogram + offset * 16) >>> 3;
    const counts = (histogram + this.#cellCount * 16 + offset * 4) >>> 2;
    return {
      cells: f64.subarray(cells, cells + 2 * codeCount),
      counts: u32.subarray(counts, counts + codeCount),
    };
  }

  /** Computes the histograms of nodes from their rows, as far as there is room for them. */
  #fill(nodes: readonly RowRange[]): void {
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
}

function smallerOf({ left, right }: Family<RowRange>): RowRange {
  return left.count <= right.count ? left : right;
}
