// One tree of a forest: a unit of work for one thread, written to shared memory.
import {
  FOREST_LOCAL_ROWS,
  FOREST_PENDING_SIZE,
  FOREST_SCRATCH_SIZE,
  FOREST_TASK,
  FOREST_TASK_SIZE,
  NODE_SIZE,
} from '../../kernel/generated.ts';
import type { Span } from '../../value/column/snapshot.ts';
import type { FeatureMatrix, MatrixColumn } from '../feature/matrix.ts';
import { Random, type RandomState, randomState } from '../random.ts';
import { type PackedTree, treeParts } from '../tree/ensemble.ts';
import {
  type JobContext,
  Layout,
  type LearnJob,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import type { ForestOptions } from './options.ts';

/** Plain data: can be posted to other threads. */
export interface ForestTask {
  readonly matrix: FeatureMatrix;
  /** offset of a byte a row, 0 or 1, in the matrix's arena */
  readonly labels: number;
  /** offset of a float64 a row; 0 when all rows weigh the same */
  readonly weights: number;
  readonly options: ForestOptions;
  /** offset of an i32 that counts finished trees, then offset and size (u32) of each tree's span */
  readonly ledger: number;
}

// What a random stream of a forest is for.
const STREAM_ROWS = 1;
const STREAM_FEATURES = 2;
const STREAM_NODES = 3;

export function forestTreeJob(workspace: Workspace): LearnJob<ForestTask, PackedTree> {
  return {
    name: 'learn.forest-tree',
    execute(task, treeIndex, scope: JobContext) {
      scope.checkCancelled();
      const tree = trainTree(workspace, task, treeIndex, scope);
      const { i32, u32 } = workspace.memory.get(task.matrix.span.arena);
      u32.set([tree.span.offset, tree.span.sizeBytes], ledgerEntry(task, treeIndex));
      Atomics.add(i32, task.ledger >>> 2, 1);
      return tree;
    },
  };
}

export const ledgerSize = (treeCount: number): number => 16 + treeCount * 8;

function ledgerEntry(task: ForestTask, treeIndex: number): number {
  return ((task.ledger + 16) >>> 2) + treeIndex * 2;
}

/** The spans of finished trees, whichever threads wrote them. */
export function finishedTrees(workspace: Workspace, task: ForestTask, treeCount: number): Span[] {
  const { arena } = task.matrix.span;
  const { u32 } = workspace.memory.get(arena);
  const spans: Span[] = [];
  for (let tree = 0; tree < treeCount; tree++) {
    const at = ledgerEntry(task, tree);
    const offset = u32[at] as number;
    if (offset > 0) spans.push({ arena, offset, sizeBytes: u32[at + 1] as number });
  }
  return spans;
}

/** Grows the tree of that number: the same one in whichever thread and order. */
export function trainTree(
  workspace: Workspace,
  task: ForestTask,
  treeIndex: number,
  scope: JobContext,
): PackedTree {
  const { matrix, options } = task;
  const { arena } = matrix.span;
  const columns = treeColumns(matrix, options, treeIndex);
  const drawCount = Math.ceil(options.featureVectorSamplingProp * matrix.rowCount);
  const entryCountMax = entryLimit(matrix.rowCount, drawCount);
  const nodeCountMax = Math.min(2 * entryCountMax - 1, 2 ** (options.maxDepth + 1) - 1);
  const sizes = {
    task: FOREST_TASK_SIZE,
    columns: columns.length * 4,
    codeCounts: columns.length * 4,
    columnNumbers: columns.length * 4,
    entries: entryCountMax * 4 + 16,
    buffer: Math.max(entryCountMax * 4, matrix.rowCount) + 16,
    scratch: FOREST_SCRATCH_SIZE + columns.length * 8,
    local: FOREST_LOCAL_ROWS * (columns.length + (task.weights === 0 ? 0 : 8)),
    pending: (options.maxDepth + 2) * FOREST_PENDING_SIZE,
    nodes: nodeCountMax * NODE_SIZE,
    values: nodeCountMax * 8,
    covers: nodeCountMax * 4,
  };
  const at = placeAll(sizes, 0);
  return withScratch(workspace, arena, at.sizeBytes, (scratch) => {
    const place = placeAll(sizes, scratch).offsets;
    const { u32 } = workspace.memory.get(arena);
    const kernels = workspace.kernels(arena);
    for (const [index, { number, column }] of columns.entries()) {
      u32[(place.columns >>> 2) + index] = column.offset;
      u32[(place.codeCounts >>> 2) + index] = column.codeCount;
      u32[(place.columnNumbers >>> 2) + index] = number;
    }
    const set = (word: keyof typeof FOREST_TASK, value: number) => {
      u32[(place.task + FOREST_TASK[word]) >>> 2] = value;
    };
    set('rowCount', matrix.rowCount);
    set('drawCount', drawCount);
    set('labels', task.labels);
    set('weights', task.weights);
    set('featureCount', columns.length);
    set('featuresPerNode', Math.min(options.featuresPerNode ?? columns.length, columns.length));
    set('maxDepth', options.maxDepth);
    set('shift', entryShift(matrix.rowCount));
    for (const name of ['columns', 'codeCounts', 'columnNumbers', 'entries', 'buffer'] as const) {
      set(name, place[name]);
    }
    for (const name of ['scratch', 'local', 'pending', 'nodes', 'values', 'covers'] as const) {
      set(name, place[name]);
    }
    const sampleIndex = Math.floor(treeIndex / options.featureSamplings);
    const setState = (word: 'rowState' | 'nodeState', state: RandomState) => {
      u32.set(state, (place.task + FOREST_TASK[`${word}0`]) >>> 2);
    };
    setState('rowState', randomState(options.randomSeed, STREAM_ROWS, sampleIndex));
    setState('nodeState', randomState(options.randomSeed, STREAM_NODES, treeIndex));
    const get = (word: keyof typeof FOREST_TASK) =>
      u32[(place.task + FOREST_TASK[word]) >>> 2] as number;
    kernels.forestTree(place.task);
    while (get('pendingCount') > 0) {
      scope.checkCancelled();
      kernels.forestStep(place.task);
    }
    const nodeCount = get('nodeCount');
    const depth = get('depth');

    const { memory } = workspace;
    const span = memory.allocateIn(arena, treeParts(0, nodeCount, 1).sizeBytes);
    const parts = treeParts(span.offset, nodeCount, 1);
    // The list of entries is not needed any more and has a word for every node.
    kernels.forestCopy(
      place.nodes,
      place.values,
      place.covers,
      nodeCount,
      parts.nodes,
      parts.values,
      parts.covers,
      place.entries,
    );
    return { span, nodeCount, depth };
  });
}

/** The columns that the tree sees. */
function treeColumns(
  matrix: FeatureMatrix,
  options: ForestOptions,
  treeIndex: number,
): { readonly number: number; readonly column: MatrixColumn }[] {
  const random = Random.of(options.randomSeed, STREAM_FEATURES, treeIndex);
  const kept = matrix.features.map(() => random.uniform() < options.featureSamplingProp);
  return matrix.columns
    .map((column, number) => ({ number, column }))
    .filter(({ column }) => kept[column.feature]);
}

/** Bits of an entry below the row number: the label and how often the row was drawn. */
export function entryShift(rowCount: number): number {
  const rowBits = Math.max(1, Math.ceil(Math.log2(rowCount + 1)));
  return Math.min(8, 32 - rowBits);
}

/** Entries at most: each drawn row once, and again where the count does not fit. */
function entryLimit(rowCount: number, drawCount: number): number {
  const timesMax = 2 ** (entryShift(rowCount) - 1) - 1;
  return Math.min(rowCount, drawCount) + Math.floor(drawCount / timesMax);
}

function placeAll<Name extends string>(sizes: Readonly<Record<Name, number>>, base: number) {
  const layout = new Layout(base);
  const offsets = {} as Record<Name, number>;
  for (const name of Object.keys(sizes) as Name[]) offsets[name] = layout.take(sizes[name]);
  return { offsets, sizeBytes: layout.sizeBytes };
}
