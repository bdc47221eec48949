import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonOf, resultOf } from '../../support/builtin-query.ts';

test.each([
  ["parse_path('')", { path: [''] }],
  ["parse_path('..')", { path: ['', '', ''] }],
  ['parse_path(1.5)', { path: ['1', '5'] }],
  ['parse_path(parse_path(\'"a.b".c\'))', { path: ['a.b', 'c'] }],
  ['parse_path(null)', null],
  ["stringify_path('')", '""'],
  ['stringify_path(1.5)', '"1.5"'],
  ["path_element(parse_path('a.b'), 2)", null],
  ["path_element(['x', 5], 1)", '5'],
  ["path_element('a.b', 0)", 'a.b'],
  ['path_length(null)', null],
])('%s', (expression, expected) => {
  expect(resultOf(expression)).toEqual(expected);
});

test.each([
  ["parse_path('a\"b')", "invalid char in PathElement 'a\"b'.  Quotes must be doubled."],
  ['parse_path(\'"a"b\')', "expected '.' between elements in Path"],
  ["parse_path('\"a')", 'PathElement terminated incorrectly'],
  ["parse_path('a\nb')", 'Special characters must be quoted'],
  ["unflatten_path(parse_path('a.b'))", 'with length 2 to unflatten_path()'],
  ["path_element('a', -1)", "Can't convert value '-1' of type 'INTEGER' to unsigned integer"],
  ["path_element('a', 0.5)", 'to unsigned integer'],
  ['stringify_path({a: 1})', "of type 'structured'"],
  ["stringify_path(['a', null])", "of type 'EMPTY' to path"],
])('%s fails', (expression, message) => {
  expect(() => resultOf(expression)).toThrow(message);
});

test('printing and parsing are inverse', () => {
  const element = fc.string({ unit: fc.constantFrom('a', '.', '"', ' ', 'é'), maxLength: 4 });
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), (elements) => {
      const literal = elements.map((text) => `'${text}'`).join(', ');
      const expected = JSON.stringify({ path: elements });
      expect(jsonOf(`parse_path(stringify_path([${literal}]))`)).toBe(expected);
      expect(jsonOf(`unflatten_path(flatten_path([${literal}]))`)).toBe(expected);
    }),
    { numRuns: 50 },
  );
});
