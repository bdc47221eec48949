import { expect, test } from 'vitest';
import type { Atom } from '../../../src/value/atom.ts';
import { parseInterval } from '../../../src/value/interval.ts';
import {
  atomFromJson,
  atomToJsonText,
  atomToPlainJsonText,
  pathFromJson,
  timestampFromJson,
} from '../../../src/value/json.ts';
import { Path } from '../../../src/value/path.ts';
import { Timestamp } from '../../../src/value/timestamp.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);

test.each<[Atom, string]>([
  [null, 'null'],
  [2.5, '2.5'],
  [-0, '0'],
  [2 ** 60, '1152921504606846976'],
  [18446744073709551615n, '18446744073709551615'],
  [1e300, '1e+300'],
  [Number.NaN, '{"num":"NaN"}'],
  [Number.NEGATIVE_INFINITY, '{"num":"-Inf"}'],
  ['a"b', '"a\\"b"'],
  [new Timestamp(0), '{"ts":"1970-01-01T00:00:00Z"}'],
  [parseInterval('1 day'), '{"interval":"1D"}'],
  [Path.of('a', 'b.c'), '{"path":["a","b.c"]}'],
  [bytes(104, 105), '{"blob":["hi"]}'],
  [bytes(97), '{"blob":[97]}'],
  [bytes(104, 101, 108, 108, 111, 1), '{"blob":["hello",1]}'],
  [bytes(), '{"blob":[]}'],
])('%o has the JSON form %s and is read back from it', (atom, json) => {
  expect(atomToJsonText(atom)).toBe(json);
  if (typeof atom !== 'bigint' && atom !== 2 ** 60) {
    expect(atomFromJson(JSON.parse(json))).toEqual(typeof atom === 'number' ? atom + 0 : atom);
  }
});

test('long printable runs stay one string', () => {
  expect(atomToJsonText(bytes(...Array(9000).fill(65)))).toBe(`{"blob":["${'A'.repeat(9000)}"]}`);
});

test('the plain form has no objects but blobs', () => {
  expect(atomToPlainJsonText(Number.POSITIVE_INFINITY)).toBe('"Inf"');
  expect(atomToPlainJsonText(new Timestamp(Number.NaN))).toBe('"NaD"');
  expect(atomToPlainJsonText(Path.of('a.b', 'c'))).toBe('"\\"a.b\\".c"');
  expect(atomToPlainJsonText(bytes(1))).toBe('{"blob":[1]}');
});

test.each([
  [{}],
  [{ ts: 1, num: 'NaN' }],
  [[1]],
  [{ __proto__: null, toString: 1 }],
  [{ num: '7' }],
])('%j is no cell value', (json) => {
  expect(() => atomFromJson(json)).toThrow();
});

test('booleans are the integers 1 and 0', () => {
  expect([atomFromJson(true), atomFromJson(false)]).toEqual([1, 0]);
});

test('names are printed forms, integers or elements', () => {
  expect(pathFromJson('a.b').elements).toEqual(['a', 'b']);
  expect(pathFromJson(7).elements).toEqual(['7']);
  expect(pathFromJson(['a.b', 1]).elements).toEqual(['a.b', '1']);
  expect(() => pathFromJson(null)).toThrow('Unparseable JSON Path value');
  expect(() => pathFromJson({})).toThrow('Unparseable JSON Path value');
});

test('dates are seconds or ISO text', () => {
  expect(timestampFromJson(1.5)).toBe(1.5);
  expect(timestampFromJson('2015-01-01')).toBe(1420070400);
  expect(timestampFromJson('NaD')).toBeNaN();
  expect(() => timestampFromJson('soon')).toThrow('neither seconds');
});
