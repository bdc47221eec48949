// Joins: kinds, conditions, names and the bound on pairs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namespaceOf, rowsOf, run } from '../../../support/query.ts';

const namespace = namespaceOf({
  l: rowsOf({ l1: { x: 1, y: 2 }, l2: { x: 2 }, l3: {} }),
  r: rowsOf({ r1: { x: 1, w: 10 }, r2: { x: 5, w: 20 }, r3: { w: 30 } }),
});

const TABLES = 'l AS a %KIND% JOIN r AS b';

function names(kind: string, on: string): unknown[] {
  const from = TABLES.replace('%KIND%', kind);
  const rows = run(`SELECT a.x FROM ${from} ON ${on}`, namespace) as unknown[][];
  return rows.slice(1).map(([name]) => name);
}

describe('a join', () => {
  it.each([
    ['INNER', ['[l1]-[r1]']],
    ['LEFT', ['[l1]-[r1]', '[l2]-[]', '[l3]-[]']],
    ['RIGHT', ['[l1]-[r1]', '[]-[r2]', '[]-[r3]']],
    ['FULL', ['[l1]-[r1]', '[l2]-[]', '[l3]-[]', '[]-[r2]', '[]-[r3]']],
  ])('%s keeps the rows of its kind', (kind, expected) => {
    expect(names(kind, 'a.x = b.x').sort()).toEqual([...expected].sort());
    // The same pairs by trying all of them, in the order of the left side.
    expect(names(kind, 'a.x + 0 <= b.x AND a.x >= b.x')).toEqual(expected);
  });

  it('by equality is in the order of the value, nulls first', () => {
    expect(names('FULL', 'a.x = b.x')).toEqual([
      '[l3]-[]',
      '[]-[r3]',
      '[l1]-[r1]',
      '[l2]-[]',
      '[]-[r2]',
    ]);
  });

  it('never matches null with null', () => {
    expect(names('INNER', 'a.y = b.z')).toEqual([]);
  });

  it('matches numbers of one value whatever they are written as', () => {
    const own = namespaceOf({
      a: rowsOf({ p: { k: 2 ** 53 }, q: { k: { num: 'NaN' } } }),
      b: [
        ['s', [['k', 9007199254740992n, 0]]],
        ['t', [['k', { num: 'NaN' }, 0]]],
      ],
    });
    const rows = run('SELECT 1 AS one FROM a JOIN b ON a.k = b.k', own) as unknown[][];
    expect(rows.map(([name]) => name)).toEqual(['_rowName', '[q]-[t]', '[p]-[s]']);
  });

  it('puts columns of a sub-select without alias beside those with one', () => {
    expect(run('SELECT * FROM (SELECT 1 AS k) JOIN r AS b ON k = b.x', namespace)).toEqual([
      ['_rowName', 'k', 'b.w', 'b.x'],
      ['[result]-[r1]', 1, 10, 1],
    ]);
  });

  it('names a missing chain by its tables', () => {
    const sql =
      'SELECT leftRowName() AS l, rightRowName() AS r, b.rowPath() AS p, a.rowHash() AS h FROM l AS a JOIN l AS b ON a.x = b.y FULL JOIN r AS c ON c.x = a.w ORDER BY c.w';
    expect(run(sql, namespace)).toEqual([
      ['_rowName', 'l', 'r', 'p', 'h'],
      ['[l2]-[l1]-[]', '[l2]-[l1]', '', 'l1', expect.any(Number)],
      ['[]-[]-[r1]', '', 'r1', '', null],
      ['[]-[]-[r2]', '', 'r2', '', null],
      ['[]-[]-[r3]', '', 'r3', '', null],
    ]);
  });

  it('refuses to try too many pairs', () => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`r${i}`, {}]));
    const own = namespaceOf({ d: rowsOf(many), e: rowsOf(many) });
    expect(() => run('SELECT count(*) FROM d JOIN e', own)).toThrow(/more than 100000000 pairs/);
  });

  it('is the same by keys and by trying all pairs', () => {
    const value = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 4 }), fc.constant('1'));
    const table = fc.array(value, { maxLength: 8 });
    const kinds = fc.constantFrom('INNER', 'LEFT', 'RIGHT', 'FULL');
    fc.assert(
      fc.property(table, table, kinds, (left, right, kind) => {
        const own = namespaceOf({
          l: left.map((x, i) => [`l${i}`, [['x', x, 0]]]),
          r: right.map((x, i) => [`r${i}`, [['x', x, 0]]]),
        });
        const from = (on: string) => `FROM l AS a ${kind} JOIN r AS b ON ${on}`;
        const inAnyOrder = (on: string) =>
          run(`SELECT a.x, b.x ${from(on)} ORDER BY a.x, b.x`, own);
        const inOwnOrder = run(`SELECT a.x, b.x ${from('a.x = b.x')}`, own) as unknown[][];
        expect(inAnyOrder('a.x = b.x')).toEqual(inAnyOrder('NOT (a.x != b.x)'));
        const sorted = (rows: unknown) => JSON.stringify((rows as unknown[][]).slice(1).sort());
        expect(sorted(inOwnOrder)).toBe(sorted(inAnyOrder('NOT (a.x != b.x)')));
      }),
      { numRuns: 200 },
    );
  });
});
