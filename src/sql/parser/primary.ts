// Operands: literals, parameters, names, calls, parentheses, rows, embeddings, CASE and CAST.
import { RESERVED_WORDS } from '../keyword.ts';
import type { Token } from '../lexer.ts';
import {
  CAST_TYPES,
  type CaseBranch,
  type CastType,
  type Expression,
  type LiteralValue,
} from '../node.ts';
import type { Cursor } from './cursor.ts';
import { startsQuery } from './lookahead.ts';

const WORD_LITERALS = new Map<string, LiteralValue>([
  ['NULL', null],
  ['TRUE', 1],
  ['FALSE', 0],
  ['NAN', Number.NaN],
  ['INF', Number.POSITIVE_INFINITY],
  ['INFINITY', Number.POSITIVE_INFINITY],
]);

/** The functions that count rows rather than values when their argument is `*`. */
const STAR_FUNCTIONS: ReadonlySet<string> = new Set(['count', 'vertical_count']);

export function parsePrimary(cursor: Cursor): Expression {
  const { token } = cursor;
  switch (token.kind) {
    case 'number':
    case 'string':
      cursor.advance();
      return literal(token, token.value);
    case 'parameter':
      cursor.advance();
      return Object.freeze({
        kind: 'parameter',
        name: token.value as string,
        start: token.start,
        end: token.end,
      });
    case 'name':
      return parseWord(cursor, token);
    case 'symbol':
      if (token.symbol === '(') return parseParentheses(cursor);
      if (token.symbol === '{') return cursor.grammar.row(cursor);
      if (token.symbol === '[') return parseEmbedding(cursor);
      break;
    case 'end':
      break;
  }
  return cursor.fail('an expression');
}

function literal(token: Token, value: LiteralValue): Expression {
  return Object.freeze({ kind: 'literal', value, start: token.start, end: token.end });
}

function parseWord(cursor: Cursor, token: Token): Expression {
  const { word } = token;
  if (word !== '' && RESERVED_WORDS.has(word)) return parseReserved(cursor, token);
  if (token.path.length > 1 && isReservedHead(cursor, token)) failReserved(cursor, token);
  cursor.advance();
  if (cursor.token.symbol === '(') return parseCall(cursor, token);
  return Object.freeze({ kind: 'column', path: token.path, start: token.start, end: token.end });
}

function parseReserved(cursor: Cursor, token: Token): Expression {
  const { word } = token;
  if (WORD_LITERALS.has(word)) {
    cursor.advance();
    return literal(token, WORD_LITERALS.get(word) as LiteralValue);
  }
  if (word === 'CASE') return parseCase(cursor);
  if (word === 'CAST') return parseCast(cursor);
  if (word === 'INTERVAL') return parseInterval(cursor);
  if (word === 'NOT') return cursor.fail('an expression');
  return failReserved(cursor, token);
}

/** In `null.x` the word is not a whole name, but still not a column. */
function isReservedHead(cursor: Cursor, token: Token): boolean {
  const head = token.path[0] as string;
  return cursor.source.text[token.start] !== '"' && RESERVED_WORDS.has(head.toUpperCase());
}

function failReserved(cursor: Cursor, token: Token): never {
  const word = (token.path[0] as string).toUpperCase();
  return cursor.failWith({
    expected: ['an expression'],
    hint: `${word} is reserved: write "${token.path[0]}" in double quotes for a column`,
  });
}

function parseInterval(cursor: Cursor): Expression {
  const { start } = cursor.advance();
  const { kind, path, value, end } = cursor.token;
  const quoted = kind === 'name' && path.length === 1 && cursor.token.word === '';
  if (kind !== 'string' && !quoted) cursor.fail('the text of an interval in quotes');
  cursor.advance();
  const text = kind === 'string' ? (value as string) : (path[0] as string);
  return Object.freeze({ kind: 'interval-literal', text, start, end });
}

function parseParentheses(cursor: Cursor): Expression {
  cursor.advance();
  if (startsQuery(cursor)) cursor.fail('an expression');
  const inner = cursor.grammar.expression(cursor);
  cursor.expectSymbol(')');
  return inner;
}

function parseEmbedding(cursor: Cursor): Expression {
  const { start } = cursor.advance();
  const elements: Expression[] = [];
  if (!cursor.acceptSymbol(']')) {
    do {
      elements.push(cursor.grammar.expression(cursor));
    } while (cursor.acceptSymbol(','));
    cursor.expectSymbol(']');
  }
  Object.freeze(elements);
  return Object.freeze({ kind: 'embedding', elements, start, end: cursor.end });
}

function parseCall(cursor: Cursor, token: Token): Expression {
  const { path, start } = token;
  if (path.length > 2) {
    cursor.failWith({
      message: `ambiguous function name "${path.join('.')}": expected function or table.function`,
      expected: [],
    });
  }
  const table = path.length === 2 ? path[0] : undefined;
  const name = path[path.length - 1] as string;
  cursor.advance();
  const star = cursor.token.symbol === '*' && cursor.peek(1).symbol === ')';
  const args: Expression[] = [];
  if (star) {
    if (!STAR_FUNCTIONS.has(name)) {
      const hint = 'only count and vertical_count take *; write {*} for all columns as a row';
      cursor.failWith({ expected: ['an expression', "')'"], hint });
    }
    cursor.advance();
    cursor.advance();
  } else if (!cursor.acceptSymbol(')')) {
    do {
      if (startsQuery(cursor)) cursor.fail('an expression');
      args.push(cursor.grammar.expression(cursor));
    } while (cursor.acceptSymbol(','));
    cursor.expectSymbol(')');
  }
  Object.freeze(args);
  return Object.freeze({ kind: 'call', table, name, args, star, start, end: cursor.end });
}

function parseCase(cursor: Cursor): Expression {
  const { grammar } = cursor;
  const { start } = cursor.advance();
  const { word } = cursor.token;
  const searched = word === 'WHEN' || word === 'ELSE' || word === 'END';
  const operand = searched ? undefined : grammar.expression(cursor);
  const branches: CaseBranch[] = [];
  while (cursor.acceptKeyword('WHEN')) {
    const when = grammar.expression(cursor);
    cursor.expectKeyword('THEN');
    branches.push(Object.freeze({ when, result: grammar.expression(cursor) }));
  }
  const otherwise = cursor.acceptKeyword('ELSE') ? grammar.expression(cursor) : undefined;
  cursor.expectKeyword('END');
  Object.freeze(branches);
  return Object.freeze({ kind: 'case', operand, branches, otherwise, start, end: cursor.end });
}

function parseCast(cursor: Cursor): Expression {
  const { start } = cursor.advance();
  cursor.expectSymbol('(');
  const operand = cursor.grammar.expression(cursor);
  cursor.expectKeyword('AS');
  const type = parseCastType(cursor);
  cursor.expectSymbol(')');
  return Object.freeze({ kind: 'cast', operand, type, start, end: cursor.end });
}

function parseCastType(cursor: Cursor): CastType {
  const { kind, path } = cursor.token;
  if (kind !== 'name') cursor.fail(...CAST_TYPES);
  const written = path.join('.');
  const type = CAST_TYPES.find((candidate) => candidate === written.toLowerCase());
  if (type === undefined) {
    cursor.failWith({
      message: `Unknown type '${written}' for CAST (expected ${CAST_TYPES.join(', ')})`,
      expected: CAST_TYPES,
    });
  }
  cursor.advance();
  return type;
}
