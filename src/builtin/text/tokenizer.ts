// Splitting text into tokens, n-grams of tokens, and the options of both.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import type { Value } from '../../value/value.ts';
import { requireAtom } from '../conversion.ts';
import {
  integerOption,
  integerPairOption,
  type OptionReaders,
  readOptions,
  textOption,
} from '../option.ts';
import { codePointCount } from './string.ts';

export interface TokenOptions {
  splitChars: string;
  /** empty: no quoting */
  quoteChar: string;
  offset: number;
  /** 0 or less: no limit */
  limit: number;
  value: Atom;
  minTokenLength: number;
  ngramRange: readonly [number, number];
}

export const TOKEN_DEFAULTS: Readonly<TokenOptions> = {
  splitChars: ',',
  quoteChar: '',
  offset: 0,
  limit: -1,
  value: null,
  minTokenLength: 1,
  ngramRange: [1, 1],
};

const setters = {
  splitChars: (value: Value, options: TokenOptions): void => {
    options.splitChars = textOption(value);
  },
  quoteChar: (value: Value, options: TokenOptions): void => {
    options.quoteChar = textOption(value);
    if (codePointCount(options.quoteChar) > 1) {
      throw failure('SQL_EXECUTION', `quoteChar '${options.quoteChar}' is not one character`);
    }
  },
  minTokenLength: (value: Value, options: TokenOptions): void => {
    options.minTokenLength = integerOption(value);
  },
  ngramRange: (value: Value, options: TokenOptions): void => {
    const [min, max] = integerPairOption(value, 'ngramRange');
    if (min < 1 || max < min) {
      const message =
        'ngramRange values must be bigger than 0 and the second value needs to be equal or bigger than the first';
      throw failure('SQL_EXECUTION', message);
    }
    options.ngramRange = [min, max];
  },
};

const READERS: OptionReaders<TokenOptions> = {
  ...setters,
  offset: (value, options) => {
    options.offset = Math.max(0, integerOption(value));
  },
  limit: (value, options) => {
    options.limit = integerOption(value);
  },
  value: (value, options) => {
    options.value = requireAtom(value);
  },
  splitchars: setters.splitChars,
  quotechar: setters.quoteChar,
  min_token_length: setters.minTokenLength,
  ngram_range: setters.ngramRange,
};

export function readTokenOptions(value: Value | undefined): TokenOptions {
  return readOptions(TOKEN_DEFAULTS, READERS, value);
}

/** The non-empty tokens of at least the minimum length, before offset and limit. */
export function splitTokens(text: string, options: TokenOptions): string[] {
  const { quoteChar, minTokenLength } = options;
  const pieces =
    quoteChar === ''
      ? splitAtAny(text, options.splitChars)
      : splitQuoted(text, new Set(options.splitChars), quoteChar);
  if (minTokenLength <= 1) return pieces;
  return pieces.filter((token) => codePointCount(token) >= minTokenLength);
}

/** The tokens that are left between offset and limit. */
export function windowOf(tokens: readonly string[], options: TokenOptions): readonly string[] {
  const { offset, limit } = options;
  return tokens.slice(offset, limit > 0 ? offset + limit : undefined);
}

/** Visits every n-gram: after each token those that end there, the shortest first. */
export function visitNgrams(
  tokens: readonly string[],
  [min, max]: readonly [number, number],
  visit: (ngram: string) => void,
): void {
  for (let end = 1; end <= tokens.length; end++) {
    for (let n = min; n <= Math.min(max, end); n++) {
      visit(n === 1 ? (tokens[end - 1] as string) : tokens.slice(end - n, end).join('_'));
    }
  }
}

/** The non-empty pieces between any of the characters. */
export function splitAtAny(text: string, characters: string): string[] {
  const separators = new Set(characters);
  if (separators.size === 1) return text.split(characters).filter(isNotEmpty);
  const tokens: string[] = [];
  let token = '';
  for (const character of text) {
    if (separators.has(character)) {
      if (token !== '') tokens.push(token);
      token = '';
    } else token += character;
  }
  if (token !== '') tokens.push(token);
  return tokens;
}

function isNotEmpty(text: string): boolean {
  return text !== '';
}

/**
 * A quote at the start of a token hides separators until a quote before a separator or the end;
 * after a quote before anything else the token goes on unquoted.
 */
function splitQuoted(text: string, separators: ReadonlySet<string>, quote: string): string[] {
  const characters = [...text];
  const tokens: string[] = [];
  let token = '';
  let isStart = true;
  let isQuoted = false;
  for (const [index, character] of characters.entries()) {
    if (isQuoted) {
      if (character === quote) isQuoted = false;
      else token += character;
    } else if (isStart && character === quote) {
      isQuoted = true;
      isStart = false;
    } else if (separators.has(character)) {
      if (token !== '') tokens.push(token);
      token = '';
      isStart = true;
    } else {
      token += character;
      isStart = false;
    }
    if (isQuoted && index === characters.length - 1) {
      throw failure('SQL_EXECUTION', `string finished inside quote: '${text}'`);
    }
  }
  if (token !== '') tokens.push(token);
  return tokens;
}
