// Tree ensembles in shared memory, as the kernels walk them.
import { NODE_SIZE } from '../../kernel/generated.ts';
import type { Span } from '../../value/column/snapshot.ts';
import type { Feature } from '../feature/feature.ts';

/**
 * One tree: packed nodes (see tree-predict.ts of the kernels) breadth first, then `width` float64
 * values a node, then a float32 weight of training rows a node.
 */
export interface PackedTree {
  readonly span: Span;
  readonly nodeCount: number;
  /** steps from the root to the deepest leaf */
  readonly depth: number;
}

/** A column of codes as the nodes number them. */
export interface CodeColumn {
  readonly feature: number;
  readonly part: number;
}

/** score = (sum of weight x value of the leaf reached) / divisor; plain data over shared memory. */
export interface TreeEnsemble {
  readonly features: readonly Feature[];
  readonly columns: readonly CodeColumn[];
  /** values a node */
  readonly width: number;
  /** all in one arena */
  readonly trees: readonly PackedTree[];
  readonly weights: readonly number[];
  readonly divisor: number;
  /** the output that each tree adds to, its only value a node; absent: every tree has all outputs */
  readonly slots?: readonly number[];
  /**
   * 256 bits a set, one a code, that say which codes go right. Present: nodes name sets instead of
   * ranges of codes.
   */
  readonly sets?: Span;
}

/** Values that a node of the ensemble's trees has. */
export function valueCountOf({ width, slots }: TreeEnsemble): number {
  return slots === undefined ? width : 1;
}

/** All memory of the ensemble. */
export function spansOf({ trees, sets }: TreeEnsemble): Span[] {
  const spans = trees.map(({ span }) => span);
  return sets === undefined ? spans : [...spans, sets];
}

/** Where the parts of a tree lie. */
export function treeParts(offset: number, nodeCount: number, width: number) {
  const values = offset + nodeCount * NODE_SIZE;
  const covers = values + nodeCount * width * 8;
  return { nodes: offset, values, covers, sizeBytes: covers + nodeCount * 4 - offset };
}
