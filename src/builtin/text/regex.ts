// Functions with regular expressions. A constant pattern is compiled once, others are cached.
import type { FunctionExample, ParameterDeclaration, ScalarFunction } from '../../plan/function.ts';
import type { ValueType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { requireText, truthAtom } from '../conversion.ts';
import { family, INTEGER_TYPE, parameter, STRING_TYPE } from '../declare.ts';
import { translateRegex } from './regex-syntax.ts';
import { SafeRegex } from './safe-regex.ts';

const { scalar } = family('regex');

const TEXT = parameter('s', 'the text, any atom with a text form');
const PATTERN_MESSAGE = 'Regular expressions need to be strings';

const PATTERN = parameter('re', 'the regular expression, in Perl-style syntax');

interface RegexOptions {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly ParameterDeclaration[];
  readonly examples: readonly FunctionExample[];
  readonly result: ValueType;
  readonly compile: (pattern: string) => SafeRegex;
  readonly apply: (regex: SafeRegex, text: string, rest: readonly Atom[]) => Atom;
}

function regexFunction({ compile, apply, ...declaration }: RegexOptions): ScalarFunction {
  const evaluate = (s: Atom = null, re: Atom = null, ...rest: Atom[]): Atom =>
    apply(compile(requirePattern(re)), requireText(s), rest);
  return scalar({
    ...declaration,
    evaluate,
    structuredMessage: (index) => (index === 1 ? PATTERN_MESSAGE : undefined),
    specialize: ([, pattern]) => {
      if (pattern === undefined || pattern === null) return evaluate;
      const regex = compile(requirePattern(pattern));
      return (s = null, _re = null, ...rest) => apply(regex, requireText(s), rest);
    },
  });
}

export const regexFunctions: readonly ScalarFunction[] = [
  regexFunction({
    name: 'regex_match',
    summary: '1 when the whole text matches the regular expression, else 0.',
    parameters: [TEXT, PATTERN],
    examples: [
      ["regex_match('hello', 'h.*o')", '1'],
      ["regex_match('hello', 'ell')", '0'],
    ],
    result: INTEGER_TYPE,
    compile: caching((source) => `^(?:${source})$`, ''),
    apply: (regex, text) => truthAtom(regex.test(text)),
  }),
  regexFunction({
    name: 'regex_search',
    summary: '1 when some part of the text matches the regular expression, else 0.',
    parameters: [TEXT, PATTERN],
    examples: [["regex_search('hello', 'ell')", '1']],
    result: INTEGER_TYPE,
    compile: caching((source) => source, ''),
    apply: (regex, text) => truthAtom(regex.test(text)),
  }),
  regexFunction({
    name: 'regex_replace',
    summary:
      'The text with every match replaced; $1 or \\1 inserts a group, $0 or $& the match, $$ a dollar.',
    parameters: [TEXT, PATTERN, parameter('r', 'the replacement')],
    examples: [
      ["regex_replace('a-b-c', '-', '+')", '"a+b+c"'],
      ["regex_replace('john smith', '(\\w+) (\\w+)', '$2 $1')", '"smith john"'],
    ],
    result: STRING_TYPE,
    compile: caching((source) => source, 'g'),
    apply: (regex, text, rest) => {
      const replacement = parseReplacement(requireText(rest[0] ?? null));
      if (typeof replacement === 'string') return regex.replaceAll(text, () => replacement, false);
      return regex.replaceAll(
        text,
        (groups) => replacement.map((part) => partText(part, groups)).join(''),
        true,
      );
    },
  }),
];

function requirePattern(pattern: Atom): string {
  if (typeof pattern === 'string') return pattern;
  if (pattern === null) throw failure('SQL_EXECUTION', PATTERN_MESSAGE);
  return requireText(pattern);
}

const REGEX_COUNT_MAX = 256;

/** A compiler that remembers the patterns it has seen, the oldest forgotten first. */
function caching(wrap: (source: string) => string, flags: string): (pattern: string) => SafeRegex {
  const cache = new Map<string, SafeRegex>();
  return (pattern) => {
    let regex = cache.get(pattern);
    if (regex === undefined) {
      regex = compileRegex(pattern, wrap, flags);
      if (cache.size >= REGEX_COUNT_MAX) cache.delete(cache.keys().next().value as string);
      cache.set(pattern, regex);
    }
    return regex;
  };
}

/** The compiled form of a pattern that may match anywhere in a text. */
export const searchingRegex: (pattern: string) => SafeRegex = caching((source) => source, 'g');

function compileRegex(pattern: string, wrap: (source: string) => string, flags: string): SafeRegex {
  try {
    const { source, ignoreCase } = translateRegex(pattern);
    // Compiled bare first: the wrapping must not mend what is broken, such as `a)|(b`.
    new RegExp(source, 'u');
    const whole = wrap(source);
    return new SafeRegex(new RegExp(whole, `u${flags}${ignoreCase ? 'i' : ''}`), {
      startsAnywhere: whole === source,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*\/u: /s, '') : String(error);
    const message = `Error when compiling regex '${pattern}' from expression '${pattern.replaceAll("'", "''")}': ${reason}.  Regular expressions must adhere to Perl-style regular expression syntax`;
    throw failure('SQL_EXECUTION', message);
  }
}

/** Literal text, or the number of a group (0: the whole match). */
type ReplacementPart = string | number;

/** A replacement without groups is plain text. */
export function parseReplacement(text: string): string | readonly ReplacementPart[] {
  const parts: ReplacementPart[] = [];
  let literal = '';
  let end = 0;
  for (const match of text.matchAll(/\$([0-9&$])|\\([0-9\\])/g)) {
    literal += text.slice(end, match.index);
    end = match.index + match[0].length;
    const code = match[1] ?? (match[2] as string);
    if (code === '$' || code === '\\') literal += code;
    else {
      parts.push(literal, code === '&' ? 0 : Number(code));
      literal = '';
    }
  }
  literal += text.slice(end);
  if (parts.length === 0) return literal;
  parts.push(literal);
  return parts;
}

function partText(part: ReplacementPart, groups: readonly (string | undefined)[]): string {
  return typeof part === 'string' ? part : (groups[part] ?? '');
}
