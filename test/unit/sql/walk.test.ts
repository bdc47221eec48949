import { describe, expect, test } from 'vitest';
import type { SqlNode } from '../../../src/sql/node.ts';
import { parseExpression, parseQuery } from '../../../src/sql/parser/parser.ts';
import {
  findCalls,
  findColumns,
  findParameters,
  hasWildcard,
  nodesBottomUp,
  walk,
} from '../../../src/sql/walk.ts';

test('walk visits in the order of the text and leaves out what is refused', () => {
  const text = 'SELECT f(a) AS b FROM t WHERE g(c) IN (SELECT d) ORDER BY e';
  const visited: string[] = [];
  walk(parseQuery(text), (node: SqlNode) => {
    if (node.kind === 'column') visited.push(node.path.join('.'));
    return node.kind !== 'query' || node.start === 0;
  });
  expect(visited).toEqual(['a', 'c', 'e']);
});

test('bottom-up order puts children before their parents', () => {
  const kinds = nodesBottomUp(parseExpression('-(a + 1)')).map((node) => node.kind);
  expect(kinds).toEqual(['literal', 'column', 'binary', 'unary']);
});

describe('columns', () => {
  test.each([
    ['a + b.c * f(d, {e: g})', ['a', 'b.c', 'd', 'g']],
    ['r[a]', ['r']],
    ['f({x})[y][z]', ['x']],
    ['a IN (SELECT b FROM c)', ['a']],
    ['{COLUMN EXPR (WHERE a), b}', ['b']],
    ['CASE a WHEN b THEN c ELSE d END', ['a', 'b', 'c', 'd']],
    ['x IN (KEYS OF y) AND z BETWEEN 1 AND w', ['x', 'y', 'z', 'w']],
  ])('of %s', (text, expected) => {
    expect(findColumns(parseExpression(text)).map((node) => node.path.join('.'))).toEqual(expected);
  });

  test('wildcards read the input but for those of members and sub-selects', () => {
    expect(hasWildcard(parseExpression('sum({*})'))).toBe(true);
    expect(hasWildcard(parseExpression('{COLUMN EXPR ()}'))).toBe(true);
    expect(hasWildcard(parseExpression('a[{*}]'))).toBe(false);
    expect(hasWildcard(parseExpression('a IN (SELECT * FROM t)'))).toBe(false);
  });
});

test('calls are found outside sub-selects, parameters everywhere', () => {
  const tree = parseExpression('f(g($a)) IN (SELECT h($b) FROM row_dataset($c))');
  expect(findCalls(tree).map((node) => node.name)).toEqual(['f', 'g']);
  expect(findParameters(tree).map((node) => node.name)).toEqual(['a', 'b', 'c']);
});
