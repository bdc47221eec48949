import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { buildMatrix } from '../../../../src/learn/feature/matrix.ts';
import type { SourceColumn } from '../../../../src/learn/feature/source.ts';
import { fitForest } from '../../../../src/learn/forest/forest.ts';
import type { ForestOptions } from '../../../../src/learn/forest/options.ts';
import { areaUnderCurve, booleanCurve } from '../../../../src/learn/metric/boolean.ts';
import { type TreeEnsemble, treeParts } from '../../../../src/learn/tree/ensemble.ts';
import { scoreRows } from '../../../../src/learn/tree/scorer.ts';
import {
  FOREST_DEFAULTS,
  flights,
  numbers,
  reversedContext,
  testArenas,
  testContext,
  texts,
} from '../support.ts';
import { type PlainNode, plainTree } from './plain-forest.ts';

const arenas = testArenas();
const context = testContext(arenas);
const { workspace } = context;

function train(
  sources: readonly SourceColumn[],
  labels: Uint8Array,
  options: Partial<ForestOptions>,
  weights?: Float64Array,
  runIn = context,
): { model: TreeEnsemble; columns: number[][] } {
  const rows = { rowCount: labels.length, targets: Float64Array.from(labels) };
  const matrix = buildMatrix(workspace, sources, rows, { coding: 'rank', arena: 0 });
  const data = { matrix, labels, ...(weights === undefined ? {} : { weights }) };
  try {
    const model = fitForest(runIn, data, { ...FOREST_DEFAULTS, ...options });
    const { u8 } = arenas.get(0);
    const columns = matrix.columns.map(({ offset }) => [
      ...u8.subarray(offset, offset + labels.length),
    ]);
    return { model, columns };
  } finally {
    arenas.free(matrix.span);
  }
}

function free(model: TreeEnsemble): void {
  for (const { span } of model.trees) arenas.free(span);
}

function unpack(model: TreeEnsemble, treeIndex: number): PlainNode {
  const { span, nodeCount } = model.trees[treeIndex] as TreeEnsemble['trees'][number];
  const { u32, f32, f64 } = arenas.get(span.arena);
  const parts = treeParts(span.offset, nodeCount, 1);
  const node = (index: number): PlainNode => {
    const word = u32[(parts.nodes >>> 2) + index * 2] as number;
    const distance = u32[(parts.nodes >>> 2) + index * 2 + 1] as number;
    const own = {
      value: f64[(parts.values >>> 3) + index] as number,
      cover: f32[(parts.covers >>> 2) + index] as number,
    };
    if (distance === 0) return own;
    return {
      ...own,
      test: {
        column: word & 0x7fff,
        threshold: (word >>> 16) & 0xff,
        offset: word >>> 24,
        stops: (word & 0x8000) !== 0,
      },
      left: node(index + distance),
      right: node(index + distance + 1),
    };
  };
  return node(0);
}

function bytes(model: TreeEnsemble): string[] {
  return model.trees.map(({ span }) =>
    Buffer.from(
      arenas.get(span.arena).u8.slice(span.offset, span.offset + span.sizeBytes),
    ).toString('base64'),
  );
}

function auc(model: TreeEnsemble, seed = 2): number {
  const unseen = flights(5000, seed);
  const scores = scoreRows(workspace, model, unseen.sources, 0, 5000);
  return areaUnderCurve(booleanCurve(scores, unseen.labels));
}

describe('a tree', () => {
  const code = fc.option(fc.integer({ min: 0, max: 12 }), { nil: null, freq: 6 });
  const table = fc.integer({ min: 1, max: 120 }).chain((rowCount) =>
    fc.record({
      columns: fc.array(fc.array(code, { minLength: rowCount, maxLength: rowCount }), {
        minLength: 1,
        maxLength: 5,
      }),
      labels: fc.array(fc.integer({ min: 0, max: 1 }), {
        minLength: rowCount,
        maxLength: rowCount,
      }),
      weights: fc.option(
        fc.array(fc.constantFrom(0.5, 1, 2, 3.5), { minLength: rowCount, maxLength: rowCount }),
        { nil: undefined },
      ),
    }),
  );
  const choice = fc.record({
    featureVectorSamplingProp: fc.constantFrom(0.3, 1),
    featureSamplingProp: fc.constantFrom(0.5, 1),
    maxDepth: fc.integer({ min: 0, max: 12 }),
    randomSeed: fc.nat(),
    featuresPerNode: fc.constantFrom(1, 2, 3, 100),
  });

  test('equals one grown plainly', () => {
    fc.assert(
      fc.property(table, choice, ({ columns: values, labels, weights }, options) => {
        const sources = values.map((column, index) => numbers(`x${index}`, column));
        const full = {
          ...FOREST_DEFAULTS,
          ...options,
          featureVectorSamplings: 2,
          featureSamplings: 2,
        };
        // Equal weights count as none.
        const uneven = new Set(weights).size > 1 ? weights : undefined;
        const weightArray = weights === undefined ? undefined : Float64Array.from(weights);
        const { model, columns } = train(sources, Uint8Array.from(labels), full, weightArray);
        const used = new Set(
          values.flatMap((column, i) => (column.some((v) => v !== null) ? [i] : [])),
        );
        fc.pre(used.size === values.length);
        for (let tree = 0; tree < 4; tree++) {
          expect(unpack(model, tree)).toEqual(plainTree(columns, labels, uneven, full, tree));
        }
        free(model);
      }),
      { numRuns: 200 },
    );
  });

  test('equals one grown plainly where nodes outgrow their local copies', () => {
    const { sources, labels } = flights(40_000, 5);
    const options = {
      featureVectorSamplings: 1,
      featureSamplings: 1,
      featureVectorSamplingProp: 1,
      featureSamplingProp: 1,
      maxDepth: 9,
    };
    for (const featuresPerNode of [2, 4]) {
      const full = { ...FOREST_DEFAULTS, ...options, featuresPerNode };
      const { model, columns } = train(sources, labels, full);
      expect(unpack(model, 0)).toEqual(plainTree(columns, labels, undefined, full, 0));
      free(model);
    }
  });
});

describe('a forest', () => {
  const { sources, labels } = flights(8000, 1);
  const small = { featureVectorSamplings: 3, featureSamplings: 4, featureSamplingProp: 0.7 };
  const { model } = train(sources, labels, small);
  const reference = bytes(model);
  afterAll(() => free(model));

  test('is the same in whatever order its trees are grown', () => {
    const again = train(sources, labels, small, undefined, reversedContext(context)).model;
    expect(bytes(again)).toEqual(reference);
    free(again);
  });

  test('is another one with another seed', () => {
    const other = train(sources, labels, { ...small, randomSeed: 2 }).model;
    expect(bytes(other)).not.toEqual(reference);
    free(other);
  });

  test('grows the trees of one sample on the same rows', () => {
    const covers = model.trees.map(
      ({ span, nodeCount }) =>
        arenas.get(0).f64[treeParts(span.offset, nodeCount, 1).values >>> 3] as number,
    );
    expect(new Set(covers.slice(0, 4)).size).toBe(1);
    expect(new Set(covers).size).toBe(3);
  });

  test('does not tell equal weights from none', () => {
    const weighted = train(sources, labels, small, new Float64Array(8000).fill(3)).model;
    expect(bytes(weighted)).toEqual(reference);
    free(weighted);
  });

  test('scores flights it never saw', () => {
    expect(auc(model)).toBeGreaterThan(0.72);
    const { model: wide } = train(sources, labels, {
      ...small,
      featureVectorSamplingProp: 1,
      featureSamplingProp: 1,
      featuresPerNode: 2,
      maxDepth: 10,
    });
    expect(auc(wide)).toBeGreaterThan(0.75);
    free(wide);
  });

  test('says exactly 0 and 1 where all rows agree', () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    const parted = Uint8Array.from(values, (value) => Number(value >= 50));
    const source = [numbers('x', values)];
    const { model: pure } = train(source, parted, { featureSamplingProp: 1 });
    const scores = scoreRows(workspace, pure, [numbers('x', [0, 99])], 0, 2);
    expect([...scores]).toEqual([0, 1]);
    free(pure);
  });

  test('says the parent share for a value that was never missing', () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    const parted = Uint8Array.from(values, (value) => Number(value >= 50));
    const { model: pure } = train([numbers('x', values)], parted, {
      ...{ featureSamplingProp: 1, featureVectorSamplings: 1, featureSamplings: 1 },
    });
    const root = unpack(pure, 0).value;
    const [score] = scoreRows(workspace, pure, [numbers('x', [null])], 0, 1);
    expect(score).toBe(root);
    free(pure);
  });

  test('sends missing values where training had them', () => {
    const values = Array.from({ length: 200 }, (_, i) => (i % 4 === 0 ? null : i));
    const known = Uint8Array.from(values, (value) => Number(value === null || value > 150));
    const { model: split } = train([numbers('x', values)], known, { featureSamplingProp: 1 });
    const scores = scoreRows(workspace, split, [numbers('x', [null, 10, 199])], 0, 3);
    expect([...scores]).toEqual([1, 0, 1]);
    free(split);
  });

  test('is a single leaf a tree without features', () => {
    const { model: blind } = train(sources, labels, { ...small, featureSamplingProp: 0 });
    expect(blind.trees.every(({ nodeCount }) => nodeCount === 1)).toBe(true);
    free(blind);
  });

  test('gives all its memory back when it is cancelled', () => {
    const before = arenas.usedBytes;
    let units = 0;
    const cancelled = {
      ...context,
      checkCancelled() {
        if (++units > 5) throw new Error('cancelled');
      },
    };
    const parallel = {
      threadCount: 1,
      run: ((job, args, unitCount) =>
        Array.from({ length: unitCount }, (_, unit) =>
          job.execute(args, unit, cancelled),
        )) as typeof context.parallel.run,
    };
    const run = () => train(sources, labels, small, undefined, { ...cancelled, parallel });
    expect(run).toThrow('cancelled');
    expect(arenas.usedBytes).toBe(before);
  });

  test('tells how many trees are done', () => {
    const seen: (readonly [number, number])[] = [];
    const progress = (done: number, total: number) => void seen.push([done, total]);
    free(train(sources, labels, small, undefined, { ...context, progress }).model);
    expect(seen).toEqual(Array.from({ length: 12 }, (_, i) => [i + 1, 12]));
  });

  test('parts categories by their rank', () => {
    const names = Array.from({ length: 400 }, (_, i) => `c${i % 8}`);
    const late = Uint8Array.from(names, (name) => Number(['c1', 'c4', 'c6'].includes(name)));
    const options = { featureSamplingProp: 1, maxDepth: 1 };
    const { model: stumps } = train([texts('c', names)], late, options);
    expect([...scoreRows(workspace, stumps, [texts('c', ['c4', 'c5'])], 0, 2)]).toEqual([1, 0]);
    free(stumps);
  });
});

test.each([
  [{ featureVectorSamplings: 0 }, 'featureVectorSamplings must be a whole number from 1'],
  [{ featureVectorSamplingProp: 0 }, 'featureVectorSamplingProp must be a number above 0 to 1: 0'],
  [{ featureSamplingProp: 1.5 }, 'featureSamplingProp must be a number from 0 to 1: 1.5'],
  [{ maxDepth: -1 }, 'maxDepth must be a whole number from 0 to 1000: -1'],
  [{ maxDepth: Number.NaN }, 'maxDepth must be a whole number from 0 to 1000: NaN'],
  [{ featuresPerNode: 0 }, 'featuresPerNode must be a whole number above 0: 0'],
])('options out of range are refused: %o', (options, message) => {
  expect(() => train([numbers('x', [1, 2])], Uint8Array.of(0, 1), options)).toThrow(message);
});
