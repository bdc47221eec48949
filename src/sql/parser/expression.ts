// Expressions by precedence climbing: prefix operators, then operators while they bind tightly enough.
import {
  type BinaryOperator,
  COMPARISON_OPERATORS,
  type ComparisonOperator,
  type Expression,
  IS_TESTS,
  type IsTest,
  type UnaryOperator,
} from '../node.ts';
import { binaryLevel, LEVEL } from '../precedence.ts';
import { parseCastType } from './cast.ts';
import type { Cursor } from './cursor.ts';
import { startsItem, startsQuery } from './lookahead.ts';
import { parsePrimary } from './primary.ts';

/** An operator that follows an operand; the words of `[NOT] IN`, `LIKE`, `BETWEEN`, `IS` too. */
interface Operator {
  readonly level: number;
  readonly kind:
    | 'binary'
    | 'and'
    | 'or'
    | 'in'
    | 'like'
    | 'ilike'
    | 'between'
    | 'is'
    | 'extract'
    | 'cast';
  /** of `binary` */
  readonly operator?: BinaryOperator;
}

const BINARY_SYMBOLS: Readonly<Record<string, BinaryOperator>> = {
  ...{ '=': '=', '!=': '!=', '<>': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
  ...{ '+': '+', '-': '-', '&': '&', '|': '|', '^': '^', '*': '*', '/': '/', '%': '%', '@': '@' },
  '||': '||',
};

const SYMBOL_OPERATORS = new Map<string, Operator>(
  Object.entries(BINARY_SYMBOLS).map(([symbol, operator]) => [
    symbol,
    { level: binaryLevel(operator), kind: 'binary', operator },
  ]),
)
  .set('[', { level: LEVEL.postfix, kind: 'extract' })
  .set('::', { level: LEVEL.postfix, kind: 'cast' });

const WORD_OPERATORS = new Map<string, Operator>([
  ['OR', { level: LEVEL.or, kind: 'or' }],
  ['AND', { level: LEVEL.and, kind: 'and' }],
  ['IN', { level: LEVEL.member, kind: 'in' }],
  ['LIKE', { level: LEVEL.member, kind: 'like' }],
  ['ILIKE', { level: LEVEL.member, kind: 'ilike' }],
  ['BETWEEN', { level: LEVEL.comparison, kind: 'between' }],
  ['IS', { level: LEVEL.postfix, kind: 'is' }],
]);

const NEGATABLE: ReadonlySet<string> = new Set(['IN', 'LIKE', 'ILIKE', 'BETWEEN']);

/**
 * Reads an expression whose operators all bind at least as tightly as `level`.
 *
 * An operand on the left may hold looser operators than the one that follows it only if it ended
 * in IN (…): `x IN (1) = 1` is `(x IN (1)) = 1`. So the loop never looks back at what it has.
 */
export function parseExpression(cursor: Cursor, level: number = LEVEL.or): Expression {
  cursor.enter();
  const start = cursor.token.start;
  let left = parsePrefix(cursor, level);
  for (;;) {
    const operator = operatorAt(cursor);
    if (operator === undefined || operator.level < level) break;
    left = parseRest(cursor, operator, left, start);
  }
  cursor.miss('an operator');
  cursor.leave();
  return left;
}

function operatorAt(cursor: Cursor): Operator | undefined {
  const { token } = cursor;
  if (token.kind === 'symbol') return SYMBOL_OPERATORS.get(token.symbol);
  if (token.word === '') return undefined;
  // After an operand every name is a keyword, and digits may follow it without a space.
  if (cursor.splitKeyword()) return operatorAt(cursor);
  if (token.word !== 'NOT') return WORD_OPERATORS.get(token.word);
  const { word } = cursor.peek(1);
  return NEGATABLE.has(word) ? WORD_OPERATORS.get(word) : undefined;
}

/** Reads a prefix operator with its operand, or an operand without one. */
function parsePrefix(cursor: Cursor, level: number): Expression {
  const { symbol, word } = cursor.token;
  if (symbol === '-' || symbol === '+') {
    // As the operand of a tighter operator a sign covers one operand, else a whole product.
    return parseUnary(cursor, symbol, level > LEVEL.product ? LEVEL.prefix : LEVEL.product);
  }
  if (symbol === '~') return parseUnary(cursor, symbol, LEVEL.prefix);
  if (word === 'TIMESTAMP') {
    // With a string it is a literal, so that nothing binds tighter: TIMESTAMP '2024-01-05' IS NULL.
    const isLiteral = cursor.peek(1).kind === 'string';
    return parseUnary(cursor, 'timestamp', isLiteral ? LEVEL.primary : LEVEL.prefix);
  }
  if (word === 'NOT' && level <= LEVEL.negation) return parseUnary(cursor, 'not', LEVEL.negation);
  return parsePrimary(cursor);
}

function parseUnary(cursor: Cursor, operator: UnaryOperator, level: number): Expression {
  const { start } = cursor.advance();
  const operand = parseExpression(cursor, level);
  return Object.freeze({ kind: 'unary', operator, operand, start, end: cursor.end });
}

/** Reads an operator and what stands to its right. */
function parseRest(
  cursor: Cursor,
  operator: Operator,
  left: Expression,
  start: number,
): Expression {
  const negated = cursor.token.word === 'NOT';
  if (negated) cursor.advance();
  if (operator.kind !== 'and' && operator.kind !== 'or') cursor.advance();
  switch (operator.kind) {
    case 'binary': {
      const symbol = operator.operator as BinaryOperator;
      const quantifier = quantifierAt(cursor, symbol);
      if (quantifier !== undefined) {
        return parseQuantified(cursor, symbol as ComparisonOperator, quantifier, left, start);
      }
      const right = parseExpression(cursor, operator.level + 1);
      return Object.freeze({
        kind: 'binary',
        operator: symbol,
        left,
        right,
        start,
        end: cursor.end,
      });
    }
    case 'and':
    case 'or': {
      const operands = parseOperands(cursor, operator.kind, operator.level, left);
      return Object.freeze({ kind: operator.kind, operands, start, end: cursor.end });
    }
    case 'in':
      return parseIn(cursor, left, negated, start);
    case 'like':
    case 'ilike': {
      const pattern = parseExpression(cursor, LEVEL.comparison);
      const escapeWith = cursor.acceptKeyword('ESCAPE')
        ? parseExpression(cursor, LEVEL.comparison)
        : undefined;
      return Object.freeze({
        kind: 'like',
        operand: left,
        pattern,
        negated,
        ...(operator.kind === 'ilike' ? { anyCase: true } : {}),
        ...(escapeWith === undefined ? {} : { escape: escapeWith }),
        start,
        end: cursor.end,
      });
    }
    case 'between': {
      const symmetric = startsSymmetric(cursor);
      if (symmetric) cursor.advance();
      const low = parseExpression(cursor, LEVEL.comparison);
      cursor.expectKeyword('AND');
      const high = parseExpression(cursor, LEVEL.comparison);
      return Object.freeze({
        kind: 'between',
        operand: left,
        low,
        high,
        negated,
        ...(symmetric ? { symmetric } : {}),
        start,
        end: cursor.end,
      });
    }
    case 'is': {
      const negatedTest = cursor.acceptKeyword('NOT');
      if (cursor.token.word === 'DISTINCT' && cursor.peek(1).word === 'FROM') {
        cursor.advance();
        cursor.advance();
        const right = parseExpression(cursor, LEVEL.sum);
        const sides = { left, right, negated: negatedTest };
        return Object.freeze({ kind: 'distinct-from', ...sides, start, end: cursor.end });
      }
      const test = parseTest(cursor);
      const end = cursor.end;
      return Object.freeze({ kind: 'is', operand: left, test, negated: negatedTest, start, end });
    }
    case 'extract': {
      const index = parseExpression(cursor);
      cursor.expectSymbol(']');
      return Object.freeze({ kind: 'extract', operand: left, index, start, end: cursor.end });
    }
    case 'cast': {
      const type = parseCastType(cursor);
      return Object.freeze({ kind: 'cast', operand: left, ...type, start, end: cursor.end });
    }
  }
}

/** SYMMETRIC is no column here when an operand follows it. */
function startsSymmetric(cursor: Cursor): boolean {
  return (
    cursor.token.word === 'SYMMETRIC' && cursor.peek(1).word !== 'AND' && startsItem(cursor.peek(1))
  );
}

/** ANY, SOME or ALL with a sub-select behind a comparison. */
function quantifierAt(cursor: Cursor, operator: BinaryOperator): 'any' | 'all' | undefined {
  if (!COMPARISON_OPERATORS.some((candidate) => candidate === operator)) return undefined;
  const { word } = cursor.token;
  if (cursor.peek(1).symbol !== '(') return undefined;
  if (word === 'ALL') return 'all';
  return word === 'ANY' || word === 'SOME' ? 'any' : undefined;
}

function parseQuantified(
  cursor: Cursor,
  operator: ComparisonOperator,
  quantifier: 'any' | 'all',
  operand: Expression,
  start: number,
): Expression {
  cursor.advance();
  cursor.expectSymbol('(');
  if (!startsQuery(cursor)) cursor.fail('SELECT');
  const query = cursor.grammar.query(cursor);
  cursor.expectSymbol(')');
  const end = cursor.end;
  return Object.freeze({ kind: 'quantified', operator, quantifier, operand, query, start, end });
}

/** Reads a chain of AND or OR into one node; `(a AND b) AND c` is the chain `a AND b AND c`. */
function parseOperands(
  cursor: Cursor,
  kind: 'and' | 'or',
  level: number,
  left: Expression,
): readonly Expression[] {
  const word = kind === 'and' ? 'AND' : 'OR';
  const operands = left.kind === kind ? [...left.operands] : [left];
  while (cursor.token.word === word || (operands.length > 1 && cursor.splitKeyword(word))) {
    cursor.advance();
    operands.push(parseExpression(cursor, level + 1));
  }
  return Object.freeze(operands);
}

function parseTest(cursor: Cursor): IsTest {
  const word = cursor.token.word.toLowerCase();
  const test = IS_TESTS.find((candidate) => candidate === word);
  if (test === undefined) cursor.fail(...IS_TESTS.map((candidate) => candidate.toUpperCase()));
  cursor.advance();
  return test;
}

function parseIn(cursor: Cursor, operand: Expression, negated: boolean, start: number): Expression {
  const { grammar } = cursor;
  cursor.expectSymbol('(');
  if (startsQuery(cursor)) {
    const query = grammar.query(cursor);
    cursor.expectSymbol(')');
    return Object.freeze({ kind: 'in-query', operand, query, negated, start, end: cursor.end });
  }
  const { word } = cursor.token;
  if ((word === 'KEYS' || word === 'VALUES') && cursor.peek(1).word === 'OF') {
    cursor.advance();
    cursor.advance();
    const row = parseExpression(cursor);
    cursor.expectSymbol(')');
    const kind = word === 'KEYS' ? 'in-keys' : 'in-values';
    return Object.freeze({ kind, operand, row, negated, start, end: cursor.end });
  }
  const choices: Expression[] = [];
  do {
    choices.push(parseExpression(cursor));
  } while (cursor.acceptSymbol(','));
  cursor.expectSymbol(')');
  Object.freeze(choices);
  return Object.freeze({ kind: 'in-list', operand, choices, negated, start, end: cursor.end });
}
