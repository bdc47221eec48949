import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashAtom, hashValue } from '../../../../src/builtin/hash.ts';
import { base64Decode, base64Encode } from '../../../../src/builtin/text/encoding.ts';
import { Interval } from '../../../../src/value/interval.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { constant, EMPTY_ROW, Embedding, Row } from '../../../../src/value/value.ts';
import { jsonOf, resultOf } from '../../../support/builtin-query.ts';

describe('base64', () => {
  test('bytes come back', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const decoded = base64Decode(base64Encode(bytes));
        const back = typeof decoded === 'string' ? new TextEncoder().encode(decoded) : decoded;
        expect(back).toEqual(bytes);
      }),
    );
  });

  test('what is outside of the alphabet is skipped', () => {
    expect(base64Decode(' aGV\nsbG-8= ')).toBe('hello');
  });
});

describe('hash', () => {
  test.each([
    [1, 6057722525893115906n],
    [0, 13600653631324127645n],
    [2.5, 10960402173378754974n],
    ['1', 10592438303399217743n],
    ['abc', 17130090052465147157n],
    ['', 6948711063053174973n],
    ['a string that is longer than thirty-two bytes', 7513828938289185800n],
  ])('of %j', (atom, expected) => {
    expect(hashAtom(atom)).toBe(expected);
  });

  test('of rows', () => {
    const row = new Row(['a', 'b'], [constant(12), constant('coco')]);
    expect(hashValue(row)).toBe(4703301921268040991n);
    expect(hashValue(new Embedding([3], [1, 2, 3], 0))).toBe(9829876399565679283n);
    expect(hashValue(EMPTY_ROW)).toBe(2052038493334518408n);
    expect(hashValue(new Row(['a'], [constant(null)]))).toBe(
      hashValue(new Row(['a'], [constant(0)])),
    );
  });

  test('tells types and signs apart', () => {
    const atoms = [
      5,
      '5',
      new Timestamp(5.5),
      5.5,
      new Interval(0, 0, 5),
      new Interval(0, 0, 5, true),
    ];
    // A timestamp hashes as its seconds do.
    expect(new Set(atoms.map(hashAtom)).size).toBe(atoms.length - 1);
  });

  test('ignores how a blob or text is held', () => {
    expect(hashAtom(new TextEncoder().encode('abc'))).toBe(hashAtom('abc'));
    expect(hashAtom(18446744073709551615n)).not.toBe(hashAtom(-1.5));
  });
});

describe('implicit_cast and extract_column', () => {
  test.each([
    ["implicit_cast('+5')", 5],
    ["implicit_cast('.5')", 0.5],
    ["implicit_cast('0x10')", '0x10'],
    ["implicit_cast('nan')", { num: 'NaN' }],
    ['implicit_cast(TIMESTAMP 1)', { ts: '1970-01-01T00:00:01Z' }],
    ['implicit_cast(null)', null],
    ['extract_column(0, [5, 6])', 5],
    ['extract_column(null, {a: 1})', null],
  ])('%s', (expression, expected) => {
    expect(resultOf(expression)).toEqual(expected);
  });
});

describe('JSON', () => {
  test.each([
    ['parse_json(\'{"a": {}, "b": [[]]}\')', '{}'],
    ["parse_json('[18446744073709551615]')", '[18446744073709551615]'],
    ['parse_json(\' {"a.b": {"c": "\u00e9\\n"}} \')', '{"a.b":{"c":"\u00e9\\n"}}'],
    ["parse_json('[1.5, \"a\", null]', {arrays: 'encode'})", '{"1.5":1,"a":1}'],
    [
      `parse_json('[{"z": {"10": 1, "9": 2}, "a": [{"c": 1, "b": 2}]}]', {arrays: 'encode'})`,
      '["{\\"a\\":[{\\"b\\":2,\\"c\\":1}],\\"z\\":{\\"10\\":1,\\"9\\":2}}"]',
    ],
    ["parse_json('[[1], {\"a\": [2]}]', {arrays: 'encode'})", '[{"1":1},{"a":{"2":1}}]'],
    ['parse_json(\'[{"b": 1, "a": [2]}]\', {arrays: \'encode\'})', '["{\\"a\\":[2],\\"b\\":1}"]'],
    ["parse_json('5', {ignoreErrors: true})", '{"__parse_json_error__":1}'],
    ["parse_json('{', {ignoreErrors: 'true'})", '{"__parse_json_error__":1}'],
    ['parse_json(\'{"a": 1, "a": 2}\')', '{"a":2}'],
    ['nan', '{"num":"NaN"}'],
    ["parse_path('a.b')", '{"path":["a","b"]}'],
    ['[[1, 2], [3, 4]]', '[[1,2],[3,4]]'],
    ['{}', '{}'],
    ['{"0": 1, "2": 2}', '{"0":1,"2":2}'],
    ["CAST('hi' AS blob)", '{"blob":["hi"]}'],
  ])('%s prints as %s', (expression, expected) => {
    expect(jsonOf(expression)).toBe(expected);
  });

  test.each([
    ['parse_json(\'{"a": \')', 'line 1, column 7'],
    ['parse_json(\'"text"\')', 'must be an object or an array; got \'"text"\''],
    ["parse_json('{}', {arrays: 'flatten'})", "unknown value 'flatten'"],
    ["parse_json('{}', {arrays: null})", 'NULL value found'],
    ["parse_json('{}', {ignoreErrors: 'perhaps'})", 'to boolean'],
    ["parse_json('[1 2]')", 'bad JSON'],
  ])('%s fails', (expression, message) => {
    expect(() => resultOf(expression)).toThrow(message);
  });
});
