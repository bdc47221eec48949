// Select lists: points, wildcards, renaming, COLUMN EXPR, sub-selects and ORDER BY.
import { describe, expect, it } from 'vitest';
import { namespaceOf, rowsOf, run, write } from '../../../support/query.ts';

const namespace = namespaceOf({
  d: rowsOf({ r1: { 'a.b': 1, 'a.bc': 2, 'a.c.d': 3, x1: 4, x2: 5 }, r2: { x1: 6 } }),
  h: [
    [
      'r',
      [
        ['v', 1, 10],
        ['v', 2, 20],
        ['v', 0, 20],
        ['w', 9, 5],
      ],
    ],
  ],
});

function columns(items: string): unknown {
  return run(`SELECT ${items} FROM d WHERE rowName() = 'r1'`, namespace, 'aos');
}

describe('wildcards', () => {
  it.each([
    ['a.b*', { 'a.b': 1, 'a.bc': 2 }],
    ['a.*', { 'a.b': 1, 'a.bc': 2, 'a.c.d': 3 }],
    ['a.c*', { 'a.c.d': 3 }],
    ['x* AS y*', { y1: 4, y2: 5 }],
    ['x* AS p.y*', { 'p.y1': 4, 'p.y2': 5 }],
    ['x* AS *', { 1: 4, 2: 5 }],
    ['a.* AS *', { b: 1, bc: 2, 'c.d': 3 }],
    ['a.* AS q*', { 'q.b': 1, 'q.bc': 2, 'q.c.d': 3 }],
    ['a* AS *', { b: 1, bc: 2, 'c.d': 3 }],
    ['* EXCLUDING (x*, a.c.d)', { 'a.b': 1, 'a.bc': 2 }],
    ['* EXCLUDING (a.b*) AS p*', { 'p.a.c.d': 3, 'p.x1': 4, 'p.x2': 5 }],
    ['d.x1, d.* EXCLUDING (d.x1, a.*)', { 'd.x1': 4, x2: 5 }],
    ['q*: x*', { q1: 4, q2: 5 }],
    ['{a.*, x1 AS z} AS *', { 'a.b': 1, 'a.bc': 2, 'a.c.d': 3, z: 4 }],
    ['{a.*}[{a.c*}] AS *', { 'a.c.d': 3 }],
  ])('%s', (items, expected) => {
    expect(columns(items)).toEqual([{ _rowName: 'r1', ...expected }]);
  });
});

describe('cells with several points', () => {
  it.each([
    [
      'v',
      [
        ['v', 0, 20],
        ['v', 1, 10],
        ['v', 2, 20],
      ],
    ],
    [
      'v AS u',
      [
        ['u', 0, 20],
        ['u', 1, 10],
        ['u', 2, 20],
      ],
    ],
    [
      '{v} AS *',
      [
        ['v', 0, 20],
        ['v', 1, 10],
        ['v', 2, 20],
      ],
    ],
    [
      'CASE WHEN 1 THEN v END AS u',
      [
        ['u', 0, 20],
        ['u', 1, 10],
        ['u', 2, 20],
      ],
    ],
    [
      "COLUMN EXPR (WHERE columnName() = 'v')",
      [
        ['v', 0, 20],
        ['v', 1, 10],
        ['v', 2, 20],
      ],
    ],
    // The latest, and the smallest among equally late ones.
    ['v + 0 AS u', [['u', 0, 20]]],
    ['-v AS u', [['u', 0, 20]]],
    [
      '[v, w] AS u',
      [
        ['u.0', 0, 20],
        ['u.1', 9, 20],
      ],
    ],
    ['v IN (2) AS u', [['u', 0, 20]]],
    ['width({*}) AS u', [['u', 2, 20]]],
    ['history(v) AS u', [['u', 3, 20]]],
    ['{v} = {0 AS v} AS u', [['u', 1, 20]]],
    ['{*}[v] + 1 AS u', [['u', 1, 20]]],
  ])('%s', (items, expected) => {
    const rows = run(`SELECT ${items} FROM h`, namespace, 'full') as {
      columns: [string, unknown, string][];
    }[];
    const seconds = (text: string) => (text === '-Inf' ? -1 : Date.parse(text) / 1000);
    expect(rows[0]?.columns.map(([name, atom, ts]) => [name, atom, seconds(ts)])).toEqual(expected);
  });
});

describe('COLUMN EXPR', () => {
  it.each([
    ['COLUMN EXPR (AS columnPathElement(-1) WHERE columnPathLength() = 2)', { b: 1, bc: 2 }],
    ['COLUMN EXPR (WHERE value() > 3)', { x1: 4, x2: 5 }],
    ["COLUMN EXPR (SELECT rowCount() WHERE columnName() LIKE 'x%')", { x1: 2, x2: 1 }],
    ['COLUMN EXPR (ORDER BY columnName() DESC LIMIT 2)', { x1: 4, x2: 5 }],
    ['COLUMN EXPR (OFFSET 3)', { x1: 4, x2: 5 }],
    ['COLUMN EXPR (ORDER BY rowCount() DESC LIMIT 1)', { x1: 4 }],
    ['COLUMN EXPR STRUCTURED (SELECT width(value()))', { a: 3, x1: 1, x2: 1 }],
    ['COLUMN EXPR STRUCTURED (SELECT rowCount() LIMIT 2)', { a: 1, x1: 2 }],
    ["{COLUMN EXPR (AS 'n.' + columnName() LIMIT 1)} AS *", { '"n.a.b"': 1 }],
    ['{a.*}[{COLUMN EXPR (AS columnPathElement(1))}] AS *', { b: 1, bc: 2, c: 3 }],
  ])('%s', (items, expected) => {
    expect(columns(items)).toEqual([{ _rowName: 'r1', ...expected }]);
  });
});

describe('sub-selects', () => {
  it('keep rows and embeddings whole', () => {
    const sql =
      'SELECT width(v) AS n, v."1" AS e, r.s AS m FROM (SELECT [7, 8] AS v, {1 AS s} AS r)';
    expect(run(sql, namespace, 'aos')).toEqual([{ _rowName: 'result', n: 2, e: 8, m: 1 }]);
  });

  it('in IN are cells of any column, without nulls', () => {
    const sql = 'SELECT x1 IN (SELECT 6 AS a, null AS b) AS hit FROM d';
    expect(run(sql, namespace, 'aos')).toEqual([
      { _rowName: 'r1', hit: 0 },
      { _rowName: 'r2', hit: 1 },
    ]);
  });

  it('in IN name rows by their path', () => {
    const sql = "SELECT 1 AS one FROM d WHERE rowPath() IN (SELECT 'r2')";
    expect(run(sql, namespace, 'aos')).toEqual([{ _rowName: 'r2', one: 1 }]);
  });
});

describe('ORDER BY', () => {
  const numbers = namespaceOf({
    n: rowsOf(
      Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`r${i}`, { v: i % 7, i }])),
    ),
  });

  it('with LIMIT gives the first rows of the whole order', () => {
    const all = run('SELECT v, i FROM n ORDER BY v DESC', numbers) as unknown[];
    const some = run('SELECT v, i FROM n ORDER BY v DESC LIMIT 9 OFFSET 30', numbers) as unknown[];
    expect(some.slice(1)).toEqual(all.slice(31, 40));
  });

  it('reads output columns first, however they are made', () => {
    const first = (sql: string) => (run(sql, numbers, 'aos') as { i: number }[])[0]?.i;
    expect(first('SELECT i, 0 - i AS k FROM n ORDER BY k LIMIT 1')).toBe(399);
    expect(first('SELECT i, {0 - i AS k} AS r FROM n ORDER BY r.k LIMIT 1')).toBe(399);
    expect(first('SELECT i, {0 - i AS k} AS * FROM n ORDER BY k LIMIT 1')).toBe(399);
    expect(first('SELECT {0 - i AS i} AS *, i AS j FROM n ORDER BY i LIMIT 1')).toBe(-399);
    expect(first('SELECT i FROM n ORDER BY v DESC, i LIMIT 1')).toBe(6);
  });

  it('keeps the first row of each run for DISTINCT ON', () => {
    const sql = 'SELECT DISTINCT ON (v) v, i FROM n ORDER BY v, i DESC LIMIT 2 OFFSET 1';
    expect(run(sql, numbers)).toEqual([
      ['_rowName', 'v', 'i'],
      ['r393', 1, 393],
      ['r394', 2, 394],
    ]);
  });
});

describe('evaluation', () => {
  it('catches errors while running, not while binding', () => {
    expect(write("SELECT try(refuse(1), 'caught')", namespace, 'atom')).toBe('"caught"');
    expect(write('SELECT try(refuse(1))', namespace, 'atom')).toBe(
      '"Executing builtin function refuse: refused"',
    );
    expect(() => write('SELECT try(nofn(1), 2)')).toThrow(/Unable to find function/);
  });

  it('does not hide the error of one operand behind another', () => {
    expect(() => run('SELECT x1 FROM d WHERE x1 = 0 AND 5 % (x1 - 4) = 1', namespace)).toThrow(
      /zero/,
    );
    expect(run('SELECT x1 FROM d WHERE false AND 5 % (x1 - 4) = 1', namespace)).toEqual([
      ['_rowName', 'x1'],
    ]);
  });

  it('maps scalar functions over rows and embeddings', () => {
    const sql = 'SELECT double([1, [2][0]]) AS v, double({x: 3, y: {z: null}}) AS r';
    expect(run(sql.replace('[1, [2][0]]', '[1, 2]'), namespace, 'aos')).toEqual([
      { _rowName: 'result', 'v.0': 2, 'v.1': 4, 'r.x': 6, 'r.y.z': null },
    ]);
    expect(() => run('SELECT upper([1])')).toThrow(
      "Executing builtin function upper: Cannot convert value of type 'embedding' to 'atomic value'",
    );
  });
});
