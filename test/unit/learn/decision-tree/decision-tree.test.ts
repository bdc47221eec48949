import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { middleBoundary } from '../../../../src/learn/decision-tree/cell-search.ts';
import { fitDecisionTree } from '../../../../src/learn/decision-tree/decision-tree.ts';
import {
  DECISION_TREE_DEFAULTS,
  type DecisionTreeOptions,
} from '../../../../src/learn/decision-tree/options.ts';
import {
  type DecisionTree,
  TEST_EQUAL,
  TEST_LESS,
  TEST_PRESENT,
} from '../../../../src/learn/decision-tree/tree.ts';
import type { NumericFeature } from '../../../../src/learn/feature/feature.ts';
import { buildMatrix, type FeatureMatrix } from '../../../../src/learn/feature/matrix.ts';
import type { SourceColumn } from '../../../../src/learn/feature/source.ts';
import type { ClassifierModel } from '../../../../src/learn/model/classifier.ts';
import { prepare, preparedSpans } from '../../../../src/learn/model/prepare.ts';
import { scoreColumns } from '../../../../src/learn/model/score.ts';
import { equalizedWeights } from '../../../../src/learn/weight.ts';
import { flights, numbers, reversedContext, testArenas, testContext, texts } from '../support.ts';
import { plainDecisionTree } from './plain-decision-tree.ts';

const arenas = testArenas();
const context = testContext(arenas);
const { workspace } = context;

interface Fitted {
  readonly tree: DecisionTree;
  readonly model: ClassifierModel;
  readonly codes: readonly (readonly number[])[];
  readonly matrix: FeatureMatrix;
}

function withMatrix(
  sources: readonly SourceColumn[],
  rowCount: number,
  grow: (matrix: FeatureMatrix) => DecisionTree,
  options: DecisionTreeOptions,
  mode: 'boolean' | 'regression' | 'categorical',
): Fitted {
  const matrix = buildMatrix(workspace, sources, { rowCount }, { coding: 'each', arena: 0 });
  try {
    const tree = grow(matrix);
    const { updateAlgorithm } = options;
    const model: ClassifierModel = {
      mode,
      labels: mode === 'categorical' ? Array.from({ length: tree.width }, (_, l) => `${l}`) : [],
      features: matrix.features,
      algorithm: { type: 'decision_tree', tree, updateAlgorithm },
    };
    const { u8 } = arenas.get(0);
    const codes = matrix.columns.map(({ offset }) => [...u8.subarray(offset, offset + rowCount)]);
    return { tree, model, codes, matrix };
  } finally {
    arenas.free(matrix.span);
  }
}

function classify(
  sources: readonly SourceColumn[],
  labels: readonly number[],
  options: Partial<DecisionTreeOptions> = {},
  weights = equalizedWeights(labels, Math.max(2, ...labels.map((l) => l + 1)), 0),
  runIn = context,
): Fitted {
  const labelCount = Math.max(2, ...labels.map((label) => label + 1));
  const full = { ...DECISION_TREE_DEFAULTS, ...options };
  const target = { kind: 'classes', labels: Uint16Array.from(labels), labelCount } as const;
  const mode = labelCount === 2 ? 'boolean' : 'categorical';
  const fit = (matrix: FeatureMatrix) => fitDecisionTree(runIn, { matrix, target, weights }, full);
  return withMatrix(sources, labels.length, fit, full, mode);
}

function regress(
  sources: readonly SourceColumn[],
  values: readonly number[],
  options: Partial<DecisionTreeOptions> = {},
  weights = values.map(() => 1),
): Fitted {
  const full = { ...DECISION_TREE_DEFAULTS, ...options };
  const target = { kind: 'regression', values: Float64Array.from(values) } as const;
  const fit = (matrix: FeatureMatrix) =>
    fitDecisionTree(context, { matrix, target, weights: Float64Array.from(weights) }, full);
  return withMatrix(sources, values.length, fit, full, 'regression');
}

function score({ model }: Fitted, ...sources: SourceColumn[]): number[] {
  const prepared = prepare(workspace, model.features, model.algorithm, 0);
  const [first] = sources;
  const rowCount = first?.kind === 'numbers' ? (first.pieces[0]?.values.length ?? 0) : 1;
  const count = first?.kind === 'codes' ? (first.pieces[0]?.length ?? 0) : rowCount;
  const scores = scoreColumns(context, { model, prepared }, sources, count);
  for (const span of preparedSpans(prepared)) arenas.free(span);
  return [...scores];
}

const BINARY_X = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
const BINARY_LABELS = [0, 0, 0, 1, 0, 0, 0, 1, 1, 1];

describe('a tree for two classes', () => {
  test.each([
    [0, 0.25, 0.5],
    [1, 1 / 3, 0.6],
    [0.5, 0.2899, 0.55051],
  ])('says shares of class weights equalised by %s', (factor, first, second) => {
    const weights = equalizedWeights(BINARY_LABELS, 2, factor);
    const fitted = classify([numbers('x', BINARY_X)], BINARY_LABELS, {}, weights);
    const [a, b] = score(fitted, numbers('x', [0, 1]));
    expect(a).toBeCloseTo(first, 5);
    expect(b).toBeCloseTo(second, 5);
  });

  test.each([
    ['prob', 0.75],
    ['gentle', 0.5],
    ['normal', 0.5 * Math.log((3 / 8 + 1 / 4) / (1 / 8 + 1 / 4))],
  ] as const)(
    'says by %s %s for a leaf with three right and one wrong',
    (updateAlgorithm, leaf) => {
      const labels = [0, 0, 0, 1, 0, 1, 1, 1];
      const fitted = classify([numbers('x', [0, 0, 0, 0, 1, 1, 1, 1])], labels, {
        updateAlgorithm,
      });
      expect(score(fitted, numbers('x', [1]))[0]).toBeCloseTo(leaf, 12);
      if (updateAlgorithm === 'normal') expect(leaf).toBeCloseTo(0.2554, 4);
    },
  );

  test('splits halfway between values', () => {
    const fitted = classify([numbers('x', [1, 2, 3, 11, 12, 13])], [0, 0, 0, 1, 1, 1]);
    expect(
      (fitted.model.features[0] as NumericFeature).boundaries[fitted.tree.operands[0] ?? 0],
    ).toBe(7);
    expect(score(fitted, numbers('x', [6.9, 7, 7.1, 1e300]))).toEqual([0, 1, 1, 1]);
  });

  test('splits on presence', () => {
    const x = [1, 3, 5, 7, 9, 2, 4, 6, 8, 10];
    const y = [null, null, null, null, null, 1, 1, 1, 1, 1];
    const labels = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
    const fitted = classify([numbers('x', x), numbers('y', y)], labels, { maxDepth: 1 });
    expect(fitted.tree.tests[0]).toBe(TEST_PRESENT);
    expect(score(fitted, numbers('x', [1, 1]), numbers('y', [null, 7]))).toEqual([0, 1]);
  });

  test('has a child of its own for missing values', () => {
    const x = [1, 1, 2, 2, null, null, null];
    const fitted = classify([numbers('x', x)], [0, 0, 1, 1, 1, 1, 0], { maxDepth: 1 });
    expect(fitted.tree.tests[0]).toBe(TEST_LESS);
    const scores = score(fitted, numbers('x', [1, 2, null]));
    expect(scores[0]).toBe(0);
    expect(scores[1]).toBe(1);
    expect(scores[2]).toBeCloseTo(2 / 3, 12);
  });

  test('says its own share where no training row was missing', () => {
    const fitted = classify([numbers('x', [1, 1, 1, 2])], [0, 0, 0, 1]);
    expect(score(fitted, numbers('x', [null]))).toEqual([0.25]);
  });

  test('tells one category from the others, new ones too', () => {
    const colors = ['red', 'red', 'blue', 'green', 'blue'];
    const fitted = classify([texts('c', colors)], [1, 1, 0, 0, 0]);
    expect(fitted.tree.tests[0]).toBe(TEST_EQUAL);
    expect(score(fitted, texts('c', ['blue', 'red', 'purple']))).toEqual([0, 1, 0]);
  });

  test('tells categories apart that need several columns', () => {
    const names = Array.from({ length: 1200 }, (_, i) => `c${i % 600}`);
    const labels = names.map((name) => Number(name === 'c555'));
    const fitted = classify([texts('c', names)], labels);
    expect(fitted.matrix.columns.length).toBe(3);
    expect(score(fitted, texts('c', ['c555', 'c554', 'c0', 'other']))).toEqual([1, 0, 0, 0]);
  });

  test('solves what no single test improves', () => {
    const a = [0, 0, 1, 1];
    const b = [0, 1, 0, 1];
    const fitted = classify([numbers('a', a), numbers('b', b)], [0, 1, 1, 0]);
    expect(fitted.tree.features[0]).toBe(0);
    expect(score(fitted, numbers('a', a), numbers('b', b))).toEqual([0, 1, 1, 0]);
  });

  test('is a leaf at depth 0 and where all labels agree', () => {
    const flat = classify([numbers('x', [0, 1])], [0, 1], { maxDepth: 0 });
    expect([...flat.tree.outputs]).toEqual([0.5]);
    expect(classify([numbers('x', [0, 1])], [1, 1]).tree.tests.length).toBe(1);
  });

  test('gives the root of a balanced problem the score 1', () => {
    const fitted = classify([numbers('x', [0, 0, 1, 1])], [0, 1, 0, 1], { maxDepth: 1 });
    expect(fitted.tree.scores[0]).toBeCloseTo(1, 12);
  });

  test('leaves out rows without weight', () => {
    const weights = Float64Array.of(0.5, 0, 0.5);
    const { tree } = classify([numbers('x', [0, 1, 2])], [0, 1, 0], {}, weights);
    expect([tree.tests.length, tree.exampleCounts[0]]).toEqual([1, 2]);
  });

  test('sees each feature with the given probability', () => {
    const sources = Array.from({ length: 40 }, (_, i) =>
      numbers(
        `x${i}`,
        [0, 1, 2, 3, 4, 5].map((v) => (v * (i + 1)) % 7),
      ),
    );
    const labels = [0, 1, 1, 0, 1, 0];
    const used = [1, 2, 3].map((randomSeed) => {
      const options = { randomFeatureProportion: 0.1, randomSeed };
      return classify(sources, labels, options).tree.features[0];
    });
    expect(new Set(used).size).toBeGreaterThan(1);
    const never = () => classify(sources.slice(0, 1), labels, { randomFeatureProportion: 1e-9 });
    expect(never).toThrow('random_feature_propn 1e-9 left no feature in 50 draws');
  });
});

describe('a tree for several classes', () => {
  test('has one share a label', () => {
    const x = [0, 1, 2, 10, 11, 12, 20, 21, 22];
    const labels = [0, 0, 0, 1, 1, 1, 2, 2, 2];
    const fitted = classify([numbers('x', x)], labels);
    expect(score(fitted, numbers('x', [11, 100]))).toEqual([0, 1, 0, 0, 0, 1]);
  });
});

describe('a tree for numbers', () => {
  test('says means', () => {
    const fitted = regress([numbers('x', [0, 0, 1, 1])], [9, 11, 19, 21], { maxDepth: 1 });
    expect(score(fitted, numbers('x', [0, 1, null]))).toEqual([10, 20, 15]);
    expect(fitted.tree.scores[0]).toBeCloseTo(4, 12);
  });

  test('says weighted means', () => {
    const options = { maxDepth: 1 };
    const fitted = regress([numbers('x', [0, 0, 1, 1])], [1, 5, 30, 36], options, [3, 1, 1, 2]);
    expect(score(fitted, numbers('x', [0, 1]))).toEqual([2, 34]);
  });

  test('splits until nothing varies, far from zero as well', () => {
    const values = Array.from({ length: 50 }, (_, i) => 1e9 + i / 1000);
    const x = values.map((_, i) => i);
    expect(score(regress([numbers('x', x)], values), numbers('x', x))).toEqual(values);
  });

  test('says a constant exactly', () => {
    const { tree } = regress([numbers('x', [0, 1, 2])], [0.1, 0.1, 0.1], {}, [0.3, 0.7, 0.1]);
    expect([...tree.outputs]).toEqual([0.1]);
  });
});

describe('any tree', () => {
  const code = fc.option(fc.integer({ min: 0, max: 9 }), { nil: null, freq: 5 });
  const table = fc.integer({ min: 1, max: 60 }).chain((rowCount) => {
    const list = <T>(item: fc.Arbitrary<T>) =>
      fc.array(item, { minLength: rowCount, maxLength: rowCount });
    return fc.record({
      columns: fc.array(fc.record({ isText: fc.boolean(), values: list(code) }), {
        minLength: 1,
        maxLength: 4,
      }),
      labels: list(fc.nat(2)),
      targets: list(fc.integer({ min: -4, max: 4 })),
      weights: list(fc.constantFrom(0.25, 0.5, 1)),
    });
  });

  const sourcesOf = (columns: readonly { isText: boolean; values: readonly (number | null)[] }[]) =>
    columns.map(({ isText, values }, index) =>
      isText
        ? texts(
            `x${index}`,
            values.map((value) => (value === null ? null : `t${value}`)),
          )
        : numbers(`x${index}`, values),
    );

  test('equals one grown plainly, for classes', () => {
    fc.assert(
      fc.property(table, fc.constantFrom(2, 3), (data, labelCount) => {
        const labels = [...data.labels.map((label) => label % labelCount), labelCount - 1];
        const columns = data.columns.map(({ isText, values }) => ({
          isText,
          values: [...values, null],
        }));
        const weights = Float64Array.from([...data.weights, 1]);
        const sources = sourcesOf(columns);
        const fitted = classify(sources, labels, { maxDepth: 6 }, weights);
        const plain = plainDecisionTree(
          fitted,
          { kind: 'classes', labels, labelCount },
          weights,
          6,
        );
        expect(plain.problems).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test('equals one grown plainly, for numbers', () => {
    fc.assert(
      fc.property(table, (data) => {
        const fitted = regress(
          sourcesOf(data.columns),
          data.targets,
          { maxDepth: 6 },
          data.weights,
        );
        const target = { kind: 'regression', values: data.targets } as const;
        const weights = Float64Array.from(data.weights);
        expect(plainDecisionTree(fitted, target, weights, 6).problems).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test('does not depend on how the work is shared out', () => {
    const { sources, labels } = flights(70_000, 1);
    const list = [...labels];
    const options = { maxDepth: 8 };
    const weights = equalizedWeights(labels, 2, 0.5);
    const alone = classify(sources, list, options, weights);
    const shared = classify(sources, list, options, weights, reversedContext(context));
    expect(shared.tree).toEqual(alone.tree);
    expect(alone.tree.tests.length).toBeGreaterThan(100);
  });

  test.each([
    [{ maxDepth: -2 }, 'max_depth must be a whole number from -1: -2'],
    [{ randomFeatureProportion: 0 }, 'random_feature_propn must be above 0 and at most 1: 0'],
  ])('refuses options out of range: %o', (options, message) => {
    expect(() => classify([numbers('x', [0, 1])], [0, 1], options)).toThrow(message);
  });
});

test('a gap that rows of a sample leave is cut in its middle, not at its end', () => {
  // Values 17, 18, 19, 100 and 101, of which a node lacks 19.
  const boundaries = Float64Array.of(17.5, 18.5, 59.5, 100.5);
  expect(middleBoundary(boundaries, 1, 2)).toBe(2);
  expect(middleBoundary(boundaries, 1, 1)).toBe(1);
});
