import { expect, test } from 'vitest';
import { parseQuery } from '../../../../src/sql/parser/parser.ts';
import { readStatement } from '../../../../src/sql/parser/statement.ts';

test.each([
  ['SELECT 1', 'query'],
  ['explain select 1', 'explain'],
  ['-- a comment\n/* and another */ EXPLAIN (SELECT 1)', 'explain'],
  ['EXPLAIN /* here */ ANALYZE SELECT 1', 'explain'],
  ['EXPLAIN 1', 'query'],
  ['SHOW TABLES ;', 'show-tables'],
  ['SHOW TABLES FROM x', 'query'],
  ["SHOW FUNCTIONS LIKE 'it''s%'", 'show-functions'],
  ['show functions', 'show-functions'],
  ['DESC t', 'describe'],
  ['SUMMARIZE SELECT 1', 'summarize'],
  ['DESCRIBE', 'query'],
])('%j is a statement of the kind %s', (text, kind) => {
  expect(readStatement(text).kind).toBe(kind);
});

test('the pattern of SHOW FUNCTIONS is the value of its string', () => {
  expect(readStatement("SHOW FUNCTIONS LIKE 'it''s%'")).toEqual({
    kind: 'show-functions',
    pattern: "it's%",
  });
});

test('an error behind EXPLAIN is at its place in the whole text', () => {
  const statement = readStatement('EXPLAIN\nANALYZE SELECT a + )');
  expect(statement.kind).toBe('explain');
  const text = 'text' in statement ? statement.text : '';
  expect(() => parseQuery(text)).toThrow(expect.objectContaining({ line: 2, column: 20 }));
});
