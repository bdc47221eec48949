// Options of random forests.
import { type Static, Type } from 'typebox';
import { acceptedText } from '../../schema/accepted.ts';
import { matches } from '../../schema/parse.ts';
import { schemaData } from '../../schema/schema-data.ts';
import { failure } from '../../util/error.ts';

/** Growing recurses once a level. */
const FOREST_DEPTH_MAX = 1000;

/** What a procedure that trains forests takes as parameters. */
export const FOREST_OPTIONS = {
  featureVectorSamplings: Type.Integer({
    description: 'samples of rows; on each as many trees grow as featureSamplings says',
    minimum: 1,
    maximum: 1_000_000,
    default: 5,
  }),
  featureVectorSamplingProp: Type.Number({
    description: 'size of each sample as a share of the rows, drawn with replacement',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 0.3,
  }),
  featureSamplings: Type.Integer({
    description: 'trees on each sample of rows',
    minimum: 1,
    maximum: 1_000_000,
    default: 20,
  }),
  featureSamplingProp: Type.Number({
    description: 'probability of each feature to be seen by a tree',
    minimum: 0,
    maximum: 1,
    default: 0.3,
  }),
  maxDepth: Type.Integer({
    description: 'levels of tests in a tree',
    minimum: 0,
    maximum: FOREST_DEPTH_MAX,
    default: 20,
  }),
};

const CHECKED = Type.Object({
  ...FOREST_OPTIONS,
  randomSeed: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  /** features tried at a node, drawn anew at each; default all that the tree sees */
  featuresPerNode: Type.Optional(Type.Integer({ minimum: 1, accepted: 'a whole number above 0' })),
});

export type ForestOptions = Readonly<Static<typeof CHECKED>>;

/** @throws INVALID_PARAMETER naming the option, what is accepted and what was given */
export function checkForestOptions(options: ForestOptions): void {
  for (const [name, option] of Object.entries(CHECKED.properties)) {
    const value = options[name as keyof ForestOptions];
    const isAbsent = value === undefined && Type.IsOptional(option);
    if (isAbsent || matches(option, value)) continue;
    throw failure(
      'INVALID_PARAMETER',
      `${name} must be ${acceptedText(schemaData(option))}: ${value}`,
    );
  }
}

export function treeCountOf(options: ForestOptions): number {
  return options.featureVectorSamplings * options.featureSamplings;
}
