// ClickHouse: what is read, written and refused, and that what it computes is what Rowan computes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ClickhouseServer,
  findClickhouse,
  PASSWORD,
  startClickhouse,
} from '../support/clickhouse.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

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
  let servers: ClickhouseServer[] = [];
  let server: ClickhouseServer;
  let rowan: TestService;

  beforeAll(async () => {
    const started = await Promise.all([startClickhouse(2), openRowan()]);
    servers = [...started[0]];
    rowan = started[1];
    server = servers[0] as ClickhouseServer;
    const { status } = await perform('POST', 'credentials', {
      store: {
        resourceType: 'clickhouse',
        resource: server.url,
        credential: { id: 'ann', secret: PASSWORD },
      },
    });
    expect(status).toBe(201);
    const values = `toString(number) AS id, toInt32(toInt32(number % 7) - 3) AS i,
      if(number % 11 = 0, NULL, toInt64(number) * 9007199254740 - 4503599627370496) AS big,
      if(number % 5 = 0, NULL, multiIf(number % 17 = 1, nan, number % 19 = 1, inf, number % 23 = 1, -0.,
        (number % 41) / 3 - 5)) AS x,
      if(number % 9 = 0, NULL, arrayElement(['', 'abc', 'Äpfel', 'a b c', 'zz', 'banana', 'ab%c_d'], number % 7 + 1)) AS s,
      toDateTime(number * 1234567 % 2000000000, 'UTC') AS t, toDate(number * 37 % 30000) AS d,
      toFloat32(number % 10 / 10) AS f4, arrayElement(['red', 'green'], number % 2 + 1) AS c`;
    for (const [index, each] of servers.entries()) {
      await each.run(`CREATE TABLE part ENGINE = MergeTree ORDER BY id AS
        SELECT ${values} FROM (SELECT number FROM system.numbers LIMIT 400) WHERE number % 2 = ${index}`);
    }
    await server.run(`CREATE TABLE whole ENGINE = MergeTree ORDER BY id AS
      SELECT ${values} FROM (SELECT number FROM system.numbers LIMIT 400)`);
    await server.run('CREATE TABLE sharded AS part ENGINE = Distributed(shards, default, part)');
    for (const table of ['whole', 'sharded']) {
      await put(`datasets/${table}`, {
        type: 'clickhouse',
        params: { url: server.url, table, rowNameColumn: 'id' },
      });
    }
    await put('procedures/copy', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM whole',
        outputDataset: { id: 'local', type: 'tabular' },
        runOnCreation: true,
      },
    });
  }, 60_000);

  afterAll(async () => {
    await rowan?.close();
    await Promise.all(servers.map((each) => each.stop()));
  });

  const { perform, put } = serviceCalls(() => rowan);

  async function query(q: string) {
    const { json } = await perform('GET', 'query', { q, format: 'aos' });
    return json.error === undefined ? json : json.error;
  }

  async function explain(q: string): Promise<string> {
    return (await query(`EXPLAIN ${q}`))
      .map(({ operator }: { operator: string }) => operator)
      .join('\n');
  }

  /** Rows in the order of their names, numbers to 10 digits: the last bits of sums depend on their order. */
  function comparable(rows: unknown, isOrdered: boolean): unknown {
    if (!Array.isArray(rows)) return rows;
    const texts = rows.map((row) =>
      JSON.stringify(row, (_, value) =>
        typeof value === 'number' && !Number.isSafeInteger(value)
          ? Number(value.toPrecision(10))
          : value,
      ),
    );
    return isOrdered ? texts : texts.sort();
  }

  /** Asks the copy, the server, and two shards. @returns EXPLAIN of the server */
  async function expectSame(
    make: (table: string) => string,
    isOrdered = false,
    tables = ['whole', 'sharded'],
  ): Promise<string> {
    const local = comparable(await query(make('local')), isOrdered);
    expect(Array.isArray(local), `${make('local')}: ${local}`).toBe(true);
    for (const table of tables) {
      expect(comparable(await query(make(table)), isOrdered), make(table)).toEqual(local);
    }
    return explain(make('whole'));
  }

  const EXPRESSIONS = `
    i + 1 ; i - x ; x * 3 ; x / i ; -x ; -i ; i % 3 ; big % 7 ; +x ; big + 1 ; x + big ; abs(x) ; abs(i)
    floor(x) ; ceil(x) ; trunc(x) ; round(x) ; round(x * 1.5) ; sqrt(x) ; s + '!' ; s || c
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
  }, 60_000);

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
      ['SELECT DISTINCT s, i FROM T WHERE i > 0', /WHERE/],
      [
        'SELECT a.s, b.i FROM T AS a JOIN T AS b ON a.id = b.id WHERE a.i > 2 AND b.x > 1 ORDER BY a.id',
        /WHERE/,
      ],
      [
        'SELECT n, count(*) AS m FROM (SELECT s, count(*) AS n FROM T GROUP BY s) GROUP BY n',
        /GROUP BY/,
      ],
      ['SELECT id FROM T WHERE i IN (SELECT i FROM T WHERE x > 7)', /WHERE/],
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

  test('values keep their meaning', async () => {
    await server.run(`CREATE TABLE kinds (k String, n Nullable(UInt64), i8 Int8, f Float64, f4 Float32, s String, fs FixedString(3),
      e Enum8('x y' = 1, 'z' = 2), d Date, t DateTime, tz DateTime('Asia/Tokyo'), a Array(String), an Array(Nullable(Int32)),
      tp Tuple(Int8, String), u UUID, dec Decimal(10, 2)) ENGINE = Memory`);
    await server.run(`INSERT INTO kinds SELECT 'a.b', 18446744073709551615, -128, nan, 0.1, 'tab\\tnl\\n\\\\ü\\0', 'ab', 'x y', '2020-01-02',
      toDateTime(1577934245), toDateTime(1577934245, 'Asia/Tokyo'), ['x\\'y', 'c,d', ''], [1, NULL], (7, 'q)'),
      '61f0c404-5cb3-11e7-907b-a6006ad3dba0', 1.25`);
    await server.run(`INSERT INTO kinds (k, n, f) VALUES ('b', NULL, -0.)`);
    await put('datasets/kinds', {
      type: 'clickhouse',
      params: {
        url: server.url,
        table: 'kinds',
        rowNameColumn: 'k',
        timestampColumn: 't',
        includeKeyColumns: false,
      },
    });
    const { json } = await perform('GET', 'query', {
      q: 'SELECT * FROM kinds ORDER BY rowName()',
      format: 'full',
    });
    const [row, second] = json;
    expect(row.rowName).toBe('"a.b"');
    expect(
      Object.fromEntries(row.columns.map(([name, value]: [string, unknown]) => [name, value])),
    ).toEqual({
      n: expect.anything(),
      i8: -128,
      f: { num: 'NaN' },
      f4: expect.closeTo(0.1, 6),
      s: 'tab\tnl\n\\ü\0',
      fs: 'ab\0',
      e: 'x y',
      d: { ts: '2020-01-02T00:00:00Z' },
      tz: { ts: '2020-01-02T03:04:05Z' },
      'a.0': "x'y",
      'a.1': 'c,d',
      'a.2': '',
      'an.0': 1,
      'an.1': null,
      'tp.0': 7,
      'tp.1': 'q)',
      u: '61f0c404-5cb3-11e7-907b-a6006ad3dba0',
      dec: 1.25,
    });
    expect(row.columns[0][2]).toBe('2020-01-02T03:04:05Z');
    expect(second.columns.find(([name]: [string]) => name === 'n')[1]).toBeNull();
    expect(
      await query('SELECT n = 18446744073709551615 AS same FROM kinds WHERE i8 < 0'),
    ).toMatchObject([{ same: 1 }]);
    expect((await perform('GET', 'datasets/kinds/columns')).json).not.toContain('t');
    await put('datasets/chosen', {
      type: 'clickhouse',
      params: {
        url: server.url,
        query: 'SELECT number AS n FROM system.numbers LIMIT 5',
        maxRows: 4,
      },
    });
    expect(await query('SELECT sum(n) AS s FROM chosen')).toMatchObject([{ s: 10 }]);
    expect(await query('SELECT n FROM chosen')).toBe('clickhouse result too large');
    expect(await query('SELECT n FROM chosen WHERE n > 2')).toMatchObject([
      { _rowName: '0', n: 3 },
      { _rowName: '1', n: 4 },
    ]);
  });

  test('rows are recorded, into tables and columns that are made for them', async () => {
    const params = {
      url: server.url,
      table: 'made',
      rowNameColumn: 'id',
      writable: true,
      createTable: true,
    };
    await put('datasets/made', {
      type: 'clickhouse',
      params: { ...params, timestampColumn: 'at' },
    });
    expect(await query('SELECT * FROM made')).toEqual([]);
    const rows = [
      {
        rowName: 'r1',
        columns: [
          ['n', 1, 5],
          ['s', "it's\t\\", 5],
          ['x', 0.5, 7.5],
          ['t', { ts: '2020-01-02T03:04:05Z' }, 5],
          ['none', null, 5],
        ],
      },
      {
        rowName: 'r2',
        columns: [
          ['n', null, 0],
          ['x', { num: 'NaN' }, 0],
          ['late', 'ä', 0],
        ],
      },
    ];
    const recorded = await perform(
      'POST',
      'datasets/made/multirows',
      rows.map(({ rowName, columns }) => [rowName, columns]),
    );
    expect(recorded.json?.error ?? recorded.status).toBe(200);
    const more = await perform('POST', 'datasets/made/rows', {
      rowName: 'r3',
      columns: [
        ['n', 3, 0],
        ['new', 'x', 0],
      ],
    });
    expect(more.json?.error ?? more.status).toBe(200);
    expect(await query('SELECT id, n, s, x, t, late, new FROM made ORDER BY id')).toEqual([
      {
        _rowName: 'r1',
        id: 'r1',
        n: 1,
        s: "it's\t\\",
        x: 0.5,
        t: { ts: '2020-01-02T03:04:05Z' },
        late: null,
        new: null,
      },
      {
        _rowName: 'r2',
        id: 'r2',
        n: null,
        s: null,
        x: { num: 'NaN' },
        t: null,
        late: 'ä',
        new: null,
      },
      { _rowName: 'r3', id: 'r3', n: 3, s: null, x: null, t: null, late: null, new: 'x' },
    ]);
    await put('datasets/strict', { type: 'clickhouse', params: { ...params, createTable: false } });
    const refused = async (rowName: string, columns: unknown) =>
      (await perform('POST', 'datasets/strict/rows', { rowName, columns })).json.error;
    expect(await refused('r4', [['unknown', 1, 0]])).toBe('table made has no column unknown');
    expect(await refused('r4', [['t', { ts: '2020-01-02T03:04:05.5Z' }, 0]])).toContain(
      'whole seconds',
    );
    expect(await refused('r4', [['n', 1.5, 0]])).toContain('1.5 is no integer');
    const reading = await perform('POST', 'datasets/whole/rows', {
      rowName: 'x',
      columns: [['i', 1, 0]],
    });
    expect(reading.json.error).toContain('read-only');
    expect(await query('SELECT count(*) AS n FROM made')).toMatchObject([{ n: 3 }]);
  });

  test('procedures write into it, as imports do', async () => {
    const output = (table: string) => ({
      id: table,
      type: 'clickhouse',
      params: { url: server.url, table, rowNameColumn: 'id', writable: true, createTable: true },
    });
    await put('procedures/write', {
      type: 'transform',
      params: {
        inputData: 'SELECT i * 2 AS y, x, s, t NAMED id FROM local',
        outputDataset: output('written'),
        runOnCreation: true,
      },
    });
    const sums = 'sum(y) AS y, count(x) AS x, count_distinct(s) AS s, max(t) AS t, max(id) AS id';
    expect(await query(`SELECT ${sums} FROM written`)).toEqual(
      await query(`SELECT ${sums.replace('(y)', '(i * 2)')} FROM local`),
    );
    const { json } = await perform('PUT', 'procedures/fail', {
      type: 'transform',
      params: {
        inputData: 'SELECT error(s) AS y FROM local',
        outputDataset: output('half'),
        runOnCreation: true,
      },
    });
    expect(json.code).toBe('FIRST_RUN_FAILED');
    expect(await server.run('EXISTS TABLE half')).toBe('0\n');
  });

  test('what goes wrong is said, without the password', async () => {
    const params = { url: server.url, table: 'whole' };
    const answer = async (id: string, changes: object, q = `SELECT * FROM ${id} LIMIT 1`) => {
      const { json } = await perform('PUT', `datasets/${id}`, {
        type: 'clickhouse',
        params: { ...params, ...changes },
      });
      return json.error ?? (await query(q));
    };
    expect(await answer('wrong1', { url: 'http://a:b@127.0.0.1:1' })).toContain(
      'no user and no password',
    );
    expect(await answer('wrong2', { query: 'SELECT 1' })).toContain('either table or query');
    expect(await answer('wrong3', { table: 'nothing' })).toContain('there is no table nothing');
    expect(await answer('wrong4', { rowNameColumn: 'nothing' })).toContain('no column nothing');
    expect(await answer('wrong5', { table: undefined, query: 'SELECT nonsense' })).toContain(
      'Could not query ClickHouse',
    );
    // The replica that answers is asked.
    expect(await answer('right', { url: ['http://127.0.0.1:1', server.url] })).toHaveLength(1);
    await perform('POST', 'credentials', {
      store: {
        resourceType: 'clickhouse',
        resource: servers[1]?.url,
        credential: { id: 'ann', secret: 'wrong-secret' },
      },
    });
    const denied = await answer('wrong6', { url: servers[1]?.url });
    expect(denied).toMatch(/Wrong password|Authentication/);
    expect(denied).not.toContain('wrong-secret');
    expect(JSON.stringify((await perform('GET', 'datasets/wrong6')).json)).not.toContain(
      'wrong-secret',
    );
    expect(await explain('SELECT * FROM whole')).not.toContain(PASSWORD);
    // A failure behind rows that were sent.
    const failing = {
      table: undefined,
      query: 'SELECT throwIf(number = 150000) AS z, number AS n FROM system.numbers',
    };
    expect(
      await answer('late', failing, 'SELECT max(n + z) AS m FROM (SELECT * FROM late)'),
    ).toContain('throwIf');
  });

  test('a server that dies in the middle of a query, and a column that goes', async () => {
    await server.run(
      'CREATE TABLE shrinking ENGINE = MergeTree ORDER BY n AS SELECT number AS n, number AS m FROM system.numbers LIMIT 10',
    );
    await put('datasets/shrinking', {
      type: 'clickhouse',
      params: { url: server.url, table: 'shrinking' },
    });
    expect(await query('SELECT sum(m) AS s FROM shrinking')).toMatchObject([{ s: 45 }]);
    await server.run('ALTER TABLE shrinking DROP COLUMN m');
    expect(await query('SELECT n FROM shrinking WHERE n > 8')).toMatchObject([{ n: 9 }]);
    expect(await query('SELECT count(m) AS c FROM shrinking')).toMatchObject([{ c: 0 }]);
    const [dying] = await startClickhouse();
    servers.push(dying as ClickhouseServer);
    await put('datasets/endless', {
      type: 'clickhouse',
      params: { url: dying?.url, query: 'SELECT number AS n FROM system.numbers', maxRows: 1e12 },
    });
    const running = query('SELECT n FROM endless WHERE n % 1000000000 = 1 AND upper(n) = 2');
    for (;;) {
      const busy = await dying?.run(
        "SELECT count() FROM system.processes WHERE query LIKE '%system.numbers%' AND query NOT LIKE '%processes%'",
      );
      if (Number(busy) > 0) break;
    }
    await dying?.kill();
    expect(await running).toMatch(/Could not (?:query|connect to) ClickHouse/);
  });
});
