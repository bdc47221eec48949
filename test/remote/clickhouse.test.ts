// ClickHouse: what it computes is what Rowan computes, on one server and on two shards.
import { describe, expect, test } from 'vitest';
import { findClickhouse } from '../support/clickhouse.ts';
import { RandomQueries } from '../support/clickhouse-queries.ts';
import { useClickhouseTables } from '../support/clickhouse-tables.ts';
import { canTest } from '../support/services.ts';

const QUERY_COUNT = 40;

const HOSTILE = [
  "it's",
  'a\\',
  "\\'; DROP TABLE t; --",
  '`',
  '\t\n\r\0\b\f',
  '{p0:String}',
  'äß€𐍈',
  '',
];

describe.runIf(canTest('ClickHouse', findClickhouse()))('ClickHouse', () => {
  const { query, explain, comparable, expectSame } = useClickhouseTables();

  const EXPRESSIONS = `
    i + 1 ; i - x ; x * 3 ; x / i ; -x ; -i ; i % 3 ; big % 7 ; +x ; big + 1 ; x + big ; abs(x) ; abs(i)
    floor(x) ; ceil(x) ; trunc(x) ; round(x) ; round(x * 1.5) ; sqrt(x) ; exp(x / 100) ; ln(x) ; s + '!' ; s || c
    length(s) ; octet_length(s) ; reverse(s) ; strpos(s, 'b') ; contains(s, 'an')
    starts_with(s, 'a') ; ends_with(s, 'c') ; replace(s, 'an', '<>') ; left(s, 2)
    substring(s, 2) ; substring(s, 2, 2) ; coalesce(x, i) ; coalesce(s, 'none') ; nullif(i, 2)
    nullif(s, 'abc') ; if(x > 0, 1, 2) ; CASE WHEN x > 0 THEN 'p' WHEN x < 0 THEN 'n' END
    CASE i WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE s END
    CASE WHEN s IS NULL THEN x ELSE i END ; year(t) ; quarter(t) ; month(d) ; day(d) ; hour(t)
    minute(t) ; date_part('second', t) ; date_part('dow', d) ; date_part('isodow', t)
    extract(year FROM t) ; extract(dow FROM d) ; date_trunc('minute', t) ; date_trunc('hour', t)
    date_trunc('day', t) ; date_trunc('month', t) ; date_trunc('quarter', d)
    date_trunc('year', d) ; x IS NULL ; s IS NOT NULL ; i IS TRUE ; (x > 1) IS FALSE ; f4 * 10
    not (x > 1) ; x > 1 or s = c ; x > 1 and i < 2
  `
    .trim()
    .split(/ ; |\n\s+/);

  test('each expression that is pushed gives what it gives here', async () => {
    for (let from = 0; from < EXPRESSIONS.length; from += 10) {
      const part = EXPRESSIONS.slice(from, from + 10);
      const list = part.map((expression, index) => `${expression} AS v${index}`).join(', ');
      const plan = await expectSame((table) => `SELECT ${list} FROM ${table}`);
      for (const [index, expression] of part.entries()) {
        if (expression !== '+x') expect(plan, expression).toMatch(new RegExp(`v${index}: .?=c`));
      }
    }
  });

  /** One branch for each bound. */
  const below = (column: string, bounds: readonly number[], first = '') =>
    `CASE ${first}${bounds.map((bound, k) => `WHEN ${column} < ${bound} THEN ${k} `).join('')}ELSE ${bounds.length} END`;

  test('choices among many constants are looked up there', async () => {
    const even = Array.from({ length: 60 }, (_, k) => k / 7 - 3.1);
    const uneven = Array.from({ length: 60 }, (_, k) => 1.5 ** k / 1000 - 2);
    const cases = [
      'CASE WHEN x < -1 THEN 3 WHEN x < 0 THEN 1 WHEN x < 0.5 THEN -7 WHEN x < 9 THEN 2 ELSE 5 END',
      below('x', even),
      below('x', uneven, 'WHEN x IS NULL THEN -1 '),
      below('i', even, 'WHEN i IS NULL THEN 99 '),
      below('f4', [-1, 0, 1, 2, 3]),
      "CASE WHEN s IS NULL THEN 9 WHEN s = 'abc' THEN 1 WHEN s = '' THEN 2 WHEN s = 'it''s' THEN 3 ELSE 4 END",
      "CASE WHEN s = 'abc' THEN 1 WHEN s = 'banana' THEN 5 WHEN s = 'b' THEN 2 WHEN s = '' THEN 3 ELSE 4 END",
    ];
    const list = cases.map((expression, index) => `${expression} AS v${index}`).join(', ');
    const plan = await expectSame((table) => `SELECT ${list} FROM ${table}`);
    for (const name of ['transform', 'arrayElement', 'least']) expect(plan).toContain(`${name}(`);
    expect(plan).not.toContain('multiIf');
  });

  const CONDITIONS = [
    ...['=', '!=', '<', '<=', '>', '>='].flatMap((sign) => [
      `x ${sign} 1`,
      `x ${sign} i`,
      `i ${sign} 0.5`,
      `big ${sign} 0`,
      `s ${sign} 'abc'`,
      `s ${sign} c`,
      `t ${sign} '2001-01-01'`,
      `d ${sign} TIMESTAMP '2010-05-05'`,
      `t ${sign} d`,
      `x ${sign} x / i`,
    ]),
    'x BETWEEN -1 AND 4',
    'x NOT BETWEEN -1 AND 4',
    "s BETWEEN 'a' AND 'c'",
    'i IN (1, 2, 5)',
    'i NOT IN (1, 2)',
    "s IN ('abc', 'zz')",
    "s NOT IN ('abc', 'zz')",
    'x IN (1, 2.5, i)',
    "s LIKE 'a%'",
    "s LIKE '%an%'",
    "s NOT LIKE '%c'",
    'NOT (x > 2 OR s IS NULL)',
    'x > 2 OR s IS NULL',
    "i = 1 AND (s = 'abc' OR x < 3)",
    'i',
    'not i',
    'x + 1 > i * 2',
    'length(s) > 3',
    'year(t) = 2001',
    ...HOSTILE.map((text) => `s = '${text.replaceAll("'", "''")}'`),
  ];

  test('each condition that is pushed takes the rows that it takes here', async () => {
    for (let from = 0; from < CONDITIONS.length; from += 25) {
      const part = CONDITIONS.slice(from, from + 25);
      const counts = part.map(
        (condition, index) => `count(*) FILTER (WHERE ${condition}) AS c${index}`,
      );
      const plan = await expectSame((table) => `SELECT ${counts.join(', ')} FROM ${table}`);
      expect(plan).toContain('ask whole');
      // All rows that one of them takes: a row for which it is null is no row for which it is false.
      const all = part.map(
        (condition) => `CASE WHEN ${condition} THEN 1 WHEN NOT (${condition}) THEN 0 END`,
      );
      expect(
        await expectSame(
          (table) =>
            `SELECT ${all.map((sum, index) => `sum(${sum}) AS s${index}, count(${sum}) AS n${index}`).join(', ')} FROM ${table}`,
          false,
          ['whole'],
        ),
      ).toContain('ask whole');
    }
    for (const condition of ['x != 1', "s = 'abc' OR i = 2", "t < '2001-01-01' AND NOT x > i"]) {
      const plan = await expectSame((table) => `SELECT id, x FROM ${table} WHERE ${condition}`);
      expect(plan, condition).not.toContain('filter');
    }
  }, 120_000);

  test('what differs there stays here', async () => {
    const stays = [
      "upper(s) = 'ABC'",
      'big > x',
      'big < 1.5',
      'exp(x) > 3',
      "s LIKE 'a_c'",
      'x = s',
      "rowName() = '7' AND x > 0",
    ];
    for (const condition of stays) {
      const plan = await expectSame((table) => `SELECT id, x FROM ${table} WHERE ${condition}`);
      expect(plan).not.toMatch(/WHERE.*(?:upper|exp|LIKE|big)/);
    }
    const both = await expectSame((table) => `SELECT id FROM ${table} WHERE big > x AND i > 0`);
    expect(both).toContain('filter (big > x)');
    expect(both).toMatch(/WHERE \(`i` > 0\)/);
  });

  const AGGREGATES = `
    count(*) ; count(x) ; count(DISTINCT s) ; count_distinct(x) ; count(DISTINCT i) ; sum(i)
    sum(big) ; sum(f4) ; avg(i) ; avg(f4) ; min(x) ; max(x) ; min(s) ; max(s) ; min(t) ; max(d)
    min(big) ; max(i) ; variance(i) ; stddev(f4) ; median(i) ; median(f4)
    quantile_cont(i, 0.3) ; quantile_disc(i, 0.9) ; median(x) ; sum(i) FILTER (WHERE x > 0)
    count(*) FILTER (WHERE s IS NULL) ; max(x) FILTER (WHERE i = 1) ; sum(x) ; avg(x * 2)
  `
    .trim()
    .split(/ ; |\n\s+/);

  test('each aggregate that is pushed gives what it gives here', async () => {
    const list = AGGREGATES.map((call, index) => `${call} AS a${index}`).join(', ');
    for (const rest of [
      '',
      ' WHERE i > 100',
      ' GROUP BY i',
      ' WHERE i = 2 GROUP BY s',
      ' WHERE i > 100 GROUP BY c',
    ]) {
      const plan = await expectSame((table) => `SELECT ${list} FROM ${table}${rest}`, true);
      expect(plan).toMatch(/SELECT .*count\(\), count/);
    }
  });

  test('groups, their order, HAVING, LIMIT and DISTINCT are those of Rowan', async () => {
    const queries: readonly (readonly [string, RegExp])[] = [
      ['SELECT s, i, count(*) AS n FROM T GROUP BY s, i', /GROUP BY/],
      [
        'SELECT year(t) AS y, sum(i) AS v FROM T GROUP BY year(t) ORDER BY y DESC',
        /GROUP BY toInt32\(toYear/,
      ],
      ['SELECT x > 1 AS p, count(*) AS n FROM T GROUP BY x > 1', /GROUP BY/],
      [
        'SELECT s, count(*) AS n FROM T GROUP BY s HAVING count(*) > 50',
        /HAVING \(count\(\) > 50\)/,
      ],
      [
        'SELECT s, count(*) AS n FROM T GROUP BY s ORDER BY n DESC LIMIT 2',
        /HAVING .*ORDER BY b DESC/,
      ],
      [
        'SELECT s, sum(i) AS n FROM T WHERE x > 0 GROUP BY s HAVING count(*) > 3 ORDER BY sum(i), s LIMIT 3 OFFSET 1',
        /LIMIT 4/,
      ],
      ['SELECT id, x FROM T ORDER BY x LIMIT 7', /NULLS FIRST LIMIT 7/],
      ['SELECT id, x FROM T ORDER BY x DESC LIMIT 350', /NULLS LAST LIMIT 350/],
      [
        'SELECT id, x FROM T ORDER BY x NULLS LAST, i DESC LIMIT 30 OFFSET 5',
        /NULLS LAST LIMIT 35/,
      ],
      ['SELECT id, s FROM T WHERE i > 0 ORDER BY s DESC, id LIMIT 20', /NULLS LAST LIMIT 20/],
      ['SELECT id, t FROM T ORDER BY t LIMIT 5', /LIMIT 5/],
      ['SELECT DISTINCT s, i FROM T WHERE i > 0', /SELECT `s`, `i` FROM .* GROUP BY/],
      ['SELECT DISTINCT x > 1 AS p, year(t) AS y FROM T', /GROUP BY multiIf/],
      [
        'SELECT DISTINCT i IS NULL AS p, 3 AS q FROM T',
        /GROUP BY materialize\(0\), materialize\(3\)/,
      ],
      ['SELECT DISTINCT x FROM T', /GROUP BY if\(isNaN/],
      ["SELECT DISTINCT rowName() > '3' AS r FROM T", /SELECT toString/],
      [
        'SELECT a.s, b.i FROM T AS a JOIN T AS b ON a.id = b.id WHERE a.i > 2 AND b.x > 1 ORDER BY a.id',
        /WHERE/,
      ],
      [
        'SELECT y, sum(z) AS v FROM (SELECT year(t) AS y, i * 2 AS z, x FROM T WHERE x > 0) WHERE z > 1 GROUP BY y',
        /GROUP BY/,
      ],
      [
        'SELECT n, count(*) AS m FROM (SELECT s, count(*) AS n FROM T GROUP BY s) GROUP BY n',
        /GROUP BY/,
      ],
      ['SELECT id FROM T WHERE i IN (SELECT i FROM T WHERE x > 7)', /WHERE/],
      [
        'SELECT k, sum(v * v) AS n, max(i) AS m FROM (SELECT x * i AS v, i, CASE WHEN x > 1 THEN s END AS k FROM T WHERE i > 0) GROUP BY k ORDER BY n DESC LIMIT 3',
        /WITH .* AS `=c0`.*HAVING/,
      ],
      [
        'SELECT count(*) AS n, sum(e) AS t FROM (SELECT exp(v) AS e, v > 2 AS b FROM (SELECT x / 4 AS v FROM T)) WHERE e < 5',
        /ask/,
      ],
      [
        'SELECT sum(e) AS t, count(*) FILTER (WHERE b) AS n FROM (SELECT exp(v) AS e, v > 1 AS b, i FROM (SELECT x / 4 AS v, i FROM T)) GROUP BY i',
        /WITH .* AS `=c0`, .*`=c0`.* AS `=c1`/,
      ],
      ['SELECT v + 1 AS w, i, s FROM (SELECT x * 2 AS v, i, s FROM T)', /WITH .*`=c0`/],
    ];
    for (const [sql, expected] of queries) {
      const plan = await expectSame(
        (table) => sql.replaceAll(/\bT\b/g, table),
        /ORDER BY|GROUP BY|DISTINCT/.test(sql),
      );
      expect(plan, sql).toMatch(expected);
    }
    const first = await query('SELECT * FROM whole LIMIT 3');
    expect(first).toHaveLength(3);
    expect(await explain('SELECT * FROM whole LIMIT 3')).toContain('LIMIT 3');
  });

  test('random queries have the same answers, and most of the work is done there', async () => {
    const queries = new RandomQueries(11);
    let pushedCount = 0;
    for (let i = 0; i < QUERY_COUNT; i++) {
      const sql = queries.next();
      const of = (table: string) => sql.replace('FROM T', `FROM ${table}`);
      const isOrdered = sql.includes('ORDER BY');
      const [local, whole, sharded, plan] = await Promise.all([
        query(of('local')),
        query(of('whole')),
        query(of('sharded')),
        explain(of('whole')),
      ]);
      const expected = comparable(local, isOrdered);
      expect(Array.isArray(expected), `${sql}: ${expected}`).toBe(true);
      expect(comparable(whole, isOrdered), sql).toEqual(expected);
      expect(comparable(sharded, isOrdered), sql).toEqual(expected);
      if (plan.includes('ask whole')) pushedCount++;
    }
    expect(pushedCount).toBeGreaterThan(QUERY_COUNT * 0.9);
  }, 120_000);
});
