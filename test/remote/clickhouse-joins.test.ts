// ClickHouse: joins, semi joins and anti joins of tables of the same servers.
import { describe, expect, test } from 'vitest';
import { findClickhouse } from '../support/clickhouse.ts';
import { RandomQueries } from '../support/clickhouse-queries.ts';
import { useClickhouseTables } from '../support/clickhouse-tables.ts';
import { canTest } from '../support/services.ts';

const QUERY_COUNT = 16;

describe.runIf(canTest('ClickHouse', findClickhouse()))('joins in ClickHouse', () => {
  const { perform, query, explain, comparable, expectSame, put, server } = useClickhouseTables();

  /** Each query with what EXPLAIN says, and whether Rowan joins. */
  const QUERIES: readonly (readonly [string, RegExp, 'there' | 'here'])[] = [
    [
      'SELECT a.s, count(*) AS n, sum(b.i) AS v FROM T AS a JOIN T AS b ON a.i = b.i WHERE a.x > 2 AND b.x < 0 GROUP BY a.s',
      /FROM `default`.`whole` GLOBAL ALL INNER JOIN \(SELECT .* WHERE .*`x` < 0.* ON toInt64\(`i`\) = .* WHERE .* GROUP BY `s`/,
      'there',
    ],
    // Null equals nothing, NaN itself.
    [
      'SELECT count(*) AS n, sum(a.i * b.i) AS v FROM T AS a JOIN T AS b ON a.x = b.x AND a.s = b.s',
      /isNull/,
      'there',
    ],
    // What has no partner is null, whatever the type is there.
    [
      'SELECT a.c, count(b.id) AS n, count(*) AS m, sum(b.i) AS v, max(b.s) AS s, min(b.t) AS t FROM T AS a LEFT JOIN T AS b ON a.x = b.x AND b.i > 1 AND a.i > 0 GROUP BY a.c',
      /ALL LEFT JOIN/,
      'there',
    ],
    [
      'SELECT b.c, count(a.id) AS n, count(*) AS m FROM T AS a RIGHT JOIN T AS b ON a.s = b.s AND a.i > 1 GROUP BY b.c',
      /ALL LEFT JOIN/,
      'there',
    ],
    [
      'SELECT year(b.t) AS y, count(*) AS n FROM T AS a LEFT JOIN T AS b ON a.s = b.s AND b.i > 1 GROUP BY year(b.t)',
      /toYear\(if/,
      'there',
    ],
    [
      'SELECT a.c, count(*) AS n FROM T AS a JOIN T AS b ON a.i = b.i AND a.x < b.x GROUP BY a.c HAVING count(*) > 3 ORDER BY n, a.c LIMIT 2',
      /HAVING \(count\(\) > 3\) AND \(count\(\) <= \(SELECT max/,
      'there',
    ],
    ['SELECT DISTINCT a.c, b.s FROM T AS a JOIN T AS b ON a.i = b.i', /GROUP BY/, 'there'],
    [
      'SELECT g.n, count(*) AS m FROM T AS a JOIN (SELECT i, count(*) AS n FROM T GROUP BY i) AS g ON g.i = a.i WHERE a.x > 1 AND g.n > 57 GROUP BY g.n',
      /GROUP BY `i`/,
      'there',
    ],
    [
      'SELECT a.c, b.s, z.c, count(*) AS n FROM T AS a JOIN T AS b ON a.i = b.i JOIN T AS z ON z.x = b.x WHERE a.x > 3 GROUP BY a.c, b.s, z.c',
      /JOIN .*JOIN/,
      'there',
    ],
    [
      "SELECT a.k, count(*) AS n FROM (SELECT x * 2 AS k, s || 'ä' AS u, i FROM T) AS a JOIN (SELECT x + 1 AS k, s || 'ä' AS u FROM T WHERE c = 'red') AS b ON a.u = b.u AND a.k < b.k GROUP BY a.k",
      /GLOBAL ALL INNER JOIN/,
      'there',
    ],
    [
      'SELECT a.c, count(*) AS n FROM T AS a FULL JOIN T AS b ON a.i = b.big GROUP BY a.c',
      /full join/,
      'here',
    ],
    [
      'SELECT a.c, count(*) AS n FROM T AS a LEFT JOIN T AS b ON a.i = b.i AND a.x < b.x GROUP BY a.c',
      /left join/,
      'here',
    ],
    ['SELECT count(*) AS n FROM T AS a JOIN T AS b ON a.x = b.big', /inner join/, 'here'],
    // Pairs have the names that Rowan gives them; rows without a partner do not come.
    [
      'SELECT a.id, b.id, a.s FROM T AS a JOIN T AS b ON a.i = b.i WHERE a.big > 0 AND a.x > 6 AND b.x > 7',
      /GLOBAL IN .*\n.*\n.*GLOBAL IN/,
      'here',
    ],
    [
      'SELECT a.id, b.id FROM T AS a LEFT JOIN T AS b ON a.x = b.x WHERE a.i > 2',
      /ask whole\n.*GLOBAL IN/,
      'here',
    ],
    [
      'SELECT id, x FROM T WHERE i IN (SELECT i FROM T WHERE x > 7.9)',
      /WHERE \(toInt64\(`i`\) GLOBAL IN/,
      'there',
    ],
    [
      'SELECT id, x FROM T WHERE x NOT IN (SELECT x FROM T WHERE i > 2 AND x IS NOT NULL)',
      /NOT \(isNull/,
      'there',
    ],
    ['SELECT id FROM T WHERE x NOT IN (SELECT x FROM T WHERE i > 2)', /./, 'there'],
    [
      'SELECT id FROM T AS a WHERE EXISTS (SELECT 1 FROM T AS b WHERE b.x = a.x AND b.c = a.c AND b.i > 2) AND a.i > 0',
      /\(if|GLOBAL IN/,
      'there',
    ],
    [
      'SELECT id FROM T AS a WHERE NOT EXISTS (SELECT 1 FROM T AS b WHERE b.x = a.x AND b.i > 2)',
      /NOT \(isNull/,
      'there',
    ],
    [
      'SELECT c, count(*) AS n FROM T WHERE s IN (SELECT s FROM T GROUP BY s HAVING count(*) > 50) GROUP BY c',
      /HAVING .*GROUP BY `c`/,
      'there',
    ],
    // upper() is computed by Rowan alone.
    ["SELECT id FROM T WHERE i IN (SELECT i FROM T WHERE upper(s) = 'ZZ')", /semi join/, 'here'],
  ];

  test('pairs and partners are those of Rowan', async () => {
    for (const [sql, expected, where] of QUERIES) {
      const isOrdered = sql.includes('ORDER BY');
      const plan = await expectSame((table) => sql.replaceAll(/\bT\b/g, table), isOrdered);
      expect(plan, sql).toMatch(expected);
      expect(/\bjoin on\b/.test(plan) ? 'here' : 'there', `${sql}\n${plan}`).toBe(where);
    }
  });

  test('random joins have the same answers, and most are made there', async () => {
    const queries = new RandomQueries(5);
    let pushedCount = 0;
    for (let i = 0; i < QUERY_COUNT; i++) {
      const sql = queries.nextJoin();
      const of = (table: string) => sql.replaceAll(/\bT\b/g, table);
      const plan = await expectSame(of);
      const isGrouped = sql.includes('GROUP BY k') || / GROUP BY [^)]*$/.test(sql);
      if (plan.includes('GLOBAL') && !(isGrouped && plan.includes('join on'))) pushedCount++;
    }
    expect(pushedCount).toBeGreaterThan(QUERY_COUNT * 0.8);
  }, 120_000);

  test('a small table that is here sends its keys', async () => {
    const sqls: readonly (readonly [string, RegExp])[] = [
      ['SELECT a.id, b.id FROM T AS a JOIN few AS b ON a.i = b.i', /`i` IN \(…\)/],
      ['SELECT a.c, count(*) AS n FROM few AS b JOIN T AS a ON a.s = b.s GROUP BY a.c', /`s`\) IN/],
      ['SELECT a.id, b.x FROM few AS b LEFT JOIN T AS a ON a.x = b.x AND a.i > 0', /assumeNotNull/],
      ['SELECT a.id FROM T AS a RIGHT JOIN few AS b ON a.t = b.t', /toFloat64\(toInt64\(toUInt32/],
      ['SELECT id FROM T WHERE big IN (SELECT big FROM few WHERE i > 0)', /`big`\) IN/],
      [
        'SELECT a.id FROM T AS a JOIN few AS b ON a.i = b.i AND a.s = b.s',
        /toInt64\(`i`\), assumeNotNull/,
      ],
      [
        "SELECT a.id FROM T AS a JOIN (VALUES (1, 'it''s'), (2, 'abc')) AS b (i, s) ON a.i = b.i AND a.s = b.s",
        /IN/,
      ],
      ['SELECT a.id FROM T AS a JOIN few AS b ON a.s = b.i', /IN/],
      ['SELECT a.id FROM T AS a JOIN few AS b ON a.i = b.x AND b.x > 100', /IN/],
    ];
    await put('procedures/few', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM local WHERE rowHash() % 25 = 0 AND NOT (x > 1e100 OR x != x)',
        outputDataset: { id: 'few', type: 'tabular' },
        runOnCreation: true,
      },
    });
    for (const [sql, expected] of sqls) {
      const plan = await expectSame((table) => sql.replaceAll(/\bT\b/g, table));
      expect(plan, sql).toMatch(expected);
    }
    await put('datasets/at_most_10', {
      type: 'clickhouse',
      params: { url: server().url, table: 'whole', rowNameColumn: 'id', maxRows: 10 },
    });
    const found = await query(
      "SELECT a.id FROM at_most_10 AS a JOIN (VALUES ('7'), ('9'), (NULL)) AS b (k) ON a.id = b.k",
    );
    expect(found.map(({ 'a.id': id }: { 'a.id': string }) => id).sort()).toEqual(['7', '9']);
    // Rows are left out by Rowan where the keys are too many, or differ when they are read again.
    const many =
      'SELECT max(a.i) AS m FROM T AS a JOIN generate_series(1, 20000) AS b (n) ON a.i = b.n';
    await expectSame((table) => many.replaceAll(/\bT\b/g, table));
    const drawn =
      'SELECT a.id FROM whole AS a JOIN (SELECT i FROM few WHERE random() < 0.5) AS b ON a.i = b.i';
    expect(await explain(drawn)).not.toContain('IN (…)');
  });

  test('what is elsewhere, or has timestamps that somebody sees, is joined by Rowan', async () => {
    const { url } = server();
    const params = { url, table: 'whole', rowNameColumn: 'id' };
    await put('datasets/timed', {
      type: 'clickhouse',
      params: { ...params, timestampColumn: 't' },
    });
    await put('procedures/copy_timed', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM timed',
        outputDataset: { id: 'local_timed', type: 'tabular' },
        runOnCreation: true,
      },
    });
    await put('datasets/filled', {
      type: 'clickhouse',
      params: { ...params, settings: { join_use_nulls: 1 } },
    });
    await put('datasets/chosen', {
      type: 'clickhouse',
      params: { url, query: 'SELECT i, count() AS n FROM whole GROUP BY i', database: 'default' },
    });
    await put('datasets/aside', {
      type: 'clickhouse',
      params: { url, query: 'SELECT i, c FROM default.whole', database: 'system' },
    });
    const counted = (a: string, b: string) =>
      `SELECT sum(b.n) AS n FROM ${a} AS a JOIN ${b} AS b ON a.i = b.i WHERE a.x > 0`;
    const same = (await query(counted('local', 'chosen'))) as unknown;
    for (const table of ['whole', 'sharded', 'timed']) {
      expect(comparable(await query(counted(table, 'chosen')), false), table).toEqual(
        comparable(same, false),
      );
    }
    expect(await explain(counted('whole', 'chosen'))).toMatch(/GLOBAL ALL INNER JOIN/);
    expect(await explain(counted('timed', 'chosen'))).toMatch(/GLOBAL ALL INNER JOIN/);
    const { json } = await perform('GET', 'query', {
      q: `EXPLAIN ${counted('timed', 'chosen')}`,
      format: 'full',
    });
    expect(JSON.stringify(json)).toContain('inner join on');
    for (const [call, isThere] of [
      ['sum(i)', true],
      ['count(x)', true],
      ['latest(i)', false],
      ['max(i) + 1', true],
    ] as const) {
      const plan = await expectSame((table) => {
        const dataset = table === 'local' ? 'local_timed' : 'timed';
        return `SELECT c, ${call} AS v FROM ${dataset} GROUP BY c`;
      });
      expect(/GROUP BY/.test(plan), call).toBe(isThere);
    }
    const lone = (table: string) =>
      `SELECT a.c, count(b.id) AS n, sum(b.i) AS v, max(b.s) AS s FROM ${table} AS a LEFT JOIN ${table} AS b ON a.x = b.x AND b.i > 1 GROUP BY a.c`;
    await expectSame((table) => lone(table === 'whole' ? 'filled' : table), false, ['whole']);
    // Names of tables in its SELECT mean those of another database.
    expect(
      await explain('SELECT count(*) AS n FROM whole AS a JOIN aside AS b ON a.i = b.i'),
    ).toContain('inner join on');
  });
});
