// Advice added to a syntax error: what to write instead of something another dialect has.
import { findNearestWord } from '../../util/nearest-word.ts';
import { CLAUSES } from '../keyword.ts';
import type { Token } from '../lexer.ts';

const SYMBOL_HINTS: Readonly<Record<string, string>> = {
  '==': 'equality is written =',
  '!<': 'write >= instead',
  '!>': 'write <= instead',
  '&&': 'conditions are combined with AND',
  '!': 'write NOT, or != to compare',
  ';': 'a text holds one query, and a semicolon stands at its end',
};

const WORD_HINTS: Readonly<Record<string, string>> = {
  SIMILAR: "write regex_match(text, 'pattern') instead of SIMILAR TO",
  WITHIN: 'write the order inside the parentheses: f(x ORDER BY y)',
  NOT: 'put parentheses around NOT …',
};

/** @param expected what would have been legal at `token`: keywords among other descriptions */
export function hintFor(
  previous: Token | undefined,
  token: Token,
  expected: readonly string[],
): string | undefined {
  if (token.kind === 'symbol') return symbolHint(previous, token);
  if (token.kind === 'number') return numberHint(previous, token);
  if (token.kind === 'string' && expectsName(expected)) return 'names take double quotes';
  if (token.word === '') return undefined;
  if (token.word === 'SELECT') return 'a sub-select needs parentheses of its own';
  return (
    WORD_HINTS[token.word] ??
    orderHint(token, expected) ??
    spellingHint(token, expected) ??
    // A misspelt clause reads as an alias, and the error comes behind it.
    (previous?.kind === 'name' ? spellingHint(previous, CLAUSES) : undefined)
  );
}

function symbolHint(previous: Token | undefined, token: Token): string | undefined {
  if (token.symbol === '.' && previous?.symbol === ']') {
    return 'write […][b] or [a.b] to read a member of a member';
  }
  return SYMBOL_HINTS[token.symbol];
}

function numberHint(previous: Token | undefined, token: Token): string | undefined {
  const joined = previous?.kind === 'name' && previous.end === token.start;
  return joined ? 'an element that begins with a digit needs double quotes' : undefined;
}

function expectsName(expected: readonly string[]): boolean {
  return expected.some((what) => what.startsWith('a name') || what.startsWith('the name'));
}

/** A clause that exists, but cannot stand any more once the later ones have begun. */
function orderHint(token: Token, expected: readonly string[]): string | undefined {
  const index = CLAUSES.findIndex((clause) => clause.split(' ')[0] === token.word);
  if (index < 0) return undefined;
  const clause = CLAUSES[index] as string;
  if (expected.includes(clause)) return undefined;
  const later = CLAUSES.slice(index + 1);
  return later.length > 0 && expected.includes('the end of the text')
    ? `${clause} must come before ${later.join(', ')}`
    : undefined;
}

function spellingHint(token: Token, expected: readonly string[]): string | undefined {
  const keywords = expected.filter((what) => /^[A-Z]/.test(what));
  const firstWords = keywords.map((keyword) => keyword.split(' ')[0] as string);
  const nearest = findNearestWord(token.word, firstWords);
  if (nearest === undefined) return undefined;
  return `did you mean ${keywords[firstWords.indexOf(nearest)]}?`;
}
