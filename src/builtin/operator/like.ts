// LIKE: % is any run of characters, _ one character, everything else stands for itself.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';

export type TextMatcher = (text: string) => boolean;

/** Null when either side is. @throws SQL_EXECUTION when the left side is not a string */
export function likeAtoms(text: Atom, pattern: Atom): Atom {
  const matches = likeText(text, pattern === null ? undefined : cachedMatcher(atomText(pattern)));
  return matches === null ? null : Number(matches);
}

/** The test of one left side; `matcher` is undefined for a null pattern. */
export function likeText(text: Atom, matcher: TextMatcher | undefined): boolean | null {
  if (text === null || matcher === undefined) return null;
  if (typeof text !== 'string') {
    throw failure('SQL_EXECUTION', 'LIKE expression must have string on left side');
  }
  return matcher(text);
}

/** Compiles a pattern; the matcher takes time linear in text × pattern at worst. */
export function likeMatcher(pattern: string): TextMatcher {
  return pattern.includes('_') ? characterMatcher(pattern) : segmentMatcher(pattern.split('%'));
}

const MATCHER_COUNT_MAX = 128;
const matchers = new Map<string, TextMatcher>();

/** Patterns that come from data repeat; the oldest is forgotten when there are too many. */
function cachedMatcher(pattern: string): TextMatcher {
  let matcher = matchers.get(pattern);
  if (matcher === undefined) {
    matcher = likeMatcher(pattern);
    if (matchers.size >= MATCHER_COUNT_MAX) {
      matchers.delete(matchers.keys().next().value as string);
    }
    matchers.set(pattern, matcher);
  }
  return matcher;
}

/** The texts between the % signs must follow one another. */
function segmentMatcher(segments: readonly string[]): TextMatcher {
  const first = segments[0] as string;
  if (segments.length === 1) return (text) => text === first;
  const last = segments[segments.length - 1] as string;
  const inner = segments.slice(1, -1).filter((segment) => segment !== '');
  return (text) => {
    if (text.length < first.length + last.length) return false;
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let position = first.length;
    for (const segment of inner) {
      const found = text.indexOf(segment, position);
      if (found === -1) return false;
      position = found + segment.length;
    }
    return position <= text.length - last.length;
  };
}

const ANY_RUN = Symbol('%');
const ANY_ONE = Symbol('_');

type PatternPart = string | typeof ANY_RUN | typeof ANY_ONE;

/** A pattern in which a character takes the meaning of the one behind it. */
export function escapedMatcher(pattern: string, escapeWith: string, anyCase: boolean): TextMatcher {
  const parts: PatternPart[] = [];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] as string;
    if (character === escapeWith) {
      const next = characters[++i];
      if (next === undefined) {
        throw failure('SQL_EXECUTION', `the pattern '${pattern}' ends with its escape character`);
      }
      parts.push(anyCase ? next.toLowerCase() : next);
    } else if (character === '%') parts.push(ANY_RUN);
    else if (character === '_') parts.push(ANY_ONE);
    else parts.push(anyCase ? character.toLowerCase() : character);
  }
  const test = partsMatcher(parts);
  return anyCase ? (text) => test(text.toLowerCase()) : test;
}

/** With _ the texts are compared by code point. */
function characterMatcher(pattern: string): TextMatcher {
  return partsMatcher(
    [...pattern].map((character) => {
      if (character === '%') return ANY_RUN;
      return character === '_' ? ANY_ONE : character;
    }),
  );
}

/** Goes back to the last run of any characters on a mismatch. */
function partsMatcher(wanted: readonly PatternPart[]): TextMatcher {
  return (text) => {
    const given = [...text];
    let i = 0;
    let j = 0;
    let starAt = -1;
    let resumeAt = 0;
    while (i < given.length) {
      if (j < wanted.length && wanted[j] === ANY_RUN) {
        starAt = j++;
        resumeAt = i;
      } else if (j < wanted.length && (wanted[j] === ANY_ONE || wanted[j] === given[i])) {
        i++;
        j++;
      } else if (starAt !== -1) {
        j = starAt + 1;
        i = ++resumeAt;
      } else return false;
    }
    while (wanted[j] === ANY_RUN) j++;
    return j === wanted.length;
  };
}
