import { describe, expect, test } from 'vitest';
import { SqlSyntaxError } from '../../../../src/sql/error.ts';
import {
  parseExpression,
  parseGroupBy,
  parseOrderBy,
  parseQuery,
} from '../../../../src/sql/parser/parser.ts';

function errorOf(text: string): SqlSyntaxError {
  try {
    parseQuery(text);
  } catch (error) {
    expect(error).toBeInstanceOf(SqlSyntaxError);
    return error as SqlSyntaxError;
  }
  throw new Error(`no error in ${text}`);
}

describe('clauses', () => {
  test('all of them, in their order', () => {
    const query = parseQuery(
      'SELECT DISTINCT ON (a, b) x, y NAMED n FROM t WHEN w WHERE v GROUP BY g, h HAVING i ' +
        'ORDER BY a, b DESC, c ASC LIMIT 5 OFFSET 6',
    );
    expect(query).toMatchObject({
      distinctOn: [{ path: ['a'] }, { path: ['b'] }],
      select: [{ surface: 'x' }, { surface: 'y' }],
      named: { path: ['n'] },
      from: { kind: 'dataset-table', name: 't' },
      when: { path: ['w'] },
      where: { path: ['v'] },
      groupBy: [{ path: ['g'] }, { path: ['h'] }],
      having: { path: ['i'] },
      orderBy: [{ descending: false }, { descending: true }, { descending: false }],
      limit: { value: 5 },
      offset: { value: 6 },
    });
  });

  test('what is left out is undefined or empty', () => {
    expect(parseQuery('select 1')).toMatchObject({
      distinctOn: [],
      named: undefined,
      from: undefined,
      when: undefined,
      where: undefined,
      groupBy: [],
      having: undefined,
      orderBy: [],
      limit: undefined,
      offset: undefined,
    });
  });

  test('digits may touch keywords', () => {
    expect(
      parseQuery('SELECT1 FROM t WHERE1 GROUP BY1 ORDER BY2DESC LIMIT3 OFFSET4'),
    ).toMatchObject({
      where: { value: 1 },
      groupBy: [{ value: 1 }],
      orderBy: [{ descending: true }],
      limit: { value: 3 },
      offset: { value: 4 },
    });
  });

  test.each([
    'SELECT x FROM t LIMIT -1',
    'SELECT x FROM t LIMIT x',
    'SELECT x FROM t LIMIT 1.5',
    'SELECT x FROM t LIMIT 1e3',
    'SELECT x FROM t WHERE 1 FROM u',
    'SELECT x FROM t ORDER x',
    'SELECT x FROM a.b',
    'SELECT DISTINCT ON x x FROM t',
    'SELECT DISTINCT ON () x FROM t',
    'SELECT',
    'SELECT 1 WHERE',
    'CREATE TABLE t',
    '',
  ])('%j is an error', (text) => {
    expect(errorOf(text)).toMatchObject({ code: 'SQL_SYNTAX', httpCode: 400 });
  });

  test('a column may be called distinct', () => {
    for (const text of [
      'distinct',
      'distinct, x',
      'distinct FROM t',
      'distinct + 1',
      'distinct*',
    ]) {
      expect(parseQuery(`SELECT ${text}`)).toMatchObject({ distinctOn: [] });
    }
  });
});

describe('other entry points', () => {
  test('read the whole text', () => {
    expect(parseGroupBy('a, b + 1').groupBy).toHaveLength(2);
    expect(parseOrderBy('a, b DESC')).toMatchObject([{ descending: false }, { descending: true }]);
    expect(() => parseGroupBy('a HAVING b')).toThrow('a HAVING b:1:3: expected');
    expect(() => parseExpression('a b')).toThrow('a b:1:3: expected an operator or the end');
  });
});

describe('errors', () => {
  test.each([
    ['SELECT 1 +\n  * 2', 2, 3, '*'],
    ['SELECT (1', 1, 10, ''],
    ['SELECT 1 AS 2', 1, 13, '2'],
    ["SELECT 'abc", 1, 9, "'abc"],
    ['SELECT 1,\n "abc', 2, 3, '"abc'],
  ])('%j is wrong at %i:%i', (text, line, column, near) => {
    const error = errorOf(text);
    expect(error).toMatchObject({ line, column, near, details: { line, column, near } });
    expect(error.message.startsWith(`${text}:${line}:${column}: `)).toBe(true);
  });

  test('the message names what was expected and what stood there', () => {
    expect(errorOf('SELECT (1 + 2').message).toBe(
      "SELECT (1 + 2:1:14: expected an operator or ')', got the end of the text",
    );
    expect(errorOf('SELECT x FROM t ORDER x').message).toContain(
      'SELECT x FROM t ORDER x:1:23: expected BY',
    );
  });

  test('a long text is cut', () => {
    const text = `SELECT ${'x + '.repeat(1000)}`;
    expect(errorOf(text).message).toMatch(/^SELECT x .{140,}…:1:4008: expected an expression/);
  });

  test.each([
    ['SELCT x', 'did you mean SELECT?'],
    ['sele', 'did you mean SELECT?'],
    ['SELECT x FORM t', 'did you mean FROM?'],
    ['SELECT x FROM t WEHRE x', 'did you mean WHERE?'],
    ['SELECT x FROM t GRUOP BY x', 'did you mean GROUP BY?'],
    ['SELECT x FROM t ODER BY x', 'did you mean ORDER BY?'],
    ['SELECT x FROM t LEFT JION u', 'did you mean JOIN?'],
    ['SELECT x FROM t GROUP BY y WHERE z', 'WHERE must come before GROUP BY'],
    ['SELECT a == b', 'equality is written ='],
    ['SELECT a !< b', 'write >= instead'],
    ['SELECT x.0', 'an element that begins with a digit needs double quotes'],
    ["SELECT * FROM 'x'", 'names take double quotes'],
    ["SELECT 1 AS 'x'", 'names take double quotes'],
    ['SELECT * FROM a.b', 'put double quotes around the whole'],
    ['SELECT all', 'write "all" in double quotes'],
  ])('%j is told: %s', (text, hint) => {
    expect(errorOf(text).message).toContain(hint);
  });
});
