/** Tree kernels; addresses are byte offsets into the arena, see src/kernel/assembly/tree-*.ts. */
export interface TreeKernels {
  /** Draws the rows of a tree and takes the first step of growing it. */
  forestTree(task: number): void;
  /**
   * Takes the next step while `pendingCount` of the task is not 0. Between the steps of a tree the
   * same instance may not grow another one.
   */
  forestStep(task: number): void;
  forestCopy(
    sourceNodes: number,
    sourceValues: number,
    sourceCovers: number,
    count: number,
    targetNodes: number,
    targetValues: number,
    targetCovers: number,
    sources: number,
  ): void;
  ensembleRows(
    trees: number,
    treeCount: number,
    width: number,
    codes: number,
    stride: number,
    rowCount: number,
    out: number,
    flags: number,
  ): void;
  ensembleRow(
    trees: number,
    treeCount: number,
    width: number,
    row: number,
    stride: number,
    out: number,
  ): void;
  splitTotals(
    rows: number,
    count: number,
    labels: number,
    weights: number,
    labelCount: number,
    totals: number,
  ): void;
  splitPairTotals(
    rows: number,
    count: number,
    labels: number,
    pairs: number,
    labelCount: number,
    totals: number,
  ): void;
  splitPairHistogram(
    rows: number,
    count: number,
    column: number,
    labels: number,
    pairs: number,
    labelCount: number,
    cells: number,
  ): void;
  splitHistogram(
    rows: number,
    count: number,
    column: number,
    labels: number,
    weights: number,
    labelCount: number,
    cells: number,
  ): void;
  splitTargetTotals(
    rows: number,
    count: number,
    targets: number,
    weights: number,
    totals: number,
  ): void;
  splitVariance(
    rows: number,
    count: number,
    targets: number,
    weights: number,
    mean: number,
  ): number;
  splitTargetHistogram(
    rows: number,
    count: number,
    column: number,
    targets: number,
    weights: number,
    mean: number,
    cells: number,
  ): void;
  splitSearch(
    cells: number,
    codes: number,
    labelCount: number,
    isOrdered: number,
    equalMax: number,
    margin: number,
    scratch: number,
    result: number,
  ): void;
  splitRows(
    rows: number,
    count: number,
    column: number,
    first: number,
    last: number,
    spare: number,
    counts: number,
  ): void;
}

/** Byte offsets of a ForestTask, all 32-bit words. */
export const FOREST_TASK = {
  rowCount: 0,
  drawCount: 4,
  labels: 8,
  weights: 12,
  columns: 16,
  codeCounts: 20,
  columnNumbers: 24,
  featureCount: 28,
  featuresPerNode: 32,
  maxDepth: 36,
  shift: 40,
  entries: 44,
  buffer: 48,
  scratch: 52,
  local: 56,
  pending: 60,
  nodes: 64,
  values: 68,
  covers: 72,
  rowState: 76,
  nodeState: 92,
  entryCount: 108,
  nodeCount: 112,
  depth: 116,
  pendingCount: 120,
} as const;
export const FOREST_TASK_SIZE = 128;

/** Scratch of a forest tree: histograms, sort space, and two words a feature. */
export const FOREST_SCRATCH_SIZE = 2 * 4096 + 512;
/** A node of at most this many entries works on its own copy of the columns. */
export const FOREST_LOCAL_ROWS = 16_384;

/** Bytes of a node that a later step grows. */
export const FOREST_PENDING_SIZE = 32;

/** nodes u32, values u32, depth i32, slot i32 (-1: all outputs), weight f64, sets u32 (0: none) */
export const TREE_ENTRY_SIZE = 32;

/** Bytes of a packed node. */
export const NODE_SIZE = 8;
/** Columns that the nodes of one model can name. */
export const NODE_COLUMN_MAX = 0x8000;
/** Set in a node when no training row was missing at it: a missing value ends the walk. */
export const NODE_STOPS_MISSING = 0x8000;
/** The test of a leaf, which sends nothing to the right. */
export const NODE_LEAF = 0x00ff_0000;

/** A node of a tree with sets: the column in these many bits, the number of its set above them. */
export const SET_NODE_COLUMN_BITS = 14;
export const SET_COUNT_MAX = 2 ** 18;
/** Bytes of a set of codes. */
export const SET_SIZE = 32;
