// The best test of a node by what its rows add up to for each code of a column.
import { assert } from '../../util/assert.ts';
import { CATEGORIES_PER_COLUMN, type Feature, type NumericFeature } from '../feature/feature.ts';
import type { CodeColumn } from '../tree/ensemble.ts';
import { Layout, type Workspace } from '../workspace.ts';
import { TEST_EQUAL, TEST_LESS, TEST_PRESENT } from './tree.ts';

/** A test and how good it is. */
export interface SplitCandidate {
  /** sum of outcome scores, smaller is better; see splitSearch of the kernels */
  readonly score: number;
  readonly test: number;
  readonly column: number;
  /** LESS: the codes around the gap that parts the rows; EQUAL: the code, twice */
  readonly low: number;
  readonly high: number;
}

export interface NodeStats {
  readonly output: Float64Array;
  /** weight of all rows */
  readonly weight: number;
  /** weighted mean of the targets; regression only */
  readonly mean: number;
  /** weighted squared distance from the mean; regression only */
  readonly variance: number;
  /** nothing is left to tell apart */
  readonly isPure: boolean;
}

/** Codes are bytes. */
const CODE_COUNT_MAX = 256;

/** Scores that differ by less than this share of the node's weight, or variance, are a tie. */
const TIE_SHARE = 1e-12;

export interface SearchShape {
  readonly features: readonly Feature[];
  readonly columns: readonly (CodeColumn & { readonly codeCount: number })[];
  /** classes; 0 for regression */
  readonly labelCount: number;
  /** a cell has two weights for each label instead of one */
  readonly hasPairs: boolean;
  /** where the scratch lies */
  readonly arena: number;
}

/**
 * Searches the cells of one column at a time, which others fill. A cell has float64s: classes: the
 * weight of each, and rows; regression: weight, weight x (target - mean of the node), and rows.
 * `scratch` must have `CellSearch.scratchSize` bytes.
 */
export class CellSearch {
  /** where the cells are, one for each code */
  readonly cells: number;
  /** bytes of one */
  readonly cellSize: number;
  readonly #workspace: Workspace;
  readonly #shape: SearchShape;
  readonly #running: number;
  readonly #result: number;

  constructor(workspace: Workspace, shape: SearchShape, scratch: number) {
    this.#workspace = workspace;
    this.#shape = shape;
    this.cellSize = cellSizeOf(shape);
    const layout = new Layout(scratch);
    this.cells = layout.take(CODE_COUNT_MAX * this.cellSize);
    this.#running = layout.take((CODE_COUNT_MAX + 4) * this.cellSize + CODE_COUNT_MAX * 8);
    this.#result = layout.take(64);
  }

  static scratchSize(shape: Pick<SearchShape, 'labelCount' | 'hasPairs'>): number {
    return (2 * CODE_COUNT_MAX + 4) * cellSizeOf(shape) + CODE_COUNT_MAX * 8 + 128;
  }

  /** The best test by the cells as they are; undefined when it cannot part the rows. */
  search(stats: NodeStats, columnIndex: number): SplitCandidate | undefined {
    const { arena, features, hasPairs, labelCount } = this.#shape;
    const column = this.#column(columnIndex);
    const { f64, i32 } = this.#workspace.memory.get(arena);
    const isOrdered = features[column.feature]?.kind === 'numeric' ? 1 : 0;
    this.#workspace
      .kernels(arena)
      .splitSearch(
        this.cells,
        column.codeCount,
        hasPairs ? -labelCount : labelCount,
        isOrdered,
        CATEGORIES_PER_COLUMN,
        this.#margin(stats),
        this.#running,
        this.#result,
      );
    const word = this.#result >>> 2;
    const test = i32[word + 2] as number;
    if (test === 0) return undefined;
    return {
      score: f64[this.#result >>> 3] as number,
      test,
      column: columnIndex,
      low: i32[word + 3] as number,
      high: i32[word + 4] as number,
    };
  }

  /** The first of two candidates unless the second is better by more than rounding. */
  betterOf(
    first: SplitCandidate | undefined,
    second: SplitCandidate | undefined,
    stats: NodeStats,
  ): SplitCandidate | undefined {
    // No split of weights that sum to 1 scores above 1, so none has to be refused for that.
    if (second === undefined) return first;
    if (first === undefined) return second;
    return second.score < first.score - this.#margin(stats) ? second : first;
  }

  /** Codes that pass the test, and the operand that the tree keeps. */
  testOf({ test, column: index, low, high }: SplitCandidate) {
    const column = this.#column(index);
    if (test === TEST_PRESENT) return { first: 1, last: CODE_COUNT_MAX - 1, operand: 0 };
    if (test === TEST_EQUAL) {
      return { first: low, last: low, operand: column.part * CATEGORIES_PER_COLUMN + low - 1 };
    }
    assert(test === TEST_LESS, 'unknown test');
    const { boundaries } = this.#shape.features[column.feature] as NumericFeature;
    // Any boundary of the gap parts these rows; the middle one is fairest to rows to come.
    const operand = middleBoundary(boundaries, low - 1, high - 2);
    return { first: 1, last: operand + 1, operand };
  }

  /** What the tree keeps of a split: Z for classes, the squared error that is left for numbers. */
  scoreOf({ score }: SplitCandidate, stats: NodeStats): number {
    const { labelCount } = this.#shape;
    return labelCount === 0 ? Math.max(0, stats.variance + score) : (2 * score) / labelCount;
  }

  #margin(stats: NodeStats): number {
    return TIE_SHARE * (this.#shape.labelCount === 0 ? stats.variance : stats.weight);
  }

  #column(index: number): SearchShape['columns'][number] {
    return this.#shape.columns[index] as SearchShape['columns'][number];
  }
}

export function cellSizeOf({
  labelCount,
  hasPairs,
}: Pick<SearchShape, 'labelCount' | 'hasPairs'>): number {
  if (hasPairs) return (2 * labelCount + 1) * 8;
  return labelCount === 0 ? 24 : (labelCount + 1) * 8;
}

/**
 * The boundary in [first, last] nearest to the middle between the values on either side, of which
 * only the boundaries around them are known.
 */
export function middleBoundary(boundaries: Float64Array, first: number, last: number): number {
  const low = middleOf(boundaries[first - 1], boundaries[first] as number);
  const high = middleOf(boundaries[last + 1], boundaries[last] as number);
  const middle = low + (high - low) / 2;
  let best = first;
  for (let i = first + 1; i <= last; i++) {
    const distance = Math.abs((boundaries[i] as number) - middle);
    if (distance < Math.abs((boundaries[best] as number) - middle)) best = i;
  }
  return best;
}

function middleOf(outer: number | undefined, inner: number): number {
  return outer === undefined ? inner : outer + (inner - outer) / 2;
}
