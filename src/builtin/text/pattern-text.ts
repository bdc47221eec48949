// Patterns in texts: LIKE with its variants, and regular expressions by the names of DuckDB.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { requireIndex, requireText, truthAtom } from '../conversion.ts';
import { family, INTEGER_TYPE, optional, parameter, STRING_TYPE } from '../declare.ts';
import { escapedMatcher, likeMatcher } from '../operator/like.ts';
import { searchingRegex } from './regex.ts';
import type { SafeRegex } from './safe-regex.ts';

const { scalar } = family('regex');

const TEXT = parameter('s', 'a text');
const PATTERN = parameter('pattern', '% is any run of characters, _ is one');
const REGEX = parameter('pattern', 'a regular expression');
const OPTIONS = optional('options', 'letters: i for any case, g for every match');

type TextTest = (text: string) => boolean;

function matching(
  name: string,
  summary: string,
  example: readonly [string, string],
  hasEscape: boolean,
  compile: (pattern: string, escapeWith: string) => TextTest,
) {
  return scalar({
    name,
    summary,
    parameters: [TEXT, PATTERN, ...(hasEscape ? [parameter('escape', 'one character')] : [])],
    examples: [example],
    result: INTEGER_TYPE,
    evaluate: (s = null, pattern = null, escapeWith = '') =>
      truthAtom(compile(requireText(pattern), requireText(escapeWith))(requireText(s))),
    specialize: ([, pattern, escapeWith]) => {
      const known = typeof pattern === 'string' && (!hasEscape || typeof escapeWith === 'string');
      const test = known ? compile(pattern, (escapeWith as string | undefined) ?? '') : undefined;
      return (s = null, each = null, by = '') =>
        truthAtom((test ?? compile(requireText(each), requireText(by)))(requireText(s)));
    },
  });
}

function escaped(pattern: string, escapeWith: string, anyCase: boolean): TextTest {
  if ([...escapeWith].length !== 1) {
    throw failure('SQL_EXECUTION', `ESCAPE takes one character, not '${escapeWith}'`);
  }
  return escapedMatcher(pattern, escapeWith, anyCase);
}

function regexOf(pattern: string, options: string): SafeRegex {
  return searchingRegex(options.includes('i') ? `(?i)${pattern}` : pattern);
}

function readOptions(options: Atom): string {
  const text = requireText(options);
  const unknown = [...text].find((letter) => !'gi'.includes(letter));
  if (unknown === undefined) return text;
  throw failure(
    'SQL_EXECUTION',
    `unknown option '${unknown}' of a regular expression; accepted are g, i`,
  );
}

export const patternFunctions: readonly FunctionDeclaration[] = [
  matching(
    'ilike',
    'LIKE without regard to case, as s ILIKE pattern has it.',
    ["'Rowan' ILIKE 'r%'", '1'],
    false,
    (pattern) => {
      const test = likeMatcher(pattern.toLowerCase());
      return (text) => test(text.toLowerCase());
    },
  ),
  matching(
    'like_escape',
    'LIKE with a character that takes the meaning of the one behind it.',
    ["'10%' LIKE '10#%' ESCAPE '#'", '1'],
    true,
    (pattern, escapeWith) => escaped(pattern, escapeWith, false),
  ),
  matching(
    'ilike_escape',
    'ILIKE with a character that takes the meaning of the one behind it.',
    ["'A_c' ILIKE 'a!_c' ESCAPE '!'", '1'],
    true,
    (pattern, escapeWith) => escaped(pattern, escapeWith, true),
  ),
  scalar({
    name: 'regexp_matches',
    summary: 'Whether the regular expression matches somewhere in the text.',
    parameters: [TEXT, REGEX, OPTIONS],
    examples: [["regexp_matches('rowan', 'w.n')", '1']],
    result: INTEGER_TYPE,
    evaluate: (s = null, pattern = null, options = '') =>
      truthAtom(regexOf(requireText(pattern), readOptions(options)).test(requireText(s))),
  }),
  scalar({
    name: 'regexp_extract',
    summary:
      'The first match of the regular expression, or one of its groups; empty without a match.',
    parameters: [
      TEXT,
      REGEX,
      optional('group', 'number of the group; 0, the default: the whole match'),
    ],
    examples: [["regexp_extract('ab12', '([a-z]+)([0-9]+)', 2)", '"12"']],
    result: STRING_TYPE,
    evaluate: (s = null, pattern = null, group = 0) => {
      const index = requireIndex(group);
      let found: readonly (string | undefined)[] | undefined;
      regexOf(requireText(pattern), '').replaceAll(
        requireText(s),
        (groups) => {
          found ??= groups;
          return '';
        },
        index > 0,
      );
      return found?.[index] ?? '';
    },
  }),
  scalar({
    name: 'regexp_replace',
    summary:
      'The text with the first match replaced, or every match with the option g; \\1 is a group.',
    parameters: [TEXT, REGEX, parameter('replacement', 'a text'), OPTIONS],
    examples: [
      ["regexp_replace('a1b2', '[0-9]', '#')", '"a#b2"'],
      ["regexp_replace('a1b2', '[0-9]', '#', 'g')", '"a#b#"'],
    ],
    result: STRING_TYPE,
    evaluate: (s = null, pattern = null, replacement = null, options = '') => {
      const letters = readOptions(options);
      const fill = requireText(replacement);
      let left = letters.includes('g') ? Number.POSITIVE_INFINITY : 1;
      return regexOf(requireText(pattern), letters).replaceAll(
        requireText(s),
        (groups) => {
          if (left-- <= 0) return groups[0] ?? '';
          return fill.replace(/\\(\d)/g, (_, digit: string) => groups[Number(digit)] ?? '');
        },
        /\\[1-9]/.test(fill),
      );
    },
  }),
];
