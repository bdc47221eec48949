// Random forests for two classes: many deep trees on samples of rows and features, averaged.
import { NODE_COLUMN_MAX } from '../../kernel/generated.ts';
import { failure } from '../../util/error.ts';
import type { FeatureMatrix } from '../feature/matrix.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';
import { type FitContext, type JobContext, Layout, withScratch } from '../workspace.ts';
import { checkForestOptions, type ForestOptions, treeCountOf } from './options.ts';
import { type ForestTask, finishedTrees, forestTreeJob, ledgerSize } from './train-tree.ts';

export interface ForestData {
  /** features with coding `rank`; rows without label or weight are left out by the caller */
  readonly matrix: FeatureMatrix;
  /** 0 or 1 a row */
  readonly labels: Uint8Array;
  /** above 0, one a row; absent when all rows weigh the same */
  readonly weights?: Float64Array;
}

/** Rows whose number leaves bits of an entry for label and count. */
const ROW_COUNT_MAX = 2 ** 29;

/**
 * Fits featureVectorSamplings x featureSamplings trees. Splits minimise
 * 2 (sqrt(a0 a1) + sqrt(b0 b1)); a leaf says the share of label 1; a row's score is the mean of all
 * trees. Missing values go where they fit best, or stop a walk where training had none.
 * The model's spans are the caller's to free.
 * @throws INVALID_PARAMETER for options out of range, DATA_ERROR for too many columns or rows
 * @see Breiman, "Random forests", Machine Learning 45, 2001
 */
export function fitForest(
  context: FitContext,
  data: ForestData,
  options: ForestOptions,
): TreeEnsemble {
  checkForestOptions(options);
  const { matrix, labels, weights } = data;
  const { rowCount, columns, span } = matrix;
  if (rowCount === 0) throw failure('DATA_ERROR', 'a forest needs at least one row');
  if (rowCount > ROW_COUNT_MAX) throw tooMany('rows', rowCount, ROW_COUNT_MAX);
  if (columns.length > NODE_COLUMN_MAX) throw tooMany('columns', columns.length, NODE_COLUMN_MAX);
  const { workspace } = context;
  const { u8, f64 } = workspace.memory.get(span.arena);
  const needsWeights = weights?.some((weight) => weight !== weights[0]) ?? false;
  const treeCount = treeCountOf(options);
  const sizes = [ledgerSize(treeCount), needsWeights ? rowCount * 8 : 0, rowCount];
  const scratchSize = sizes.reduce((sum, size) => sum + size, 0) + 64;
  return withScratch(workspace, span.arena, scratchSize, (scratch) => {
    const layout = new Layout(scratch);
    const [ledger, weightsAt, labelsAt] = sizes.map((size) => layout.take(size)) as [
      number,
      number,
      number,
    ];
    u8.fill(0, ledger, ledger + ledgerSize(treeCount));
    if (needsWeights && weights !== undefined) f64.set(weights, weightsAt >>> 3);
    u8.set(labels, labelsAt);
    const task: ForestTask = {
      matrix,
      labels: labelsAt,
      weights: needsWeights ? weightsAt : 0,
      options,
      ledger,
    };
    try {
      const job = reporting(context, task, treeCount);
      const trees = context.parallel.run(job, task, treeCount);
      return {
        features: matrix.features,
        columns: columns.map(({ feature, part }) => ({ feature, part })),
        width: 1,
        trees,
        weights: trees.map(() => 1),
        divisor: treeCount,
      };
    } catch (thrown) {
      for (const tree of finishedTrees(workspace, task, treeCount)) workspace.memory.free(tree);
      throw thrown;
    }
  });
}

/** The job as this thread runs it: after each of its own trees it tells how many are done. */
function reporting(context: FitContext, task: ForestTask, treeCount: number) {
  const { workspace } = context;
  const job = forestTreeJob(workspace);
  const { i32 } = workspace.memory.get(task.matrix.span.arena);
  return {
    name: job.name,
    execute(args: ForestTask, unit: number, scope: JobContext) {
      const tree = job.execute(args, unit, scope);
      context.progress?.(Atomics.load(i32, task.ledger >>> 2), treeCount);
      return tree;
    },
  };
}

function tooMany(what: string, count: number, limit: number): Error {
  return failure('DATA_ERROR', `a forest takes at most ${limit} ${what}, not ${count}`);
}
