import { expect, test } from 'vitest';
import type { SqlNode } from '../../../src/sql/node.ts';
import { parseExpression, parseQuery } from '../../../src/sql/parser/parser.ts';
import { findParameters, nodesBottomUp, walk } from '../../../src/sql/walk.ts';

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

test('parameters are found everywhere', () => {
  const tree = parseExpression('f(g($a)) IN (SELECT h($b) FROM row_dataset($c))');
  expect(findParameters(tree).map((node) => node.name)).toEqual(['a', 'b', 'c']);
});
