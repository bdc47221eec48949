import { describe, expect, test } from 'vitest';
import {
  compatOutput,
  inputRowFromJson,
  plainOutput,
  plainValue,
  valueFromJson,
} from '../../../src/function/function-json.ts';
import { Timestamp } from '../../../src/value/timestamp.ts';
import { EMPTY_ROW, Embedding, NULL_VALUE, Row, Scalar } from '../../../src/value/value.ts';

const one = new Scalar(1, 0);

describe('inputs', () => {
  test('objects and arrays are rows at every depth', () => {
    const row = inputRowFromJson({ b: [7, { ts: 'x' }], a: true });
    expect(row.names).toEqual(['a', 'b']);
    expect(plainValue(row)).toBe('{"a":1,"b":[7,{"ts":"x"}]}');
    expect((row.all('a')[0] as Scalar).ts).toBeNaN();
  });

  test('integers keep their digits', () => {
    expect(plainValue(valueFromJson(18446744073709551615n, 0))).toBe('18446744073709551615');
  });

  test.each([[[1]], ['x'], [5]])('%j is no input', (json) => {
    expect(() => inputRowFromJson(json)).toThrow('must be an object of input values');
  });
});

describe('compat output', () => {
  test('rows are arrays of name, value and timestamp; indexes are numbers', () => {
    const inner = new Row(['0', 'k'], [new Scalar(5, Number.NaN), new Scalar('v', 10)]);
    expect(compatOutput(new Row(['r', 'x'], [inner, one]), [])).toBe(
      '{"output":{"r":[[0,[5,"NaD"]],["k",["v","1970-01-01T00:00:10Z"]]],"x":1}}',
    );
  });

  test('an embedding has shape, type and values', () => {
    const embedding = new Embedding([2, 2], [1, 2, 3, 4], 0);
    expect(compatOutput(new Row(['e'], [embedding]), [])).toBe(
      '{"output":{"e":{"shape":[2,2],"type":"FLOAT64","val":[[1,2],[3,4]]}}}',
    );
  });

  test('an empty row and no row are null', () => {
    expect(compatOutput(new Row(['r'], [EMPTY_ROW]), [])).toBe('{"output":{"r":null}}');
    expect(compatOutput(NULL_VALUE, [])).toBe('{"output":null}');
  });
});

describe('json output', () => {
  test('a row of 0 to n - 1 is an array, an empty one an object', () => {
    expect(plainOutput(new Row(['0', '1'], [one, new Scalar('a', 0)]), [])).toBe('[1,"a"]');
    expect(plainOutput(new Row(['1'], [one]), [])).toBe('{"1":1}');
    expect(plainOutput(EMPTY_ROW, [])).toBe('{}');
  });

  test('of several values of a column the latest is shown', () => {
    const row = new Row(['x', 'x'], [new Scalar('new', 5), new Scalar('old', 1)]);
    expect(plainOutput(row, [])).toBe('{"x":"new"}');
  });

  test('special atoms are objects', () => {
    expect(plainOutput(new Row(['t'], [new Scalar(new Timestamp(1), 0)]), [])).toBe(
      '{"t":{"ts":"1970-01-01T00:00:01Z"}}',
    );
  });

  test('the outputs asked for come in that order, null where there is none', () => {
    const row = new Row(['a', 'b'], [one, new Scalar(2, 0)]);
    expect(plainOutput(row, ['b', 'z'])).toBe('{"b":2,"z":null}');
  });
});
