// Options of random forests.
import { failure } from '../../util/error.ts';

export interface ForestOptions {
  /** samples of rows */
  readonly featureVectorSamplings: number;
  /** size of each, as a share of the rows, drawn with replacement */
  readonly featureVectorSamplingProp: number;
  /** trees grown on each sample */
  readonly featureSamplings: number;
  /** probability of each feature to be seen by a tree */
  readonly featureSamplingProp: number;
  readonly maxDepth: number;
  readonly randomSeed: number;
  /** features tried at a node, drawn anew at each; default all that the tree sees */
  readonly featuresPerNode?: number;
}

export const FOREST_DEFAULTS: ForestOptions = {
  featureVectorSamplings: 5,
  featureVectorSamplingProp: 0.3,
  featureSamplings: 20,
  featureSamplingProp: 0.3,
  maxDepth: 20,
  randomSeed: 1,
};

/** Growing recurses once a level. */
export const FOREST_DEPTH_MAX = 1000;

type NumericOption = Exclude<keyof ForestOptions, 'featuresPerNode'>;

const RANGES: Readonly<Record<NumericOption, { low: number; high: number; whole: boolean }>> = {
  featureVectorSamplings: { low: 1, high: 1_000_000, whole: true },
  featureVectorSamplingProp: { low: Number.MIN_VALUE, high: 1, whole: false },
  featureSamplings: { low: 1, high: 1_000_000, whole: true },
  featureSamplingProp: { low: 0, high: 1, whole: false },
  maxDepth: { low: 0, high: FOREST_DEPTH_MAX, whole: true },
  randomSeed: { low: 0, high: Number.MAX_SAFE_INTEGER, whole: true },
};

/** @throws INVALID_PARAMETER naming the option, what is accepted and what was given */
export function checkForestOptions(options: ForestOptions): void {
  for (const [name, range] of Object.entries(RANGES)) {
    const value = options[name as NumericOption];
    if (value >= range.low && value <= range.high && (!range.whole || Number.isInteger(value))) {
      continue;
    }
    const low = range.low === Number.MIN_VALUE ? 'above 0' : `from ${range.low}`;
    throw failure(
      'INVALID_PARAMETER',
      `${name} must be a ${range.whole ? 'whole ' : ''}number ${low} to ${range.high}: ${value}`,
    );
  }
  const { featuresPerNode } = options;
  if (
    featuresPerNode !== undefined &&
    !(Number.isInteger(featuresPerNode) && featuresPerNode > 0)
  ) {
    throw failure(
      'INVALID_PARAMETER',
      `featuresPerNode must be a whole number above 0: ${featuresPerNode}`,
    );
  }
}

export function treeCountOf(options: ForestOptions): number {
  return options.featureVectorSamplings * options.featureSamplings;
}
