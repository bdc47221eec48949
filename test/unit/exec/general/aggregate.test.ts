// GROUP BY: keys, names, order, and aggregates over rows.
import { describe, expect, it } from 'vitest';
import { namespaceOf, rowsOf, run } from '../../../support/query.ts';

const namespace = namespaceOf({
  d: [
    [
      'r1',
      [
        ['k', 'b', 0],
        ['x', 1, 0],
      ],
    ],
    [
      'r2',
      [
        ['k', 'a', 0],
        ['x', 2, 0],
        ['y', 5, 0],
      ],
    ],
    [
      'r3',
      [
        ['k', 'b', 0],
        ['y', 7, 0],
      ],
    ],
    // Two points: the latest is the key.
    [
      'r4',
      [
        ['k', 'z', 0],
        ['k', 'a', 10],
        ['x', 4, 0],
      ],
    ],
  ],
});

describe('GROUP BY', () => {
  it('gives a row for each tuple in ascending order', () => {
    expect(run('SELECT k, count(*) AS n, sum(x) AS s FROM d GROUP BY k', namespace)).toEqual([
      ['_rowName', 'k', 'n', 's'],
      ['"[""a""]"', 'a', 2, 6],
      ['"[""b""]"', 'b', 2, 1],
    ]);
  });

  it('keeps that order among equal sort keys', () => {
    const sql = 'SELECT k FROM d GROUP BY k ORDER BY count(*) DESC';
    expect(run(sql, namespace)).toEqual([
      ['_rowName', 'k'],
      ['"[""a""]"', 'a'],
      ['"[""b""]"', 'b'],
    ]);
  });

  it('aggregates rows column by column', () => {
    expect(run('SELECT count({x, y}) AS c, sum({* EXCLUDING (k)}) AS * FROM d', namespace)).toEqual(
      [
        ['_rowName', 'c.x', 'c.y', 'x', 'y'],
        ['[]', 3, 2, 7, 12],
      ],
    );
  });

  it('groups by rows and embeddings', () => {
    const sql = 'SELECT count(*) AS n FROM d GROUP BY {x IS NULL AS m}, [k]';
    expect(run(sql, namespace, 'aos')).toEqual([
      { _rowName: '"[{""m"":0},[""a""]]"', n: 2 },
      { _rowName: '"[{""m"":0},[""b""]]"', n: 1 },
      { _rowName: '"[{""m"":1},[""b""]]"', n: 1 },
    ]);
  });

  it('shares an aggregate that is written twice', () => {
    const sql = 'SELECT count(*) + 1 AS a, count( * ) AS b FROM d HAVING_'.replace(' HAVING_', '');
    expect(run(sql, namespace, 'aos')).toEqual([{ _rowName: '[]', a: 5, b: 4 }]);
  });

  it('matches a key with and without its alias', () => {
    expect(run('SELECT t.x, x + 1 AS v FROM d AS t GROUP BY t.x', namespace, 'aos')).toEqual([
      { _rowName: '[null]', 't.x': null, v: null },
      { _rowName: '[1]', 't.x': 1, v: 2 },
      { _rowName: '[2]', 't.x': 2, v: 3 },
      { _rowName: '[4]', 't.x': 4, v: 5 },
    ]);
  });

  it('sorts by columns that only the finished row has', () => {
    const sql = 'SELECT k, {sum(x) AS s} AS * FROM d GROUP BY k ORDER BY s';
    expect(run(sql, namespace)).toEqual([
      ['_rowName', 'k', 's'],
      ['"[""b""]"', 'b', 1],
      ['"[""a""]"', 'a', 6],
    ]);
  });

  it.each([
    ['SELECT count(*) AS n FROM d WHERE false', [{ _rowName: '[]', n: 0 }]],
    ['SELECT sum(x) AS s FROM d WHERE false', []],
    ['SELECT count(*) AS n FROM d WHERE false GROUP BY 1', []],
  ])('over no rows: %s', (sql, expected) => {
    expect(run(sql, namespace, 'aos')).toEqual(expected);
  });

  it('tells keys of different kinds apart', () => {
    const own = namespaceOf({
      d: rowsOf({
        a: { k: 1 },
        b: { k: '1' },
        c: { k: { ts: 1 } },
        d: { k: { path: ['1'] } },
        e: { k: { blob: ['1'] } },
        f: { k: null },
        g: { k: 1 },
      }),
    });
    const rows = run('SELECT count(*) AS n FROM d GROUP BY k', own) as unknown[][];
    expect(rows.slice(1).map(([, count]) => count)).toEqual([1, 2, 1, 1, 1, 1]);
  });
});
