// What decision trees are told, and what follows from it before a row is seen.
import { failure } from '../../util/error.ts';
import type { Feature } from '../feature/feature.ts';
import { Random } from '../random.ts';
import type { CodeColumn } from '../tree/ensemble.ts';
import { UPDATE_ALGORITHMS, type UpdateAlgorithm } from './tree.ts';

export interface DecisionTreeOptions {
  /** -1: until rows are told apart, at most 50 */
  readonly maxDepth: number;
  readonly updateAlgorithm: UpdateAlgorithm;
  /** probability of each feature to be seen by the tree, in (0, 1] */
  readonly randomFeatureProportion: number;
  readonly randomSeed: number;
}

export const DECISION_TREE_DEFAULTS: DecisionTreeOptions = {
  maxDepth: -1,
  updateAlgorithm: 'prob',
  randomFeatureProportion: 1,
  randomSeed: 1,
};

/** Draws of features before giving up. */
const DRAW_COUNT_MAX = 50;

const STREAM_FEATURES = 4;

/** Two classes mirror one another, so one output says it all. */
export function widthOf({
  labelCount,
  hasPairs,
}: {
  readonly labelCount: number;
  readonly hasPairs: boolean;
}): number {
  if (hasPairs) return labelCount;
  return labelCount > 2 || labelCount === 1 ? labelCount : 1;
}

/** Columns of the features that the tree sees: each feature with the given probability. */
export function drawColumns(
  matrix: { readonly features: readonly Feature[]; readonly columns: readonly CodeColumn[] },
  options: Pick<DecisionTreeOptions, 'randomFeatureProportion' | 'randomSeed'>,
): number[] {
  const proportion = options.randomFeatureProportion;
  const random = Random.of(options.randomSeed, STREAM_FEATURES);
  for (let draw = 0; draw < DRAW_COUNT_MAX; draw++) {
    const kept = matrix.features.map(() => proportion === 1 || random.uniform() < proportion);
    const columns = [...matrix.columns.keys()].filter(
      (index) => kept[matrix.columns[index]?.feature ?? 0],
    );
    if (columns.length > 0 || matrix.columns.length === 0) return columns;
  }
  throw failure(
    'INVALID_PARAMETER',
    `random_feature_propn ${proportion} left no feature in ${DRAW_COUNT_MAX} draws`,
  );
}

/** @throws INVALID_PARAMETER for options out of range */
export function checkOptions(options: DecisionTreeOptions): void {
  const { maxDepth, randomFeatureProportion, updateAlgorithm } = options;
  const refuse = (name: string, accepted: string, value: unknown) =>
    failure('INVALID_PARAMETER', `${name} must be ${accepted}: ${value}`);
  if (!(Number.isInteger(maxDepth) && maxDepth >= -1)) {
    throw refuse('max_depth', 'a whole number from -1', maxDepth);
  }
  if (!(randomFeatureProportion > 0 && randomFeatureProportion <= 1)) {
    throw refuse('random_feature_propn', 'above 0 and at most 1', randomFeatureProportion);
  }
  if (!UPDATE_ALGORITHMS.includes(updateAlgorithm)) {
    throw refuse('update_alg', UPDATE_ALGORITHMS.join(', '), updateAlgorithm);
  }
}
