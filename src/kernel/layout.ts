/** Kernels of forces on layouts, see src/kernel/assembly/layout.ts. */
export interface LayoutKernels {
  /** Builds the tree of a task. @returns the number of cells */
  layoutTree(task: number): number;
  /** Repulsion of some sorted points. @returns the sum of all q */
  treeRepulsion(task: number, cellCount: number, from: number, to: number, forces: number): number;
  /** The same pair by pair. @returns the sum of all q */
  plainRepulsion(
    positions: number,
    count: number,
    dimension: number,
    from: number,
    to: number,
    forces: number,
  ): number;
  /** Attraction along the edges of some points. */
  edgeAttraction(
    positions: number,
    dimension: number,
    from: number,
    to: number,
    starts: number,
    ends: number,
    weights: number,
    forces: number,
  ): void;
}

/** Byte offsets of a TreeTask: addresses and counts are 32-bit words, `openness` is an f64. */
export const TREE_TASK = {
  positions: 0,
  count: 4,
  dimension: 8,
  keys: 12,
  spare: 16,
  order: 20,
  sorted: 24,
  sums: 28,
  cells: 32,
  openness: 40,
} as const;
export const TREE_TASK_SIZE = 80;
/** Bytes of a cell; a tree has at most two a point. */
export const TREE_CELL_SIZE = 56;
/** Dimensions up to which there is a tree. */
export const TREE_DIMENSION_MAX = 3;
