// Fitting any configuration to columns, as tests of learners need it.
import { resolveEntry } from '../../../src/learn/configuration.ts';
import { buildMatrix } from '../../../src/learn/feature/matrix.ts';
import type { SourceColumn } from '../../../src/learn/feature/source.ts';
import type { Mode } from '../../../src/learn/label.ts';
import type { Iteration, Recipe, Target } from '../../../src/learn/learner.ts';
import { innermost, readRecipe } from '../../../src/learn/learners.ts';
import { type ClassifierModel, modelEnsembles } from '../../../src/learn/model/classifier.ts';
import { prepare, preparedSpans } from '../../../src/learn/model/prepare.ts';
import { scoreColumns } from '../../../src/learn/model/score.ts';
import { spansOf } from '../../../src/learn/tree/ensemble.ts';
import { normalized } from '../../../src/learn/weight.ts';
import type { FitContext } from '../../../src/learn/workspace.ts';

export interface Problem {
  readonly sources: readonly SourceColumn[];
  readonly rowCount: number;
  readonly target: Target;
  readonly weights?: Float64Array;
}

export interface FitOptions {
  readonly seed?: number;
  readonly iterations?: Iteration[];
}

export function fitConfiguration(
  context: FitContext,
  configuration: object,
  mode: Mode,
  problem: Problem,
  options: FitOptions = {},
): ClassifierModel {
  const { recipe } = readRecipe(resolveEntry(configuration, ''), mode);
  return fitRecipe(context, recipe, mode, problem, options);
}

export function fitRecipe(
  context: FitContext,
  recipe: Recipe,
  mode: Mode,
  { sources, rowCount, target, weights: given }: Problem,
  { seed = 1, iterations }: FitOptions = {},
): ClassifierModel {
  const raw = given ?? new Float64Array(rowCount).fill(1);
  const weightTotal = raw.reduce((sum, weight) => sum + weight, 0);
  const weights = normalized(raw.slice());
  const targets = Float64Array.from(target.kind === 'classes' ? target.labels : target.values);
  const { learner, options } = innermost(recipe);
  const matrix = buildMatrix(
    context.workspace,
    sources,
    { rowCount, weights, targets },
    { coding: learner.coding, arena: 0, bucketCountMax: learner.bucketCountMax?.(options) },
  );
  try {
    const data = { matrix, sources, mode, target, weights, weightTotal };
    const reporting = {
      ...context,
      ...(iterations === undefined
        ? {}
        : { reportIteration: (iteration: Iteration) => iterations.push(iteration) }),
    };
    const algorithm = recipe.learner.fit(reporting, data, recipe, seed);
    const labelCount = target.kind === 'classes' ? target.labelCount : 0;
    const named = mode === 'categorical';
    const labels = named ? Array.from({ length: labelCount }, (_, l) => `"${l}"`) : [];
    return { mode, labels, features: matrix.features, algorithm };
  } finally {
    context.workspace.memory.free(matrix.span);
  }
}

export function freeModel({ workspace }: FitContext, { algorithm }: ClassifierModel): void {
  for (const span of modelEnsembles(algorithm).flatMap(spansOf)) workspace.memory.free(span);
}

/** Scores of all rows, by column; the model stays. */
export function scoresOf(
  context: FitContext,
  model: ClassifierModel,
  { sources, rowCount }: Pick<Problem, 'sources' | 'rowCount'>,
): number[] {
  const prepared = prepare(context.workspace, model.features, model.algorithm, 0);
  const owned = new Set(modelEnsembles(model.algorithm).flatMap(spansOf));
  try {
    return [...scoreColumns(context, { model, prepared }, sources, rowCount)];
  } finally {
    for (const span of preparedSpans(prepared)) {
      if (!owned.has(span)) context.workspace.memory.free(span);
    }
  }
}
