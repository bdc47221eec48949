// Training a classifier on data that was read: labels become targets, rows get weights, and a
// learner fits.
import { buildMatrix, type FeatureMatrix, freeMatrix } from '../../learn/feature/matrix.ts';
import { gatherSource, type SourceColumn } from '../../learn/feature/source.ts';
import { labelList, labelPositions, type Mode } from '../../learn/label.ts';
import type { Iteration, LearnContext, Recipe, Target } from '../../learn/learner.ts';
import { innermost, readsSparse } from '../../learn/learners.ts';
import {
  type Algorithm,
  type ClassifierModel,
  modelEnsembles,
} from '../../learn/model/classifier.ts';
import { fitOneVsAll, type LabelSets } from '../../learn/one-vs-all/one-vs-all.ts';
import { Random } from '../../learn/random.ts';
import { spansOf } from '../../learn/tree/ensemble.ts';
import { equalizedSetWeights, equalizedWeights, normalized } from '../../learn/weight.ts';
import { failure } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import { atomToJsonText } from '../../value/json.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import { fitContext } from '../training/fit-context.ts';
import { type TrainingData, twoClasses } from '../training/training-data.ts';

export const MULTILABEL_STRATEGIES = ['random', 'decompose', 'one-vs-all'] as const;
export type MultilabelStrategy = (typeof MULTILABEL_STRATEGIES)[number];

/** What is to be trained. */
export interface TrainingOrder {
  readonly recipe: Recipe;
  /** keys of the root of the configuration that mean nothing */
  readonly unknownKeys: readonly string[];
  readonly mode: Mode;
  readonly strategy: MultilabelStrategy;
  readonly equalizationFactor: number;
  readonly seed: number;
}

export interface TrainedClassifier {
  readonly model: ClassifierModel;
  /** rounds of the learner, where it has any */
  readonly iterations: readonly Iteration[];
  /** weight of each label, or of each class, as rows were given */
  readonly labelWeights: readonly (readonly [unknown, number])[];
  /** Gives shared memory of the model back. */
  free(): void;
}

/** Labels between two looks at the cancel flag. */
const LABELS_PER_CHECK = 16_384;
const LABEL_COUNT_MAX = 0xffff;

const STREAM_LABEL = 51;

/** @throws DATA_ERROR when labels or weights cannot be learned */
export function trainClassifier(
  context: ProcedureContext,
  data: TrainingData,
  order: TrainingOrder,
  onProgress: (share: number) => void,
): TrainedClassifier {
  const look = every(LABELS_PER_CHECK, () => context.checkCancelled());
  const problem = problemOf(data, order, look);
  const iterations: Iteration[] = [];
  const learning: LearnContext = {
    ...fitContext(context, onProgress),
    reportIteration: (iteration) => iterations.push(iteration),
  };
  const inner = innermost(order.recipe);
  const { learner } = inner;
  const matrix = buildMatrix(
    learning.workspace,
    problem.sources,
    rowTargets(problem),
    {
      coding: learner.coding,
      arena: 0,
      bucketCountMax: learner.bucketCountMax?.(inner.options),
      keepsSparse: readsSparse(order.recipe, classCountOf(problem)),
    },
    context,
  );
  try {
    const algorithm = fit(learning, problem, matrix, order);
    const { mode } = order;
    return {
      model: { mode, labels: problem.labels, features: matrix.features, algorithm },
      iterations,
      labelWeights: problem.labelWeights,
      free: () => {
        for (const span of modelEnsembles(algorithm).flatMap(spansOf)) context.arenas.free(span);
      },
    };
  } finally {
    freeMatrix(learning.workspace, matrix);
  }
}

/** Classes that a learner tells apart: one label against the others are two. */
function classCountOf({ target }: Problem): number {
  return target?.kind === 'classes' ? target.labelCount : 2;
}

/** Rows as a learner sees them. */
interface Problem {
  readonly sources: readonly SourceColumn[];
  readonly rowCount: number;
  readonly mode: Mode;
  readonly labels: readonly string[];
  /** absent where every row has a set of labels */
  readonly target?: Target;
  readonly sets?: LabelSets;
  readonly weights: Float64Array;
  readonly weightTotal: number;
  readonly labelWeights: readonly (readonly [unknown, number])[];
}

function fit(
  context: LearnContext,
  { mode, sets, sources, target, weights, weightTotal }: Problem,
  matrix: FeatureMatrix,
  { recipe, seed }: TrainingOrder,
): Algorithm {
  const data = { matrix, sources, weights, weightTotal };
  if (sets !== undefined) {
    const own = recipe.learner.type === 'onevsall' ? recipe.weak : recipe;
    if (own === undefined) throw new Error('onevsall has a learner inside');
    // Gradient boosting gives probabilities by itself.
    return fitOneVsAll(context, data, sets, own, seed, own.learner.type !== 'gbt');
  }
  if (target === undefined) throw new Error('rows have a label or a set of labels');
  return recipe.learner.fit(context, { ...data, mode, target }, recipe, seed);
}

/** What categories are ordered by where they have to be: the mean of this. */
function rowTargets({ rowCount, weights, target }: Problem) {
  if (target === undefined) return { rowCount, weights };
  const targets = target.kind === 'regression' ? target.values : Float64Array.from(target.labels);
  return { rowCount, weights, targets };
}

function problemOf(data: TrainingData, order: TrainingOrder, look: () => void): Problem {
  const { labels, rowCount, features: sources } = data;
  const { equalizationFactor } = order;
  const weightTotal = data.weights?.reduce((sum, weight) => sum + weight, 0) ?? rowCount;
  const common = { sources, rowCount, mode: order.mode, weightTotal, labels: [] };
  switch (labels.form) {
    case 'truth': {
      const codes = Uint16Array.from(twoClasses(data));
      return {
        ...common,
        target: { kind: 'classes', labels: codes, labelCount: 2 },
        weights: equalizedWeights(codes, 2, equalizationFactor, data.weights),
        labelWeights: weightsByLabel([0, 1], codes, data.weights),
      };
    }
    case 'number':
      return {
        ...common,
        target: { kind: 'regression', values: labels.values },
        weights: normalized(data.weights?.slice() ?? new Float64Array(rowCount).fill(1)),
        labelWeights: [],
      };
    case 'atom': {
      const list = labelList(labels.values, look);
      const positions = labelPositions(checkedCount(list, order.mode));
      const codes = Uint16Array.from(labels.values, (label) => {
        look();
        return positions.get(atomToJsonText(label)) as number;
      });
      return {
        ...common,
        labels: list,
        target: { kind: 'classes', labels: codes, labelCount: list.length },
        weights: equalizedWeights(codes, list.length, equalizationFactor, data.weights),
        labelWeights: weightsByLabel(
          list.map((label): unknown => JSON.parse(label)),
          codes,
          data.weights,
        ),
      };
    }
    case 'set':
      return setProblem(data, labels.values, order, look);
  }
}

/** @throws DATA_ERROR when there are more labels than positions */
export function checkedCount(list: readonly string[], mode: Mode): readonly string[] {
  if (list.length <= LABEL_COUNT_MAX) return list;
  throw failure(
    'DATA_ERROR',
    `${list.length} labels in mode ${mode}; at most ${LABEL_COUNT_MAX} are accepted`,
  );
}

function weightsByLabel(
  names: readonly unknown[],
  codes: Uint16Array,
  weights: Float64Array | undefined,
): (readonly [unknown, number])[] {
  const totals = new Float64Array(names.length);
  for (const [row, code] of codes.entries()) {
    totals[code] = (totals[code] as number) + (weights?.[row] ?? 1);
  }
  return names.map((name, index) => [name, totals[index] as number] as const);
}

/** Rows with any number of labels, as the strategy turns them into examples. */
function setProblem(
  data: TrainingData,
  rows: readonly (readonly string[])[],
  order: TrainingOrder,
  look: () => void,
): Problem {
  const names = new Set<string>();
  for (const row of rows) {
    look();
    for (const name of row) names.add(name);
  }
  const list = labelList(names);
  if (list.length === 0) throw failure('DATA_ERROR', 'no row has a label');
  const positions = labelPositions(checkedCount(list, order.mode));
  const codesOf = (row: readonly string[]) =>
    row.map((name) => positions.get(atomToJsonText(name)) as number).sort((a, b) => a - b);
  const all = rows.map(codesOf);
  const labelWeights = weightsByLabel(
    list.map((label): unknown => JSON.parse(label)),
    Uint16Array.from(all.flat()),
    undefined,
  );
  const common = { mode: order.mode, labels: list, labelWeights };
  const isOneVsAll = order.recipe.learner.type === 'onevsall' || order.strategy === 'one-vs-all';
  if (isOneVsAll) return { ...common, ...oneVsAll(data, all, list.length, order) };
  const random = Random.of(order.seed, STREAM_LABEL);
  const examples = all.flatMap((codes, row) => {
    if (codes.length === 0) return [];
    if (order.strategy === 'decompose') return codes.map((label) => ({ row, label }));
    return [{ row, label: codes[random.below(codes.length)] as number }];
  });
  const at = Uint32Array.from(examples, ({ row }) => row);
  const codes = Uint16Array.from(examples, ({ label }) => label);
  const weights = data.weights && Float64Array.from(at, (row) => data.weights?.[row] as number);
  return {
    ...common,
    mode: 'categorical',
    sources: data.features.map((source) => gatherSource(source, at)),
    rowCount: at.length,
    target: { kind: 'classes', labels: codes, labelCount: list.length },
    weights: equalizedWeights(codes, list.length, order.equalizationFactor, weights),
    weightTotal: weights?.reduce((sum, weight) => sum + weight, 0) ?? at.length,
  };
}

function oneVsAll(
  data: TrainingData,
  all: readonly (readonly number[])[],
  labelCount: number,
  { equalizationFactor }: TrainingOrder,
) {
  const offsets = new Uint32Array(all.length + 1);
  for (const [row, codes] of all.entries()) {
    offsets[row + 1] = (offsets[row] as number) + codes.length;
  }
  const sets = { labels: Uint16Array.from(all.flat()), offsets, labelCount };
  // Rows without labels are examples too: for their weight, "none" is a label of its own.
  const withNone = all.map((codes) => (codes.length === 0 ? [labelCount] : codes));
  const ends = new Uint32Array(all.length + 1);
  for (const [row, codes] of withNone.entries()) {
    ends[row + 1] = (ends[row] as number) + codes.length;
  }
  return {
    sources: data.features,
    rowCount: data.rowCount,
    sets,
    weights: equalizedSetWeights(
      withNone.flat(),
      ends,
      labelCount + 1,
      equalizationFactor,
      data.weights,
    ),
    weightTotal: data.weights?.reduce((sum, weight) => sum + weight, 0) ?? data.rowCount,
  };
}
