// Decision trees for classes and for numbers.
import { Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { type Learner, TRACE, type TrainingData } from '../learner.ts';
import {
  type FitContext,
  Layout,
  type LearnJob,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import type { NodeStats, SplitCandidate } from './cell-search.ts';
import { fitTreeBySums } from './fit-by-sums.ts';
import { Grower, type GrowTask, type NodeRange } from './grow.ts';
import {
  checkOptions,
  DECISION_TREE_DEFAULTS,
  type DecisionTreeOptions,
  drawColumns,
  widthOf,
} from './options.ts';
import { type DecisionTree, TreeBuilder, UPDATE_ALGORITHMS } from './tree.ts';

/** What a tree is grown on. */
export type TreeData = Pick<TrainingData, 'matrix' | 'target' | 'weights' | 'pairs'>;

/** How deep "until separated" goes, and how deep anything goes: growing recurses once a level. */
const UNLIMITED_DEPTH = 50;
const DEPTH_MAX = 1000;

/** Nodes of fewer rows are grown whole by one thread. */
const SUBTREE_ROW_COUNT = 32_768;

/**
 * Fits a tree of three-way tests. Classes: splits minimise Z = 2/labels x the sum over outcomes and
 * labels of sqrt(w+ w-); regression: the weighted squared error. Ties go to the first feature and
 * the smaller argument.
 * @throws INVALID_PARAMETER for options out of range, DATA_ERROR when no row has weight
 * @see Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions",
 *   Machine Learning 37, 1999
 */
export function fitDecisionTree(
  context: FitContext,
  data: TreeData,
  options: DecisionTreeOptions,
): DecisionTree {
  checkOptions(options);
  const { matrix, target, weights, pairs } = data;
  const { workspace } = context;
  const { arena } = matrix.span;
  const labelCount = target.kind === 'classes' ? target.labelCount : 0;
  const rows = rowsWithWeight(weights);
  if (rows.length === 0) {
    throw failure('DATA_ERROR', 'cannot train with zero or non-finite weights');
  }
  const shape = { labelCount, hasPairs: pairs !== undefined };
  const weightCount = matrix.rowCount * (pairs === undefined ? 1 : labelCount);
  const sizes = [rows.length * 4, rows.length * 4, matrix.rowCount * 8, weightCount * 8];
  const growerSize = Grower.scratchSize(shape);
  const total = sizes.reduce((sum, size) => sum + size, growerSize + 128);
  return withScratch(workspace, arena, total, (scratch) => {
    const { f64, u16, u32 } = workspace.memory.get(arena);
    const layout = new Layout(scratch);
    const [rowsAt, spare, targets, weightsAt] = sizes.map((size) => layout.take(size)) as [
      number,
      number,
      number,
      number,
    ];
    u32.set(rows, rowsAt >>> 2);
    f64.set(pairs ?? weights, weightsAt >>> 3);
    if (target.kind === 'classes') u16.set(target.labels, targets >>> 1);
    else f64.set(target.values, targets >>> 3);
    const task: GrowTask = {
      matrix,
      columns: drawColumns(matrix, options),
      ...shape,
      targets,
      weights: weightsAt,
      rows: rowsAt,
      spare,
      maxDepth: options.maxDepth === -1 ? UNLIMITED_DEPTH : Math.min(options.maxDepth, DEPTH_MAX),
      updateAlgorithm: options.updateAlgorithm,
    };
    const grower = new Grower(workspace, task, layout.take(growerSize));
    return growTree(context, grower, rows.length);
  });
}

interface SearchArgs {
  readonly task: GrowTask;
  readonly range: NodeRange;
  readonly stats: NodeStats;
}

/** Searches one column of a large node. */
export function splitSearchJob(
  workspace: Workspace,
): LearnJob<SearchArgs, SplitCandidate | undefined> {
  return {
    name: 'learn.split-search',
    execute({ task, range, stats }, unit, scope) {
      scope.checkCancelled();
      return withGrower(workspace, task, (grower) =>
        grower.search(range, stats, task.columns[unit] as number),
      );
    },
  };
}

interface SubtreeArgs {
  readonly task: GrowTask;
  readonly ranges: readonly NodeRange[];
}

/** Grows one of several subtrees, whose rows are apart. */
export function subtreeJob(workspace: Workspace): LearnJob<SubtreeArgs, DecisionTree> {
  return {
    name: 'learn.subtree',
    execute({ task, ranges }, unit, scope) {
      scope.checkCancelled();
      return withGrower(workspace, task, (grower) => {
        const builder = new TreeBuilder(widthOf(task));
        grower.grow(builder, ranges[unit] as NodeRange, scope);
        return builder.build();
      });
    },
  };
}

function withGrower<Result>(
  workspace: Workspace,
  task: GrowTask,
  use: (grower: Grower) => Result,
): Result {
  const size = Grower.scratchSize(task);
  return withScratch(workspace, task.matrix.span.arena, size, (scratch) =>
    use(new Grower(workspace, task, scratch)),
  );
}

/** Large nodes are searched by all threads together, then the subtrees below are shared out. */
function growTree(context: FitContext, grower: Grower, rowCount: number): DecisionTree {
  const { task } = grower;
  const builder = new TreeBuilder(widthOf(task));
  const subtrees: {
    readonly parent: number;
    readonly outcome: number;
    readonly range: NodeRange;
  }[] = [];
  const growLarge = (range: NodeRange): number => {
    context.checkCancelled();
    const stats = grower.stats(range);
    const node = builder.addLeaf(stats.output, range.count);
    if (!grower.maySplit(range, stats)) return node;
    const job = splitSearchJob(context.workspace);
    const found = context.parallel.run(job, { task, range, stats }, task.columns.length);
    let best: SplitCandidate | undefined;
    for (const candidate of found) best = grower.betterOf(best, candidate, stats);
    if (best === undefined) return node;
    for (const [outcome, child] of grower.split(builder, node, range, stats, best).entries()) {
      if (child.count >= SUBTREE_ROW_COUNT) builder.setChild(node, outcome, growLarge(child));
      else if (child.count > 0) subtrees.push({ parent: node, outcome, range: child });
    }
    return node;
  };
  const whole = { from: 0, count: rowCount, depth: 0 };
  // Nodes cost what their rows have where columns are sparse, which is not worth sharing out.
  if (rowCount < SUBTREE_ROW_COUNT || task.matrix.sparse !== undefined) {
    grower.grow(builder, whole, context);
    return builder.build();
  }
  growLarge(whole);
  const ranges = subtrees.map(({ range }) => range);
  const job = subtreeJob(context.workspace);
  const grown = context.parallel.run(job, { task, ranges }, ranges.length);
  for (const [index, { parent, outcome }] of subtrees.entries()) {
    builder.setChild(parent, outcome, builder.append(grown[index] as DecisionTree));
  }
  return builder.build();
}

function rowsWithWeight(weights: Float64Array): Uint32Array {
  const rows = new Uint32Array(weights.length);
  let count = 0;
  for (let row = 0; row < weights.length; row++)
    if ((weights[row] as number) > 0) rows[count++] = row;
  return rows.subarray(0, count);
}

const OPTIONS = Type.Object({
  max_depth: Type.Integer({
    description: 'tests from root to leaf at most; -1: until rows are told apart, at most 50',
    minimum: -1,
    default: DECISION_TREE_DEFAULTS.maxDepth,
  }),
  update_alg: choice(UPDATE_ALGORITHMS, {
    description: 'what a leaf says: share, log-odds or margin of its weights',
    default: DECISION_TREE_DEFAULTS.updateAlgorithm,
  }),
  random_feature_propn: Type.Number({
    description: 'probability of each feature to be seen by the tree',
    exclusiveMinimum: 0,
    maximum: 1,
    default: DECISION_TREE_DEFAULTS.randomFeatureProportion,
  }),
  trace: TRACE,
});

export const decisionTreeLearner: Learner<typeof OPTIONS> = {
  type: 'decision_tree',
  summary: 'a tree of tests, each true, false or undecided for a row',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'each',
  takesPairs: true,
  takesSparse: true,
  options: OPTIONS,
  fit(context, data, { options }, seed) {
    const updateAlgorithm = options.update_alg;
    const tree = fitDecisionTree(context, data, {
      maxDepth: options.max_depth,
      updateAlgorithm,
      randomFeatureProportion: options.random_feature_propn,
      randomSeed: seed,
    });
    return { type: 'decision_tree', tree, updateAlgorithm };
  },
  prefersRows: true,
  fitSums(context, training, { options }, seed) {
    const updateAlgorithm = options.update_alg;
    const tree = fitTreeBySums(context, training, {
      maxDepth: options.max_depth,
      updateAlgorithm,
      randomFeatureProportion: options.random_feature_propn,
      randomSeed: seed,
    });
    return { type: 'decision_tree', tree, updateAlgorithm };
  },
};
