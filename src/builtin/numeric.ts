// Numeric functions. All arithmetic is in doubles; integers beyond 2^53 stay exact where a
// function does not change them.
import type { FunctionExample, ScalarFunction } from '../plan/function.ts';
import { atomType } from '../plan/type/type.ts';
import { type Atom, normalizeInteger } from '../value/atom.ts';
import {
  numberAtom,
  requireDouble,
  requireIndex,
  requireInteger,
  truthAtom,
} from './conversion.ts';
import { type Family, family, INTEGER_TYPE, NUMBER_TYPE, optional, parameter } from './declare.ts';
import { moduloAtoms } from './operator/arithmetic.ts';

const numeric = family('numeric', { isLinear: true });
const { scalar } = numeric;

const NUMBER = parameter('x', 'a number, or a row or embedding of numbers');

interface MapOptions {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly examples: readonly FunctionExample[];
  readonly apply: (x: number) => number;
  /** the function on integers beyond 2^53, where it can be exact */
  readonly applyExact?: (x: bigint) => bigint;
  /** JavaScript of the function on a finite number, for generated code */
  readonly emit?: (x: string) => string;
}

/** A function of one number that maps over rows and embeddings. */
export function numericMap(chapter: Family, options: MapOptions): ScalarFunction {
  const { apply, applyExact, emit, ...documentation } = options;
  const evaluate = (x: Atom): Atom => {
    if (typeof x === 'number') return numberAtom(apply(x));
    if (typeof x === 'bigint' && applyExact !== undefined) return normalizeInteger(applyExact(x));
    return numberAtom(apply(requireDouble(x)));
  };
  return chapter.scalar({
    ...documentation,
    parameters: [NUMBER],
    result: NUMBER_TYPE,
    elementwise: 'first',
    evaluate: (x = null) => evaluate(x),
    ...(emit === undefined ? {} : { emitNumeric: (x = '0') => emit(x) }),
  });
}

/** To the nearest integer, halves away from zero. */
export function roundHalfAway(x: number): number {
  return x < 0 ? -Math.round(-x) : Math.round(x);
}

/**
 * To so many digits after the point; halves away from zero. What a product with a power of ten
 * makes a half by its own error, and what it keeps from being one, is told by the shortest text.
 */
export function roundTo(x: number, digits: number): number {
  if (digits === 0 || !Number.isFinite(x)) return roundHalfAway(x);
  if (digits > 300) return x;
  if (digits < -300) return 0;
  const [mantissa = '0', exponent = '0'] = String(x).split('e');
  const shifted = Number(`${mantissa}e${Number(exponent) + digits}`);
  if (!Number.isFinite(shifted)) return x;
  const [whole = '0', shift = '0'] = String(roundHalfAway(shifted)).split('e');
  return Number(`${whole}e${Number(shift) - digits}`);
}

/** C `pow`: 1 to any power is 1, and so is -1 to an infinite one. */
export function power(x: number, y: number): number {
  if (x === 1 || (x === -1 && (y === Infinity || y === -Infinity))) return 1;
  return x ** y;
}

/** The quantile of the standard normal distribution at 0.9, for bounds at 80 %. */
const WILSON_Z = 1.2815515655;

/**
 * A bound of the Wilson score interval; `direction` is 1 for the upper, -1 for the lower.
 * @see E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
 *   J. American Statistical Association 22, 1927
 */
export function wilsonBound(trials: number, successes: number, direction: 1 | -1): number {
  const z2 = WILSON_Z * WILSON_Z;
  const p = successes / trials;
  const spread = Math.sqrt(z2 / (4 * trials * trials) + (p * (1 - p)) / trials);
  return (p + z2 / (2 * trials) + direction * WILSON_Z * spread) / (1 + z2 / trials);
}

const TRIALS = [
  parameter('trials', 'number of trials, an integer'),
  parameter('successes', 'number of successes, an integer'),
];

export const numericFunctions: readonly ScalarFunction[] = [
  numericMap(numeric, {
    name: 'abs',
    summary: 'Absolute value.',
    examples: [['abs(-2.5)', '2.5']],
    apply: Math.abs,
    applyExact: (x) => (x < 0n ? -x : x),
    emit: (x) => `Math.abs(${x})`,
  }),
  numericMap(numeric, {
    name: 'ceil',
    aliases: ['ceiling'],
    summary: 'The smallest integer that is not below x.',
    examples: [
      ['ceil(-12.43)', '-12'],
      ['ceil(-0.5) IS INTEGER', '1'],
    ],
    apply: Math.ceil,
    applyExact: (x) => x,
    emit: (x) => `(Math.ceil(${x}) + 0)`,
  }),
  numericMap(numeric, {
    name: 'floor',
    summary: 'The largest integer that is not above x.',
    examples: [['floor(-1.5)', '-2']],
    apply: Math.floor,
    applyExact: (x) => x,
    emit: (x) => `(Math.floor(${x}) + 0)`,
  }),
  scalar({
    name: 'round',
    summary:
      'The nearest integer, or number with n digits after the point; halves are rounded away from zero. A negative n rounds before the point.',
    parameters: [NUMBER, optional('n', 'digits after the point; default 0')],
    examples: [
      ['round(2.5)', '3'],
      ['round(-2.5)', '-3'],
      ['round(3.14159, 2)', '3.14'],
      ['round(1250, -2)', '1300'],
    ],
    result: NUMBER_TYPE,
    elementwise: 'first',
    evaluate: (x = null, n) => {
      if (n === null) return null;
      const digits = n === undefined ? 0 : requireIndex(n);
      if (typeof x === 'bigint' && digits >= 0) return x;
      return numberAtom(roundTo(requireDouble(x), digits));
    },
  }),
  numericMap(numeric, {
    name: 'sqrt',
    summary: 'Square root; NaN for negative numbers.',
    examples: [
      ['sqrt(16)', '4'],
      ['sqrt(-1)', '{"num":"NaN"}'],
    ],
    apply: Math.sqrt,
    emit: (x) => `(Math.sqrt(${x}) + 0)`,
  }),
  numericMap(numeric, {
    name: 'exp',
    summary: 'e to the power of x.',
    examples: [['exp(0)', '1']],
    apply: Math.exp,
    emit: (x) => `Math.exp(${x})`,
  }),
  numericMap(numeric, {
    name: 'ln',
    summary: 'Natural logarithm; -Inf for 0, NaN for negative numbers.',
    examples: [
      ['ln(1)', '0'],
      ['ln(0)', '{"num":"-Inf"}'],
    ],
    apply: Math.log,
    emit: (x) => `Math.log(${x})`,
  }),
  scalar({
    name: 'log',
    summary: 'Logarithm: of one argument to base 10, of two to the base given first.',
    parameters: [
      parameter('x', 'the number, or the base when there are two arguments'),
      optional('y', 'the number, when the first argument is the base'),
    ],
    examples: [
      ['log(100000)', '5'],
      ['log(2, 8)', '3'],
    ],
    arityMessage: (count) => `the log function expected 1 or 2 arguments, got ${count}`,
    result: NUMBER_TYPE,
    evaluate: (...args) => {
      const x = requireDouble(args[0] ?? null);
      if (args.length === 1) return numberAtom(Math.log10(x));
      return numberAtom(Math.log(requireDouble(args[1] ?? null)) / Math.log(x));
    },
  }),
  scalar({
    name: 'pow',
    aliases: ['power'],
    summary: 'x to the power of y.',
    parameters: [parameter('x', 'the base'), parameter('y', 'the exponent')],
    examples: [
      ['pow(2, 10)', '1024'],
      ['power(9, 0.5)', '3'],
      ['print_json(pow([1, 2, 3], 2))', '"[1,4,9]"'],
    ],
    result: NUMBER_TYPE,
    elementwise: 'both',
    evaluate: (x = null, y = null) => numberAtom(power(requireDouble(x), requireDouble(y))),
  }),
  scalar({
    name: 'mod',
    summary: 'Remainder of the integer division x / y, with the sign of x.',
    parameters: [parameter('x', 'an integer'), parameter('y', 'an integer, not 0')],
    examples: [
      ['mod(-7, 3)', '-1'],
      ['mod(7, -3)', '1'],
    ],
    result: INTEGER_TYPE,
    elementwise: 'both',
    evaluate: (x = null, y = null) => moduloAtoms(requireInteger(x), requireInteger(y)),
  }),
  scalar({
    name: 'quantize',
    summary: 'The multiple of q nearest to x; halves are rounded away from zero.',
    parameters: [
      parameter('x', 'a number, or a row or embedding of numbers'),
      parameter('q', 'the step; 0 gives NaN'),
    ],
    examples: [
      ['quantize(217, 10)', '220'],
      ['quantize(-217, 100)', '-200'],
    ],
    result: NUMBER_TYPE,
    elementwise: 'both',
    evaluate: (x = null, q = null) => {
      const step = requireDouble(q);
      return numberAtom(roundHalfAway(requireDouble(x) / step) * step);
    },
  }),
  scalar({
    name: 'sign',
    summary: '-1, 0 or 1 as x is negative, zero or positive; NaN for NaN and what is no number.',
    parameters: [parameter('x', 'any atom')],
    examples: [
      ['sign(-0.3)', '-1'],
      ["sign('octo')", '{"num":"NaN"}'],
    ],
    result: NUMBER_TYPE,
    evaluate: (x = null) => {
      if (typeof x === 'bigint') return x < 0n ? -1 : 1;
      return typeof x === 'number' ? numberAtom(Math.sign(x)) : Number.NaN;
    },
  }),
  numericMap(numeric, {
    name: 'isnan',
    summary: '1 when x is NaN, else 0.',
    examples: [['isnan(0/0)', '1']],
    apply: (x) => truthAtom(Number.isNaN(x)),
  }),
  numericMap(numeric, {
    name: 'isinf',
    summary: '1 when x is Inf or -Inf, else 0.',
    examples: [['isinf(-1/0)', '1']],
    apply: (x) => truthAtom(!Number.isNaN(x) && !Number.isFinite(x)),
  }),
  numericMap(numeric, {
    name: 'isfinite',
    summary: '1 when x is neither NaN nor infinite, else 0.',
    examples: [['isfinite(1/0)', '0']],
    apply: (x) => truthAtom(Number.isFinite(x)),
  }),
  scalar({
    name: 'binomial_lb_80',
    summary: 'Lower bound of the 80 % Wilson score interval of a rate; NaN without trials.',
    parameters: TRIALS,
    examples: [['round(binomial_lb_80(200, 35) * 1000)', '143']],
    result: NUMBER_TYPE,
    evaluate: (trials = null, successes = null) =>
      numberAtom(wilsonBound(requireIndex(trials), requireIndex(successes), -1)),
  }),
  scalar({
    name: 'binomial_ub_80',
    summary: 'Upper bound of the 80 % Wilson score interval of a rate; NaN without trials.',
    parameters: TRIALS,
    examples: [['round(binomial_ub_80(200, 35) * 1000)', '212']],
    result: NUMBER_TYPE,
    evaluate: (trials = null, successes = null) =>
      numberAtom(wilsonBound(requireIndex(trials), requireIndex(successes), 1)),
  }),
  constantFunction('pi', Math.PI, 'The ratio of a circle to its diameter.', '3.141592653589793'),
  constantFunction('e', Math.E, 'The base of natural logarithms.', '2.718281828459045'),
];

function constantFunction(
  name: string,
  value: number,
  summary: string,
  printed: string,
): ScalarFunction {
  return scalar({
    name,
    summary,
    parameters: [],
    examples: [[`${name}()`, printed]],
    result: atomType('number'),
    timestamps: 'constant',
    evaluate: () => value,
    emitNumeric: () => printed,
  });
}
