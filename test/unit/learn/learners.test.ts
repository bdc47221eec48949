import { afterAll, describe, expect, test } from 'vitest';
import { resolveEntry } from '../../../src/learn/configuration.ts';
import { gatherSource } from '../../../src/learn/feature/source.ts';
import type { Mode } from '../../../src/learn/label.ts';
import { LEARNERS, readRecipe } from '../../../src/learn/learners.ts';
import { type ClassifierModel, modelEnsembles } from '../../../src/learn/model/classifier.ts';
import { classifierFromJson, classifierToJson } from '../../../src/learn/model/classifier-json.ts';
import { modelDocument } from '../../../src/learn/model/document.ts';
import { prepare, preparedSpans } from '../../../src/learn/model/prepare.ts';
import { compileModelScorer, rowsOfSources } from '../../../src/learn/model/score.ts';
import { spansOf } from '../../../src/learn/tree/ensemble.ts';
import { BUNDLED_CONFIGURATIONS } from '../../../src/procedure/classifier/bundled-configuration.ts';
import { fitConfiguration, fitRecipe, freeModel, type Problem, scoresOf } from './fit-support.ts';
import { flights, numbers, reversedContext, testArenas, testContext } from './support.ts';

const arenas = testArenas();
const context = testContext(arenas);
const { workspace } = context;
afterAll(() => expect(arenas.usedBytes).toBe(0));

/** One configuration for each learner that can be alone; small enough to be quick. */
const CONFIGURATIONS: Readonly<Record<string, object>> = {
  bagging: { type: 'bagging', num_bags: 4, weak_learner: { type: 'decision_tree', max_depth: 4 } },
  'bagging of glz': { type: 'bagging', num_bags: 2, weak_learner: { type: 'glz' } },
  boosted_stumps: { type: 'boosted_stumps', max_iter: 12 },
  boosting: {
    type: 'boosting',
    min_iter: 3,
    max_iter: 6,
    weak_learner: { type: 'decision_tree', max_depth: 2, update_alg: 'gentle' },
  },
  'boosting of all rows': {
    ...{ type: 'boosting', min_iter: 3, max_iter: 6, validate_split: 0 },
    weak_learner: { type: 'decision_tree', max_depth: 2, update_alg: 'gentle' },
  },
  decision_tree: { type: 'decision_tree', max_depth: 6 },
  fasttext: { type: 'fasttext', epoch: 2, dims: 6 },
  gbt: { type: 'gbt', num_rounds: 8, subsample: 0.8, colsample: 0.7 },
  'gbt by level': { type: 'gbt', num_rounds: 5, growth: 'depth', max_depth: 3 },
  'gbt with early stopping': { type: 'gbt', num_rounds: 9, early_stopping_rounds: 2 },
  glz: { type: 'glz' },
  naive_bayes: { type: 'naive_bayes' },
  null: { type: 'null' },
  perceptron: { type: 'perceptron', arch: '4', max_iter: 6, min_iter: 2, batch_size: 50 },
  stump: { type: 'stump' },
  'committee of stumps': { type: 'stump', committee_size: 3 },
};

const MODES: readonly Mode[] = ['boolean', 'categorical', 'regression'];

const CASES = Object.entries(CONFIGURATIONS).flatMap(([name, configuration]) =>
  MODES.flatMap((mode) => {
    const entry = resolveEntry(configuration, '');
    const learner = LEARNERS.find(({ type }) => type === entry.type);
    return learner?.modes.includes(mode) ? [[name, mode] as const] : [];
  }),
);

function problemOf(mode: Mode, rowCount: number, seed = 1): Problem {
  const { sources, labels } = flights(rowCount, seed);
  const all = [
    ...sources,
    numbers('constant', new Array(rowCount).fill(3)),
    numbers('unseen', new Array(rowCount).fill(null)),
  ];
  if (mode === 'regression') {
    const values = Float64Array.from(labels, (label, row) => label * 10 + (row % 7));
    return { sources: all, rowCount, target: { kind: 'regression', values } };
  }
  const labelCount = mode === 'boolean' ? 2 : 3;
  const codes = Uint16Array.from(labels, (label, row) =>
    mode === 'boolean' ? label : label === 1 ? 2 : row % 2,
  );
  return { sources: all, rowCount, target: { kind: 'classes', labels: codes, labelCount } };
}

function fit(
  configuration: object,
  mode: Mode,
  problem: Problem,
  runIn = context,
): ClassifierModel {
  // Numbers of any size need another link than shares do.
  const isLinear = mode === 'regression' && JSON.stringify(configuration).includes('"glz"');
  const text = JSON.stringify(configuration);
  const linear = text.replace('"type":"glz"', '"type":"glz","link_function":"linear"');
  const own = isLinear ? (JSON.parse(linear) as object) : configuration;
  return fitConfiguration(runIn, own, mode, problem);
}

function oneByOne(model: ClassifierModel, { sources, rowCount }: Problem): number[] {
  const prepared = prepare(workspace, model.features, model.algorithm, 0);
  const owned = new Set(modelEnsembles(model.algorithm).flatMap(spansOf));
  const scorer = compileModelScorer(workspace, { model, prepared });
  try {
    const read = rowsOfSources(sources);
    const output = new Float64Array(scorer.width);
    return Array.from({ length: rowCount }, (_, row) => {
      scorer.score(read(row), output);
      return [...output];
    }).flat();
  } finally {
    scorer.release();
    for (const span of preparedSpans(prepared)) if (!owned.has(span)) arenas.free(span);
  }
}

describe.each(CASES)('%s, mode %s', (name, mode) => {
  const configuration = CONFIGURATIONS[name] as object;
  const problem = problemOf(mode, 600);

  test('gives the same model again, whatever the order of the work', () => {
    const models = [
      fit(configuration, mode, problem),
      fit(configuration, mode, problem),
      fit(configuration, mode, problem, reversedContext(context)),
    ];
    const [first, ...others] = models.map((model) => classifierToJson(workspace, model));
    for (const other of others) expect(other).toEqual(first);
    for (const model of models) freeModel(context, model);
  });

  test('scores through a file as before, by column as one by one', () => {
    const model = fit(configuration, mode, problem);
    const unseen = problemOf(mode, 300, 7);
    const scores = scoresOf(context, model, unseen);
    expect(scores.every(Number.isFinite)).toBe(true);
    const text = JSON.stringify(classifierToJson(workspace, model));
    const again = classifierFromJson(workspace, JSON.parse(text), 0);
    expect(scoresOf(context, again, unseen)).toEqual(scores);
    expect(oneByOne(model, unseen)).toEqual(scores);
    expect(modelDocument(workspace, model)).toHaveProperty('type');
    freeModel(context, model);
    freeModel(context, again);
  });

  test('does not change its data', () => {
    const before = structuredClone(problem.target);
    freeModel(context, fit(configuration, mode, problem));
    expect(problem.target).toEqual(before);
  });
});

/** Learners whose model is a function of weights alone: nothing is drawn, and no rows are counted. */
const UNDRAWN = ['decision_tree', 'stump', 'glz', 'boosting of all rows'];

describe.each(CASES.filter(([name]) => UNDRAWN.includes(name)))(
  '%s without draws, mode %s',
  (name, mode) => {
    test('takes a row of weight 2 for the row given twice', () => {
      const problem = problemOf(mode, 120);
      const twice = [...Array(120).keys()].flatMap((row) => (row % 3 === 0 ? [row, row] : [row]));
      const rows = Uint32Array.from(twice);
      const { target } = problem;
      const gathered: Problem = {
        sources: problem.sources.map((source) => gatherSource(source, rows)),
        rowCount: rows.length,
        target:
          target.kind === 'classes'
            ? { ...target, labels: Uint16Array.from(rows, (row) => target.labels[row] as number) }
            : { ...target, values: Float64Array.from(rows, (row) => target.values[row] as number) },
      };
      const weights = Float64Array.from({ length: 120 }, (_, row) => (row % 3 === 0 ? 2 : 1));
      const configuration = { ...CONFIGURATIONS[name], ...(name === 'stump' ? PROB : {}) };
      const weighted = fit(configuration, mode, { ...problem, weights });
      const repeated = fit(configuration, mode, gathered);
      const expected = scoresOf(context, repeated, problem);
      for (const [index, score] of scoresOf(context, weighted, problem).entries()) {
        expect(score).toBeCloseTo(expected[index] as number, 6);
      }
    });
  },
);

/** The log-odds of leaves count rows, as their definition says. */
const PROB = { update_alg: 'prob' };

describe('the bundled configurations', () => {
  const names = Object.keys(BUNDLED_CONFIGURATIONS);
  test.each(names)('%s trains and tells labels apart', (name) => {
    const mode = name === 'glz_linear' ? 'regression' : 'boolean';
    const problem = problemOf(mode, 250);
    const { recipe } = readRecipe(resolveEntry(BUNDLED_CONFIGURATIONS, name), mode);
    const model = fitRecipe(context, recipe, mode, problem);
    const scores = scoresOf(context, model, problem);
    const { target } = problem;
    const truths = target.kind === 'classes' ? target.labels : target.values;
    const mean = (wanted: (truth: number) => boolean) => {
      const own = scores.filter((_, row) => wanted(truths[row] as number));
      return own.reduce((sum, score) => sum + score, 0) / own.length;
    };
    expect(mean((truth) => truth >= 1)).toBeGreaterThan(mean((truth) => truth < 1));
    freeModel(context, model);
  });
});
