import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equalNodes } from '../../../src/sql/equal.ts';
import { parseExpression, parseQuery, parseSelectList } from '../../../src/sql/parser/parser.ts';
import { printSql, SqlPrinter } from '../../../src/sql/printer.ts';
import { arbitraryExpression, arbitraryQuery } from './arbitrary-tree.ts';

describe('expressions', () => {
  test.each([
    ['((a))+( b )', 'a + b'],
    ['(a+b)*c', '(a + b) * c'],
    ['a-(b-c)', 'a - (b - c)'],
    ['- - a', '-(-a)'],
    ['-a*b', '-a * b'],
    ['(-a)*b', '(-a) * b'],
    ['a*-b', 'a * (-b)'],
    ['not x in (1)', '(NOT x) IN (1)'],
    ['not (x in (1))', 'NOT (x IN (1))'],
    ['x in (1) = 1', '(x IN (1)) = 1'],
    ['(a between 1 and 2) = 3', '(a BETWEEN 1 AND 2) = 3'],
    ['a and (b and c) and (d or e)', 'a AND (b AND c) AND (d OR e)'],
    ['a<>b', 'a != b'],
    ['timestamp -inf', 'TIMESTAMP (-INF)'],
    ['"a" . "b"'.replaceAll(' ', ''), 'a.b'],
    ['"from"."x y".z', '"from"."x y".z'],
    ['"count"("a""b")', 'count("a""b")'],
    ["interval '1 day'", "INTERVAL '1 day'"],
    ['$"a b" + $1', '$"a b" + $1'],
    ['true + 1e19 + 9007199254740993', '1 + 1e+19 + 9007199254740993'],
    ['case x when 1 then 2 else 3 end', 'CASE x WHEN 1 THEN 2 ELSE 3 END'],
    ['cast(x as Path)', 'CAST(x AS path)'],
    ['x is not null', 'x IS NOT NULL'],
    ['(x+1) is null', '(x + 1) IS NULL'],
    ['x not in (keys of {a})', 'x NOT IN (KEYS OF {a})'],
    ['count( * )', 'count(*)'],
  ])('%s is printed as %s', (text, printed) => {
    expect(printSql(parseExpression(text))).toBe(printed);
  });
});

describe('items', () => {
  test.each([
    ['x: 1, 2', '1 AS x, 2'],
    ['a+b', 'a + b AS "a+b"'],
    ['a + b', 'a + b'],
    ['a + b AS "a + b"', 'a + b'],
    ['x AS x, t.x', 'x, t.x'],
    ['t.x AS x', 't.x AS x'],
    ['{a: 1} AS *', '{1 AS a} AS * AS "{a: 1}"'.replace(' AS "{a: 1}"', '')],
    ['y*: x*, * excluding (a, b.*)', 'x* AS y*, * EXCLUDING (a, b.*)'],
    [
      'column expr structured (where a order by b desc offset 1 limit 2)',
      'COLUMN EXPR STRUCTURED (WHERE a ORDER BY b DESC OFFSET 1 LIMIT 2)',
    ],
  ])('%s is printed as %s', (text, printed) => {
    expect(
      parseSelectList(text)
        .map((item) => printSql(item))
        .join(', '),
    ).toBe(printed);
  });
});

test('a query is printed in one line with its clauses', () => {
  const text =
    'SELECT DISTINCT ON (a) x NAMED n FROM t AS u LEFT JOIN (v JOIN w) ON 1 WHEN p WHERE q ' +
    'GROUP BY g HAVING h ORDER BY a, b DESC LIMIT 1 OFFSET 2';
  expect(printSql(parseQuery(text.toLowerCase().replaceAll(' ', '\n')))).toBe(text);
});

test('a dialect overrides what differs', () => {
  class Backticks extends SqlPrinter {
    protected override identifier(element: string): string {
      return `\`${element}\``;
    }
  }
  expect(new Backticks().print(parseExpression('a.b + f(c)'))).toBe('`a`.`b` + `f`(`c`)');
});

describe('what is printed', () => {
  test('reads back as the same expression', () => {
    fc.assert(
      fc.property(arbitraryExpression, (tree) => {
        const printed = printSql(tree);
        const back = parseExpression(printed);
        expect(equalNodes(back, tree), printed).toBe(true);
        expect(printSql(back)).toBe(printed);
      }),
      { numRuns: 2_000 },
    );
  });

  test('reads back as the same query', () => {
    fc.assert(
      fc.property(arbitraryQuery, (tree) => {
        const printed = printSql(tree);
        const back = parseQuery(printed);
        expect(equalNodes(back, tree), printed).toBe(true);
        expect(printSql(back)).toBe(printed);
      }),
      { numRuns: 400 },
    );
  });
});
