import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addAtoms,
  divideAtoms,
  moduloAtoms,
  multiplyAtoms,
  negateAtom,
  subtractAtoms,
} from '../../../../src/builtin/operator/arithmetic.ts';
import { arithmeticOnValues } from '../../../../src/builtin/operator/arithmetic-values.ts';
import { BITWISE, complementAtom } from '../../../../src/builtin/operator/bitwise.ts';
import { castAtom, castValue } from '../../../../src/builtin/operator/cast.ts';
import { likeAtoms, likeMatcher } from '../../../../src/builtin/operator/like.ts';
import { Interval, parseInterval } from '../../../../src/value/interval.ts';
import { atomToJsonText } from '../../../../src/value/json.ts';
import { Path } from '../../../../src/value/path.ts';
import { parseTimestamp, Timestamp } from '../../../../src/value/timestamp.ts';
import { cellsOf, constant, Embedding, Row, Scalar } from '../../../../src/value/value.ts';

const at = (text: string): Timestamp => new Timestamp(parseTimestamp(text) as number);
const text = (atom: Parameters<typeof atomToJsonText>[0]): string => atomToJsonText(atom);

describe('arithmetic', () => {
  test('has no negative zero', () => {
    expect(Object.is(multiplyAtoms(0, -1), 0)).toBe(true);
    expect(Object.is(negateAtom(0), 0)).toBe(true);
    expect(Object.is(moduloAtoms(-4, 2), 0)).toBe(true);
  });

  test('loses precision beyond 2^53 except in % and prefix -', () => {
    expect(addAtoms(9007199254740993n, 0)).toBe(9007199254740992);
    expect(moduloAtoms(18446744073709551615n, 10)).toBe(5);
    expect(negateAtom(9007199254740993n)).toBe(-9007199254740993n);
  });

  test('divides by zero like doubles, but refuses an integer modulus', () => {
    expect(divideAtoms(1, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(moduloAtoms(5.5, 0)).toBeNaN();
    expect(() => moduloAtoms(5, 0)).toThrow('Integer Modulus by a zero dividend');
  });

  test('joins texts when one operand is a string', () => {
    expect(addAtoms('a', 1)).toBe('a1');
    expect(addAtoms(Path.of('x', 'y'), '!')).toBe('x.y!');
    expect(addAtoms(null, 'a')).toBeNull();
    expect(() => subtractAtoms('3', 1)).toThrow(
      "Can't convert value '3' of type 'ASCII_STRING' to double",
    );
  });
});

describe('times', () => {
  test.each([
    ['2015-01-31', '1 month', '2015-02-28'],
    ['2015-02-28', '1 month', '2015-03-31'],
    ['2015-01-30', '1 month 1 day', '2015-02-28'],
    ['2015-03-31T12:00:00Z', '-1 month', '2015-02-28T12:00:00Z'],
    ['2015-01-01', '24h', '2015-01-02'],
    ['2015-12-15', '2 month', '2016-02-15'],
  ])('%s plus %s is %s', (start, interval, end) => {
    expect(addAtoms(at(start), parseInterval(interval))).toEqual(at(end));
    expect(addAtoms(parseInterval(interval), at(start))).toEqual(at(end));
  });

  test('numbers are days', () => {
    expect(addAtoms(1.5, at('2015-01-01'))).toEqual(at('2015-01-02T12:00:00Z'));
    expect(subtractAtoms(at('2015-01-02'), 1)).toEqual(at('2015-01-01'));
    expect(text(addAtoms(parseInterval('1 month'), 2))).toBe('{"interval":"1 MONTH 2D"}');
  });

  test('a difference is days and seconds', () => {
    expect(text(subtractAtoms(at('2015-03-01'), at('2015-01-01T01:00:00Z')))).toBe(
      '{"interval":"58D 23H 0M 0S"}',
    );
    expect(text(subtractAtoms(at('2015-01-01'), at('2015-01-02')))).toBe('{"interval":"-1D"}');
  });

  test('intervals add part by part and scale', () => {
    expect(() => addAtoms(parseInterval('1 month'), parseInterval('-1 day'))).toThrow(
      'different signs',
    );
    expect(text(multiplyAtoms(parseInterval('3 month 1 day'), 1.5))).toBe(
      '{"interval":"4 MONTH 1D 12H 0M 0S"}',
    );
    expect(text(multiplyAtoms(-2, parseInterval('1 day')))).toBe('{"interval":"-2D"}');
    expect(() => divideAtoms(parseInterval('1 day'), 0)).toThrow('out of range');
  });

  test('other combinations are refused', () => {
    expect(() => addAtoms(at('2015-01-01'), at('2015-01-01'))).toThrow("of type 'TIMESTAMP'");
    expect(() => subtractAtoms(1, at('2015-01-01'))).toThrow("of type 'TIMESTAMP'");
    expect(() => divideAtoms(1, new Interval(0, 1, 0))).toThrow("of type 'TIMEINTERVAL'");
  });
});

describe('bitwise operators', () => {
  test('work on signed 64-bit integers', () => {
    expect(BITWISE['&'](6, 3)).toBe(2);
    expect(BITWISE['^'](2 ** 40 + 1, 1)).toBe(2 ** 40);
    expect(BITWISE['|'](-1, 2 ** 40)).toBe(-1);
    expect(complementAtom(0)).toBe(-1);
    expect(() => BITWISE['&'](1.5, 1)).toThrow('to integer');
    expect(() => complementAtom(2n ** 63n)).toThrow('to integer');
  });
});

describe('LIKE', () => {
  test.each([
    ['hello', 'h%o', true],
    ['hello', 'h_llo', true],
    ['a\nb', 'a%b', true],
    ['😀', '_', true],
    ['aab', 'a%ab', true],
    ['ab', 'a%ab', false],
    ['a.b', 'a_b', true],
    ['axb', 'a.b', false],
    ['', '%', true],
    ['abcabd', '%ab_', true],
  ])('%j LIKE %j is %s', (subject, pattern, expected) => {
    expect(likeMatcher(pattern)(subject)).toBe(expected);
  });

  test('agrees with a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_'), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (subject, pattern) => {
        const source = pattern.replaceAll('%', '[^]*').replaceAll('_', '[^]');
        const expected = new RegExp(`^${source}$`, 'u').test(subject);
        expect(likeMatcher(pattern)(subject)).toBe(expected);
      }),
    );
  });

  test('wants a string on its left', () => {
    expect(() => likeAtoms(5, '5')).toThrow('LIKE expression must have string on left side');
    expect(likeAtoms('5', 5)).toBe(1);
    expect(likeAtoms(null, 'a')).toBeNull();
    expect(likeAtoms('a', null)).toBeNull();
  });
});

describe('CAST', () => {
  test.each([
    ['1.9', 'integer', 1],
    ['-1.9', 'integer', -1],
    [Number.NaN, 'integer', null],
    [1e30, 'integer', null],
    ['', 'number', null],
    ['x', 'number', null],
    ['TRUE', 'boolean', 1],
    ['0', 'boolean', 0],
    ['maybe', 'boolean', null],
    [5, 'string', '5'],
  ] as const)('CAST(%j AS %s) is %j', (atom, type, expected) => {
    expect(castAtom(atom, type)).toBe(expected);
  });

  test('reads times and paths', () => {
    expect(text(castAtom('nonsense', 'timestamp'))).toBe('{"ts":"NaD"}');
    expect(castAtom('2015-02-30', 'timestamp')).toBeNull();
    expect(text(castAtom('a.b', 'path'))).toBe('{"path":["a.b"]}');
    expect(castAtom(new Timestamp(-1.5), 'integer')).toBe(-1);
    expect(castAtom(new Uint8Array([0xe9]), 'blob')).toEqual(new Uint8Array([0xe9]));
  });

  test('makes a path of a vector, and null of other rows', () => {
    const vector = new Embedding([2], ['x', 'y.z'], 5);
    expect(castValue(vector, 'path')).toEqual(new Scalar(Path.of('x', 'y.z'), 5));
    expect(castValue(vector, 'number').atom).toBeNull();
    expect(() => castValue(vector, 'string')).toThrow("of type 'embedding'");
  });
});

describe('arithmetic on rows and embeddings', () => {
  const row = (members: Record<string, number>): Row =>
    new Row(Object.keys(members), Object.values(members).map(constant));
  const atoms = (value: Parameters<typeof cellsOf>[0]): unknown =>
    Object.fromEntries(cellsOf(value).map((cell) => [cell.path.toString(), cell.atom]));

  test('an atom meets every element', () => {
    expect(atoms(arithmeticOnValues('+', row({ x: 1, y: 2 }), constant(1)))).toEqual({
      x: 2,
      y: 3,
    });
    expect(arithmeticOnValues('-', constant(1), new Embedding([2], [1, null], 3))).toEqual(
      new Embedding([2], [0, null], 3),
    );
  });

  test('rows join by name, and an embedding beside a row is one', () => {
    expect(atoms(arithmeticOnValues('*', row({ x: 1, y: 2 }), row({ y: 3, z: 4 })))).toEqual({
      x: null,
      y: 6,
      z: null,
    });
    const vector = new Embedding([2], [10, 20], 0);
    expect(atoms(arithmeticOnValues('+', vector, row({ '0': 1 })))).toEqual({ 0: 11, 1: null });
  });

  test('shapes must agree, and bitwise operators take atoms', () => {
    const vector = new Embedding([2], [1, 2], 0);
    expect(() => arithmeticOnValues('+', vector, new Embedding([1, 2], [1, 2], 0))).toThrow(
      'incompatible shaped embeddings',
    );
    expect(() => arithmeticOnValues('&', vector, constant(1))).toThrow("of type 'embedding'");
  });

  test('the timestamp is the later one', () => {
    const result = arithmeticOnValues('+', new Scalar(1, 5), new Scalar(2, 9));
    expect(result).toEqual(new Scalar(3, 9));
  });
});
