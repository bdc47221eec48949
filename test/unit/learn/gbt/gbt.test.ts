import { afterAll, describe, expect, test } from 'vitest';
import type { Iteration } from '../../../../src/learn/learner.ts';
import { areaUnderCurve, booleanCurve } from '../../../../src/learn/metric/boolean.ts';
import { modelDocument } from '../../../../src/learn/model/document.ts';
import { Random } from '../../../../src/learn/random.ts';
import { fitConfiguration, freeModel, type Problem, scoresOf } from '../fit-support.ts';
import { flights, numbers, testArenas, testContext, texts } from '../support.ts';

const arenas = testArenas();
const context = testContext(arenas);
afterAll(() => expect(arenas.usedBytes).toBe(0));

function fitAndScore(
  configuration: object,
  mode: 'boolean' | 'regression' | 'categorical',
  problem: Problem,
  scored: Pick<Problem, 'sources' | 'rowCount'> = problem,
  iterations?: Iteration[],
): number[] {
  const model = fitConfiguration(
    context,
    { type: 'gbt', ...configuration },
    mode,
    problem,
    iterations === undefined ? {} : { iterations },
  );
  const scores = scoresOf(context, model, scored);
  freeModel(context, model);
  return scores;
}

const regression = (sources: Problem['sources'], values: readonly number[]): Problem => ({
  sources,
  rowCount: values.length,
  target: { kind: 'regression', values: Float64Array.from(values) },
});

const twoClasses = (sources: Problem['sources'], labels: ArrayLike<number>): Problem => ({
  sources,
  rowCount: labels.length,
  target: { kind: 'classes', labels: Uint16Array.from(labels), labelCount: 2 },
});

function r2(scores: readonly number[], values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const rest = scores.reduce((sum, score, i) => sum + (score - (values[i] as number)) ** 2, 0);
  return 1 - rest / values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

const auc = (scores: readonly number[], labels: ArrayLike<number>) =>
  areaUnderCurve(booleanCurve(Float64Array.from(scores), Uint8Array.from(labels)));

const xs = Array.from({ length: 200 }, (_, i) => i / 10 - 10);

test('follows a parabola', () => {
  const values = xs.map((x) => x * x);
  const scores = fitAndScore(
    { min_child_samples: 1 },
    'regression',
    regression([numbers('x', xs)], values),
  );
  expect(r2(scores, values)).toBeGreaterThan(0.99);
});

test('tells the exclusive or of two features among others that are noise', () => {
  const random = Random.of(5);
  const bits = () => Array.from({ length: 400 }, () => random.below(2));
  const a = bits();
  const b = bits();
  const sources = [numbers('a', a), numbers('b', b), numbers('c', bits()), numbers('d', bits())];
  const labels = a.map((bit, row) => bit ^ (b[row] as number));
  expect(auc(fitAndScore({}, 'boolean', twoClasses(sources, labels)), labels)).toBe(1);
});

test('never falls where it must not, on points between those of the training either', () => {
  const random = Random.of(6);
  const values = xs.map((x) => x + 6 * Math.sin(x) + random.uniform());
  const others = xs.map(() => random.below(3));
  const problem = regression([numbers('k', others), numbers('x', xs)], values);
  const fine = Array.from({ length: 900 }, (_, i) => i / 40 - 11);
  const scored = {
    sources: [
      numbers(
        'k',
        fine.map(() => 1),
      ),
      numbers('x', fine),
    ],
    rowCount: fine.length,
  };
  const falls = (scores: readonly number[]) =>
    scores.filter((score, i) => i > 0 && score < (scores[i - 1] as number) - 1e-12).length;
  const free = fitAndScore({ min_child_samples: 2 }, 'regression', problem, scored);
  expect(falls(free)).toBeGreaterThan(0);
  for (const growth of ['leaf', 'depth']) {
    const options = { min_child_samples: 2, growth, monotone_constraints: { x: 1 } };
    expect(falls(fitAndScore(options, 'regression', problem, scored))).toBe(0);
  }
});

test('a feature that tells the label only changes rows where it is missing', () => {
  const { sources, labels } = flights(600, 3);
  const told = [...labels].map((label) => (label === 1 ? 'late' : 'early'));
  const some = told.map((text, row) => (row % 4 === 0 ? null : text));
  const whole = fitAndScore({}, 'boolean', twoClasses([...sources, texts('z', told)], labels));
  expect(auc(whole, labels)).toBe(1);
  const partial = fitAndScore({}, 'boolean', twoClasses([...sources, texts('z', some)], labels));
  const known = [...labels.keys()].filter((row) => row % 4 !== 0);
  expect(
    auc(
      known.map((row) => partial[row] as number),
      known.map((row) => labels[row] as number),
    ),
  ).toBe(1);
});

test('parts categories in sets, and takes new ones for missing', () => {
  const random = Random.of(8);
  const names = Array.from({ length: 24 }, (_, i) => `n${i}`);
  const good = new Set(names.filter((_, i) => i % 3 === 0));
  const values = Array.from({ length: 800 }, () => names[random.below(24)] as string);
  // Which categories count depends on a number: no order of them fits both cases.
  const signs = values.map(() => random.below(2));
  const labels = values.map((name, row) => Number(good.has(name)) ^ (signs[row] as number));
  const problem = twoClasses([texts('c', values), numbers('s', signs)], labels);
  const model = fitConfiguration(context, { type: 'gbt', num_rounds: 30 }, 'boolean', problem);
  expect(model.algorithm).toHaveProperty('ensemble.sets');
  expect(auc(scoresOf(context, model, problem), labels)).toBe(1);
  const unseen = {
    sources: [texts('c', ['elsewhere', null]), numbers('s', [1, 1])],
    rowCount: 2,
  };
  const [first, second] = scoresOf(context, model, unseen);
  expect(first).toBe(second);
  expect(JSON.stringify(modelDocument(context.workspace, model))).toContain('"categories":["n');
  freeModel(context, model);
});

test('probabilities of labels sum to 1, and margins are what they are made of', () => {
  const { sources, labels } = flights(300, 4);
  const codes = Uint16Array.from(labels, (label, row) => (label === 1 ? 2 : row % 2));
  const problem: Problem = {
    sources,
    rowCount: 300,
    target: { kind: 'classes', labels: codes, labelCount: 3 },
  };
  const shares = fitAndScore({ num_rounds: 5 }, 'categorical', problem);
  const margins = fitAndScore({ num_rounds: 5, output: 'margin' }, 'categorical', problem);
  for (let row = 0; row < 300; row++) {
    const own = shares.slice(3 * row, 3 * row + 3);
    expect(own.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    const [a, b] = margins.slice(3 * row, 3 * row + 2) as [number, number];
    expect(Math.log((own[0] as number) / (own[1] as number))).toBeCloseTo(a - b, 9);
  }
});

describe('early stopping', () => {
  test('keeps the best round on rows that were set aside', () => {
    const { sources, labels } = flights(800, 5);
    const iterations: Iteration[] = [];
    const problem = twoClasses(sources, labels);
    const configuration = {
      type: 'gbt',
      num_rounds: 400,
      learning_rate: 0.5,
      early_stopping_rounds: 5,
    };
    const model = fitConfiguration(context, configuration, 'boolean', problem, { iterations });
    const metrics = iterations.map(({ validationMetric }) => validationMetric as number);
    const best = metrics.indexOf(Math.min(...metrics));
    expect(iterations.length).toBeLessThan(400);
    expect(model.algorithm).toMatchObject({ bestIteration: best });
    expect(model.algorithm).toHaveProperty('gains.length', best + 1);
    freeModel(context, model);
  });
});

test.each([
  ['absolute', 5],
  ['huber', 5],
  ['quantile', 18],
])('objective %s aims at its own middle', (objective, aim) => {
  const values = Array.from({ length: 100 }, (_, i) => (i < 55 ? 5 : i < 92 ? 18 : 1000));
  const problem = regression(
    [
      numbers(
        'x',
        values.map(() => 1),
      ),
    ],
    values,
  );
  const [score] = fitAndScore(
    { objective, min_child_samples: 1, base_score: 0, num_rounds: 300 },
    'regression',
    problem,
  );
  const constant = fitAndScore({ objective }, 'regression', problem)[0] as number;
  if (objective === 'huber') expect(constant).toBeGreaterThan(aim);
  else expect(constant).toBe(aim);
  expect(Number.isFinite(score)).toBe(true);
});

test.each([
  [{ monotone_constraints: { nosuch: 1 } }, "there is no feature 'nosuch'"],
  [{ monotone_constraints: { carrier: 1 } }, "'carrier' is categorical"],
  [{ objective: 'softmax' }, 'objective softmax is not for mode boolean'],
  [{ max_bins: 1000 }, 'max_bins'],
  [{ num_rounds: 0 }, 'num_rounds'],
])('refuses %j', (options, message) => {
  const { sources, labels } = flights(100, 1);
  expect(() => fitAndScore(options, 'boolean', twoClasses(sources, labels))).toThrow(message);
});

test('trains on more columns than nodes can name, as long as few are tested', () => {
  const columnCount = 40_000;
  const sources = Array.from({ length: columnCount }, (_, column) =>
    numbers(`x${column}`, column === 39_999 ? [1, 2, 3, 4, 5, 6] : [column, 0, 0, 0, 0, 0]),
  );
  const problem = regression(sources, [0, 0, 0, 10, 10, 10]);
  const options = {
    num_rounds: 1,
    learning_rate: 1,
    lambda: 0,
    max_depth: 1,
    min_child_samples: 1,
  };
  expect(fitAndScore(options, 'regression', problem)).toEqual([0, 0, 0, 10, 10, 10]);
});
