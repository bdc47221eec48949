// Fits of generalised linear models against the conditions of their optimum and plain twins.
import { describe, expect, test } from 'vitest';
import type { SourceColumn } from '../../../../src/learn/feature/source.ts';
import type { Iteration } from '../../../../src/learn/learner.ts';
import { Random } from '../../../../src/learn/random.ts';
import { fitConfiguration } from '../fit-support.ts';
import { numbers, testArenas, testContext, texts } from '../support.ts';

const context = testContext(testArenas());

interface Table {
  readonly sources: readonly SourceColumn[];
  /** with the constant's 1 last */
  readonly rows: readonly (readonly number[])[];
  /** the number itself, or 0 and 1 */
  readonly targets: readonly number[];
}

/** Columns that are told apart by noise, of which the first few matter. */
function tableOf(rowCount: number, columnCount: number, isBoolean: boolean, seed = 1): Table {
  const random = Random.of(seed, 77);
  const rows = Array.from({ length: rowCount }, () => {
    const shared = random.uniform() - 0.5;
    const cells = Array.from({ length: columnCount }, () => random.uniform() - 0.5 + shared);
    return [...cells, 1];
  });
  const targets = rows.map((row) => {
    const sum = (row[0] as number) - 2 * (row[1] as number) + (row[2] as number) + 0.3;
    const noise = random.uniform() - 0.5;
    return isBoolean ? Number(1 / (1 + Math.exp(-3 * sum)) > random.uniform()) : sum + noise;
  });
  const sources = Array.from({ length: columnCount }, (_, c) =>
    numbers(
      `x${String(c).padStart(4, '0')}`,
      rows.map((row) => row[c] as number),
    ),
  );
  return { sources, rows, targets };
}

function fit(table: Table, options: object, isBoolean: boolean, iterations: Iteration[] = []) {
  const { sources, targets } = table;
  const mode = isBoolean ? 'boolean' : 'regression';
  const target = isBoolean
    ? ({ kind: 'classes', labels: Uint16Array.from(targets), labelCount: 2 } as const)
    : ({ kind: 'regression', values: Float64Array.from(targets) } as const);
  const problem = { sources, rowCount: targets.length, target };
  const configuration = { type: 'glz', normalize: false, ...options };
  const model = fitConfiguration(context, configuration, mode, problem, { iterations });
  if (model.algorithm.type !== 'glz') throw new Error('glz fits glz');
  return [...(model.algorithm.weights.at(-1) as Float64Array)];
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

/** X' (y - mean): minus half the slope of the deviance. */
function slopeOf({ rows, targets }: Table, beta: readonly number[], isBoolean: boolean): number[] {
  const slope = beta.map(() => 0);
  for (const [r, row] of rows.entries()) {
    const linear = dot(row, beta);
    const left = (targets[r] as number) - (isBoolean ? 1 / (1 + Math.exp(-linear)) : linear);
    for (const [c, value] of row.entries()) slope[c] = (slope[c] as number) + value * left;
  }
  return slope;
}

const LINEAR = { link_function: 'linear' };

describe.each([
  ['linear', false],
  ['logit', true],
])('link %s', (link, isBoolean) => {
  const table = tableOf(300, 40, isBoolean);

  test.each([3, 20, 60])('l1 is at its optimum, with a factor of %d', (lambda) => {
    const beta = fit(
      table,
      {
        ...{ link_function: link, regularization: 'l1', regularization_factor: lambda },
        ...{ regularization_epsilon: 1e-12, max_regularization_iteration: 100_000 },
      },
      isBoolean,
    );
    const slope = slopeOf(table, beta, isBoolean);
    for (const [c, value] of beta.entries()) {
      const bound = lambda / 2;
      if (value === 0) expect(Math.abs(slope[c] as number)).toBeLessThanOrEqual(bound * 1.000001);
      else expect(slope[c]).toBeCloseTo(Math.sign(value) * bound, 5);
    }
    expect(beta.filter((value) => value === 0).length).toBeGreaterThan(10);
  });

  test('a factor of a path gives what the factor by itself gives, and the best one is kept', () => {
    const trials: Iteration[] = [];
    const exact = { regularization_epsilon: 1e-10, max_regularization_iteration: 100_000 };
    const options = { link_function: link, regularization: 'l1', ...exact };
    const path = { ...options, regularization_factor: -1, regularization_path: 20 };
    const chosen = fit(table, path, isBoolean, trials);
    expect(trials.length).toBeGreaterThan(5);
    expect(trials[0]?.coefficientCount).toBe(0);
    const errors = trials.map(({ leaveOneOutError }) => leaveOneOutError as number);
    const best = trials[errors.indexOf(Math.min(...errors))];
    const alone = (factor: number | undefined) =>
      fit(table, { ...options, regularization_factor: factor }, isBoolean);
    const again = alone(best?.regularizationFactor);
    for (const [c, value] of chosen.entries()) expect(value).toBeCloseTo(again[c] as number, 6);
    for (const trial of [trials[3], trials.at(-1)]) {
      const beta = alone(trial?.regularizationFactor);
      const own = beta.slice(0, -1).filter((value) => value !== 0);
      expect(trial?.coefficientCount).toBe(own.length);
      expect(trial?.leaveOneOutError).toBeCloseTo(plainError(table, beta, isBoolean), 4);
    }
  });

  test('l2 is at its optimum, with products of an earlier step and without', () => {
    for (const rowCount of [200, 26_000]) {
      const large = tableOf(rowCount, 40, isBoolean, 3);
      const beta = fit(large, { link_function: link, regularization_factor: 0.5 }, isBoolean);
      const slope = slopeOf(large, beta, isBoolean);
      for (const [c, value] of beta.entries()) {
        expect(Math.abs((slope[c] as number) - 0.5 * value)).toBeLessThan(1e-6 * rowCount);
      }
    }
  });
});

/** The squared error with leverages of the columns that are not 0. */
function plainError({ rows, targets }: Table, beta: readonly number[], isBoolean: boolean) {
  const active = [...beta.keys()].filter((c) => beta[c] !== 0);
  const means = rows.map((row) => {
    const linear = dot(row, beta);
    return isBoolean ? 1 / (1 + Math.exp(-linear)) : linear;
  });
  const weights = means.map((mean) => (isBoolean ? mean * (1 - mean) : 1));
  const gram = active.map((a) =>
    active.map((b) =>
      rows.reduce((sum, row, r) => {
        return sum + (weights[r] as number) * (row[a] as number) * (row[b] as number);
      }, 0),
    ),
  );
  return rows.reduce((sum, row, r) => {
    const own = active.map((c) => row[c] as number);
    const leverage = (weights[r] as number) * dot(own, solvePlain(gram, own));
    return sum + (((targets[r] as number) - (means[r] as number)) / (1 - leverage)) ** 2;
  }, 0);
}

/** By elimination. */
function solvePlain(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const lines = matrix.map((line, i) => [...line, right[i] as number]);
  for (const [i, line] of lines.entries()) {
    for (const [j, other] of lines.entries()) {
      if (i === j) continue;
      const factor = (other[i] as number) / (line[i] as number);
      for (const [k, value] of line.entries()) {
        if (k >= i) other[k] = (other[k] as number) - factor * value;
      }
    }
  }
  return lines.map((line, i) => (line.at(-1) as number) / (line[i] as number));
}

test('the error that a ridge is chosen by is that of fits without one row each', () => {
  const table = tableOf(12, 4, false, 5);
  const trials: Iteration[] = [];
  fit(table, { ...LINEAR, regularization_factor: -1 }, false, trials);
  expect(trials.map(({ regularizationFactor }) => regularizationFactor)).toHaveLength(16);
  for (const index of [0, 2]) {
    const trial = trials[index] as Iteration;
    const options = { ...LINEAR, regularization_factor: trial.regularizationFactor };
    let error = 0;
    for (const [left, row] of table.rows.entries()) {
      const stays = (_: unknown, r: number) => r !== left;
      const rows = table.rows.filter(stays);
      const sources = table.sources.map(({ name }, c) =>
        numbers(
          name,
          rows.map((cells) => cells[c] as number),
        ),
      );
      const beta = fit({ rows, sources, targets: table.targets.filter(stays) }, options, false);
      error += ((table.targets[left] as number) - dot(row, beta)) ** 2;
    }
    expect(trial.leaveOneOutError).toBeCloseTo(error, 6);
  }
});

test('more columns than are kept as products reach the same optimum', () => {
  const random = Random.of(9, 1);
  const rowCount = 9000;
  const words = Array.from({ length: rowCount }, (_, r) => `w${r % 4100}`);
  const kinds = Array.from({ length: rowCount }, () => `k${Math.floor(random.uniform() * 5)}`);
  const targets = words.map((word, r) =>
    Number((Number(word.slice(1)) % 7) + 3 * Number(kinds[r] === 'k1') > 9 * random.uniform()),
  );
  const problem = {
    sources: [texts('a', kinds), texts('b', words)],
    rowCount,
    target: { kind: 'classes', labels: Uint16Array.from(targets), labelCount: 2 } as const,
  };
  const options = { type: 'glz', normalize: false, regularization_factor: 2 };
  const { algorithm, features: learned } = fitConfiguration(context, options, 'boolean', problem);
  if (algorithm.type !== 'glz') throw new Error('glz fits glz');
  const beta = algorithm.weights.at(-1) as Float64Array;
  const { features, categories } = algorithm.columns;
  const columnOf = new Map<string, number>();
  for (let c = 0; c < categories.length; c++) columnOf.set(`${features[c]} ${categories[c]}`, c);
  const slope = new Float64Array(beta.length);
  const lists = learned.map((feature) =>
    feature.kind === 'categorical' ? feature.categories : [],
  );
  for (let r = 0; r < rowCount; r++) {
    const own = [kinds[r], words[r]].map((text, f) => {
      return columnOf.get(`${f} ${lists[f]?.indexOf(text as string)}`) as number;
    });
    own.push(beta.length - 1);
    const linear = own.reduce((sum, c) => sum + (beta[c] as number), 0);
    const left = (targets[r] as number) - 1 / (1 + Math.exp(-linear));
    for (const c of own) slope[c] = (slope[c] as number) + left;
  }
  for (let c = 0; c < beta.length; c++) {
    expect(Math.abs((slope[c] as number) - 2 * (beta[c] as number))).toBeLessThan(1e-3);
  }
});

test.each([
  [{ regularization_path: 50 }],
  [{ regularization: 'l1', regularization_path: 50, regularization_factor: 1 }],
  [{ regularization: 'l1', regularization_path: 1, regularization_factor: -1 }],
])('a path that says nothing is refused: %j', (options) => {
  expect(() => fit(tableOf(10, 2, false), options, false)).toThrow(/regularization_path/);
});
