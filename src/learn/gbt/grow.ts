// Growing one tree of gradient boosting, wherever its rows are.
import type { Feature } from '../feature/feature.ts';
import { Random } from '../random.ts';
import type { CodeColumn } from '../tree/ensemble.ts';
import type { GbtOptions } from './options.ts';
import { leafValue, type NodeSums, type Split, SplitSearch } from './split.ts';

/** What the rows of a node add up to for each code of a column. */
export interface NodeCells {
  /** pairs of gradient and hessian */
  readonly cells: Float64Array;
  readonly counts: Uint32Array | Float64Array;
}

export interface SplitRows<Rows> {
  readonly rows: Rows;
  readonly split: Split;
}

/** A node that was split, one of whose children at least may be split again. */
export interface Family<Rows> {
  readonly parent: Rows;
  readonly left: Rows;
  readonly right: Rows;
}

/** The rows of one tree, node by node, and their histograms. */
export interface RowsOfNodes<Rows> {
  /** nodes that can be split at a time */
  readonly batchSize: number;
  /** @returns all rows, with histograms of these columns where there are any */
  start(columns: readonly number[]): Rows;
  /**
   * Parts the rows of nodes.
   * @param ahead nodes that may be split later, whose children may be looked at already
   * @returns what goes left and what goes right
   */
  part(
    nodes: readonly SplitRows<Rows>[],
    ahead: () => readonly SplitRows<Rows>[],
  ): readonly (readonly [Rows, Rows])[];
  /** Begins to find the histograms of children. */
  prepare(families: readonly Family<Rows>[]): void;
  /** Ends it for one family; the histogram of the parent is not used again. */
  finish(family: Family<Rows>): void;
  /** The histogram is not used again. */
  release(rows: Rows): void;
  /** undefined: there is no histogram, for want of memory */
  cells(rows: Rows, column: number): NodeCells | undefined;
}

/** Features and the columns that they take up. */
export interface GrowColumns {
  readonly features: readonly Feature[];
  readonly columns: readonly (CodeColumn & { readonly codeCount: number })[];
}

/** A tree as it grows; a split node's children follow one another. */
export interface GrownTree<Rows> {
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
  /** the rows of the leaves */
  readonly leaves: { readonly node: number; readonly rows: Rows }[];
}

interface OpenNode<Rows> {
  readonly index: number;
  readonly depth: number;
  readonly rows: Rows;
  readonly sums: NodeSums;
  split: Split | undefined;
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

/** Grows a tree on rows and their gradients; afterwards the rows of each leaf are known. */
export class TreeGrower<Rows> {
  readonly #shape: GrowColumns;
  readonly #settings: TreeSettings;
  readonly #source: RowsOfNodes<Rows>;
  readonly #columns: readonly number[];
  readonly #tree: GrownTree<Rows> = {
    ...{ columns: [], rights: [], lefts: [], gains: [], values: [], covers: [], leaves: [] },
  };
  #leafCount = 1;

  constructor(shape: GrowColumns, settings: TreeSettings, source: RowsOfNodes<Rows>) {
    this.#shape = shape;
    this.#settings = settings;
    this.#source = source;
    const { options, seed, number } = settings;
    const random = Random.of(seed, STREAM_COLUMNS, number);
    this.#columns = drawColumns([...shape.columns.keys()], options.columnShare, random);
  }

  grow(sums: Omit<NodeSums, 'low' | 'high'>): GrownTree<Rows> {
    const bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
    const root = this.#open(0, this.#source.start(this.#columns), { ...sums, ...bounds });
    if (this.#columns.length === 0) {
      this.#close(root);
      return this.#tree;
    }
    this.#search(root);
    const { growth, leafCountMax, maxDepth } = this.#settings.options;
    // When no leaf can be left over for want of leaves, the order of splits does not matter.
    const isComplete = maxDepth >= 0 && maxDepth < 30 && 2 ** maxDepth <= leafCountMax;
    if (growth === 'depth' || isComplete) this.#growByLevel(root);
    else this.#growByGain(root);
    return this.#tree;
  }

  #growByLevel(root: OpenNode<Rows>): void {
    const { batchSize } = this.#source;
    let level = [root];
    while (level.length > 0) {
      const next: OpenNode<Rows>[] = [];
      const room = this.#settings.options.leafCountMax - this.#leafCount;
      const ready = level.filter(({ split }) => split !== undefined);
      const chosen = new Set(ready.length <= room ? ready : [...ready].sort(byGain).slice(0, room));
      for (const node of level) if (!chosen.has(node)) this.#close(node);
      const all = level.filter((node) => chosen.has(node));
      for (let from = 0; from < all.length; from += batchSize) {
        next.push(...this.#splitAll(all.slice(from, from + batchSize)));
      }
      level = next;
    }
  }

  #growByGain(root: OpenNode<Rows>): void {
    const open = [root];
    while (open.length > 0 && this.#leafCount < this.#settings.options.leafCountMax) {
      let best = -1;
      for (const [index, node] of open.entries()) {
        if (node.split === undefined) continue;
        const bestNode = open[best];
        if (bestNode === undefined || byGain(node, bestNode) < 0) best = index;
      }
      if (best < 0) break;
      const [node] = open.splice(best, 1) as [OpenNode<Rows>];
      const ahead = () =>
        open.flatMap((other) => {
          const { rows, split } = other;
          return split === undefined || !this.#hasFamily(other, split) ? [] : [{ rows, split }];
        });
      open.push(...this.#splitAll([node], ahead));
    }
    for (const node of open.sort((a, b) => a.index - b.index)) this.#close(node);
  }

  #open(depth: number, rows: Rows, sums: NodeSums): OpenNode<Rows> {
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
    return { index, depth, rows, sums, split: undefined };
  }

  #close({ index, rows }: OpenNode<Rows>): void {
    this.#source.release(rows);
    this.#tree.leaves.push({ node: index, rows });
  }

  /** Splits nodes and finds how their children may be split. @returns the children */
  #splitAll(
    nodes: readonly OpenNode<Rows>[],
    ahead: () => readonly SplitRows<Rows>[] = () => [],
  ): OpenNode<Rows>[] {
    const source = this.#source;
    const tree = this.#tree;
    const parts = source.part(
      nodes.map(({ rows, split }) => ({ rows, split: split as Split })),
      ahead,
    );
    const children: OpenNode<Rows>[] = [];
    const families: { readonly family: Family<Rows>; readonly nodes: readonly OpenNode<Rows>[] }[] =
      [];
    for (const [index, node] of nodes.entries()) {
      const split = node.split as Split;
      const [leftRows, rightRows] = parts[index] as readonly [Rows, Rows];
      const left = this.#open(node.depth + 1, leftRows, split.left);
      const right = this.#open(node.depth + 1, rightRows, split.other);
      tree.columns[node.index] = split.column;
      tree.rights[node.index] = split.right;
      tree.lefts[node.index] = left.index;
      tree.gains[node.index] = split.gain;
      this.#leafCount++;
      children.push(left, right);
      if (!this.#mayBeSplit(left) && !this.#mayBeSplit(right)) {
        source.release(node.rows);
        continue;
      }
      const family = { parent: node.rows, left: leftRows, right: rightRows };
      families.push({ family, nodes: [left, right] });
    }
    source.prepare(families.map(({ family }) => family));
    for (const { family, nodes: pair } of families) {
      source.finish(family);
      for (const child of pair) {
        if (this.#mayBeSplit(child)) this.#search(child);
        else source.release(child.rows);
      }
    }
    return children;
  }

  /** Whether a child of the node may be split. */
  #hasFamily({ depth }: OpenNode<Rows>, { left, other }: Split): boolean {
    return [left, other].some((sums) => this.#mayBeSplit({ depth: depth + 1, sums }));
  }

  #mayBeSplit({ depth, sums }: Pick<OpenNode<Rows>, 'depth' | 'sums'>): boolean {
    const { options, minChildSamples } = this.#settings;
    if (options.maxDepth >= 0 && depth >= options.maxDepth) return false;
    return sums.count >= 2 * minChildSamples;
  }

  #search(node: OpenNode<Rows>): void {
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
    for (const column of columns) {
      const found = this.#source.cells(node.rows, column);
      if (found === undefined) return;
      const { codeCount, feature } = this.#shape.columns[column] as GrowColumns['columns'][number];
      search.search(column, {
        ...found,
        codeCount,
        isCategorical: this.#shape.features[feature]?.kind === 'categorical',
        monotone: monotone[column] as number,
      });
    }
    node.split = search.best();
    if (node.split === undefined) this.#source.release(node.rows);
  }
}

/** Larger gains first, then earlier nodes. */
function byGain(a: OpenNode<unknown>, b: OpenNode<unknown>): number {
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
