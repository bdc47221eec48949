import { describe, expect, test } from 'vitest';
import { type SqlSyntaxError, wholeText } from '../../../src/sql/error.ts';
import { Lexer, type Token } from '../../../src/sql/lexer.ts';

function tokensOf(text: string): Token[] {
  const lexer = new Lexer(wholeText(text));
  const tokens: Token[] = [];
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) tokens.push(token);
  return tokens;
}

/** Every token as its piece of the text. */
function piecesOf(text: string): string[] {
  return tokensOf(text).map((token) => text.slice(token.start, token.end));
}

function errorOf(text: string): SqlSyntaxError {
  try {
    tokensOf(text);
  } catch (error) {
    return error as SqlSyntaxError;
  }
  throw new Error(`no error in ${text}`);
}

describe('white space and comments', () => {
  test('all blanks of ASCII and comments separate tokens', () => {
    expect(piecesOf('a\t\n\v\f\r b /* c -- d */ e -- f\ng /* /* */ h')).toEqual([
      ...['a', 'b', 'e', 'g', 'h'],
    ]);
  });

  test('a comment may end with the text', () => {
    expect(piecesOf('1--1')).toEqual(['1']);
    expect(piecesOf('1 /* never closed')).toEqual(['1']);
    expect(piecesOf('1 /*/')).toEqual(['1']);
  });

  test('an empty text has no tokens', () => {
    expect(piecesOf('')).toEqual([]);
    expect(piecesOf(' \n-- x')).toEqual([]);
  });
});

describe('names', () => {
  test('elements are joined by dots without spaces', () => {
    expect(tokensOf('a.b_1."x.y".z').map((token) => token.path)).toEqual([
      ['a', 'b_1', 'x.y', 'z'],
    ]);
    expect(piecesOf('a .b')).toEqual(['a', '.', 'b']);
    expect(piecesOf('a. b')).toEqual(['a', '.', 'b']);
  });

  test('quotes hold any text, doubled quotes one', () => {
    expect(tokensOf('"a ""b"" é 😀\n"').map((token) => token.path)).toEqual([['a "b" é 😀\n']]);
    expect(tokensOf('""').map((token) => token.path)).toEqual([['']]);
  });

  test('a word is one unquoted element in upper case', () => {
    expect(tokensOf('Select "select" a.select').map((token) => token.word)).toEqual([
      ...['SELECT', '', ''],
    ]);
  });

  test('an element that begins with a digit is not part of a bare name', () => {
    expect(piecesOf('x.0')).toEqual(['x', '.0']);
    expect(tokensOf('x."0"')[0]?.path).toEqual(['x', '0']);
  });

  test('a star after a dot is a symbol of its own', () => {
    expect(piecesOf('a.b.* a*')).toEqual(['a.b', '.*', 'a', '*']);
  });
});

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['007', 7],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['2E-5', 0.00002],
    ['2e+5', 200_000],
    ['1.25e2', 125],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['18446744073709551615', 18_446_744_073_709_551_615n],
    ['00000000000000000000000000018446744073709551615', 18_446_744_073_709_551_615n],
    ['18446744073709551616', 2 ** 64],
    ['1e19', 1e19],
    ['1e999', Number.POSITIVE_INFINITY],
  ])('%s', (text, value) => {
    expect(tokensOf(text).map((token) => token.value)).toEqual([value]);
  });

  test('a dot or an e without digits is not part of a number', () => {
    expect(piecesOf('5.')).toEqual(['5', '.']);
    expect(piecesOf('1else')).toEqual(['1', 'else']);
    expect(piecesOf('1e+x')).toEqual(['1', 'e', '+', 'x']);
  });

  test('keywords may touch digits', () => {
    expect(piecesOf('2IN(4)')).toEqual(['2', 'IN', '(', '4', ')']);
  });
});

describe('strings and parameters', () => {
  test('a doubled quote is one quote and a backslash nothing special', () => {
    expect(tokensOf("'it''s \\'").map((token) => token.value)).toEqual(["it's \\"]);
    expect(tokensOf("''").map((token) => token.value)).toEqual(['']);
    expect(tokensOf("'a\nb'").map((token) => token.value)).toEqual(['a\nb']);
  });

  test('parameters are names, digits or quoted text', () => {
    expect(tokensOf('$x $1 $"any name"').map((token) => token.value)).toEqual([
      ...['x', '1', 'any name'],
    ]);
  });
});

describe('errors', () => {
  test.each([
    ["'abc", 1, 2],
    ['  \n "abc', 2, 3],
    ["1 + 'a''", 1, 6],
    ['$"a', 1, 3],
    ['$ x', 1, 2],
    ['😀', 1, 1],
    ["'😀' é", 1, 5],
    ['"a\0b"', 1, 2],
    ['a\u00a0b', 1, 2],
  ])('%j is wrong at %i:%i', (text, line, column) => {
    expect(errorOf(text)).toMatchObject({ line, column, code: 'SQL_SYNTAX', httpCode: 400 });
  });

  test('a name beyond ASCII is told to be quoted', () => {
    expect(errorOf('tableé').message).toBe(
      'tableé:1:6: unexpected character "é" (U+00E9); names beyond ASCII need double quotes',
    );
  });
});
