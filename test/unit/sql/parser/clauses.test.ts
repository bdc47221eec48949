import { describe, expect, test } from 'vitest';
import { equalNodes } from '../../../../src/sql/equal.ts';
import { parseClauses, type QueryClauses } from '../../../../src/sql/parser/clauses.ts';
import { parseQuery } from '../../../../src/sql/parser/parser.ts';

function expectSame(clauses: QueryClauses, text: string): void {
  expect(equalNodes(parseClauses(clauses), parseQuery(text)), text).toBe(true);
}

describe('queries in clauses', () => {
  test('all of them', () => {
    expectSame(
      {
        select: 'DISTINCT ON (a) x, y AS z',
        named: 'n',
        from: 't AS u JOIN v',
        when: 'w',
        where: 'p',
        groupBy: 'g, h',
        having: 'i > 1',
        orderBy: 'a DESC, b',
        offset: 2,
        limit: 3,
      },
      'SELECT DISTINCT ON (a) x, y AS z NAMED n FROM t AS u JOIN v WHEN w WHERE p GROUP BY g, h ' +
        'HAVING i > 1 ORDER BY a DESC, b LIMIT 3 OFFSET 2',
    );
  });

  test('the defaults are those of a query without the clauses', () => {
    expectSame({ from: 't' }, 'SELECT * FROM t');
    expectSame({ from: 't', having: 'true', offset: 0, limit: -1 }, 'SELECT * FROM t');
    expectSame({ select: '1', from: ' ', groupBy: '', orderBy: '' }, 'SELECT 1');
    expectSame({ from: 't', limit: 0 }, 'SELECT * FROM t LIMIT 0');
  });

  test('a comment ends with its clause', () => {
    expectSame({ select: 'a -- b', from: 't /* c' }, 'SELECT a FROM t');
  });

  test('names come from the text of their clause', () => {
    const query = parseClauses({ select: 'a  +  b', from: 't' });
    expect(query.select).toMatchObject([{ surface: 'a  +  b' }]);
    expect(query.text).toBe('SELECT a  +  b\nFROM t');
  });
});

describe('errors', () => {
  test('name the clause and count from its start', () => {
    expect(() => parseClauses({ from: 't', where: 'x =' })).toThrow(
      'where: x =:1:4: expected an expression, got the end of the text',
    );
    expect(() => parseClauses({ select: "1,\n 'a" })).toThrow(
      "select: 1,\n 'a:2:3: unterminated string",
    );
  });

  test('no clause runs into the next', () => {
    expect(() => parseClauses({ from: 't', where: 'x GROUP BY y' })).toThrow(
      'where: x GROUP BY y:1:3',
    );
    expect(() => parseClauses({ select: '(1', from: 't' })).toThrow('got the end of the text');
    expect(() => parseClauses({ select: '1 FROM t' })).toThrow('select: 1 FROM t:1:3');
    expect(() => parseClauses({ from: 't', where: '' })).toThrow('where: :1:1: expected an expr');
  });

  test('counts are integers in range', () => {
    expect(() => parseClauses({ from: 't', limit: -2 })).toThrow('limit must be an integer');
    expect(() => parseClauses({ from: 't', offset: 0.5 })).toThrow('offset must be an integer');
  });
});
