// Patterns over URLs: `*` (not `/`), `?`, `**` (any depth), `[a-z]`, `{a,b}`.
import { failure } from '../util/error.ts';

/** Whether a text has a wildcard. */
export function isPattern(text: string): boolean {
  return /[*?[{]/.test(text);
}

/** The part up to the last `/` before the first wildcard. */
export function patternPrefix(pattern: string): string {
  const wildcard = pattern.search(/[*?[{]/);
  return wildcard === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', wildcard) + 1);
}

type Matcher = (text: string) => boolean;

/** What a part of a pattern stands for; a class tests the code point. */
type Token =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'class'; readonly has: RegExp }
  /** a run of characters within one name */
  | { readonly kind: 'run' }
  | { readonly kind: 'anything' }
  /** any number of whole directories, none included */
  | { readonly kind: 'directories' };

const ALTERNATIVE_COUNT_MAX = 1024;

/**
 * Tests whole texts; the time of a test is at most in proportion to text × pattern.
 * @throws INVALID_URL for a pattern with too many alternatives
 */
export function patternMatcher(pattern: string): Matcher {
  const alternatives = expandBraces(pattern).map(tokensOf);
  return (text) => alternatives.some((tokens) => matches(tokens, text));
}

/** Depth first; no pair of token and position is tried twice. */
function matches(tokens: readonly Token[], text: string): boolean {
  const tried = new Set<number>();
  const waiting: [tokenIndex: number, position: number][] = [[0, 0]];
  const visit = (tokenIndex: number, position: number) => {
    const state = tokenIndex * (text.length + 1) + position;
    if (tried.has(state)) return;
    tried.add(state);
    waiting.push([tokenIndex, position]);
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [index, position] = next;
    const token = tokens[index];
    if (token === undefined) {
      if (position === text.length) return true;
      continue;
    }
    step(token, text, position, (end, isSame) => visit(isSame ? index : index + 1, end));
  }
  return false;
}

/** Tells where a token may end, and where it may go on (`isSame`). */
function step(
  token: Token,
  text: string,
  position: number,
  go: (position: number, isSame: boolean) => void,
): void {
  switch (token.kind) {
    case 'literal':
      if (text.startsWith(token.text, position)) go(position + token.text.length, false);
      return;
    case 'class': {
      const code = text.codePointAt(position);
      if (code === undefined) return;
      const character = String.fromCodePoint(code);
      if (token.has.test(character)) go(position + character.length, false);
      return;
    }
    case 'run':
    case 'anything':
      go(position, false);
      if (position === text.length) return;
      if (token.kind === 'anything' || text[position] !== '/') go(position + 1, true);
      return;
    case 'directories': {
      go(position, false);
      const slash = text.indexOf('/', position);
      if (slash > position) go(slash + 1, true);
    }
  }
}

/** Patterns without braces that together mean the same. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const braces = findBraces(next);
    if (braces === undefined) done.push(next);
    else {
      const { start, end, members } = braces;
      for (const member of members) waiting.push(next.slice(0, start) + member + next.slice(end));
    }
    if (done.length + waiting.length > ALTERNATIVE_COUNT_MAX) {
      throw failure(
        'INVALID_URL',
        `the pattern has more than ${ALTERNATIVE_COUNT_MAX} alternatives: ${pattern}`,
        { url: pattern },
      );
    }
  }
  return done;
}

/** The first braces that are closed, outside classes, and the texts between their commas. */
function findBraces(
  pattern: string,
): { start: number; end: number; members: readonly string[] } | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    const members: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let i = start; i < pattern.length; i++) {
      const character = pattern[i];
      if (character === '{') depth++;
      else if (character === ',' && depth === 1) {
        members.push(pattern.slice(from, i));
        from = i + 1;
      } else if (character === '}' && --depth === 0) {
        members.push(pattern.slice(from, i));
        return { start, end: i + 1, members };
      }
    }
  }
  return undefined;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  let literal = '';
  const add = (token: Token) => {
    if (literal !== '') tokens.push({ kind: 'literal', text: literal });
    literal = '';
    tokens.push(token);
  };
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] as string;
    const end = character === '[' ? pattern.indexOf(']', i + 2) : -1;
    if (character === '*') {
      if (pattern[i + 1] !== '*') add({ kind: 'run' });
      else if (pattern[i + 2] === '/') {
        add({ kind: 'directories' });
        i += 2;
      } else {
        add({ kind: 'anything' });
        i++;
      }
    } else if (character === '?') add({ kind: 'class', has: /[^/]/u });
    else if (end !== -1) {
      add({ kind: 'class', has: characterClass(pattern.slice(i + 1, end)) });
      i = end;
    } else literal += character;
  }
  if (literal !== '') tokens.push({ kind: 'literal', text: literal });
  return tokens;
}

function characterClass(body: string): RegExp {
  const negated = body.startsWith('!') || body.startsWith('^');
  const members = (negated ? body.slice(1) : body).replace(/[\\\][^&~|]/g, '\\$&');
  try {
    return new RegExp(`(?!/)[${negated ? '^' : ''}${members}]`, 'u');
  } catch {
    throw failure('INVALID_URL', `[${body}] is no set of characters: a range goes upwards`);
  }
}
