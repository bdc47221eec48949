import { describe, expect, test } from 'vitest';
import { parseQuery, parseTableExpression } from '../../../../src/sql/parser/parser.ts';
import { printSql } from '../../../../src/sql/printer.ts';

describe('tables', () => {
  test('a dataset has a name of one element', () => {
    expect(parseTableExpression('"a.b" AS "c d"')).toMatchObject({
      kind: 'dataset-table',
      name: 'a.b',
      alias: 'c d',
    });
    expect(() => parseTableExpression('a.b')).toThrow('a single identifier');
    expect(() => parseTableExpression('a AS b.c')).toThrow('a single identifier');
    expect(parseTableExpression('a b')).toMatchObject({ name: 'a', alias: 'b' });
  });

  test('sub-selects have an optional alias', () => {
    expect(parseTableExpression('(SELECT 1) AS x')).toMatchObject({ kind: 'subquery', alias: 'x' });
    expect(parseTableExpression('(SELECT 1)')).toMatchObject({ alias: undefined });
    expect(parseTableExpression('(SELECT -1)')).toMatchObject({ kind: 'subquery' });
  });

  test('row_dataset and atom_dataset take an expression', () => {
    expect(parseTableExpression('row_dataset({a: 1})')).toMatchObject({
      kind: 'row-dataset-table',
      expression: { kind: 'row' },
    });
    expect(parseTableExpression('atom_dataset($x) AS y')).toMatchObject({
      kind: 'atom-dataset-table',
      expression: { kind: 'parameter', name: 'x' },
      alias: 'y',
    });
  });

  test('table functions take tables, then options', () => {
    expect(parseTableExpression('merge(a, b JOIN c, (SELECT 1), transpose(d)) AS m')).toMatchObject(
      {
        kind: 'function-table',
        name: 'merge',
        tables: [{ name: 'a' }, { kind: 'join' }, { kind: 'subquery' }, { name: 'transpose' }],
        options: undefined,
        alias: 'm',
      },
    );
    expect(parseTableExpression('sample(t, {rows: 5})')).toMatchObject({
      tables: [{ name: 't' }],
      options: { kind: 'row' },
    });
    expect(parseTableExpression('f()')).toMatchObject({ tables: [], options: undefined });
    expect(() => parseTableExpression('sample({rows: 5}, t)')).toThrow("find a ')'");
  });

  test('a sub-select as an argument needs parentheses of its own', () => {
    expect(() => parseQuery('SELECT * FROM transpose(SELECT 1)')).toThrow(
      "Expected to find a ')' parsing a table expression; a sub-select needs parentheses",
    );
  });

  test('contextual words name datasets', () => {
    expect(parseTableExpression('select')).toMatchObject({ name: 'select' });
    expect(parseTableExpression('(select)')).toMatchObject({ name: 'select' });
    expect(parseTableExpression('left AS join')).toMatchObject({ name: 'left', alias: 'join' });
  });
});

describe('joins', () => {
  test.each([
    ['JOIN', 'inner'],
    ['INNER JOIN', 'inner'],
    ['LEFT JOIN', 'left'],
    ['LEFT OUTER JOIN', 'left'],
    ['RIGHT JOIN', 'right'],
    ['right outer join', 'right'],
    ['FULL JOIN', 'full'],
    ['FULL OUTER JOIN', 'full'],
    ['OUTER JOIN', 'full'],
  ])('a %s b', (words, joinKind) => {
    expect(parseTableExpression(`a ${words} b ON a.x = b.x`)).toMatchObject({
      kind: 'join',
      joinKind,
      on: { kind: 'binary' },
    });
  });

  test('ON is optional', () => {
    expect(parseTableExpression('a JOIN b')).toMatchObject({ on: undefined });
  });

  test('chains nest to the left and parentheses group', () => {
    const chain = 'a JOIN b ON x LEFT JOIN c ON y JOIN d';
    expect(parseTableExpression(chain)).toMatchObject({
      right: { name: 'd' },
      left: { joinKind: 'left', right: { name: 'c' }, left: { right: { name: 'b' } } },
    });
    expect(printSql(parseTableExpression('(a JOIN b ON x) JOIN c'))).toBe('a JOIN b ON x JOIN c');
    expect(parseTableExpression('a JOIN (b JOIN c)')).toMatchObject({
      left: { name: 'a' },
      right: { kind: 'join' },
    });
  });

  test.each(['a LEFT b', '(a JOIN b) AS c', '()', '(a'])('%s is an error', (text) => {
    expect(() => parseTableExpression(text)).toThrow(/xpected/);
  });
});
