// Naive Bayes: features that are independent of one another given the label, each read as one test.

import { Type } from 'typebox';
import type { SplitCandidate } from '../decision-tree/cell-search.ts';
import { Grower, type GrowTask } from '../decision-tree/grow.ts';
import { NodeEntries } from '../decision-tree/node-entries.ts';
import { TEST_LESS, TEST_PRESENT } from '../decision-tree/tree.ts';
import { type Feature, MISSING_CODE } from '../feature/feature.ts';
import { buildMatrix, freeMatrix } from '../feature/matrix.ts';
import { type Learner, TRACE, type TrainingData } from '../learner.ts';
import { Random } from '../random.ts';
import type { SummedTraining } from '../sums/training.ts';
import { type FitContext, Layout, withScratch } from '../workspace.ts';
import type { BayesTest, NaiveBayesModel } from './model.ts';

const STREAM_FEATURES = 13;

/**
 * Reads each number as "below a threshold" and each text as "one category", whichever test tells
 * the labels apart best, and counts how often each outcome occurs under each label.
 * @see Domingos & Pazzani, "On the optimality of the simple Bayesian classifier under zero-one loss",
 *   Machine Learning 29, 1997
 * @param rowCount rows with weight, where the given ones stand for more than themselves
 */
export function fitNaiveBayes(
  context: FitContext,
  data: Pick<TrainingData, 'matrix' | 'target' | 'weights'>,
  featureProportion: number,
  seed: number,
  rowCount?: number,
): NaiveBayesModel {
  const { matrix, target, weights } = data;
  if (target.kind !== 'classes') throw new Error('naive Bayes needs classes');
  const { labelCount, labels } = target;
  const kept = keptFeatures(matrix.features.length, featureProportion, seed);
  const totals = new Float64Array(labelCount);
  for (const [row, weight] of weights.entries()) {
    const label = labels[row] as number;
    totals[label] = (totals[label] as number) + weight;
  }
  const tests: BayesTest[] = [];
  const rows = Uint32Array.from([...weights.keys()].filter((row) => (weights[row] as number) > 0));
  const floor = 1 / ((rowCount ?? rows.length) * labelCount);
  const labelCounts = new Uint32Array(labelCount);
  for (const row of rows) {
    const label = labels[row] as number;
    labelCounts[label] = (labelCounts[label] as number) + 1;
  }
  const { sparse } = matrix;
  const sparseColumns = [...matrix.columns.keys()].filter((i) => matrix.columns[i]?.isSparse);
  const entries =
    sparse && new NodeEntries(context.workspace, sparse, matrix.columns.length, sparseColumns);
  entries?.gather(rows);
  for (const found of bestTests(context, data)) {
    context.checkCancelled();
    if (kept[found.feature] !== true) continue;
    const { u8 } = context.workspace.memory.get(matrix.span.arena);
    const column = matrix.columns[found.column] as (typeof matrix.columns)[number];
    const sums = new Float64Array(3 * labelCount);
    let hasMissing = false;
    if (column.isSparse && entries !== undefined) {
      const own = entries.entriesOf(found.column);
      const absent = labelCounts.slice();
      const rest = totals.slice();
      for (let i = 0; i < own.rows.length; i++) {
        const row = own.rows[i] as number;
        const label = labels[row] as number;
        const weight = weights[row] as number;
        const cell = outcomeOf(own.codes[i] as number, found) * labelCount + label;
        sums[cell] = (sums[cell] as number) + weight;
        rest[label] = (rest[label] as number) - weight;
        absent[label] = (absent[label] as number) - 1;
      }
      const outcome = outcomeOf(MISSING_CODE, found);
      for (let label = 0; label < labelCount; label++) {
        // A difference of sums is not exact, and no rows weigh exactly 0.
        if (absent[label] === 0) continue;
        hasMissing ||= outcome === 2;
        sums[outcome * labelCount + label] = rest[label] as number;
      }
    } else {
      for (const row of rows) {
        const outcome = outcomeOf(u8[column.offset + row] as number, found);
        hasMissing ||= outcome === 2;
        const cell = outcome * labelCount + (labels[row] as number);
        sums[cell] = (sums[cell] as number) + (weights[row] as number);
      }
    }
    const logs = sums.map((sum, cell) => {
      const label = cell % labelCount;
      // Without missing rows the shares are those of rows that have a value.
      const total = totals[label] as number;
      return Math.log(Math.max(floor, total > 0 ? sum / total : 0));
    });
    const { feature, test, operand } = found;
    tests.push({ feature, test, operand, logs, countsMissing: hasMissing });
  }
  return {
    type: 'naive_bayes',
    priors: totals.map((total) => Math.log(Math.max(floor, total))),
    tests,
  };
}

function keptFeatures(count: number, featureProportion: number, seed: number): boolean[] {
  const random = Random.of(seed, STREAM_FEATURES);
  return Array.from(
    { length: count },
    () => featureProportion === 1 || random.uniform() < featureProportion,
  );
}

/** Features are independent, so each is fitted to its own values: rows that weigh what they count. */
function fitBySums(
  context: FitContext,
  { classes, features, groups, rowCount }: SummedTraining,
  featureProportion: number,
  seed: number,
): NaiveBayesModel {
  if (classes === undefined) throw new Error('naive Bayes needs classes');
  const { labelCount, factors, weights } = classes;
  const kept = keptFeatures(features.length, featureProportion, seed);
  const tests = groups.flatMap((found, feature) => {
    context.checkCancelled();
    if (kept[feature] !== true || found === undefined) return [];
    const { source, labels, weights: own } = found;
    const rows = { rowCount: own.length, weights: own };
    const matrix = buildMatrix(context.workspace, [source], rows, { coding: 'each', arena: 0 });
    try {
      const target = { kind: 'classes', labels, labelCount } as const;
      const data = { matrix, target, weights: own };
      const model = fitNaiveBayes(context, data, 1, seed, rowCount);
      return model.tests.map((test) => ({ ...test, feature }));
    } finally {
      freeMatrix(context.workspace, matrix);
    }
  });
  const floor = 1 / (rowCount * labelCount);
  const priors = weights.map((weight, label) =>
    Math.log(Math.max(floor, weight * (factors[label] as number))),
  );
  return { type: 'naive_bayes', priors, tests };
}

interface FoundTest {
  readonly feature: number;
  readonly column: number;
  readonly test: number;
  readonly operand: number;
  /** codes that pass */
  readonly first: number;
  readonly last: number;
}

/** 0 true, 1 false, 2 missing */
function outcomeOf(code: number, { test, first, last }: FoundTest): number {
  if (code === 0) return test === TEST_PRESENT ? 1 : 2;
  return code >= first && code <= last ? 0 : 1;
}

/** The test of each feature that parts the labels best. */
function bestTests(
  context: FitContext,
  { matrix, target, weights }: Pick<TrainingData, 'matrix' | 'target' | 'weights'>,
): FoundTest[] {
  if (target.kind !== 'classes') return [];
  const { workspace } = context;
  const { labelCount } = target;
  const rows = Uint32Array.from([...weights.keys()].filter((row) => (weights[row] as number) > 0));
  const shape = { labelCount, hasPairs: false };
  const sizes = [
    ...[rows.length * 4, rows.length * 4, matrix.rowCount * 8, matrix.rowCount * 8],
    Grower.scratchSize(shape),
  ];
  const total = sizes.reduce((sum, size) => sum + size + 16, 0);
  return withScratch(workspace, matrix.span.arena, total, (scratch) => {
    const layout = new Layout(scratch);
    const [rowsAt, spare, targets, weightsAt, growerAt] = sizes.map((size) =>
      layout.take(size),
    ) as [number, number, number, number, number];
    const { f64, u16, u32 } = workspace.memory.get(matrix.span.arena);
    u32.set(rows, rowsAt >>> 2);
    f64.set(weights, weightsAt >>> 3);
    u16.set(target.labels, targets >>> 1);
    const task: GrowTask = {
      ...{ matrix, columns: [...matrix.columns.keys()], ...shape },
      ...{ targets, weights: weightsAt, rows: rowsAt, spare, maxDepth: 1 },
      updateAlgorithm: 'prob',
    };
    const grower = new Grower(workspace, task, growerAt);
    const range = { from: 0, count: rows.length, depth: 0 };
    const stats = grower.stats(range);
    const best = new Map<number, SplitCandidate>();
    grower.searchAll(range, stats, context, (found) => {
      const { feature } = matrix.columns[found.column] as (typeof matrix.columns)[number];
      const better = grower.betterOf(best.get(feature), found, stats);
      if (better !== undefined) best.set(feature, better);
    });
    return [...best].map(([feature, candidate]) => {
      const { first, last, operand } = grower.testOf(candidate);
      const { column, test } = candidate;
      return { feature, column, test, operand, first, last };
    });
  });
}

/** The outcome of a value's test: 0 true, 1 false, 2 missing. @param position of its category */
export function bayesOutcome(
  { test, operand }: BayesTest,
  feature: Feature,
  number: number,
  position: number,
  isMissing: boolean,
): number {
  if (test === TEST_PRESENT) return isMissing ? 1 : 0;
  if (isMissing) return 2;
  if (test === TEST_LESS && feature.kind === 'numeric') {
    return number < (feature.boundaries[operand] as number) ? 0 : 1;
  }
  return position === operand ? 0 : 1;
}

const OPTIONS = Type.Object({
  feature_prop: Type.Number({
    description: 'probability of each feature to be used',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 1,
  }),
  trace: TRACE,
});

export const naiveBayesLearner: Learner<typeof OPTIONS> = {
  type: 'naive_bayes',
  summary: 'features read one by one, as if they were independent given the label',
  modes: ['boolean', 'categorical'],
  coding: 'each',
  takesSparse: true,
  options: OPTIONS,
  fit: (context, data, { options }, seed) =>
    fitNaiveBayes(context, data, options.feature_prop, seed),
  fitSums: (context, training, { options }, seed) =>
    fitBySums(context, training, options.feature_prop, seed),
};
