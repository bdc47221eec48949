import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveEntry } from '../../../../src/learn/configuration.ts';
import { buildMatrix, freeMatrix } from '../../../../src/learn/feature/matrix.ts';
import type { SourceColumn } from '../../../../src/learn/feature/source.ts';
import type { Mode } from '../../../../src/learn/label.ts';
import type { Target } from '../../../../src/learn/learner.ts';
import { readRecipe, readsSparse } from '../../../../src/learn/learners.ts';
import { classifierToJson } from '../../../../src/learn/model/classifier-json.ts';
import { Random } from '../../../../src/learn/random.ts';
import { equalizedWeights, normalized } from '../../../../src/learn/weight.ts';
import { numbers, testArenas, testContext } from '../support.ts';

const arenas = testArenas();
const context = testContext(arenas);

/** Texts of a few words, and one number that all rows have, which stands between the words. */
function wordTable(rowCount: number, wordCount: number, seed: number) {
  const random = Random.of(seed);
  const words = Array.from({ length: wordCount }, () => new Map<number, number>());
  const labels = Uint16Array.from({ length: rowCount }, () => random.below(3));
  for (let row = 0; row < rowCount; row++) {
    const own = (labels[row] as number) * (wordCount >> 3);
    for (let i = 0; i < 6; i++) {
      const word = words[own + random.below(wordCount - own)] as Map<number, number>;
      word.set(row, (word.get(row) ?? 0) + 1);
    }
  }
  const sources = words.map((counts, word): SourceColumn => {
    const rows = [...counts.keys()].sort((a, b) => a - b);
    return {
      kind: 'sparse',
      name: `w${word}`,
      rowCount,
      rows: Uint32Array.from(rows),
      values: Float64Array.from(rows, (row) => counts.get(row) as number),
    };
  });
  const lengths = Array.from(labels, (label) => label + random.below(4));
  sources.splice(wordCount >> 1, 0, numbers('length', lengths));
  return { sources, labels };
}

interface Fit {
  readonly configuration: object;
  readonly mode: Mode;
  readonly target: Target;
  readonly weights: Float64Array;
  readonly keepsSparse: boolean;
}

function fit(sources: readonly SourceColumn[], options: Fit) {
  const { configuration, mode, target, weights, keepsSparse } = options;
  const { recipe } = readRecipe(resolveEntry(configuration, ''), mode);
  const { workspace } = context;
  const rows = { rowCount: weights.length, weights };
  const labelCount = target.kind === 'classes' ? target.labelCount : 2;
  expect(readsSparse(recipe, labelCount)).toBe(true);
  const coding = { coding: recipe.learner.coding, arena: 0, keepsSparse };
  const matrix = buildMatrix(workspace, sources, rows, coding);
  try {
    expect(matrix.sparse !== undefined).toBe(keepsSparse);
    const data = { matrix, sources, mode, target, weights, weightTotal: weights.length };
    const algorithm = recipe.learner.fit(context, data, recipe, 1);
    const labels = mode === 'categorical' ? ['"0"', '"1"', '"2"'] : [];
    const model = { mode, labels, features: matrix.features, algorithm };
    return JSON.parse(JSON.stringify(classifierToJson(workspace, model))) as unknown;
  } finally {
    freeMatrix(workspace, matrix);
  }
}

/** The same but for the last digits of numbers: sums that are taken in another order differ there. */
function nearly(value: unknown): unknown {
  if (typeof value === 'number') return expect.closeTo(value, 9);
  if (Array.isArray(value)) return value.map(nearly);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, nearly(each)]));
}

/** Arrays of float64 as numbers. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  if ('b64' in value && 'dtype' in value && value.dtype === 'f64') {
    const bytes = Uint8Array.from(Buffer.from(value.b64 as string, 'base64'));
    return [...new Float64Array(bytes.buffer)];
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readable(each)]));
}

describe.each([
  ['naive_bayes', {}, ['boolean', 'categorical']],
  ['decision_tree', { max_depth: 8 }, ['boolean', 'categorical', 'regression']],
  ['decision_tree', { random_feature_propn: 0.4 }, ['boolean']],
  ['stump', { committee_size: 3, update_alg: 'prob' }, ['boolean', 'categorical', 'regression']],
  ['boosted_stumps', { min_iter: 4, max_iter: 4, update_alg: 'gentle' }, ['boolean']],
  [
    'boosting',
    {
      ...{ min_iter: 3, max_iter: 3 },
      weak_learner: { type: 'decision_tree', max_depth: 3, update_alg: 'gentle' },
    },
    ['boolean'],
  ],
  [
    'bagging',
    { num_bags: 2, weak_learner: { type: 'decision_tree', max_depth: 5 } },
    ['boolean', 'categorical', 'regression'],
  ],
  ['bagging', { num_bags: 2, weak_learner: { type: 'naive_bayes' } }, ['categorical']],
] as const)('%s with %o', (type, options, modes) => {
  test.each(modes)('learns the same from sparse columns as from dense ones: %s', (mode) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.boolean(), (seed, isWeighted) => {
        const { sources, labels } = wordTable(150, 120, seed);
        const classes = mode === 'boolean' ? labels.map((label) => Number(label > 0)) : labels;
        const target: Target =
          mode === 'regression'
            ? { kind: 'regression', values: Float64Array.from(labels) }
            : { kind: 'classes', labels: classes, labelCount: mode === 'boolean' ? 2 : 3 };
        const weights = isWeighted
          ? equalizedWeights(classes, 3, 1)
          : normalized(new Float64Array(labels.length).fill(1));
        if (isWeighted) weights[3] = 0;
        const common = { configuration: { type, ...options }, mode, target, weights };
        const sparse = fit(sources, { ...common, keepsSparse: true });
        const dense = fit(sources, { ...common, keepsSparse: false });
        expect(readable(sparse)).toEqual(nearly(readable(dense)));
      }),
      { numRuns: 5, seed: 11 },
    );
  });

  test('a matrix of many words takes up what the texts have', () => {
    const rowCount = 4000;
    const { sources, labels } = wordTable(rowCount, 10_000, 5);
    const before = arenas.usedBytes;
    const rows = { rowCount };
    const matrix = buildMatrix(
      context.workspace,
      sources,
      rows,
      // Dense, it would be 40 MB.
      { coding: 'each', arena: 0, keepsSparse: true },
    );
    expect(arenas.usedBytes - before).toBeLessThan(1e6);
    freeMatrix(context.workspace, matrix);
    expect(arenas.usedBytes).toBe(before);
    const classes = labels.map((label) => Number(label > 0));
    fit(sources, {
      configuration: { type, ...options },
      mode: 'boolean',
      target: { kind: 'classes', labels: classes, labelCount: 2 },
      weights: normalized(new Float64Array(rowCount).fill(1)),
      keepsSparse: true,
    });
  });
});

test.each([
  ['gbt inside', { type: 'bagging', weak_learner: { type: 'gbt' } }, 2, false],
  ['trees inside', { type: 'bagging', weak_learner: { type: 'decision_tree' } }, 3, true],
  // Weights of rows and labels need the codes of all rows.
  ['boosting of three classes', { type: 'boosted_stumps' }, 3, false],
])('what committees read: %s', (_, configuration, labelCount, expected) => {
  const { recipe } = readRecipe(resolveEntry(configuration, ''), 'categorical');
  expect(readsSparse(recipe, labelCount)).toBe(expected);
});
