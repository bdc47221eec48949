import { expect, test } from 'vitest';
import { jsonOf, resultOf } from '../../support/builtin-query.ts';

test.each([
  ["static_type('a')[kind]", 'scalar'],
  ['static_type(1 + 2)["isConstant"]', 1],
  ['static_type(now())["isConstant"]', 0],
  ['static_type({a: 1})[kind]', 'row'],
  ['static_expression_info( pow(2,3) )[expr]', 'pow(2,3)'],
  ['__isconst(fetcher(1))', 0],
  ['horizontal_count(static_known_columns(5))', 0],
])('%s', (expression, expected) => {
  expect(resultOf(expression)).toBe(expected);
});

test('the columns of rows and vectors are known', () => {
  expect(jsonOf('static_type([[1, 2, 3]])[shape]')).toBe('[1,3]');
  expect(resultOf('static_known_columns([4, 5])["1".columnName]')).toBe('1');
  expect(resultOf('static_known_columns({b: 1, a: 2})["1".columnName]')).toBe('b');
});

test('types are told in the words of the info of functions', () => {
  expect(jsonOf('static_type(5)')).toBe(
    '{"isConstant":1,"kind":"scalar","scalar":"long","type":"MLDB::IntegerValueInfo"}',
  );
  expect(jsonOf('static_expression_info({a: 1.5})[info]')).toBe(
    '{"hasUnknownColumns":0,"hasUnknownColumnsRecursive":0,"isConstant":1,"kind":"row","knownColumns":[{"columnName":"a","sparsity":"dense","valueInfo":{"isConstant":0,"kind":"scalar","scalar":"float","type":"MLDB::NumericValueInfo"}}],"type":"MLDB::RowValueInfo"}',
  );
  expect(jsonOf("static_known_columns({a: 'x'})")).toBe(
    '[{"columnName":"a","offset":0,"sparsity":"dense","valueInfo":{"isConstant":0,"kind":"scalar","scalar":"string","type":"MLDB::Utf8StringValueInfo"}}]',
  );
});

test('scripts and sensors want constant texts', () => {
  expect(() => resultOf('jseval(value, 5) FROM row_dataset([1])')).toThrow('constant string');
  expect(() => resultOf("jseval('return 1')")).toThrow(
    'jseval expected at least 2 arguments, got 1',
  );
  expect(() => resultOf("jseval('return 1', '')")).toThrow('no script sandbox');
  expect(() => resultOf("read_sensor('x')")).toThrow("sensor entry 'x' doesn't exist");
});
