import { afterAll, expect, test } from 'vitest';
import { buildMatrix } from '../../../../src/learn/feature/matrix.ts';
import { fitForest } from '../../../../src/learn/forest/forest.ts';
import { type TreeEnsemble, treeParts } from '../../../../src/learn/tree/ensemble.ts';
import {
  compileEncoder,
  compileScorer,
  scoreRows,
  scoreRowsIn,
} from '../../../../src/learn/tree/scorer.ts';
import { serialContext } from '../../../../src/learn/workspace.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { FOREST_DEFAULTS, flights, testArenas, testContext } from '../support.ts';

const arenas = testArenas();
const context = testContext(arenas);
const { workspace } = context;
const training = flights(3000, 1);
const model = fitSmallForest();
afterAll(() => {
  for (const { span } of model.trees) arenas.free(span);
});

function fitSmallForest(): TreeEnsemble {
  const rows = { rowCount: 3000, targets: Float64Array.from(training.labels) };
  const matrix = buildMatrix(workspace, training.sources, rows, { coding: 'rank', arena: 0 });
  // 21 trees: two groups of eight, and some that are left over.
  const options = { ...FOREST_DEFAULTS, featureVectorSamplings: 7, featureSamplings: 3 };
  const forest = fitForest(
    context,
    { matrix, labels: training.labels },
    { ...options, featureSamplingProp: 0.8 },
  );
  arenas.free(matrix.span);
  return forest;
}

/** Branches on every node, tree after tree. */
function plainScore(values: readonly (Atom | undefined)[]): number {
  const codes = new Uint8Array(model.columns.length);
  compileEncoder(model.features, model.columns)(values, codes, 0);
  let sum = 0;
  for (const { span, nodeCount } of model.trees) {
    const { u32, f64 } = arenas.get(span.arena);
    const parts = treeParts(span.offset, nodeCount, 1);
    let node = 0;
    for (;;) {
      const test = u32[(parts.nodes >>> 2) + node * 2] as number;
      const distance = u32[(parts.nodes >>> 2) + node * 2 + 1] as number;
      const code = codes[test & 0x7fff] as number;
      if (distance === 0 || (code === 0 && (test & 0x8000) !== 0)) break;
      const goesRight = ((code - (test >>> 24)) & 0xff) > ((test >>> 16) & 0xff);
      node += distance + Number(goesRight);
    }
    sum += f64[(parts.values >>> 3) + node] as number;
  }
  return sum / model.divisor;
}

test('batches, single rows and plain walks agree to the last bit', () => {
  const rowCount = 17_003;
  const unseen = flights(rowCount, 2);
  const scores = scoreRows(workspace, model, unseen.sources, 0, rowCount);
  const scorer = compileScorer(workspace, model);
  for (let row = 0; row < rowCount; row += 7) {
    const values = unseen.rows[row] as Atom[];
    expect(scorer.score(values)).toBe(scores[row]);
    expect(plainScore(values)).toBe(scores[row]);
  }
  scorer.release();
});

test('several rows at once score like each of them, in any parts', () => {
  const rowCount = 20_011;
  const unseen = flights(rowCount, 4);
  const scores = scoreRows(workspace, model, unseen.sources, 0, rowCount);
  const scorer = compileScorer(workspace, model);
  expect(scorer.scoreAll(rowCount, (row) => unseen.rows[row] as Atom[])).toEqual(scores);
  expect(scorer.scoreAll(3, (row) => unseen.rows[row + 5] as Atom[])).toEqual(scores.slice(5, 8));
  expect(scorer.scoreAll(0, () => [])).toEqual(new Float64Array(0));
  scorer.release();
  const serial = serialContext(workspace).parallel;
  let unitCount = 0;
  const backwards: typeof serial = {
    threadCount: 2,
    run(job, args, count) {
      unitCount += count;
      const units = Array.from({ length: count }, (_, unit) => unit).reverse();
      return units.map((unit) => job.execute(args, unit, { checkCancelled() {} })).reverse();
    },
  };
  const context = { workspace, parallel: backwards };
  expect(scoreRowsIn(context, model, unseen.sources, 0, rowCount)).toEqual(scores);
  expect(unitCount).toBeGreaterThan(1);
});

test('a range of rows scores like the same rows of the whole', () => {
  const unseen = flights(500, 3);
  const whole = scoreRows(workspace, model, unseen.sources, 0, 500);
  expect(scoreRows(workspace, model, unseen.sources, 123, 321)).toEqual(whole.slice(123, 321));
});

test('absent, null and unseen values are missing', () => {
  const scorer = compileScorer(workspace, model);
  const score = scorer.score([null, 'C1', 100, 5]);
  expect(scorer.score([undefined, 'C1', 100, 5])).toBe(score);
  expect(scorer.score(['never seen', 'C1', 100, 5])).toBe(score);
  expect(scorer.score([null, 'C1', 100, 5n as unknown as Atom])).toBe(score);
  expect(scorer.score([])).toBe(plainScore([]));
  scorer.release();
});

test('a text for a number is refused', () => {
  const scorer = compileScorer(workspace, model);
  expect(() => scorer.score(['A1', 'C1', 'far', 5])).toThrow(
    `Value for column 'distance' was numeric in training, but is now "far"`,
  );
  scorer.release();
});

test('scoring leaves no memory behind', () => {
  const before = arenas.usedBytes;
  compileScorer(workspace, model).release();
  scoreRows(workspace, model, training.sources, 0, 100);
  expect(arenas.usedBytes).toBe(before);
});
