// Text to tokens, one at a time: names, numbers, strings, parameters and symbols.
import { type SqlSource, SqlSyntaxError } from './error.ts';
import type { LiteralValue, NamePath } from './node.ts';

export type TokenKind = 'name' | 'number' | 'string' | 'parameter' | 'symbol' | 'end';

/** One token; the members that do not belong to its kind are empty, so all have one shape. */
export interface Token {
  readonly kind: TokenKind;
  /** UTF-16 offsets, the end exclusive */
  readonly start: number;
  readonly end: number;
  /** of a symbol: its text */
  readonly symbol: string;
  /** of a name of one unquoted element: the element in upper case, to compare with keywords */
  readonly word: string;
  /** of a name: its elements */
  readonly path: NamePath;
  /** of a number or string: its value; of a parameter: its name */
  readonly value: LiteralValue;
}

const NO_PATH: NamePath = [];
const UINT64_MAX = 2n ** 64n - 1n;

const QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const DOLLAR = 0x24;
const DOT = 0x2e;
const STAR = 0x2a;
const SLASH = 0x2f;
const MINUS = 0x2d;
const PLUS = 0x2b;
const LINE_FEED = 0x0a;

/**
 * Two-character symbols, longest match first. Those that the language does not have are tokens of
 * their own too, so that the parser can say what to write instead.
 */
const LONG_SYMBOLS: ReadonlySet<string> = new Set([
  ...['.*', '!=', '<>', '<=', '>='],
  ...['==', '!<', '!>', '||', '&&', '::'],
]);
const SYMBOLS = '()[]{},:.+-*/%@&|^~=<>!;?#`\\';

/** Gives the tokens of a source from left to right; the last one is of the kind `end`. */
export class Lexer {
  private readonly source: SqlSource;
  private readonly text: string;
  private readonly end: number;
  private offset: number;

  constructor(source: SqlSource) {
    this.source = source;
    this.text = source.text;
    this.end = source.end;
    this.offset = source.start;
  }

  /** Continues from another offset, for instance to read a token again in parts. */
  seek(offset: number): void {
    this.offset = offset;
  }

  /** @throws SqlSyntaxError on a character that starts no token and on an unterminated quote */
  next(): Token {
    this.skipBlanks();
    const start = this.offset;
    if (start >= this.end) return this.token('end', this.end, '', '', NO_PATH, null);
    const code = this.text.charCodeAt(start);
    if (isNameStart(code) || code === DOUBLE_QUOTE) return this.name(start);
    if (isDigit(code) || (code === DOT && isDigit(this.codeAt(start + 1)))) {
      return this.number(start);
    }
    if (code === QUOTE) {
      const value = this.quoted('string');
      return this.token('string', start, '', '', NO_PATH, value);
    }
    if (code === DOLLAR) return this.parameter(start);
    return this.symbol(start);
  }

  private token(
    kind: TokenKind,
    start: number,
    symbol: string,
    word: string,
    path: NamePath,
    value: LiteralValue,
  ): Token {
    return { kind, start, end: this.offset, symbol, word, path, value };
  }

  /** The character code at an offset, or NaN at the end of the source. */
  private codeAt(offset: number): number {
    return offset < this.end ? this.text.charCodeAt(offset) : Number.NaN;
  }

  private skipBlanks(): void {
    for (;;) {
      const code = this.codeAt(this.offset);
      if (isBlank(code)) {
        this.offset++;
      } else if (code === MINUS && this.codeAt(this.offset + 1) === MINUS) {
        while (this.offset < this.end && this.codeAt(this.offset) !== LINE_FEED) this.offset++;
      } else if (code === SLASH && this.codeAt(this.offset + 1) === STAR) {
        const close = this.text.indexOf('*/', this.offset + 2);
        this.offset = close < 0 ? this.end : Math.min(close + 2, this.end);
      } else {
        return;
      }
    }
  }

  private name(start: number): Token {
    const path: string[] = [];
    let quoted = false;
    for (;;) {
      if (this.codeAt(this.offset) === DOUBLE_QUOTE) {
        path.push(this.quoted('identifier'));
        quoted = true;
      } else {
        path.push(this.bareElement());
      }
      const after = this.codeAt(this.offset + 1);
      const joined = this.codeAt(this.offset) === DOT;
      if (!joined || !(isNameStart(after) || after === DOUBLE_QUOTE)) break;
      this.offset++;
    }
    const word = quoted || path.length > 1 ? '' : (path[0] as string).toUpperCase();
    return this.token('name', start, '', word, path, null);
  }

  private bareElement(): string {
    const start = this.offset;
    while (isNamePart(this.codeAt(this.offset))) this.offset++;
    return this.text.slice(start, this.offset);
  }

  /** Reads quoted text in which a doubled quote stands for one. */
  private quoted(what: 'string' | 'identifier'): string {
    const quote = this.text[this.offset] as string;
    const open = this.offset + 1;
    let from = open;
    let value = '';
    for (;;) {
      const close = this.text.indexOf(quote, from);
      if (close < 0 || close >= this.end) {
        throw new SqlSyntaxError(this.source, {
          offset: open,
          near: this.text.slice(this.offset, this.end),
          expected: [quote],
          message: `unterminated ${what}: expected a closing ${quote}`,
        });
      }
      value += this.text.slice(from, close);
      this.offset = close + 1;
      if (this.text[this.offset] !== quote || this.offset >= this.end) break;
      value += quote;
      from = this.offset + 1;
    }
    if (what === 'identifier' && value.includes('\0')) {
      throw new SqlSyntaxError(this.source, {
        offset: open,
        near: value,
        expected: [],
        message: 'an identifier must not contain the character U+0000',
      });
    }
    return value;
  }

  private number(start: number): Token {
    this.skipDigits();
    let integer = true;
    if (this.codeAt(this.offset) === DOT && isDigit(this.codeAt(this.offset + 1))) {
      integer = false;
      this.offset++;
      this.skipDigits();
    }
    const exponent = this.exponentLength();
    if (exponent > 0) {
      integer = false;
      this.offset += exponent;
      this.skipDigits();
    }
    const digits = this.text.slice(start, this.offset);
    const value = integer ? integerValue(digits) : Number(digits);
    return this.token('number', start, '', '', NO_PATH, value);
  }

  private skipDigits(): void {
    while (isDigit(this.codeAt(this.offset))) this.offset++;
  }

  /** The length of `e`, `e+` or `e-` before a digit; 0 when what follows is no exponent. */
  private exponentLength(): number {
    const code = this.codeAt(this.offset);
    if (code !== 0x65 && code !== 0x45) return 0;
    const sign = this.codeAt(this.offset + 1);
    const length = sign === PLUS || sign === MINUS ? 2 : 1;
    return isDigit(this.codeAt(this.offset + length)) ? length : 0;
  }

  private parameter(start: number): Token {
    this.offset++;
    const code = this.codeAt(this.offset);
    if (!isNamePart(code) && code !== DOUBLE_QUOTE) {
      throw new SqlSyntaxError(this.source, {
        offset: this.offset,
        near: this.text.slice(this.offset, Math.min(this.offset + 1, this.end)),
        expected: ['the name of a parameter'],
      });
    }
    const name = code === DOUBLE_QUOTE ? this.quoted('identifier') : this.bareElement();
    return this.token('parameter', start, '', '', NO_PATH, name);
  }

  private symbol(start: number): Token {
    const pair = this.text.slice(start, Math.min(start + 2, this.end));
    if (pair.length === 2 && LONG_SYMBOLS.has(pair)) {
      this.offset += 2;
      return this.token('symbol', start, pair, '', NO_PATH, null);
    }
    const character = String.fromCodePoint(this.text.codePointAt(start) as number);
    if (!SYMBOLS.includes(character)) {
      throw new SqlSyntaxError(this.source, {
        offset: start,
        near: character,
        expected: [],
        message: `unexpected character "${character}" (${codePointName(character)})`,
        hint: character.charCodeAt(0) > 0x7f ? 'names beyond ASCII need double quotes' : undefined,
      });
    }
    this.offset++;
    return this.token('symbol', start, character, '', NO_PATH, null);
  }
}

/** Up to 15 digits are exact in a double; more may need a bigint, and beyond 2^64-1 a double. */
function integerValue(digits: string): number | bigint {
  if (digits.length <= 15) return Number(digits);
  // More than 64-bit integers have, leading zeros aside; BigInt of a huge text would be slow.
  const significant = digits.replace(/^0+/, '');
  if (significant.length > 20) return Number(significant);
  const value = BigInt(significant === '' ? '0' : significant);
  if (value > UINT64_MAX) return Number(value);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function codePointName(character: string): string {
  const code = character.codePointAt(0) as number;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isNameStart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function isNamePart(code: number): boolean {
  return isNameStart(code) || isDigit(code);
}
