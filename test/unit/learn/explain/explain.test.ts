import { afterAll, describe, expect, test } from 'vitest';
import { compileExplainer, type ExplainMethod } from '../../../../src/learn/explain/explain.ts';
import { compileShapTables } from '../../../../src/learn/explain/shap-table.ts';
import {
  decisionTreeFamily,
  ensembleFamily,
  PARENT_AGAIN,
  type RowCodes,
  type TreeFamily,
  type TreeView,
} from '../../../../src/learn/explain/tree-view.ts';
import { type ClassifierModel, treesOf } from '../../../../src/learn/model/classifier.ts';
import { prepare, preparedSpans } from '../../../../src/learn/model/prepare.ts';
import { compileModelScorer, rowsOfSources } from '../../../../src/learn/model/score.ts';
import { NEVER_CANCELLED } from '../../../../src/learn/workspace.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { fitConfiguration, freeModel, type Problem } from '../fit-support.ts';
import { flights, testArenas, testContext } from '../support.ts';

const arenas = testArenas();
const context = testContext(arenas);
const { workspace } = context;
afterAll(() => expect(arenas.usedBytes).toBe(0));

const { sources, labels } = flights(400, 2);
const rowOf = rowsOfSources(sources);
const PROBLEM: Problem = {
  sources,
  rowCount: 400,
  target: { kind: 'classes', labels: Uint16Array.from(labels), labelCount: 2 },
};
const THREE: Problem = {
  ...PROBLEM,
  target: {
    kind: 'classes',
    labels: Uint16Array.from(labels, (label, row) => (label === 1 ? 2 : row % 2)),
    labelCount: 3,
  },
};

const MODELS: readonly (readonly [string, object, Problem, 'boolean' | 'categorical'])[] = [
  ['a tree', { type: 'decision_tree', max_depth: 4 }, PROBLEM, 'boolean'],
  ['a tree of three labels', { type: 'decision_tree', max_depth: 3 }, THREE, 'categorical'],
  [
    'boosting',
    {
      type: 'boosting',
      min_iter: 3,
      max_iter: 4,
      weak_learner: { type: 'decision_tree', max_depth: 3, update_alg: 'gentle' },
    },
    PROBLEM,
    'boolean',
  ],
  ['boosted stumps', { type: 'boosted_stumps', min_iter: 5, max_iter: 5 }, PROBLEM, 'boolean'],
  ['gradient boosting', { type: 'gbt', num_rounds: 4, output: 'margin' }, PROBLEM, 'boolean'],
  [
    'gradient boosting of three labels',
    { type: 'gbt', num_rounds: 3, output: 'margin' },
    THREE,
    'categorical',
  ],
];

function explain(
  model: ClassifierModel,
  method: ExplainMethod,
  values: ArrayLike<Atom | undefined>,
  label: number,
  background: readonly ArrayLike<Atom | undefined>[] = [],
) {
  const shape = { features: model.features, width: 1, isRegression: false };
  const options = { method, background };
  const explainer = compileExplainer(workspace, model.algorithm, shape, options, NEVER_CANCELLED);
  const contributions = new Float64Array(model.features.length);
  const bias = explainer(values, label, contributions);
  return { bias, contributions };
}

function scoreOf(
  model: ClassifierModel,
  values: ArrayLike<Atom | undefined>,
  label: number,
): number {
  const prepared = prepare(workspace, model.features, model.algorithm, 0);
  const scorer = compileModelScorer(workspace, { model, prepared });
  const output = new Float64Array(scorer.width);
  scorer.score(values, output);
  scorer.release();
  if (model.algorithm.type !== 'gbt') {
    for (const span of preparedSpans(prepared)) arenas.free(span);
  }
  return output[model.mode === 'boolean' ? 0 : label] as number;
}

const sum = (numbers: ArrayLike<number>) => Array.from(numbers).reduce((a, b) => a + b, 0);

describe.each(MODELS)('%s', (_, configuration, problem, mode) => {
  test.each(['path', 'treeshap', 'interventional'] as const)(
    'contributions by %s add up to the score',
    (method) => {
      const model = fitConfiguration(context, configuration, mode, problem);
      const background = [0, 3, 9, 20].map((row) => [...rowOf(row)]);
      for (const row of [1, 7, 33, 150]) {
        const values = [...rowOf(row)];
        const label = mode === 'boolean' ? 1 : row % 3;
        const { bias, contributions } = explain(model, method, values, label, background);
        expect(bias + sum(contributions)).toBeCloseTo(scoreOf(model, values, label), 9);
      }
      freeModel(context, model);
    },
  );

  test('Shapley values are those of all subsets of features', () => {
    const model = fitConfiguration(context, configuration, mode, problem);
    const { algorithm, features } = model;
    const family = familyOf(model);
    const base = algorithm.type === 'gbt' ? algorithm.baseScore : [];
    const background = [2, 11].map((row) => [...rowOf(row)]);
    for (const row of [5, 60]) {
      const values = [...rowOf(row)];
      const label = mode === 'boolean' ? 1 : row % 3;
      const output = mode === 'boolean' ? 0 : label;
      const shift = base[output] ?? 0;
      const known = bruteForce(features.length, (subset) => {
        const code = family.encode(values);
        return shift + total(family, (tree) => expected(tree, code, subset, 0, output));
      });
      expectSame(explain(model, 'treeshap', values, label), known);
      const against = bruteForce(features.length, (subset) => {
        const mixed = background.map((other) =>
          values.map((value, f) => (subset.has(f) ? value : other[f])),
        );
        return (
          shift +
          sum(
            mixed.map((each) =>
              total(family, (tree) => walk(tree, family.encode(each), 0, output)),
            ),
          ) /
            mixed.length
        );
      });
      expectSame(explain(model, 'interventional', values, label, background), against);
    }
    freeModel(context, model);
  });
});

test('Shapley values of many rows, from tables, are those of single rows', () => {
  const [, configuration] = MODELS[4] as (typeof MODELS)[number];
  const model = fitConfiguration(context, { ...configuration, max_depth: 6 }, 'boolean', PROBLEM);
  const { trees, weights, columnCount = 0 } = familyOf(model);
  const tablesWithin = (roomMax: number) =>
    compileShapTables(
      trees,
      { output: 0, weights, columnCount, roomMax },
      NEVER_CANCELLED,
    )?.isCovered.filter(Boolean).length;
  expect(tablesWithin(1e8)).toBe(trees.length);
  expect(tablesWithin(20_000)).toBeLessThan(trees.length);
  expect(tablesWithin(100)).toBeUndefined();
  const shape = { features: model.features, width: 1, isRegression: false };
  const options = { method: 'treeshap', background: [] } as const;
  const many = compileExplainer(workspace, model.algorithm, shape, options, NEVER_CANCELLED);
  for (let row = 0; row < 80; row++) {
    const values = [...rowOf(row)].map((value, f) => ((row + f) % 7 === 0 ? null : value));
    const label = row % 2;
    const contributions = new Float64Array(model.features.length);
    const bias = many(values, label, contributions);
    expectSame({ bias, contributions }, explain(model, 'treeshap', values, label));
  }
  freeModel(context, model);
});

test.each(MODELS)(
  'Shapley values of many rows at once are those of single rows: %s',
  (...[, configuration]) => {
    const model = fitConfiguration(context, configuration, 'boolean', PROBLEM);
    const shape = { features: model.features, width: 1, isRegression: false };
    const options = { method: 'treeshap', background: [] } as const;
    const explainer = compileExplainer(workspace, model.algorithm, shape, options, NEVER_CANCELLED);
    const rows = Array.from({ length: 50 }, (_, row) =>
      [...rowOf(row)].map((value, f) => ((row + f) % 7 === 0 ? null : value)),
    );
    const labels = rows.map((_, row) => row % 2);
    const all = rows.map(() => new Float64Array(model.features.length));
    const biases = explainer.all?.((row) => rows[row] as (Atom | undefined)[], labels, all);
    for (const [row, contributions] of all.entries()) {
      if (biases === undefined) continue;
      const single = explain(model, 'treeshap', rows[row] as Atom[], labels[row] as number);
      expectSame({ bias: biases[row] as number, contributions }, single);
    }
    freeModel(context, model);
  },
);

function familyOf({ algorithm, features }: ClassifierModel): TreeFamily {
  if (algorithm.type === 'gbt') return ensembleFamily(workspace, algorithm.ensemble);
  const inner = algorithm.type === 'boosted_stumps' ? algorithm.committee : algorithm;
  return decisionTreeFamily(features, treesOf(inner) ?? []);
}

const total = (family: TreeFamily, of: (tree: TreeView) => number) =>
  sum(family.trees.map((tree, i) => (family.weights[i] as number) * of(tree)));

/** What the tree says on average when only some features are known: by the rows of each way. */
function expected(
  tree: TreeView,
  row: RowCodes,
  known: ReadonlySet<number>,
  node: number,
  output: number,
): number {
  const feature = tree.feature(node);
  if (feature < 0) return tree.value(node, output);
  const below = (child: number) =>
    child === PARENT_AGAIN ? tree.value(node, output) : expected(tree, row, known, child, output);
  const children = tree.children(node);
  if (known.has(feature)) return below(children[tree.taken(node, row)] as number);
  const covers = children.map((child) => (child === PARENT_AGAIN ? 0 : tree.cover(child)));
  return sum(children.map((child, i) => ((covers[i] as number) / sum(covers)) * below(child)));
}

function walk(tree: TreeView, row: RowCodes, node: number, output: number): number {
  if (tree.feature(node) < 0) return tree.value(node, output);
  const child = tree.children(node)[tree.taken(node, row)] as number;
  return child === PARENT_AGAIN ? tree.value(node, output) : walk(tree, row, child, output);
}

/** Shapley values by their definition. */
function bruteForce(count: number, worth: (subset: ReadonlySet<number>) => number) {
  const subsets = Array.from(
    { length: 2 ** count },
    (_, bits) => new Set(Array.from({ length: count }, (_, f) => f).filter((f) => (bits >> f) & 1)),
  );
  const worths = subsets.map(worth);
  const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
  const contributions = Array.from({ length: count }, (_, f) => {
    let value = 0;
    for (const [bits, subset] of subsets.entries()) {
      if (subset.has(f)) continue;
      const share =
        (factorial(subset.size) * factorial(count - subset.size - 1)) / factorial(count);
      value += share * ((worths[bits | (1 << f)] as number) - (worths[bits] as number));
    }
    return value;
  });
  return { bias: worths[0] as number, contributions };
}

function expectSame(
  ours: { readonly bias: number; readonly contributions: ArrayLike<number> },
  theirs: { readonly bias: number; readonly contributions: ArrayLike<number> },
): void {
  expect(ours.bias).toBeCloseTo(theirs.bias, 9);
  for (const [f, contribution] of Array.from(ours.contributions).entries()) {
    expect(contribution).toBeCloseTo(theirs.contributions[f] as number, 9);
  }
}
