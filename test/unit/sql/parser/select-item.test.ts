import { describe, expect, test } from 'vitest';
import { outputName, type SelectItem, type Star } from '../../../../src/sql/node.ts';
import { parseExpression, parseQuery, parseSelectList } from '../../../../src/sql/parser/parser.ts';

function itemOf(text: string): SelectItem {
  const items = parseSelectList(text);
  expect(items).toHaveLength(1);
  return items[0] as SelectItem;
}

function nameOf(text: string): readonly string[] | '*' {
  const item = itemOf(text);
  if (item.kind !== 'named-expression') throw new Error(item.kind);
  return outputName(item);
}

function star(text: string): Star {
  const dotted = text.endsWith('.*');
  const name = text.slice(0, dotted ? -2 : -1);
  return { path: name === '' ? [] : name.split('.'), dotted };
}

describe('names of columns', () => {
  test.each([
    ['1', ['1']],
    ['1 + 10', ['1 + 10']],
    ['  1 +  10   ', ['1 +  10']],
    ['1.5', ['1.5']],
    ["'abc'", ["'abc'"]],
    ['1 /* in */ + 2 /* after */ -- end', ['1 /* in */ + 2']],
    ['/* before */ 1', ['1']],
    ['1 +\n2', ['1 +\n2']],
    ['t.x', ['t', 'x']],
    ['( t.x )', ['t', 'x']],
    ['(x + 1)', ['(x + 1)']],
    ['"my col" + 1', ['"my col" + 1']],
    ["a.f['b']", ["a.f['b']"]],
    ['CASE WHEN 1 THEN 2 END', ['CASE WHEN 1 THEN 2 END']],
    ['1 AS x', ['x']],
    ['1 AS a.b', ['a', 'b']],
    ['1 AS "a.b"', ['a.b']],
    ['1AS x', ['x']],
    ['1 AS from', ['from']],
    ['a.b: 1', ['a', 'b']],
    ['case: 1', ['case']],
    ['{x: 1} AS *', '*'],
  ])('%j is %j', (text, name) => {
    expect(nameOf(text)).toEqual(name);
  });

  test('a name on the left leaves no room for one on the right', () => {
    expect(() => parseSelectList('x: 1 AS y')).toThrow('x: 1 AS y:1:6: expected');
  });

  test.each(['1 AS 2x', "1 AS 'x'", '1 AS', '1 AS x*', '1 AS x."0".1'])(
    '%s is an error',
    (text) => {
      expect(() => parseSelectList(text)).toThrow(/expected/);
    },
  );
});

describe('wildcards', () => {
  test.each(['*', 'x*', 'x.*', 'a.b*', 'a.b.*'])('%s', (text) => {
    expect(itemOf(text)).toMatchObject({ kind: 'wildcard', star: star(text), excluding: [] });
  });

  test('columns and wildcards are excluded', () => {
    expect(itemOf('x* EXCLUDING (a.b, c*, d.*, *) AS y*')).toMatchObject({
      star: star('x*'),
      excluding: [
        { kind: 'column', path: ['a', 'b'] },
        { kind: 'star', star: star('c*') },
        { kind: 'star', star: star('d.*') },
        { kind: 'star', star: star('*') },
      ],
      replacement: star('y*'),
    });
    expect(itemOf('* EXCLUDING ()')).toMatchObject({ excluding: [] });
    expect(() => parseSelectList('* EXCLUDING a')).toThrow("expected '('");
    expect(() => parseSelectList('* EXCLUDING (1)')).toThrow('a name or a wildcard');
  });

  test('the colon renames like AS the other way round', () => {
    expect(itemOf('new*: old*')).toMatchObject({ star: star('old*'), replacement: star('new*') });
    expect(itemOf('*: old.*')).toMatchObject({ star: star('old.*'), replacement: star('*') });
  });

  test.each([
    ...['x* FROM t', 'x * FROM t', 'x* WHEN 1', 'x* WHERE 1', 'x* GROUP BY y', 'x* HAVING 1'],
    ...['x* ORDER BY y', 'x* LIMIT 1', 'x* OFFSET 1', 'x* NAMED y', 'x*, y', 'x*'],
  ])('SELECT %s begins with a wildcard', (text) => {
    expect(parseQuery(`SELECT ${text}`)).toMatchObject({
      select: text === 'x*, y' ? [{ kind: 'wildcard' }, {}] : [{ kind: 'wildcard' }],
    });
  });

  test.each(['x * y', 'x * order', 'x * group', 'x * "from"', 'x * (y)', 'x*-1', 'x*a.b'])(
    'SELECT %s is a product',
    (text) => {
      expect(itemOf(text)).toMatchObject({ expression: { kind: 'binary', operator: '*' } });
    },
  );

  test('wildcards stand in rows', () => {
    expect(parseExpression('{x*, y.*}')).toMatchObject({
      items: [{ star: star('x*') }, { star: star('y.*') }],
    });
  });
});

describe('COLUMN EXPR', () => {
  test('all parts may be left out', () => {
    expect(itemOf('COLUMN EXPR ()')).toMatchObject({
      kind: 'column-expression',
      structured: false,
      select: undefined,
      as: undefined,
      where: undefined,
      orderBy: [],
      offset: undefined,
      limit: undefined,
    });
  });

  test('parts stand in order, OFFSET before LIMIT', () => {
    const parts =
      'SELECT value() AS columnName() WHERE 1 ORDER BY rowCount() DESC, a OFFSET 2 LIMIT 3';
    expect(itemOf(`column expr structured (${parts})`)).toMatchObject({
      structured: true,
      select: { name: 'value' },
      as: { name: 'columnName' },
      where: { value: 1 },
      orderBy: [{ descending: true }, { descending: false }],
      offset: 2,
      limit: 3,
    });
    expect(() => parseSelectList('COLUMN EXPR (LIMIT 1 OFFSET 2)')).toThrow("expected ')'");
  });

  test('column alone is a column', () => {
    expect(nameOf('column')).toEqual(['column']);
    expect(nameOf('column + expr')).toEqual(['column + expr']);
  });
});

describe('commas', () => {
  test('one may end the text', () => {
    expect(parseSelectList('a, b,')).toHaveLength(2);
    expect(parseQuery('SELECT a, b, -- that is all')).toMatchObject({ select: [{}, {}] });
  });

  test('none may stand elsewhere without an item', () => {
    expect(() => parseSelectList('a,,')).toThrow('a,,:1:3: expected an expression');
    expect(() => parseQuery('SELECT a, FROM t')).toThrow(/expected/);
    expect(() => parseSelectList('')).toThrow('expected an expression, got the end of the text');
  });
});
