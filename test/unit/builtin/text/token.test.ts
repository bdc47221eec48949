import { expect, test } from 'vitest';
import { jsonOf, resultOf } from '../../../support/builtin-query.ts';

test.each([
  [`tokenize('"a""b,c', {quoteChar: '"'})`, '{"a\\"b":1,"c":1}'],
  [`tokenize('"a,b"', {quoteChar: '"'})`, '{"a,b":1}'],
  [`tokenize('""', {quoteChar: '"'})`, '{}'],
  ["tokenize('a,,b,')", '{"a":1,"b":1}'],
  ["tokenize('a,b', {value: null})", '{"a":1,"b":1}'],
  ["tokenize('a b a', {splitChars: ' ', offset: 1})", '{"a":1,"b":1}'],
  [
    "tokenize('a b c d', {splitChars: ' ', ngramRange: [1, 2], offset: 1, limit: 2})",
    '{"b":1,"b_c":1,"c":1}',
  ],
  ["tokenize('a b', {splitChars: ' ', ngramRange: [3, 4]})", '{}'],
  ["tokenize('😀,a', {minTokenLength: 2})", '{}'],
  ["tokenize('x10,x9')", '{"x9":1,"x10":1}'],
  ["parse_sparse_csv('row')", '{}'],
  ["split_part('', ',')", '[]'],
  ["split_part('abc', '')", '["abc"]'],
])('%s', (expression, expected) => {
  expect(jsonOf(expression)).toBe(expected);
});

test.each([
  ['token_extract(null, 0)', null],
  ["token_extract('a,b', null)", null],
  ["token_extract('a,,b', 1)", 'b'],
  ["token_extract('a,b,c', -4)", null],
  ["token_extract('a,bb,c', 0, {minTokenLength: 2})", 'bb'],
  ["split_part('a', null)", null],
])('%s', (expression, expected) => {
  expect(resultOf(expression)).toBe(expected);
});

test.each([
  ["tokenize('a', {split: ','})", "Unknown field 'split'"],
  ["tokenize('a', 5)", 'options must be given as a row'],
  ["tokenize('a', {offset: 'x'})", 'to integer'],
  ["tokenize('a', {quoteChar: 'ab'})", 'is not one character'],
  ["tokenize('a', {ngramRange: [2, 1]})", 'ngramRange values must be bigger than 0'],
  ["tokenize('a', {ngramRange: 2})", 'two integers'],
  ["token_extract('a', 1.5)", 'to integer'],
  ["split_part('a')", 'expected 2 arguments, got 1'],
])('%s fails', (expression, message) => {
  expect(() => resultOf(expression)).toThrow(message);
});
