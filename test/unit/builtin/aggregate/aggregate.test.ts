// Goal: aggregates give the same result however their rows are cut into partitions.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import type { AggregateFunction } from '../../../../src/plan/function.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { cellsOf, Row, Scalar, type Value } from '../../../../src/value/value.ts';
import { jsonOf, resultOf } from '../../../support/builtin-query.ts';

function find(name: string): AggregateFunction {
  const declaration = builtinNamespace.findFunction(name);
  if (declaration?.kind !== 'aggregate') throw new Error(`${name} is no aggregate`);
  return declaration;
}

/** Aggregates each partition apart and merges them in order. */
function aggregate(name: string, partitions: readonly (readonly (readonly Value[])[])[]): Value {
  const declaration = find(name);
  const [first = declaration.init(), ...others] = partitions.map((rows) => {
    const state = declaration.init();
    for (const args of rows) declaration.update(state, args);
    return state;
  });
  for (const other of others) declaration.merge(first, other);
  return declaration.finish(first);
}

const at = (atom: Atom, ts: number): Scalar => new Scalar(atom, ts);
const flat = (value: Value): unknown =>
  cellsOf(value).map(({ path, atom, ts }) => [path.toString(), rounded(atom), ts]);

function rounded(atom: Atom): Atom | string {
  return typeof atom === 'number' && Number.isFinite(atom) ? atom.toFixed(9) : atom;
}

const number = fc
  .tuple(fc.option(fc.integer({ min: -50, max: 50 })), fc.integer({ min: 0, max: 5 }))
  .map(([atom, ts]) => at(atom, ts));
const name = fc.constantFrom('a', 'b', 'c').map((text) => at(text, 0));

const ROWS: Readonly<Record<string, fc.Arbitrary<Value[]>>> = {
  count: fc.tuple(number),
  sum: fc.tuple(number),
  avg: fc.tuple(number),
  variance: fc.tuple(number),
  stddev: fc.tuple(number),
  min: fc.tuple(number),
  max: fc.tuple(number),
  earliest: fc.tuple(number),
  latest: fc.tuple(number),
  count_distinct: fc.tuple(number),
  string_agg: fc.tuple(number, name, number),
  pivot: fc.tuple(name, number),
  likelihood_ratio: fc.tuple(
    fc.uniqueArray(fc.constantFrom('a', 'b', 'c')).map((names) => {
      const sorted = [...names].sort();
      return new Row(
        sorted,
        sorted.map(() => at(1, 3)),
      );
    }),
    number,
  ),
};

describe.each(Object.entries(ROWS))('%s', (aggregateName, row) => {
  test('of partitions is that of the whole', () => {
    const partitions = fc.array(fc.array(row, { maxLength: 6 }), { maxLength: 4 });
    fc.assert(
      fc.property(partitions, (parts) => {
        const whole = aggregate(aggregateName, [parts.flat()]);
        expect(flat(aggregate(aggregateName, parts))).toEqual(flat(whole));
      }),
    );
  });
});

describe('without values', () => {
  test.each([
    ['count', 0],
    ['sum', 0],
    ['avg', Number.NaN],
    ['variance', Number.NaN],
    ['stddev', Number.NaN],
    ['min', null],
    ['max', null],
    ['earliest', null],
    ['latest', null],
    ['count_distinct', 0],
    ['string_agg', ''],
  ])('%s is %s', (aggregateName, expected) => {
    const nulls = [[at(null, 5), at(',', 5)]];
    expect(aggregate(aggregateName, [nulls])).toEqual(at(expected, Number.NEGATIVE_INFINITY));
  });
});

test('the variance of large numbers keeps its digits', () => {
  const rows = [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16].map((x) => [at(x, 0)]);
  expect(aggregate('variance', [rows])).toEqual(at(30, 0));
  expect(aggregate('variance', [rows.slice(0, 1), rows.slice(1)])).toEqual(at(30, 0));
});

test('among equal extremes the earliest counts, among equal times the smaller', () => {
  expect(aggregate('max', [[[at(5, 9)], [at(5, 3)], [at(4, 1)]]])).toEqual(at(5, 3));
  expect(aggregate('latest', [[[at(5, 9)], [at(2, 9)]]])).toEqual(at(2, 9));
  expect(aggregate('earliest', [[[at(5, 1)], [at(2, 1)]]])).toEqual(at(2, 1));
});

test('count_distinct tells types apart, not spellings of a number', () => {
  const rows = [1, 1.0, '1', 9007199254740993n, null].map((atom) => [at(atom, 0)]);
  expect(aggregate('count_distinct', [rows])).toEqual(at(3, 0));
});

test('each text brings the separator that follows it', () => {
  const rows = ['b', 'a', 'c'].map((text) => [at(text, 0), at(`<${text}>`, 0)]);
  expect(aggregate('string_agg', [rows])).toEqual(at('a<a>b<b>c', 0));
});

test('pivot keeps versions and refuses nulls as names', () => {
  const pivoted = aggregate('pivot', [[[at('x.y', 0), at(1, 1)]], [[at('x.y', 0), at(2, 2)]]]);
  expect(flat(pivoted)).toEqual([
    ['"x.y"', '1.000000000', 1],
    ['"x.y"', '2.000000000', 2],
  ]);
  expect(() => aggregate('pivot', [[[at(null, 0), at(1, 1)]]])).toThrow('null as the name');
});

test.each([
  ['sum(value) FROM row_dataset([1, 2.5])', 3.5],
  ["max(value) FROM row_dataset([1, 'a'])", 'a'],
  ["vertical_string_agg(value, ',') FROM row_dataset(['b', 'a'])", 'a,b'],
])('%s', (query, expected) => {
  expect(resultOf(query)).toBe(expected);
});

describe('horizontal and temporal aggregates', () => {
  test.each([
    ['horizontal_count(5)', 1],
    ['horizontal_count(null)', null],
    ['horizontal_avg({a: null})', null],
    ['horizontal_string_agg({a: 1, b: 2}, null)', null],
    ['horizontal_earliest({a: 7, b: 3 @ 5})', 7],
    ['latest_timestamp(horizontal_count({}))', { ts: '-Inf' }],
    ['latest_timestamp(horizontal_max({a: 5 @ 9, b: 5 @ 3}))', { ts: '1970-01-01T00:00:09Z' }],
    ["temporal_sum('x')", 'x'],
    ['temporal_count(null)', null],
    ['temporal_max([5, 6]) = {"0": 5, "1": 6}', 1],
  ])('%s', (expression, expected) => {
    expect(resultOf(expression)).toEqual(expected);
  });

  test('a column without a version left is absent', () => {
    expect(jsonOf('temporal_count({a: null, b: 5})')).toBe('{"b":1}');
    expect(jsonOf('temporal_latest({a: {b: 5, c: null}})')).toBe('{"a":{"b":5}}');
  });

  test.each([
    ["temporal_avg('x')", 'to double'],
    ['temporal_min({a: {b: 1}})', "of type 'structured'"],
    ["horizontal_sum(['x'])", "Can't convert value 'x'"],
    ['horizontal_max(1, 2)', 'expected 1 argument, got 2'],
  ])('%s fails', (expression, message) => {
    expect(() => resultOf(expression)).toThrow(message);
  });
});
