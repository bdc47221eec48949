// Errors of query text: where it is wrong, what stood there and what was expected.
import { RowanError } from '../util/error.ts';
import { ERRORS } from '../util/error-catalogue.ts';

/** The part of a text that is parsed: a whole query, or one clause of a query given in pieces. */
export interface SqlSource {
  readonly text: string;
  /** UTF-16 offsets of the part within `text`; positions in messages count from `start`. */
  readonly start: number;
  readonly end: number;
  /** what the part is called when it is not the whole query, for instance `where` */
  readonly label: string | undefined;
}

export interface SourcePosition {
  /** from 1 */
  readonly line: number;
  /** from 1, in characters (code points) */
  readonly column: number;
}

export interface SyntaxProblem {
  /** UTF-16 offset into `source.text` */
  readonly offset: number;
  /** the offending word or symbol; empty at the end of the text */
  readonly near: string;
  readonly expected: readonly string[];
  /** replaces the sentence made of `expected` and `near` */
  readonly message?: string;
  /** a way out, added to the message */
  readonly hint?: string | undefined;
}

const EXCERPT_LENGTH_MAX = 160;
const NEAR_LENGTH_MAX = 40;

/** A text that is no SQL: line, column and offset, what stood there and what was expected. */
export class SqlSyntaxError extends RowanError {
  readonly line: number;
  readonly column: number;
  /** UTF-16 offset from the start of the query or clause */
  readonly offset: number;
  readonly near: string;
  readonly expected: readonly string[];

  constructor(source: SqlSource, problem: SyntaxProblem) {
    const { line, column } = positionOf(source, problem.offset);
    const near = shorten(problem.near, NEAR_LENGTH_MAX);
    const expected = [...new Set(problem.expected)];
    const sentence = problem.message ?? `expected ${listOf(expected)}, got ${describe(near)}`;
    const hint = problem.hint === undefined ? '' : `; ${problem.hint}`;
    const label = source.label === undefined ? '' : `${source.label}: `;
    const excerpt = shorten(source.text.slice(source.start, source.end), EXCERPT_LENGTH_MAX);
    super(
      'SQL_SYNTAX',
      ERRORS.SQL_SYNTAX.status,
      `${label}${excerpt}:${line}:${column}: ${sentence}${hint}`,
      {
        line,
        column,
        near,
        expected,
        ...(source.label === undefined ? {} : { clause: source.label }),
      },
    );
    this.name = 'SqlSyntaxError';
    this.line = line;
    this.column = column;
    this.offset = problem.offset - source.start;
    this.near = near;
    this.expected = expected;
  }
}

/** The whole of a text as a source. */
export function wholeText(text: string): SqlSource {
  return { text, start: 0, end: text.length, label: undefined };
}

/** Line and column of an offset, both from 1, counted from the start of the source. */
export function positionOf(source: SqlSource, offset: number): SourcePosition {
  let line = 1;
  let column = 1;
  for (let index = source.start; index < offset; index++) {
    const code = source.text.charCodeAt(index);
    if (code === 0x0a) {
      line++;
      column = 1;
    } else if (!(isLowSurrogate(code) && isHighSurrogate(source.text.charCodeAt(index - 1)))) {
      column++;
    }
  }
  return { line, column };
}

/** A list in words: `A`, `A or B`, `A, B or C`. */
function listOf(expected: readonly string[]): string {
  if (expected.length === 0) return 'the end of the text';
  const last = expected[expected.length - 1] as string;
  return expected.length === 1 ? last : `${expected.slice(0, -1).join(', ')} or ${last}`;
}

function describe(near: string): string {
  return near === '' ? 'the end of the text' : `"${near}"`;
}

function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const end = isHighSurrogate(text.charCodeAt(lengthMax - 1)) ? lengthMax - 1 : lengthMax;
  return `${text.slice(0, end)}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
