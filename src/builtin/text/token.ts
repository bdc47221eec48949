// Functions that take texts apart at separators.
import type { BoundArgument, ParameterDeclaration, ValueFunction } from '../../plan/function.ts';
import { atomType, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import type { Atom } from '../../value/atom.ts';
import { compareElements } from '../../value/natural-order.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Embedding, Row, Scalar, type Value } from '../../value/value.ts';
import { requireAtom, requireIndex, requireText } from '../conversion.ts';
import { family, optional, parameter } from '../declare.ts';
import { prepareOptions } from '../option.ts';
import {
  readTokenOptions,
  splitAtAny,
  splitTokens,
  TOKEN_DEFAULTS,
  type TokenOptions,
  visitNgrams,
  windowOf,
} from './tokenizer.ts';

const { value } = family('token');

const TEXT = parameter('s', 'the text, any atom with a text form');
const OPTIONS: ParameterDeclaration = optional(
  'options',
  "row of splitChars (a set of separators, default ','), quoteChar (default none), offset, limit, minTokenLength (default 1), and for tokenize value (instead of the count) and ngramRange (default [1, 1])",
);

export const tokenFunctions: readonly ValueFunction[] = [
  value({
    name: 'tokenize',
    summary: 'A row with a column for each distinct token, its value the number of occurrences.',
    parameters: [TEXT, OPTIONS],
    examples: [
      ["print_json(tokenize('a,b,c,a'))", '"{\\"a\\":2,\\"b\\":1,\\"c\\":1}"'],
      [
        "print_json(tokenize('Good day world', {splitChars: ' ', ngramRange: [2, 2]}))",
        '"{\\"Good_day\\":1,\\"day_world\\":1}"',
      ],
    ],
    result: OPEN_ROW_TYPE,
    nulls: 'handle',
    timestamps: 'own',
    bind: ([, options]) => {
      const optionsOf = prepareOptions(options, readTokenOptions);
      return ([text, given]) => tokenize(text as Value, optionsOf(given));
    },
  }),
  value({
    name: 'token_extract',
    summary: 'The token at a position counted from 0, from the end when negative; null past it.',
    parameters: [
      TEXT,
      parameter('n', 'position, added to the offset; -1 is the last token'),
      OPTIONS,
    ],
    examples: [
      ["token_extract('a,b,c,a', 2)", '"c"'],
      ["token_extract('a b c', -1, {splitChars: ' '})", '"c"'],
    ],
    result: atomType('string'),
    timestamps: 'first',
    bind: ([, , options]) => {
      const optionsOf = prepareOptions(options, readTokenOptions);
      return ([text, n, given]) => {
        const index = requireIndex(requireAtom(n));
        const token = extractToken(requireText(requireAtom(text)), index, optionsOf(given));
        return new Scalar(token, MINUS_INFINITY);
      };
    },
  }),
  value({
    name: 'parse_sparse_csv',
    summary: 'A row with the value 1 for every comma-separated field but the first, a row name.',
    parameters: [TEXT],
    examples: [["print_json(parse_sparse_csv('row,a,b'))", '"{\\"a\\":1,\\"b\\":1}"']],
    result: OPEN_ROW_TYPE,
    timestamps: 'own',
    evaluate: ([text]) => tokenize(text as Value, SPARSE_CSV),
  }),
  value({
    name: 'split_part',
    summary: 'The non-empty pieces of a text between any of the given characters, as an embedding.',
    parameters: [TEXT, parameter('chars', 'the set of separating characters')],
    examples: [["print_json(split_part('A::B::C', '::'))", '"[\\"A\\",\\"B\\",\\"C\\"]"']],
    resultType: (): BoundArgument['type'] => ({
      kind: 'embedding',
      shape: [-1],
      element: 'string',
    }),
    timestamps: 'first',
    evaluate: ([text, characters]) => {
      const separators = requireText(requireAtom(characters));
      const pieces = splitAtAny(requireText(requireAtom(text)), separators);
      return new Embedding([pieces.length], pieces, MINUS_INFINITY);
    },
  }),
];

const SPARSE_CSV: TokenOptions = { ...TOKEN_DEFAULTS, offset: 1, value: 1 };

function tokenize(text: Value, options: TokenOptions): Value {
  const atom = requireAtom(text);
  if (atom === null) return new Scalar(null, MINUS_INFINITY);
  const { ts } = text as Scalar;
  const counts = new Map<string, number>();
  const tokens = windowOf(splitTokens(requireText(atom), options), options);
  visitNgrams(tokens, options.ngramRange, (ngram) => {
    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  });
  return countsRow(counts, options.value, ts);
}

/** A row of the counts, or of one value for all names. */
function countsRow(counts: ReadonlyMap<string, number>, fixed: Atom, ts: number): Row {
  // Names are distinct here, which spares sorting positions.
  const names = [...counts.keys()].sort(compareElements);
  const all = fixed === null ? undefined : new Scalar(fixed, ts);
  const values = names.map((name) => all ?? new Scalar(counts.get(name) as number, ts));
  return new Row(names, values);
}

function extractToken(text: string, index: number, options: TokenOptions): string | null {
  const tokens = splitTokens(text, options);
  if (index >= 0) return tokens[options.offset + index] ?? null;
  return windowOf(tokens, options).at(index) ?? null;
}
