// What the rules make of a plan, read from EXPLAIN.
import { describe, expect, it } from 'vitest';
import { explain, namespaceOf, rowsOf, run } from '../../support/query.ts';

const namespace = namespaceOf({
  a: rowsOf({ r1: { x: 1, y: 2, z: 3 }, r2: { x: 4, y: 0 } }),
  b: rowsOf({ s1: { x: 1, w: 5 } }),
});

const PLANS: readonly [title: string, sql: string, plan: string[]][] = [
  [
    'scans read the columns that are used',
    'SELECT x + 1 AS v FROM a WHERE y > 0 ORDER BY z',
    ['project v: (x + 1)', '  sort z', '    filter (y > 0)', '      scan a [x, z, y]'],
  ],
  [
    'EXISTS is a semi join',
    'SELECT y FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND w > 3)',
    [
      'project y: y',
      '  semi join on x = key 0',
      '    scan a [y, x]',
      '    project key 0: x',
      '      filter (w > 3)',
      '        scan b [x, w]',
    ],
  ],
  [
    'a comparison with a scalar sub-select is a semi join with its groups',
    'SELECT y FROM a WHERE y < (SELECT sum(w) FROM b WHERE b.x = a.x)',
    [
      'project y: y',
      '  semi join on x = key 0 AND (row.y < sub-select.value)',
      '    scan a [y, x]',
      '    project key 0: key 0, value: aggregate 0',
      '      aggregate sum(w) by x',
      '        scan b [x, w]',
    ],
  ],
  [
    'elsewhere a sub-select is looked up by key',
    'SELECT (SELECT count(*) FROM b WHERE b.x = a.x) AS n FROM a',
    [
      'project n: subquery(x)',
      '  scan a [x]',
      'sub-select 0',
      '  project key 0: key 0, value: aggregate 0',
      '    aggregate count(*) by x',
      '      scan b [x]',
    ],
  ],
  ['wildcards read everything', 'SELECT * FROM a', ['project *', '  scan a [*]']],
  [
    'a sub-select computes what is read',
    'SELECT x FROM (SELECT x, y, z FROM a)',
    ['project x: x', '  project x: x', '    scan a [x]'],
  ],
  [
    'what may fail is computed all the same',
    'SELECT x FROM (SELECT x, 5 % y AS m FROM a)',
    ['project x: x', '  project x: x, m: (5 % y)', '    scan a [x, y]'],
  ],
  [
    'conditions on the name look rows up',
    "SELECT x FROM a WHERE rowName() = 'r1' AND y = 2",
    ['project x: x', '  filter (y = 2)', "    scan a [x, y] rows 'r1'"],
  ],
  [
    'lists of names do too',
    "SELECT x FROM a WHERE rowPath() IN ('r1', 'r2')",
    ['project x: x', '  scan a [x] rows "r1", "r2"'],
  ],
  [
    'equalities of a join are keys',
    'SELECT a.x FROM a JOIN b ON a.x = b.x AND a.y < b.w',
    [
      'project a.x: a.x',
      '  inner join on x = x AND (a.y < b.w)',
      '    scan a [x, y]',
      '    scan b [w, x]',
    ],
  ],
  [
    'conditions on one side sink below an inner join',
    'SELECT a.x FROM a JOIN b ON a.x = b.x WHERE b.w = 5 AND a.y = 2',
    [
      'project a.x: a.x',
      '  inner join on x = x',
      '    filter (y = 2)',
      '      scan a [x, y]',
      '    filter (w = 5)',
      '      scan b [x, w]',
    ],
  ],
  [
    'the kept side of an outer join is not filtered by ON',
    'SELECT a.x FROM a LEFT JOIN b ON a.x = b.x AND a.y = 2 AND b.w = 5',
    [
      'project a.x: a.x',
      '  left join on x = x AND left (y = 2)',
      '    scan a [x, y]',
      '    filter (w = 5)',
      '      scan b [x, w]',
    ],
  ],
  [
    'the padded side of an outer join is not filtered by WHERE',
    'SELECT a.x FROM a LEFT JOIN b ON a.x = b.x WHERE b.w IS NULL',
    [
      'project a.x: a.x',
      '  filter b.w IS NULL',
      '    left join on x = x',
      '      scan a [x]',
      '      scan b [w, x]',
    ],
  ],
  [
    'conditions that can fail stay above the join',
    'SELECT a.x FROM a JOIN b ON a.x = b.x WHERE 5 % a.y = 1',
    [
      'project a.x: a.x',
      '  filter ((5 % a.y) = 1)',
      '    inner join on x = x',
      '      scan a [x, y]',
      '      scan b [x]',
    ],
  ],
  [
    'conditions sink through plain columns of a sub-select',
    'SELECT v FROM (SELECT x AS v, y FROM a) WHERE v = 1',
    ['project v: v', '  project v: x', '    filter (x = 1)', '      scan a [x]'],
  ],
  [
    'a limit tells the sort what to keep',
    'SELECT x FROM a ORDER BY y LIMIT 2 OFFSET 1',
    ['project x: x', '  limit 2 offset 1', '    sort y keep 3', '      scan a [x, y]'],
  ],
  [
    'aggregates read keys and arguments',
    'SELECT x, sum(y) FROM a GROUP BY x HAVING count(*) > 1',
    [
      'project x: key 0, sum(y): aggregate 0',
      '  filter (aggregate 1 > 1)',
      '    aggregate sum(y), count(*) by x',
      '      scan a [x, y]',
    ],
  ],
  [
    'conditions that always hold go',
    'SELECT x FROM a WHERE 1 = 1',
    ['project x: x', '  scan a [x]'],
  ],
];

describe('plans', () => {
  it.each(PLANS)('%s', (_title, sql, plan) => {
    expect(explain(sql, namespace)).toEqual(plan);
  });

  it('are shown by EXPLAIN with paths and estimates', () => {
    const made = 'row values';
    const told = ['columns', 'expressions', 'names', 'timestamps'];
    const sources = ['stored with each row', 'not looked at'];
    const test = '(y = 2): generated JavaScript';
    expect(run('EXPLAIN SELECT x FROM a WHERE y = 2', namespace)).toEqual([
      ['_rowName', 'operator', 'path', 'rows', 'why', ...told],
      ['0', 'project x: x', 'general', 2, null, made, null, ...sources],
      ['1', '  filter (y = 2)', 'general', 2, null, made, test, ...sources],
      ['2', '    scan a [x, y]', 'scan', 2, null, made, null, ...sources],
    ]);
  });

  it('look up instead of scanning', () => {
    const own = namespaceOf({ d: rowsOf({ r1: { x: 1 }, r2: { x: 2 } }) });
    expect(run('SELECT x FROM d WHERE rowName() IN (KEYS OF {r2: 1})', own)).toEqual([
      ['_rowName', 'x'],
      ['r2', 2],
    ]);
    expect(own.dataset('d').scans).toEqual([]);
    expect(own.dataset('d').lookups).toBe(1);
  });
});
