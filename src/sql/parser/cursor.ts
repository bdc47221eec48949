// The parser's place in the text: tokens, what was expected there, and how deep it has nested.
import { type SqlSource, SqlSyntaxError, type SyntaxProblem } from '../error.ts';
import { KEYWORDS } from '../keyword.ts';
import { Lexer, type Token } from '../lexer.ts';
import type {
  Expression,
  OrderKey,
  QueryNode,
  RowNode,
  SelectItem,
  TableExpression,
} from '../node.ts';
import { hintFor } from './hint.ts';

/**
 * Expressions within expressions, tables and queries, one for each operand that nests. Deeper text
 * is refused, so that every later stage may recurse over a tree (but see node.ts on chains). The
 * parser takes about 0.7 KB of stack a level: a third of the smallest stack that Node gives.
 */
export const NESTING_DEPTH_MAX = 500;

/** The parts of the grammar that refer to one another, each written in a file of its own. */
export interface Grammar {
  /** Reads operators that bind at least as tightly as `level`; without it, all. */
  expression(cursor: Cursor, level?: number): Expression;
  row(cursor: Cursor): RowNode;
  selectItem(cursor: Cursor): SelectItem;
  orderKeys(cursor: Cursor): OrderKey[];
  query(cursor: Cursor): QueryNode;
  /** Goes on with a query that was read in parentheses: `… UNION …`, `… ORDER BY …`. */
  continueQuery(cursor: Cursor, query: QueryNode): QueryNode;
  table(cursor: Cursor): TableExpression;
}

/** Reads tokens ahead, remembers what was looked for at the current one, and limits nesting. */
export class Cursor {
  readonly source: SqlSource;
  readonly grammar: Grammar;
  /** The token that is read next. */
  token: Token;
  /** The token that was read last; undefined at the start. */
  previous: Token | undefined;
  private readonly lexer: Lexer;
  private readonly ahead: Token[] = [];
  /** What was looked for in vain at the current token. */
  private readonly missed: string[] = [];
  private depth = 0;

  constructor(source: SqlSource, grammar: Grammar) {
    this.source = source;
    this.grammar = grammar;
    this.lexer = new Lexer(source);
    this.token = this.lexer.next();
  }

  /** The offset after the last token that was read. */
  get end(): number {
    return this.previous === undefined ? this.source.start : this.previous.end;
  }

  /** The token `count` places after the current one. */
  peek(count: number): Token {
    while (this.ahead.length < count) this.ahead.push(this.lexer.next());
    return this.ahead[count - 1] as Token;
  }

  /** Reads the current token. */
  advance(): Token {
    const token = this.token;
    this.previous = token;
    this.token = this.ahead.length > 0 ? (this.ahead.shift() as Token) : this.lexer.next();
    if (this.missed.length > 0) this.missed.length = 0;
    return token;
  }

  /** Remembers that `what` would have been legal here, for the message of an error. */
  miss(what: string): void {
    if (this.missed[this.missed.length - 1] !== what) this.missed.push(what);
  }

  acceptSymbol(symbol: string): boolean {
    if (this.token.symbol === symbol) {
      this.advance();
      return true;
    }
    this.miss(`'${symbol}'`);
    return false;
  }

  expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) this.fail();
  }

  /** Reads a keyword, or a sequence such as `GROUP BY`, once its first word is there. */
  acceptKeyword(keyword: string, second?: string): boolean {
    if (this.token.word !== keyword && !this.splitKeyword(keyword)) {
      this.miss(second === undefined ? keyword : `${keyword} ${second}`);
      return false;
    }
    this.advance();
    if (second !== undefined) this.expectKeyword(second);
    return true;
  }

  expectKeyword(keyword: string): void {
    if (!this.acceptKeyword(keyword)) this.fail();
  }

  /** Reads a name of one element, for instance an alias. */
  expectIdentifier(what: string): string {
    const { kind, path } = this.token;
    if (kind !== 'name') this.fail(what);
    if (path.length > 1) {
      const hint = 'put double quotes around the whole of a name that contains a dot';
      this.failWith({ message: `expected ${what}, a single identifier`, expected: [what], hint });
    }
    this.advance();
    return path[0] as string;
  }

  expectEnd(): void {
    if (this.token.kind !== 'end') this.fail();
  }

  /**
   * Splits a keyword from digits that follow it without a space, as in `x AND1`. Called only where
   * a name cannot stand.
   * @returns whether the current token now is the keyword
   */
  splitKeyword(keyword?: string): boolean {
    const { word, start } = this.token;
    if (word === '') return false;
    const length = lengthWithoutDigits(word);
    if (length === word.length) return false;
    const head = word.slice(0, length);
    if (keyword === undefined ? !KEYWORDS.has(head) : head !== keyword) return false;
    this.token = { ...this.token, end: start + length, word: head, path: [head] };
    this.ahead.length = 0;
    this.lexer.seek(start + length);
    return true;
  }

  /** Counts a level of nesting; every `enter` that returns is followed by a `leave`. */
  enter(): void {
    this.depth++;
    if (this.depth > NESTING_DEPTH_MAX) {
      this.failWith({
        message: `nested more than ${NESTING_DEPTH_MAX} levels deep`,
        expected: [],
      });
    }
  }

  leave(): void {
    this.depth--;
  }

  /** Reports the current token, saying what else could have stood there. */
  fail(...expected: string[]): never {
    this.failWith({ expected: [...this.missed, ...expected] });
  }

  failWith(problem: Omit<SyntaxProblem, 'offset' | 'near'>): never {
    const token = this.token;
    const near = this.source.text.slice(token.start, token.end);
    // A message of its own says all there is to say.
    const advice =
      problem.message === undefined ? hintFor(this.previous, token, problem.expected) : undefined;
    const hint = problem.hint ?? advice;
    throw new SqlSyntaxError(this.source, { offset: token.start, near, ...problem, hint });
  }
}

/** The length of the leading part of a word before its first digit. */
function lengthWithoutDigits(word: string): number {
  const digit = word.search(/[0-9]/);
  return digit < 0 ? word.length : digit;
}
