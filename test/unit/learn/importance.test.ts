import { expect, test } from 'vitest';
import {
  type ImportanceMetric,
  measureOf,
  type Outcomes,
  permutationImportance,
  sampleRows,
} from '../../../src/learn/importance.ts';

const nothing = () => undefined;

/** Two features of each row; the model sees the first alone. */
const FIRST = Float64Array.from({ length: 40 }, (_, row) => (row * 7) % 40);
const LABELS = Uint8Array.from(FIRST, (value) => (value >= 20 ? 1 : 0));
const WEIGHTS = new Float64Array(40).fill(1);

function importances(metric: ImportanceMetric, outcomes: Outcomes, scale: number, seed = 1) {
  const score = (feature: number | undefined, order?: Uint32Array) =>
    FIRST.map((own, row) => {
      const value = feature === 0 && order !== undefined ? FIRST[order[row] as number] : own;
      return (value as number) / scale;
    });
  const unchanged = score(undefined);
  const measure = measureOf(metric, outcomes, WEIGHTS, unchanged, nothing);
  const baseline = measure(unchanged);
  const task = { rowCount: 40, featureCount: 2, repeats: 5, seed, metric, baseline, measure };
  return { baseline, found: permutationImportance({ ...task, score, progress: nothing }) };
}

const TRUTH: Outcomes = { mode: 'boolean', values: LABELS };
const NUMBERS: Outcomes = { mode: 'regression', values: FIRST };

test.each([
  ['auc', TRUTH, 1],
  ['accuracy', TRUTH, 1],
  ['f1Score', TRUTH, 1],
  ['r2', NUMBERS, 1],
  ['mse', NUMBERS, 0],
] as const)('%s falls for the feature that is used, and for no other', (metric, outcomes, best) => {
  const { baseline, found } = importances(metric, outcomes, 1);
  expect(baseline).toBe(best);
  expect(found[0]?.importance).toBeGreaterThan(0.2);
  expect(found[0]?.std).toBeGreaterThan(0);
  expect(found[1]).toEqual({ importance: 0, std: 0 });
});

test('logLoss rises, and needs probabilities', () => {
  const { baseline, found } = importances('logLoss', TRUTH, 40);
  const expected =
    FIRST.reduce((sum, value) => sum - Math.log(value >= 20 ? value / 40 : 1 - value / 40), 0) / 40;
  expect(baseline).toBeCloseTo(expected, 12);
  expect(found[0]?.importance).toBeGreaterThan(0.1);
  expect(found[1]).toEqual({ importance: 0, std: 0 });
  expect(() => importances('logLoss', TRUTH, 1)).toThrow('metric logLoss needs scores from 0 to 1');
});

test('equal seeds permute equally, others differently', () => {
  const [a, b, c] = [1, 1, 2].map((seed) => importances('auc', TRUTH, 1, seed).found[0]);
  expect(a).toEqual(b);
  expect(a).not.toEqual(c);
});

test('importance is the mean drop and std that of all repeats', () => {
  const drops = [0.5, 0.25, 0, 0.25];
  let at = 0;
  const [found] = permutationImportance({
    rowCount: 3,
    featureCount: 1,
    repeats: 4,
    seed: 1,
    metric: 'auc',
    baseline: 1,
    measure: () => 1 - (drops[at++] as number),
    score: () => new Float64Array(3),
    progress: nothing,
  });
  expect(found).toEqual({ importance: 0.25, std: Math.sqrt(0.125 / 4) });
});

test('labels without scores are never guessed, and weights count', () => {
  const outcomes: Outcomes = {
    mode: 'categorical',
    labels: ['"a"', '"b"', '"c"'],
    scoredCount: 2,
    values: Int32Array.of(0, 1, 2),
  };
  const scores = Float64Array.of(0.75, 0.25, 0.25, 0.75, 0.5, 0.5);
  const weights = Float64Array.of(1, 2, 1);
  const measured = (metric: ImportanceMetric) =>
    measureOf(metric, outcomes, weights, scores, nothing)(scores);
  expect(measured('accuracy')).toBe(0.75);
  // Of a: precision 1/2; of b: all right; of c: never guessed.
  expect(measured('f1Score')).toBeCloseTo((1 * (2 / 3) + 2 * 1 + 1 * 0) / 4, 12);
  expect(measured('logLoss')).toBeCloseTo((-3 * Math.log(0.75) - Math.log(1e-15)) / 4, 12);
});

test('rows are drawn when there are more than wanted', () => {
  expect([...sampleRows(3, 5, 1)]).toEqual([0, 1, 2]);
  const drawn = [...sampleRows(1000, 10, 1)];
  expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b));
  expect(drawn).toHaveLength(10);
  expect(drawn.at(-1)).toBeGreaterThan(100);
  expect([...sampleRows(1000, 10, 2)]).not.toEqual(drawn);
});
