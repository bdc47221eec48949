// Stumps: trees of one test, each outcome with what its own rows say.
import { Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import type { FeatureMatrix } from '../feature/matrix.ts';
import { type LearnContext, type Learner, TRACE } from '../learner.ts';
import type { Algorithm, CommitteeModel } from '../model/classifier.ts';
import { Random } from '../random.ts';
import { Layout, withScratch } from '../workspace.ts';
import type { SplitCandidate } from './cell-search.ts';
import type { TreeData } from './decision-tree.ts';
import { Grower, type GrowTask } from './grow.ts';
import {
  type DecisionTree,
  NO_CHILD,
  TreeBuilder,
  UPDATE_ALGORITHMS,
  type UpdateAlgorithm,
} from './tree.ts';

export interface StumpOptions {
  /** that many of the best stumps, weighted by 1 / Z */
  readonly committeeSize: number;
  /** probability of each feature to be tried, in (0, 1] */
  readonly featureProportion: number;
  readonly updateAlgorithm: UpdateAlgorithm;
  /** share of the heaviest rows that is left out, in [0, 1) */
  readonly ignoreHighest: number;
  readonly randomSeed: number;
}

export const STUMP_DEFAULTS: StumpOptions = {
  committeeSize: 1,
  featureProportion: 1,
  updateAlgorithm: 'normal',
  ignoreHighest: 0,
  randomSeed: 1,
};

export interface Stump {
  readonly tree: DecisionTree;
  /** score of the test; smaller is better */
  readonly z: number;
}

const STREAM_FEATURES = 12;

/**
 * The best tests, each of another feature's column; best first, at least one.
 * @see Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions",
 *   Machine Learning 37, 1999
 */
export function fitStumps(
  context: LearnContext,
  data: TreeData,
  options: StumpOptions,
  count = options.committeeSize,
): Stump[] {
  const { matrix, target, pairs } = data;
  const { workspace } = context;
  const { arena } = matrix.span;
  const labelCount = target.kind === 'classes' ? target.labelCount : 0;
  const weights = withoutHeaviest(data.weights, options.ignoreHighest);
  const rows = rowsOf(weights);
  const pairCount = pairs === undefined ? 1 : labelCount;
  const shape = { labelCount, hasPairs: pairs !== undefined };
  const sizes = [
    ...[rows.length * 4, rows.length * 4, matrix.rowCount * 8],
    ...[matrix.rowCount * 8 * pairCount, Grower.scratchSize(shape)],
  ];
  const total = sizes.reduce((sum, size) => sum + size + 16, 0);
  return withScratch(workspace, arena, total, (scratch) => {
    const layout = new Layout(scratch);
    const [rowsAt, spare, targets, weightsAt, growerAt] = sizes.map((size) =>
      layout.take(size),
    ) as [number, number, number, number, number];
    const { f64, u16, u32 } = workspace.memory.get(arena);
    u32.set(rows, rowsAt >>> 2);
    f64.set(pairs ?? weights, weightsAt >>> 3);
    if (target.kind === 'classes') u16.set(target.labels, targets >>> 1);
    else f64.set(target.values, targets >>> 3);
    const task: GrowTask = {
      ...{ matrix, columns: drawColumns(matrix, options), ...shape },
      ...{ targets, weights: weightsAt, rows: rowsAt, spare, maxDepth: 1 },
      updateAlgorithm: options.updateAlgorithm,
    };
    const grower = new Grower(workspace, task, growerAt);
    return bestStumps(context, grower, rows.length, count);
  });
}

function bestStumps(
  context: LearnContext,
  grower: Grower,
  rowCount: number,
  count: number,
): Stump[] {
  const range = { from: 0, count: rowCount, depth: 0 };
  const stats = grower.stats(range);
  const width = stats.output.length;
  const found: SplitCandidate[] = [];
  if (!stats.isPure) grower.searchAll(range, stats, context, (candidate) => found.push(candidate));
  if (found.length === 0) {
    const builder = new TreeBuilder(width);
    builder.addLeaf(stats.output, rowCount);
    return [{ tree: builder.build(), z: 1 }];
  }
  // The order of columns decides between scores that differ by rounding only.
  const ranks = new Map(found.map((candidate, index) => [candidate, index]));
  const rank = (candidate: SplitCandidate) => ranks.get(candidate) as number;
  const ordered = [...found].sort((a, b) => {
    const first = grower.betterOf(a, b, stats) === a;
    const second = grower.betterOf(b, a, stats) === b;
    return first === second ? rank(a) - rank(b) : first ? -1 : 1;
  });
  return ordered.slice(0, count).map((candidate) => {
    const builder = new TreeBuilder(width);
    const root = builder.addLeaf(stats.output, rowCount);
    const children = grower.split(builder, root, range, stats, candidate);
    for (const [outcome, child] of children.entries()) {
      const isEmpty = child.count === 0;
      const output = isEmpty ? new Float64Array(width) : grower.stats(child).output;
      builder.setChild(root, outcome, builder.addLeaf(output, child.count));
    }
    const tree = builder.build();
    // A test for presence has no third outcome.
    if (tree.tests[0] === 1) tree.children[2] = NO_CHILD;
    return { tree, z: tree.scores[0] as number };
  });
}

/** Rows that weigh anything. */
function rowsOf(weights: Float64Array): Uint32Array {
  const rows = new Uint32Array(weights.length);
  let count = 0;
  for (let row = 0; row < weights.length; row++) {
    if ((weights[row] as number) > 0) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

/** Weights of which the heaviest rows' share is 0. */
function withoutHeaviest(weights: Float64Array, share: number): Float64Array {
  const count = Math.floor(weights.length * share);
  if (count === 0) return weights;
  const order = [...weights.keys()].sort(
    (a, b) => (weights[b] as number) - (weights[a] as number) || a - b,
  );
  const kept = weights.slice();
  for (const row of order.slice(0, count)) kept[row] = 0;
  return kept;
}

function drawColumns(matrix: FeatureMatrix, options: StumpOptions): number[] {
  const { featureProportion } = options;
  const all = [...matrix.columns.keys()];
  if (featureProportion === 1) return all;
  const random = Random.of(options.randomSeed, STREAM_FEATURES);
  const kept = matrix.features.map(() => random.uniform() < featureProportion);
  const columns = all.filter((index) => kept[matrix.columns[index]?.feature ?? 0]);
  return columns.length > 0 ? columns : all.slice(0, 1);
}

/** Stumps that vote with 1 / Z, shares of 1; a perfect one counts alone. */
export function stumpCommittee(
  stumps: readonly Stump[],
  updateAlgorithm: UpdateAlgorithm,
): CommitteeModel {
  const inverse = stumps.map(({ z }) => 1 / Math.max(z, 1e-12));
  const total = inverse.reduce((sum, value) => sum + value, 0);
  return {
    type: 'committee',
    members: stumps.map(({ tree }) => ({ type: 'decision_tree', tree, updateAlgorithm })),
    weights: inverse.map((value) => value / total),
  };
}

const OPTIONS = Type.Object({
  committee_size: Type.Integer({
    description: 'the best stumps vote, weighted by 1 / Z',
    minimum: 1,
    default: STUMP_DEFAULTS.committeeSize,
  }),
  feature_prop: Type.Number({
    description: 'probability of each feature to be tried',
    exclusiveMinimum: 0,
    maximum: 1,
    default: STUMP_DEFAULTS.featureProportion,
  }),
  update_alg: choice(UPDATE_ALGORITHMS, {
    description: 'what an outcome says: share, log-odds or margin of its weights',
    default: STUMP_DEFAULTS.updateAlgorithm,
  }),
  ignore_highest: Type.Number({
    description: 'share of the heaviest rows that is left out',
    minimum: 0,
    maximum: 0.999999,
    default: STUMP_DEFAULTS.ignoreHighest,
  }),
  trace: TRACE,
});

export const stumpLearner: Learner<typeof OPTIONS> = {
  type: 'stump',
  summary: 'one test of one feature',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'each',
  takesPairs: true,
  takesSparse: true,
  options: OPTIONS,
  fit(context, data, { options }, seed): Algorithm {
    const updateAlgorithm = options.update_alg;
    const stumps = fitStumps(context, data, {
      committeeSize: options.committee_size,
      featureProportion: options.feature_prop,
      updateAlgorithm,
      ignoreHighest: options.ignore_highest,
      randomSeed: seed,
    });
    const [only] = stumps;
    if (stumps.length > 1 || only === undefined) return stumpCommittee(stumps, updateAlgorithm);
    return { type: 'stump', tree: only.tree, updateAlgorithm, z: only.z };
  },
};
