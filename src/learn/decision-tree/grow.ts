// Growing a decision tree, or a part of one, over rows listed in shared memory.
import { assert } from '../../util/assert.ts';
import type { FeatureMatrix, MatrixColumn } from '../feature/matrix.ts';
import type { SparseCodes } from '../feature/sparse-codes.ts';
import { type JobContext, Layout, NEVER_CANCELLED, type Workspace } from '../workspace.ts';
import { CellSearch, cellSizeOf, type NodeStats, type SplitCandidate } from './cell-search.ts';
import { NodeEntries, sparseCode } from './node-entries.ts';
import { TEST_PRESENT, type TreeBuilder, type UpdateAlgorithm } from './tree.ts';

/** Plain data: can be posted to other threads, which see the same memory. */
export interface GrowTask {
  readonly matrix: FeatureMatrix;
  /** indexes of the matrix columns that may be tested */
  readonly columns: readonly number[];
  /** classes; 0 for regression */
  readonly labelCount: number;
  /** offset of a u16 label position a row; regression: of a float64 target a row */
  readonly targets: number;
  /** offset of a float64 a row, all above 0; sum 1 unless regression; with pairs: labelCount a row */
  readonly weights: number;
  /** every row has a weight for each label instead of one */
  readonly hasPairs: boolean;
  /** offset of the u32 numbers of the rows that are trained on */
  readonly rows: number;
  /** offset of as much scratch as the list of rows takes up */
  readonly spare: number;
  readonly maxDepth: number;
  readonly updateAlgorithm: UpdateAlgorithm;
}

/** A stretch of the list of rows that makes up a node. */
export interface NodeRange {
  readonly from: number;
  readonly count: number;
  readonly depth: number;
}

/** Columns that are searched between two looks at the cancel flag. */
const COLUMNS_PER_CHECK = 256;

interface CellTotals {
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
}

/** One thread's hands on a GrowTask. `scratch` must have `Grower.scratchSize` bytes. */
export class Grower {
  readonly task: GrowTask;
  readonly #workspace: Workspace;
  readonly #search: CellSearch;
  readonly #cells: number;
  readonly #cellSize: number;
  readonly #result: number;
  readonly #denseColumns: readonly number[];
  readonly #entries: NodeEntries | undefined;

  constructor(workspace: Workspace, task: GrowTask, scratch: number) {
    this.task = task;
    this.#workspace = workspace;
    const layout = new Layout(scratch);
    const { arena } = task.matrix.span;
    const { columns, features, sparse } = task.matrix;
    const { labelCount, hasPairs } = task;
    const shape = { features, columns, labelCount, hasPairs, arena };
    this.#search = new CellSearch(workspace, shape, layout.take(CellSearch.scratchSize(task)));
    this.#cells = this.#search.cells;
    this.#cellSize = this.#search.cellSize;
    this.#result = layout.take(Math.max(64, this.#cellSize));
    if (sparse === undefined) {
      this.#denseColumns = task.columns;
      return;
    }
    assert(!task.hasPairs, 'pairs need codes of all rows');
    const isDense = (index: number) => columns[index]?.isSparse === false;
    this.#denseColumns = task.columns.filter(isDense);
    const kept = task.columns.filter((index) => !isDense(index));
    this.#entries = new NodeEntries(workspace, sparse, columns.length, kept);
  }

  static scratchSize(task: Pick<GrowTask, 'labelCount' | 'hasPairs'>): number {
    return CellSearch.scratchSize(task) + cellSizeOf(task) + 128;
  }

  /** Grows the whole subtree of a range into `builder`. @returns its root */
  grow(builder: TreeBuilder, range: NodeRange, scope: JobContext = NEVER_CANCELLED): number {
    scope.checkCancelled();
    const stats = this.stats(range);
    const node = builder.addLeaf(stats.output, range.count);
    if (!this.maySplit(range, stats)) return node;
    let best: SplitCandidate | undefined;
    this.searchAll(range, stats, scope, (candidate) => {
      best = this.betterOf(best, candidate, stats);
    });
    if (best === undefined) return node;
    for (const [outcome, child] of this.split(builder, node, range, stats, best).entries()) {
      if (child.count > 0) builder.setChild(node, outcome, this.grow(builder, child, scope));
    }
    return node;
  }

  /** Visits the best test of each column that has one, columns ascending. */
  searchAll(
    range: NodeRange,
    stats: NodeStats,
    scope: JobContext,
    visit: (candidate: SplitCandidate) => void,
  ): void {
    const entries = this.#entries;
    const rows = this.#rowsOf(range);
    const found = entries?.gather(rows) ?? [];
    const all = entries === undefined ? undefined : this.#rowTotals(rows, stats);
    const dense = this.#denseColumns;
    for (let d = 0, s = 0; d < dense.length || s < found.length; ) {
      if ((d + s) % COLUMNS_PER_CHECK === 0) scope.checkCancelled();
      const next = dense[d] ?? Number.POSITIVE_INFINITY;
      const sparse = found[s] ?? Number.POSITIVE_INFINITY;
      let candidate: SplitCandidate | undefined;
      if (next < sparse) {
        candidate = this.search(range, stats, next);
        d++;
      } else {
        this.#fillSparseCells(sparse, all as CellTotals, stats);
        candidate = this.#search.search(stats, sparse);
        s++;
      }
      if (candidate !== undefined) visit(candidate);
    }
  }

  maySplit(range: NodeRange, stats: NodeStats): boolean {
    return range.depth < this.task.maxDepth && !stats.isPure;
  }

  /** What the node says and whether it can be split. */
  stats({ from, count }: NodeRange): NodeStats {
    const { task } = this;
    const { f64, u8 } = this.#memory;
    const rows = task.rows + from * 4;
    const at = this.#result >>> 3;
    const { labelCount } = task;
    if (labelCount === 0) {
      this.#kernels.splitTargetTotals(rows, count, task.targets, task.weights, this.#result);
      const [weight, sum, low, high] = f64.subarray(at, at + 4) as unknown as NumberQuad;
      // A constant target is its own mean; the quotient may be off by a rounding.
      const mean = low === high ? low : sum / weight;
      const variance = this.#kernels.splitVariance(rows, count, task.targets, task.weights, mean);
      return { output: Float64Array.of(mean), weight, mean, variance, isPure: low === high };
    }
    u8.fill(0, this.#result, this.#result + this.#cellSize);
    if (task.hasPairs) return this.#pairStats(rows, count);
    this.#kernels.splitTotals(rows, count, task.targets, task.weights, labelCount, this.#result);
    const weights = f64.slice(at, at + labelCount);
    const weight = weights.reduce((sum, part) => sum + part, 0);
    const isPure = weights.reduce((seen, part) => seen + Number(part > 0), 0) < 2;
    const output = classOutput(weights, count, task.updateAlgorithm);
    return { output, weight, mean: 0, variance: 0, isPure };
  }

  #pairStats(rows: number, count: number): NodeStats {
    const { labelCount, targets, weights, updateAlgorithm } = this.task;
    const { f64 } = this.#memory;
    const at = this.#result >>> 3;
    this.#kernels.splitPairTotals(rows, count, targets, weights, labelCount, this.#result);
    const pairs = f64.slice(at, at + 2 * labelCount);
    const output = new Float64Array(labelCount);
    let isPure = true;
    for (let label = 0; label < labelCount; label++) {
      const [own, rest] = pairs.subarray(2 * label, 2 * label + 2) as unknown as [number, number];
      output[label] = leafOutput(own, rest, 1 / count, updateAlgorithm);
      isPure &&= own === 0 || rest === 0;
    }
    const weight = pairs.reduce((sum, part) => sum + part, 0);
    return { output, weight, mean: 0, variance: 0, isPure };
  }

  /** The best test of one column, undefined when it cannot part the rows. */
  search(range: NodeRange, stats: NodeStats, columnIndex: number): SplitCandidate | undefined {
    const { task } = this;
    const column = this.#column(columnIndex);
    const { labelCount, targets, weights } = task;
    const { u8 } = this.#memory;
    const kernels = this.#kernels;
    const rows = task.rows + range.from * 4;
    const cells = this.#cells;
    u8.fill(0, cells, cells + column.codeCount * this.#cellSize);
    if (labelCount === 0) {
      const { mean } = stats;
      kernels.splitTargetHistogram(rows, range.count, column.offset, targets, weights, mean, cells);
    } else if (task.hasPairs) {
      kernels.splitPairHistogram(
        ...([rows, range.count, column.offset, targets, weights, labelCount, cells] as const),
      );
    } else {
      kernels.splitHistogram(rows, range.count, column.offset, targets, weights, labelCount, cells);
    }
    return this.#search.search(stats, columnIndex);
  }

  /** What the rows of a node add up to, as a cell does. */
  #rowTotals(rows: Uint32Array, stats: NodeStats): CellTotals {
    const sums = new Float64Array(Math.max(2, this.task.labelCount));
    const counts = new Uint32Array(sums.length);
    for (const row of rows) this.#addRow({ sums, counts }, row, stats.mean);
    return { sums, counts };
  }

  /** Classes: weight and rows of each; regression: weight, weight x (target - mean). */
  #addRow({ sums, counts }: CellTotals, row: number, mean: number): void {
    const { labelCount, targets, weights } = this.task;
    const { f64, u16 } = this.#memory;
    const weight = f64[(weights >>> 3) + row] as number;
    const label = labelCount === 0 ? 0 : (u16[(targets >>> 1) + row] as number);
    sums[label] = (sums[label] as number) + weight;
    counts[label] = (counts[label] as number) + 1;
    if (labelCount > 0) return;
    const distance = (f64[(targets >>> 3) + row] as number) - mean;
    sums[1] = (sums[1] as number) + weight * distance;
    counts[1] = (counts[1] as number) + 1;
  }

  /** The histogram of a column that few rows have; all others are missing. */
  #fillSparseCells(columnIndex: number, all: CellTotals, { mean }: NodeStats): void {
    const { labelCount, targets, weights } = this.task;
    const { f64, u16 } = this.#memory;
    const width = this.#cellSize >>> 3;
    const cells = this.#cells >>> 3;
    f64.fill(0, cells, cells + this.#column(columnIndex).codeCount * width);
    const { rows, codes } = (this.#entries as NodeEntries).entriesOf(columnIndex);
    const sums = all.sums.slice();
    const counts = all.counts.slice();
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const cell = cells + (codes[i] as number) * width;
      const weight = f64[(weights >>> 3) + row] as number;
      const label = labelCount === 0 ? 0 : (u16[(targets >>> 1) + row] as number);
      f64[cell + label] = (f64[cell + label] as number) + weight;
      sums[label] = (sums[label] as number) - weight;
      counts[label] = (counts[label] as number) - 1;
      if (labelCount === 0) {
        const sum = weight * ((f64[(targets >>> 3) + row] as number) - mean);
        f64[cell + 1] = (f64[cell + 1] as number) + sum;
        sums[1] = (sums[1] as number) - sum;
        counts[1] = (counts[1] as number) - 1;
      }
      f64[cell + width - 1] = (f64[cell + width - 1] as number) + 1;
    }
    let missing = 0;
    for (let part = 0; part < width - 1; part++) {
      // A difference of sums is not exact, and no rows weigh exactly 0.
      f64[cells + part] = counts[part] === 0 ? 0 : (sums[part] as number);
      if (labelCount > 0 || part === 0) missing += counts[part] as number;
    }
    f64[cells + width - 1] = missing;
  }

  /** The first of two candidates unless the second is better by more than rounding. */
  betterOf(
    first: SplitCandidate | undefined,
    second: SplitCandidate | undefined,
    stats: NodeStats,
  ): SplitCandidate | undefined {
    return this.#search.betterOf(first, second, stats);
  }

  /** Codes that pass the test, and the operand that the tree keeps. */
  testOf(candidate: SplitCandidate) {
    return this.#search.testOf(candidate);
  }

  /** Makes the node an inner one and parts its rows. @returns the ranges of the outcomes */
  split(
    builder: TreeBuilder,
    node: number,
    range: NodeRange,
    stats: NodeStats,
    candidate: SplitCandidate,
  ): readonly NodeRange[] {
    const column = this.#column(candidate.column);
    const { first, last, operand } = this.#search.testOf(candidate);
    const score = this.#search.scoreOf(candidate, stats);
    builder.setTest(node, candidate.test, column.feature, operand, score);
    const counts = column.isSparse
      ? this.#partSparse(range, candidate.column, first, last)
      : this.#partDense(range, column, first, last);
    // A test for presence decides every row: what is missing is not present.
    if (candidate.test === TEST_PRESENT) counts.splice(1, 2, counts[2] as number, 0);
    let from = range.from;
    return counts.map((count) => {
      const child = { from, count, depth: range.depth + 1 };
      from += count;
      return child;
    });
  }

  /** @returns how many rows are true, false and missing, in which order they now are */
  #partDense(range: NodeRange, { offset }: MatrixColumn, first: number, last: number): number[] {
    const rows = this.task.rows + range.from * 4;
    const spare = this.task.spare + range.from * 4;
    this.#kernels.splitRows(rows, range.count, offset, first, last, spare, this.#result);
    const at = this.#result >>> 2;
    return Array.from(this.#memory.i32.subarray(at, at + 3));
  }

  #partSparse(range: NodeRange, column: number, first: number, last: number): number[] {
    const { sparse } = this.task.matrix;
    const rows = this.#rowsOf(range);
    const parts: [number[], number[], number[]] = [[], [], []];
    for (const row of rows) {
      const code = sparseCode(this.#workspace, sparse as SparseCodes, row, column);
      const isTrue = code >= first && code <= last;
      parts[code === 0 ? 2 : isTrue ? 0 : 1].push(row);
    }
    let from = 0;
    for (const part of parts) {
      rows.set(part, from);
      from += part.length;
    }
    return parts.map(({ length }) => length);
  }

  #rowsOf({ from, count }: NodeRange): Uint32Array {
    const at = (this.task.rows >>> 2) + from;
    return this.#memory.u32.subarray(at, at + count);
  }

  #column(index: number): MatrixColumn {
    return this.task.matrix.columns[index] as MatrixColumn;
  }

  get #memory() {
    return this.#workspace.memory.get(this.task.matrix.span.arena);
  }

  get #kernels() {
    return this.#workspace.kernels(this.task.matrix.span.arena);
  }
}

type NumberQuad = readonly [number, number, number, number];

/** What a leaf says of a label with the weight `own` against `rest`. */
function leafOutput(own: number, rest: number, epsilon: number, update: UpdateAlgorithm): number {
  if (update === 'normal') return 0.5 * Math.log((own + epsilon) / (rest + epsilon));
  const total = own + rest;
  if (total === 0) return update === 'prob' ? 0.5 : 0;
  return update === 'prob' ? own / total : (own - rest) / total;
}

/** Leaf outputs by class weights; two classes need only the second, the first mirrors it. */
export function classOutput(
  weights: Float64Array,
  rowCount: number,
  updateAlgorithm: UpdateAlgorithm,
): Float64Array {
  const epsilon = 1 / rowCount;
  const isPure = weights.reduce((count, weight) => count + Number(weight > 0), 0) < 2;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const output = (weight: number, rest: number) =>
    leafOutput(weight, rest, epsilon, updateAlgorithm);
  if (weights.length === 2) {
    const [zeros, ones] = weights as unknown as readonly [number, number];
    return Float64Array.of(output(ones, zeros));
  }
  // A difference of sums is not exact, and a pure leaf has to say exactly 0 or 1.
  return weights.map((weight) => output(weight, isPure && weight > 0 ? 0 : total - weight));
}
