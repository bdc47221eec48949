// Numeric functions by the names that SQL has for them.
import type { FunctionDeclaration } from '../plan/function.ts';
import { atomType } from '../plan/type/type.ts';
import { failure } from '../util/error.ts';
import { type Atom, compareAtoms, normalizeInteger } from '../value/atom.ts';
import { constant } from '../value/value.ts';
import {
  requireAtom,
  requireDouble,
  requireIndex,
  requireInteger,
  truthAtom,
} from './conversion.ts';
import { family, INTEGER_TYPE, NUMBER_TYPE, parameter, variadic } from './declare.ts';
import { numericMap } from './numeric.ts';

const numeric = family('numeric', { isLinear: true });
const { scalar } = numeric;
const drawing = family('numeric');

const NUMBER = parameter('x', 'a number');

/** The largest n whose factorial is a finite double. */
const FACTORIAL_MAX = 170;

function twoIntegers(
  name: string,
  summary: string,
  example: readonly [string, string],
  apply: (a: bigint, b: bigint) => bigint,
) {
  return scalar({
    name,
    summary,
    parameters: [parameter('a', 'an integer'), parameter('b', 'an integer')],
    examples: [example],
    result: INTEGER_TYPE,
    evaluate: (a = null, b = null) =>
      normalizeInteger(apply(BigInt(requireInteger(a)), BigInt(requireInteger(b)))),
  });
}

function gcdOf(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

function extreme(name: 'greatest' | 'least', sign: 1 | -1, example: readonly [string, string]) {
  return scalar({
    name,
    summary: `The ${name === 'greatest' ? 'largest' : 'smallest'} of the arguments that are not null; null when all are.`,
    parameters: [variadic('x', 'any atom')],
    examples: [example],
    result: atomType('atom'),
    nulls: 'handle',
    evaluate: (...atoms) => {
      let best: Atom = null;
      for (const atom of atoms) {
        if (atom === null) continue;
        if (best === null || sign * compareAtoms(atom, best) > 0) best = atom;
      }
      return best;
    },
  });
}

export const numberFunctions: readonly FunctionDeclaration[] = [
  numericMap(numeric, {
    name: 'trunc',
    summary: 'The number without its digits after the point.',
    examples: [['trunc(-2.7)', '-2']],
    apply: Math.trunc,
    applyExact: (x) => x,
    emit: (x) => `(Math.trunc(${x}) + 0)`,
  }),
  numericMap(numeric, {
    name: 'cbrt',
    summary: 'The cube root.',
    examples: [['cbrt(8)', '2']],
    apply: Math.cbrt,
    emit: (x) => `(Math.cbrt(${x}) + 0)`,
  }),
  numericMap(numeric, {
    name: 'log10',
    summary: 'The logarithm to base 10.',
    examples: [['log10(1000)', '3']],
    apply: Math.log10,
    emit: (x) => `(Math.log10(${x}) + 0)`,
  }),
  numericMap(numeric, {
    name: 'log2',
    summary: 'The logarithm to base 2.',
    examples: [['log2(8)', '3']],
    apply: Math.log2,
    emit: (x) => `(Math.log2(${x}) + 0)`,
  }),
  numericMap(numeric, {
    name: 'degrees',
    summary: 'An angle in radians as degrees.',
    examples: [['degrees(pi())', '180']],
    apply: (x) => (x * 180) / Math.PI,
  }),
  numericMap(numeric, {
    name: 'radians',
    summary: 'An angle in degrees as radians.',
    examples: [['radians(180)', '3.141592653589793']],
    apply: (x) => (x * Math.PI) / 180,
  }),
  twoIntegers('gcd', 'The greatest common divisor, never negative.', ['gcd(12, 18)', '6'], gcdOf),
  twoIntegers('lcm', 'The least common multiple, never negative.', ['lcm(4, 6)', '12'], (a, b) => {
    if (a === 0n || b === 0n) return 0n;
    const product = (a / gcdOf(a, b)) * b;
    return product < 0n ? -product : product;
  }),
  scalar({
    name: 'factorial',
    summary: 'The product of the integers from 1 to n.',
    parameters: [parameter('n', `an integer from 0 to ${FACTORIAL_MAX}`)],
    examples: [['factorial(5)', '120']],
    result: NUMBER_TYPE,
    evaluate: (n = null) => {
      const count = requireIndex(n);
      if (count < 0 || count > FACTORIAL_MAX) {
        throw failure('SQL_EXECUTION', `factorial takes integers from 0 to ${FACTORIAL_MAX}`);
      }
      let product = 1;
      for (let i = 2; i <= count; i++) product *= i;
      return product;
    },
  }),
  extreme('greatest', 1, ['greatest(1, NULL, 5)', '5']),
  extreme('least', -1, ['least(4, 2)', '2']),
  scalar({
    name: 'width_bucket',
    summary:
      'The number of the bucket, from 1, when low to high is cut into n of the same width; 0 below, n + 1 above.',
    parameters: [
      NUMBER,
      parameter('low', 'a number'),
      parameter('high', 'a number'),
      parameter('n', 'an integer'),
    ],
    examples: [['width_bucket(5.35, 0.024, 10.06, 5)', '3']],
    result: INTEGER_TYPE,
    evaluate: (x = null, low = null, high = null, n = null) => {
      const [value, from, to, count] = [
        requireDouble(x),
        requireDouble(low),
        requireDouble(high),
        requireIndex(n),
      ];
      if (count < 1 || from === to)
        throw failure(
          'SQL_EXECUTION',
          'width_bucket needs two different bounds and at least 1 bucket',
        );
      const share = (value - from) / (to - from);
      if (share < 0) return 0;
      return share >= 1 ? count + 1 : Math.floor(share * count) + 1;
    },
  }),
  scalar({
    name: 'is_distinct_from',
    summary:
      'Whether two values differ, where null is a value like any other: a IS DISTINCT FROM b.',
    parameters: [parameter('a', 'any atom'), parameter('b', 'any atom')],
    examples: [
      ['1 IS DISTINCT FROM NULL', '1'],
      ['NULL IS NOT DISTINCT FROM NULL', '1'],
    ],
    result: INTEGER_TYPE,
    nulls: 'handle',
    evaluate: (a = null, b = null) => truthAtom(compareAtoms(a, b) !== 0),
  }),
  drawing.value({
    name: 'random',
    summary:
      'A number from 0 up to 1, another one in each row; the seed of the query decides which.',
    parameters: [],
    examples: [['random() BETWEEN 0 AND 1', '1']],
    result: NUMBER_TYPE,
    volatility: 'volatile',
    timestamps: 'constant',
    evaluate: (_args, { random }) => constant(random?.next() ?? Math.random()),
  }),
  drawing.value({
    name: 'setseed',
    summary: 'Begins the numbers of random() anew, with a seed; null.',
    parameters: [parameter('x', 'a number')],
    examples: [['setseed(0.5)', 'null']],
    volatility: 'volatile',
    timestamps: 'constant',
    evaluate: ([x], { random }) => {
      random?.restart(Math.floor(requireDouble(requireAtom(x)) * 2 ** 31));
      return constant(null);
    },
  }),
];
