import { describe, expect, test } from 'vitest';
import { equalNodes } from '../../../../src/sql/equal.ts';
import { parseExpression, parseQuery } from '../../../../src/sql/parser/parser.ts';

/** Holds two texts to the same tree, whatever their parentheses. */
function expectSame(text: string, parenthesised: string): void {
  const same = equalNodes(parseExpression(text), parseExpression(parenthesised));
  expect(same, `${text} is ${parenthesised}`).toBe(true);
}

describe('precedence', () => {
  test.each([
    ['x + 1 IS NOT NULL', 'x + (1 IS NOT NULL)'],
    ['-x IS NULL', '-(x IS NULL)'],
    ['~x IS NULL', '~(x IS NULL)'],
    ['NOT x IS NULL', 'NOT (x IS NULL)'],
    ['TIMESTAMP x IS NULL', 'TIMESTAMP (x IS NULL)'],
    ['TIMESTAMP x @ y', '(TIMESTAMP x) @ y'],
    ['TIMESTAMP -Inf', 'TIMESTAMP (-Inf)'],
    ['~-x * 2', '(~(-x)) * 2'],
    ['-a * b', '-(a * b)'],
    ['-a + b', '(-a) + b'],
    ['- -a * b', '-(-(a * b))'],
    ['a - -b * c', 'a - (-(b * c))'],
    ['2 * -x * 3', '(2 * (-x)) * 3'],
    ['2 * - + x', '2 * (-(+x))'],
    ['2 + 3 & 4', '(2 + 3) & 4'],
    ['1 | 2 + 3 ^ 4', '((1 | 2) + 3) ^ 4'],
    ['10 - 2 - 3', '(10 - 2) - 3'],
    ['8 / 4 * 2 % 3 @ t', '(((8 / 4) * 2) % 3) @ t'],
    ['1 + 2 * 3', '1 + (2 * 3)'],
    ['1 < 2 < 3', '(1 < 2) < 3'],
    ['1 + 2 = 3', '(1 + 2) = 3'],
    ['NOT x IN (1)', '(NOT x) IN (1)'],
    ['NOT x LIKE y', '(NOT x) LIKE y'],
    ['NOT a = b', 'NOT (a = b)'],
    ['NOT NOT a = b', 'NOT (NOT (a = b))'],
    ['NOT a BETWEEN 1 AND 2', 'NOT (a BETWEEN 1 AND 2)'],
    ['NOT a AND b', '(NOT a) AND b'],
    ["x LIKE 'a' + '%'", "x LIKE ('a' + '%')"],
    ['x LIKE a = b', 'x LIKE (a = b)'],
    ['x LIKE a LIKE b', '(x LIKE a) LIKE b'],
    ['a = b BETWEEN 0 AND 1', '(a = b) BETWEEN 0 AND 1'],
    ['x BETWEEN a = b AND c < d', 'x BETWEEN (a = b) AND (c < d)'],
    ['x BETWEEN 0 AND 1 AND y', '(x BETWEEN 0 AND 1) AND y'],
    ['x BETWEEN 0 AND y BETWEEN 1 AND 2', 'x BETWEEN 0 AND (y BETWEEN 1 AND 2)'],
    ['x BETWEEN y BETWEEN 1 AND 2 AND 3', 'x BETWEEN (y BETWEEN 1 AND 2) AND 3'],
    ['x BETWEEN 0 AND 1 IN (1)', '(x BETWEEN 0 AND 1) IN (1)'],
    ['x IN (1) = 1', '(x IN (1)) = 1'],
    ['x IN (1) + 2 * 3', '(x IN (1)) + (2 * 3)'],
    ['x IN (1) * 2 + 3', '((x IN (1)) * 2) + 3'],
    ['x IN (1) IS NULL', '(x IN (1)) IS NULL'],
    ['x IN (1) BETWEEN 0 AND 1', '(x IN (1)) BETWEEN 0 AND 1'],
    ['x IN (1) NOT IN (2)', '(x IN (1)) NOT IN (2)'],
    ['a = b IN (c)', '(a = b) IN (c)'],
    ['a AND x IN (1) = 1', 'a AND ((x IN (1)) = 1)'],
    ['a OR b AND c', 'a OR (b AND c)'],
    ['a AND b OR c AND d', '(a AND b) OR (c AND d)'],
    ['a OR b OR c', '(a OR b) OR c'],
    ['a AND b AND c', '(a AND b) AND c'],
    ['x[a][b] IS NULL', '((x[a])[b]) IS NULL'],
    ['x IS NULL IS NOT TRUE', '(x IS NULL) IS NOT TRUE'],
    ['-1[a]', '-(1[a])'],
  ])('%s is %s', expectSame);

  test.each([
    ['a AND (b AND c)', 'a AND b AND c'],
    ['10 - (2 - 3)', '10 - 2 - 3'],
    ['NOT (x IN (1))', 'NOT x IN (1)'],
    ['(x + 1) IS NULL', 'x + 1 IS NULL'],
  ])('%s is not %s', (left, right) => {
    expect(equalNodes(parseExpression(left), parseExpression(right))).toBe(false);
  });

  test.each(['1 + NOT x', 'x = NOT y', '~NOT x', 'x LIKE NOT y', 'x BETWEEN NOT a AND b'])(
    '%s is an error',
    (text) => {
      expect(() => parseExpression(text)).toThrow('put parentheses around NOT');
    },
  );
});

describe('literals', () => {
  test.each([
    ['null', null],
    ['TRUE', 1],
    ['False', 0],
    ['nan', Number.NaN],
    ['INF', Number.POSITIVE_INFINITY],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['18446744073709551615', 18_446_744_073_709_551_615n],
    ["'it''s'", "it's"],
  ])('%s', (text, value) => {
    expect(parseExpression(text)).toMatchObject({ kind: 'literal', value });
  });

  test('intervals keep their text and take either quote', () => {
    const node = { kind: 'interval-literal', text: '1 day' };
    expect(parseExpression("INTERVAL '1 day'")).toMatchObject(node);
    expect(parseExpression('interval "1 day"')).toMatchObject(node);
    expect(() => parseExpression('INTERVAL x')).toThrow('the text of an interval in quotes');
  });

  test('words that only begin like keywords are columns', () => {
    for (const word of ['trueish', 'nullable', 'information', 'asdf', 'AND1', 'infinity_']) {
      expect(parseExpression(word)).toMatchObject({ kind: 'column', path: [word] });
    }
  });
});

describe('names', () => {
  test('contextual words are columns where an operand is expected', () => {
    expectSame('count % 5', '"count" % 5');
    expectSame('value + in + select', '"value" + "in" + "select"');
    expectSame('x IN (keys, values)', 'x IN ("keys", "values")');
    expectSame('from.where', '"from"."where"');
  });

  test.each(['all', 'ANY', 'some', 'null.x', 'Case.x', '1 + interval'])(
    'the reserved word in %s is an error',
    (text) => {
      expect(() => parseExpression(text)).toThrow(/expected/);
    },
  );

  test('quoted reserved words are columns', () => {
    expect(parseExpression('"null"."all"')).toMatchObject({
      kind: 'column',
      path: ['null', 'all'],
    });
  });

  test('keywords are split from digits after an operand only', () => {
    expectSame('x AND1', 'x AND 1');
    expectSame('x IN(1)OR2', '(x IN (1)) OR 2');
    expectSame('2IN (4)', '2 IN (4)');
    expectSame('CASE when1 WHEN 1THEN2ELSE3END', 'CASE "when1" WHEN 1 THEN 2 ELSE 3 END');
  });
});

describe('calls', () => {
  test('names have one or two elements', () => {
    expect(parseExpression('f()')).toMatchObject({ table: undefined, name: 'f', args: [] });
    expect(parseExpression('t."my f" (1, x)')).toMatchObject({ table: 't', name: 'my f' });
    expect(() => parseExpression('a.b.c(1)')).toThrow('ambiguous function name "a.b.c"');
  });

  test('a star is an argument of counting functions alone', () => {
    expect(parseExpression('count(*)')).toMatchObject({ star: true, args: [] });
    expect(parseExpression('vertical_count( * )')).toMatchObject({ star: true });
    expect(() => parseExpression('sum(*)')).toThrow('write {*} for all columns');
    expect(parseExpression('COUNT(*)')).toMatchObject({ star: true });
  });

  test('members of members are read in brackets', () => {
    expect(parseExpression('f(x)[a.b]')).toMatchObject({ kind: 'extract', operand: { name: 'f' } });
    expect(() => parseExpression('f(x)[a].b')).toThrow('write […][b] or [a.b]');
  });

  test.each(['f(1,)', 'f(,)', 'f(', 'f(SELECT 1)', '()'])('%s is an error', (text) => {
    expect(() => parseExpression(text)).toThrow(/:1:\d+: expected/);
  });
});

describe('sets', () => {
  test('the four forms of IN', () => {
    expect(parseExpression('x IN (1, 2)')).toMatchObject({ kind: 'in-list', negated: false });
    expect(parseExpression('x NOT IN (SELECT 1)')).toMatchObject({
      kind: 'in-query',
      negated: true,
    });
    expect(parseExpression('x IN (KEYS OF r)')).toMatchObject({ kind: 'in-keys' });
    expect(parseExpression('x NOT IN (values of {a: 1})')).toMatchObject({ kind: 'in-values' });
  });

  test('an empty set is an error', () => {
    expect(() => parseExpression('x IN ()')).toThrow('x IN ():1:7: expected an expression');
  });
});

describe('compound expressions', () => {
  test('CASE has a simple and a searched form', () => {
    expect(parseExpression('CASE x WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END')).toMatchObject({
      kind: 'case',
      operand: { path: ['x'] },
      branches: [{ when: { value: 1 }, result: { value: 2 } }, { when: { value: 3 } }],
      otherwise: { value: 5 },
    });
    expect(parseExpression('CASE WHEN x THEN 1 END')).toMatchObject({
      operand: undefined,
      otherwise: undefined,
    });
    expect(() => parseExpression('CASE WHEN 1 END')).toThrow('THEN');
  });

  test('CAST types are known by any case', () => {
    expect(parseExpression('CAST(x AS TimeStamp)')).toMatchObject({ type: 'timestamp' });
    expect(() => parseExpression('CAST(1 AS money)')).toThrow(
      "CAST(1 AS money):1:11: Unknown type 'money' for CAST (expected string, integer",
    );
  });

  test('IS tests are known by any case', () => {
    expect(parseExpression('x is not Interval')).toMatchObject({ test: 'interval', negated: true });
    expect(() => parseExpression('x IS blob')).toThrow('expected NOT, NULL, TRUE, FALSE, STRING');
  });

  test('<> is !=', () => {
    expectSame('a <> b', 'a != b');
  });

  test('embeddings and rows nest', () => {
    expect(parseExpression('[[1, 2], []]')).toMatchObject({
      kind: 'embedding',
      elements: [{ elements: [{ value: 1 }, { value: 2 }] }, { elements: [] }],
    });
    expect(parseExpression('{}')).toMatchObject({ kind: 'row', items: [] });
    expect(parseExpression('{{a} AS b}')).toMatchObject({ items: [{ name: ['b'] }] });
    expect(() => parseExpression('{a,}')).toThrow('{a,}:1:4: expected an expression');
    expect(() => parseExpression('[1,]')).toThrow('[1,]:1:4: expected an expression');
  });
});

describe('positions', () => {
  test('a node spans its text without enclosing parentheses', () => {
    const text = ' ((a + b)) * f( c ) ';
    const spans: string[] = [];
    const node = parseExpression(text);
    if (node.kind !== 'binary') throw new Error(node.kind);
    for (const { start, end } of [node, node.left, node.right]) spans.push(text.slice(start, end));
    expect(spans).toEqual(['((a + b)) * f( c )', 'a + b', 'f( c )']);
  });

  test('offsets in sub-selects refer to the whole text', () => {
    const text = 'SELECT 1 FROM (SELECT x FROM t)';
    const query = parseQuery(text);
    if (query.kind !== 'query' || query.from?.kind !== 'subquery') throw new Error('no sub-select');
    const inner = query.from.query;
    expect(inner.text).toBe(text);
    expect(text.slice(inner.start, inner.end)).toBe('SELECT x FROM t');
  });

  test('trees are plain data', () => {
    const query = parseQuery('SELECT {a: 1, *} AS b, x* FROM t JOIN u ON 1 WHERE x IN (2) LIMIT 1');
    expect(structuredClone(query)).toEqual(query);
    expect(Object.isFrozen(query)).toBe(true);
  });
});
