// Texts of unusual size: deep nesting is refused by name, long chains and lists are not.
import { describe, expect, test } from 'vitest';
import { equalNodes, structuralKey } from '../../../../src/sql/equal.ts';
import { NESTING_DEPTH_MAX } from '../../../../src/sql/parser/cursor.ts';
import { parseExpression, parseTableExpression } from '../../../../src/sql/parser/parser.ts';
import { printSql } from '../../../../src/sql/printer.ts';
import { nodesBottomUp } from '../../../../src/sql/walk.ts';

const MESSAGE = `nested more than ${NESTING_DEPTH_MAX} levels deep`;

/** What repeats before and after the innermost operand, and how many levels each adds. */
const NESTINGS: readonly (readonly [before: string, after: string, levelCount: number])[] = [
  ['(', ')', 1],
  ['[', ']', 1],
  ['{a: ', '}', 1],
  ['f(', ')', 1],
  ['x[', ']', 1],
  ['- ', '', 1],
  ['~', '', 1],
  ['NOT ', '', 1],
  ['TIMESTAMP ', '', 1],
  ['CASE WHEN 1 THEN ', ' END', 1],
  ['CAST(', ' AS string)', 1],
  ['x IN (', ')', 1],
  ['x BETWEEN 0 AND ', '', 1],
  ['{COLUMN EXPR (SELECT ', ')}', 1],
  ['1 + (', ')', 2],
  ['1 OR 1 AND 1 = 1 + 1 * (', ')', 6],
  ['x IN (SELECT 1 FROM row_dataset(', '))', 3],
];

describe.each(NESTINGS)('%s … %s', (before, after, levelCount) => {
  const nest = (count: number) => `${before.repeat(count)}1${after.repeat(count)}`;

  test('is refused when ten thousand deep', () => {
    expect(() => parseExpression(nest(10_000))).toThrow(MESSAGE);
  });

  test('is parsed and printed up to the limit', () => {
    const count = Math.floor((NESTING_DEPTH_MAX - 1) / levelCount);
    const tree = parseExpression(nest(count));
    expect(equalNodes(parseExpression(nest(count)), tree)).toBe(true);
    expect(printSql(tree).length).toBeGreaterThan(0);
  });
});

test('tables nest to the limit only', () => {
  const nest = (count: number) => `${'('.repeat(count)}t${')'.repeat(count)}`;
  expect(parseTableExpression(nest(NESTING_DEPTH_MAX - 1))).toMatchObject({ name: 't' });
  expect(() => parseTableExpression(nest(10_000))).toThrow(MESSAGE);
  const unclosed = '(SELECT 1 FROM '.repeat(10_000);
  expect(() => parseTableExpression(unclosed)).toThrow(MESSAGE);
});

describe('chains of a hundred thousand', () => {
  test.each(['+', '*', '=', 'AND', 'OR', 'LIKE', '+ 1 IS NULL AND', 'BETWEEN 0 AND 1 OR'])(
    'x %s x …',
    (operator) => {
      const tree = parseExpression(`x${` ${operator} x`.repeat(100_000)}`);
      expect(nodesBottomUp(tree).filter(({ kind }) => kind === 'column')).toHaveLength(100_001);
      expect(structuralKey(tree).length).toBeGreaterThan(1_000_000);
      expect(equalNodes(parseExpression(printSql(tree)), tree)).toBe(true);
    },
  );

  test.each(['[a]', ' IS NULL', ' IN (1)'])('x%s…', (operator) => {
    const tree = parseExpression(`x${operator.repeat(100_000)}`);
    expect(printSql(tree).length).toBeGreaterThanOrEqual(300_000);
  });

  test('joins', () => {
    const tree = parseTableExpression(`t${' JOIN t ON 1'.repeat(100_000)}`);
    expect(printSql(tree)).toHaveLength(1 + 12 * 100_000);
  });
});

test('a list of a hundred thousand is parsed', () => {
  const choices = Array.from({ length: 100_000 }, (_, index) => `'value ${index}'`);
  const tree = parseExpression(`x IN (${choices.join(', ')})`);
  expect(tree).toMatchObject({ kind: 'in-list', choices: { length: 100_000 } });
});
