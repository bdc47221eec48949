// Formulas as SQL: which side a missing value takes, what is escaped, and where a text ends.
import { expect, test } from 'vitest';
import type { Formula } from '../../../../src/learn/formula/formula.ts';
import {
  type FeatureSql,
  formulaText,
  numberFeature,
  textFeature,
} from '../../../../src/remote/clickhouse/clickhouse-formula.ts';

const X = numberFeature({ text: 'x', kind: 'number', isNullable: true, mayBeNan: true });
const I = numberFeature({ text: 'i', kind: 'integer', isNullable: false, isSmall: true });
const S = textFeature({ text: 's', kind: 'string', isNullable: true });

const [yes, no, missing]: Formula[] = [1, 2.5, 3e300].map((value) => ({ kind: 'number', value }));

function write(formula: Formula, feature: FeatureSql | undefined, sizeMax = 1000) {
  return formulaText(formula, [feature], sizeMax);
}

function below(outcome: Formula, boundary = -0.5): Formula {
  return { kind: 'below', feature: 0, boundary, yes, no, missing: outcome } as Formula;
}

test.each([
  ['a missing number fails a test', below(no as Formula), X, 'if(ifNull(x, nan) < -0.5, 1., 2.5)'],
  ['or passes it', below(yes as Formula), X, 'if(ifNull(x, nan) >= -0.5, 2.5, 1.)'],
  [
    'or ends there',
    below(missing as Formula),
    X,
    'multiIf(ifNull(x, nan) < -0.5, 1., ifNull(x, nan) >= -0.5, 2.5, 3e+300)',
  ],
  ['an integer is never missing', below(missing as Formula), I, 'if(i < -0.5, 1., 2.5)'],
  ['a feature that the row lacks', below(missing as Formula), undefined, '3e+300'],
  [
    'whether there is a value',
    below(no as Formula, Infinity),
    X,
    'if(isNaN(ifNull(x, nan)), 2.5, 1.)',
  ],
  [
    'texts are escaped',
    {
      kind: 'category',
      feature: 0,
      categories: ["it's", '\\'],
      values: [1, -2],
      otherwise: 0,
      missing: 7,
    },
    S,
    "if(isNull(s), 7., transform(ifNull(s, ''), ['it\\'s', '\\\\'], [1., -2.], 0.))",
  ],
  [
    'infinite numbers are refused',
    { kind: 'feature', feature: 0, weight: 2, present: 0, missing: 0 },
    X,
    'if(isNaN(ifNull(x, nan)), 0., (2. * ifNull(x, nan) + throwIf(isInfinite(ifNull(x, nan)))))',
  ],
] as readonly (readonly [string, Formula, FeatureSql | undefined, string])[])(
  '%s',
  (_, formula, feature, sql) => {
    expect(write(formula, feature)).toBe(sql);
  },
);

test('a text that would be too long is none, and is not made', () => {
  let deep: Formula = { kind: 'number', value: 1 };
  for (let i = 0; i < 40; i++) deep = { kind: 'sum', terms: [deep, deep] };
  expect(write(deep, X)).toBeUndefined();
  expect(write(below(no as Formula), X, 20)).toBeUndefined();
});

test('numbers that old servers cannot read have no text', () => {
  expect(write(below(no as Formula, 5e-324), X)).toBeUndefined();
});
