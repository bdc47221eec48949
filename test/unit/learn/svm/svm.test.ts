import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { svmFromJson, svmToJson } from '../../../../src/learn/svm/model.ts';
import {
  decisionValue,
  fitSvm,
  predictSvm,
  type SvmModel,
  type SvmOptions,
} from '../../../../src/learn/svm/svm.ts';
import { placePoints, testContext } from '../support.ts';

const context = testContext();
const DEFAULTS: SvmOptions = {
  svmType: 'classification',
  kernel: 'rbf',
  degree: 3,
  gamma: 0,
  coef0: 0,
  C: 1,
  nu: 0.5,
  p: 0.1,
  eps: 1e-6,
  shrinking: true,
};

interface Reference {
  readonly rows: number[][];
  readonly labels: number[];
  readonly [decisions: string]: number[] | number[][];
}

/** What libsvm says of iris, by test/reference/svm.py. */
const reference = JSON.parse(
  readFileSync(new URL('../../../reference/svm.json', import.meta.url), 'utf8'),
) as Reference;
const { rows, labels } = reference;

function fit(
  data: readonly number[][],
  targets: readonly number[],
  options: Partial<SvmOptions>,
): SvmModel {
  return placePoints(context, data, (points) =>
    fitSvm(context, points, Float64Array.from(targets), { ...DEFAULTS, ...options }),
  );
}

function decisions(model: SvmModel, data: readonly number[][]): number[] {
  return data.map((x) =>
    decisionValue(
      model.decisions[0] as SvmModel['decisions'][0],
      model.kernel,
      Float64Array.from(x),
    ),
  );
}

function expectClose(found: readonly number[], expected: readonly number[]): void {
  for (const [i, value] of expected.entries()) expect(found[i]).toBeCloseTo(value, 3);
}

describe('decisions are those of libsvm', () => {
  const pair = rows.slice(50);
  const pairLabels = labels.slice(50);
  test.each([
    ['rbf', { gamma: 0.25 }],
    ['poly', { kernel: 'poly', gamma: 0.25, coef0: 1, degree: 2, C: 2 }],
    ['nu', { svmType: 'nu-classification', gamma: 0.25, nu: 0.3 }],
  ] as const)('for two classes: %s', (name, options) => {
    for (const shrinking of [true, false]) {
      const model = fit(pair, pairLabels, { ...options, shrinking });
      expectClose(decisions(model, pair), reference[name] as number[]);
    }
  });

  test('for one class', () => {
    const model = fit(rows, labels, { svmType: 'one class', gamma: 0.25, nu: 0.2 });
    expectClose(decisions(model, rows), reference.oneClass as number[]);
    const sides = rows.map((x) => predictSvm(model, Float64Array.from(x)));
    expect(new Set(sides)).toEqual(new Set([1, -1]));
  });

  test.each([
    ['regression', { svmType: 'regression' }],
    ['nuRegression', { svmType: 'nu-regression', nu: 0.4 }],
  ] as const)('for numbers: %s', (name, options) => {
    const data = rows.map((row) => row.slice(0, 3));
    const model = fit(
      data,
      rows.map((row) => row[3] as number),
      options,
    );
    expectClose(decisions(model, data), reference[name] as number[]);
  });

  test('for three classes, by their votes', () => {
    const model = fit(rows, labels, { gamma: 0.25 });
    const found = rows.map((x) => predictSvm(model, Float64Array.from(x)));
    expect(found).toEqual(reference.classes);
  });
});

describe('a support vector machine', () => {
  test('is the same after it was saved', () => {
    const model = fit(rows, labels, { kernel: 'linear' });
    const saved = svmFromJson(JSON.parse(JSON.stringify(svmToJson(model, ['a', 'b', 'c', 'd']))));
    expect(saved.model).toEqual(model);
  });

  test('refuses one class, and a nu that its classes cannot have', () => {
    expect(() => fit(rows.slice(0, 5), [1, 1, 1, 1, 1], {})).toThrow('the label is 1 in all rows');
    expect(() => fit(rows.slice(0, 5), [1, 2, 2, 2, 2], { svmType: 'nu-classification' })).toThrow(
      'nu 0.5 is too large',
    );
  });
});
