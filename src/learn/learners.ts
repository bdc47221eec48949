// The learners that configurations can name, and configurations as recipes.
import { failure } from '../util/error.ts';
import { baggingLearner } from './committee/bagging.ts';
import { boostedStumpsLearner } from './committee/boosted-stumps.ts';
import { boostingLearner } from './committee/boosting.ts';
import { type ConfigurationEntry, nestedEntry, readOptions } from './configuration.ts';
import { decisionTreeLearner } from './decision-tree/decision-tree.ts';
import { stumpLearner } from './decision-tree/stump.ts';
import { fastTextLearner } from './fasttext/fasttext.ts';
import { gbtLearner } from './gbt/fit.ts';
import { glzLearner } from './glz/learner.ts';
import type { Mode } from './label.ts';
import type { Learner, Recipe } from './learner.ts';
import { naiveBayesLearner } from './naive-bayes/naive-bayes.ts';
import { nullLearner } from './null/null.ts';
import { oneVsAllLearner } from './one-vs-all/one-vs-all.ts';
import { perceptronLearner } from './perceptron/perceptron.ts';

export const LEARNERS: readonly Learner[] = [
  baggingLearner,
  boostedStumpsLearner,
  boostingLearner,
  decisionTreeLearner,
  fastTextLearner,
  gbtLearner,
  glzLearner,
  naiveBayesLearner,
  nullLearner,
  oneVsAllLearner,
  perceptronLearner,
  stumpLearner,
];

/** @throws INVALID_PARAMETER naming the types that there are */
export function findLearner({ path, type }: ConfigurationEntry): Learner {
  const learner = LEARNERS.find((candidate) => candidate.type === type);
  if (learner !== undefined) return learner;
  const known = LEARNERS.map((candidate) => candidate.type).sort();
  throw failure(
    'INVALID_PARAMETER',
    `unknown classifier type '${type}' at '${path}'; there are ${known.join(', ')}`,
  );
}

export interface RecipeReading {
  readonly recipe: Recipe;
  /** full paths of keys of the root of the configuration that mean nothing */
  readonly unknownKeys: readonly string[];
}

/** @throws INVALID_PARAMETER for unknown types and options, and a mode that a learner lacks */
export function readRecipe(entry: ConfigurationEntry, mode: Mode): RecipeReading {
  const learner = findLearner(entry);
  if (!learner.modes.includes(mode)) {
    throw failure('INVALID_PARAMETER', refusalOf(learner, mode));
  }
  const nested = learner.isCommittee === true ? ['weak_learner'] : [];
  const { options, unknownKeys } = readOptions(entry, learner.options, nested);
  const inner = learner.isCommittee === true ? nestedEntry(entry) : undefined;
  const weak = inner === undefined ? undefined : readRecipe(inner, weakMode(learner, mode));
  const recipe: Recipe = {
    learner,
    options,
    path: entry.path,
    ...(weak === undefined ? {} : { weak: weak.recipe }),
  };
  learner.check?.(recipe, mode);
  return { recipe, unknownKeys };
}

/** The innermost learner, which decides how data is read. */
export function innermost(recipe: Recipe): Recipe {
  return recipe.weak === undefined ? recipe : innermost(recipe.weak);
}

/** Whether columns that few rows have may be given by their entries. */
export function readsSparse({ learner, weak }: Recipe, labelCount: number): boolean {
  if (learner.takesSparse !== true) return false;
  if (learner.makesPairs === true && labelCount > 2) return false;
  return weak === undefined || readsSparse(weak, labelCount);
}

/** Options of a recipe and of those inside it, as the configuration would say them. */
export function recipeDocument({ learner, options, weak }: Recipe): Record<string, unknown> {
  const inner = weak === undefined ? {} : { weak_learner: recipeDocument(weak) };
  return { type: learner.type, ...options, ...inner };
}

/** One label against the others is a matter of two classes. */
function weakMode({ type }: Learner, mode: Mode): Mode {
  return type === oneVsAllLearner.type ? 'boolean' : mode;
}

function refusalOf({ type, modes }: Learner, mode: Mode): string {
  if (type === fastTextLearner.type && mode === 'regression') {
    return 'FastText classifier does not currently support regression mode';
  }
  const accepted = modes.join(', ');
  return `classifier type '${type}' does not support mode ${mode}; accepted are ${accepted}`;
}
