// String functions. Lengths and positions count code points.
import type { ScalarFunction } from '../../plan/function.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { requireText } from '../conversion.ts';
import { family, INTEGER_TYPE, parameter, STRING_TYPE } from '../declare.ts';

const { scalar } = family('string', { isLinear: true });

const LEVENSHTEIN_MESSAGE =
  'The parameters passed to the levenshtein_distance function must be strings';

const TEXT = parameter('s', 'a string, or another atom with a text form');

export const stringFunctions: readonly ScalarFunction[] = [
  scalar({
    name: 'lower',
    summary: 'The text in lower case, by the rules of Unicode whatever the locale.',
    parameters: [TEXT],
    examples: [["lower('ÉCOLE Ω')", '"école ω"']],
    result: STRING_TYPE,
    evaluate: (s = null) => requireText(s).toLowerCase(),
  }),
  scalar({
    name: 'upper',
    summary: 'The text in upper case, by the rules of Unicode whatever the locale.',
    parameters: [TEXT],
    examples: [["upper('straße')", '"STRASSE"']],
    result: STRING_TYPE,
    evaluate: (s = null) => requireText(s).toUpperCase(),
  }),
  scalar({
    name: 'length',
    summary: 'The number of code points of the text.',
    parameters: [TEXT],
    examples: [
      ["length('€𐍈a')", '3'],
      ['length(12345)', '5'],
    ],
    result: INTEGER_TYPE,
    evaluate: (s = null) => codePointCount(requireText(s)),
  }),
  scalar({
    name: 'remove_prefix',
    summary: 'The string without a prefix; unchanged when it does not start with it.',
    parameters: [parameter('s', 'a string'), parameter('p', 'the prefix, a string')],
    examples: [["remove_prefix('aab', 'a')", '"ab"']],
    result: STRING_TYPE,
    nulls: 'handle',
    timestamps: 'first',
    evaluate: (s = null, p = null) => {
      const [text, prefix] = requireTwoStrings('remove_prefix', s, p);
      return text.startsWith(prefix) ? text.slice(prefix.length) : text;
    },
  }),
  scalar({
    name: 'remove_suffix',
    summary: 'The string without a suffix; unchanged when it does not end with it.',
    parameters: [parameter('s', 'a string'), parameter('p', 'the suffix, a string')],
    examples: [["remove_suffix('touché', 'é')", '"touch"']],
    result: STRING_TYPE,
    nulls: 'handle',
    timestamps: 'first',
    evaluate: (s = null, p = null) => {
      const [text, suffix] = requireTwoStrings('remove_suffix', s, p);
      return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text;
    },
  }),
  scalar({
    name: 'levenshtein_distance',
    isLinear: false,
    summary: 'The least number of code points to insert, delete or replace to get from a to b.',
    parameters: [parameter('a', 'a string'), parameter('b', 'a string')],
    examples: [["levenshtein_distance('kitten', 'sitting')", '3']],
    result: INTEGER_TYPE,
    nulls: 'handle',
    timestamps: 'first',
    structuredMessage: () => LEVENSHTEIN_MESSAGE,
    evaluate: (a = null, b = null) => {
      if (typeof a === 'string' && typeof b === 'string') return levenshteinDistance(a, b);
      throw failure('SQL_EXECUTION', LEVENSHTEIN_MESSAGE);
    },
  }),
];

function requireTwoStrings(name: string, s: Atom, p: Atom): [string, string] {
  if (typeof s === 'string' && typeof p === 'string') return [s, p];
  throw failure('SQL_EXECUTION', `The arguments passed to ${name} must be two strings`);
}

export function codePointCount(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const isLowSurrogate = (text.charCodeAt(i) & 0xfc00) === 0xdc00;
    if (isLowSurrogate && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

/**
 * One row of the table of distances at a time, in O(length of a × length of b).
 * @see Wagner & Fischer, "The string-to-string correction problem", J. ACM 21, 1974
 */
export function levenshteinDistance(a: string, b: string): number {
  const source = codePoints(a);
  const target = codePoints(b);
  const distances = Int32Array.from({ length: target.length + 1 }, (_, index) => index);
  for (let i = 0; i < source.length; i++) {
    let diagonal = distances[0] as number;
    distances[0] = i + 1;
    for (let j = 0; j < target.length; j++) {
      const above = distances[j + 1] as number;
      const left = distances[j] as number;
      const replaced = diagonal + (source[i] === target[j] ? 0 : 1);
      distances[j + 1] = Math.min(replaced, above + 1, left + 1);
      diagonal = above;
    }
  }
  return distances[target.length] as number;
}

function codePoints(text: string): Int32Array {
  return Int32Array.from(Array.from(text, (character) => character.codePointAt(0) as number));
}
