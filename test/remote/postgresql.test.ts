// PostgreSQL: what is read, written, asked for, and refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { numberParameters } from '../../src/remote/postgresql/named-parameters.ts';
import {
  findPostgresql,
  PASSWORD,
  type PostgresqlServer,
  startPostgresql,
} from '../support/postgresql.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

test('names in a query become numbers, but not in texts, comments and names', () => {
  const { sql, names } = numberParameters(
    `SELECT $a, '$b', "$c", $$ $d $$, $t$ $e $t$, $a -- $f\n, $g_2 /* $h */, E'\\'$i', $1`,
  );
  expect(names).toEqual(['a', 'g_2']);
  expect(sql).toBe(
    `SELECT $1, '$b', "$c", $$ $d $$, $t$ $e $t$, $1 -- $f\n, $2 /* $h */, E'\\'$i', $1`,
  );
});

describe.runIf(canTest('PostgreSQL', findPostgresql()))('PostgreSQL', () => {
  let server: PostgresqlServer;
  let rowan: TestService;
  let place: { host: string; port: number; databaseName: string };

  beforeAll(async () => {
    server = await startPostgresql();
    rowan = await openRowan();
    place = { host: '127.0.0.1', port: server.port, databaseName: 'postgres' };
    const made = await perform('POST', 'credentials', {
      store: {
        resourceType: 'postgresql',
        resource: `postgresql://127.0.0.1:${server.port}`,
        credential: { id: 'ann', secret: PASSWORD },
      },
    });
    expect(made.status).toBe(201);
    await server.client.query(`
      CREATE TABLE kinds (
        key text PRIMARY KEY, i int4, big int8, f float8, f4 float4, n numeric, b bool, t text, v varchar(9), c char(3),
        ts timestamp, tz timestamptz, d date, raw bytea, j jsonb, a int[], ta text[], u uuid, iv interval);
      INSERT INTO kinds VALUES
        ('k1', 1, 9007199254740993, 1.5, 0.1, 12.34, true, 'abc', 'x', 'p', '2020-01-02 03:04:05.678', '2020-01-02 03:04:05+02',
         '2020-01-02', '\\x0102', '{"a": {"b": [1, null, "two"]}, "e": {}}', '{1,NULL,3}', '{"a b","q\\"","NULL"}',
         'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '1 day'),
        ('k2', -5, -1, 'NaN', 'Infinity', 'NaN', false, 'Äpfel', '', 'qq', 'infinity', '-infinity', '0044-03-15 BC', '', '[]', '{}', NULL, NULL, NULL),
        ('k3', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('k4', 2147483647, 3, -0.25, 2, 1e30, true, 'zz', 'y', 'abc', '1999-12-31', '1999-12-31T23:59:59.999999Z', '1999-12-31', '\\xff', '7', '{{1,2},{3,4}}', '{}', NULL, '2 hours');
      CREATE TABLE numbered (id int PRIMARY KEY, x float8);
      INSERT INTO numbered SELECT i, i / 2.0 FROM generate_series(1, 25000) AS i;
    `);
    const params = { ...place, tableName: 'kinds' };
    await put('datasets/kinds', { type: 'postgresql.dataset', params });
    await put('datasets/numbered', {
      type: 'postgresql.dataset',
      params: { ...params, tableName: 'numbered', primaryKey: 'id' },
    });
  }, 60_000);

  afterAll(async () => {
    await rowan?.close();
    await server?.stop();
  });

  const { perform, put } = serviceCalls(() => rowan);

  async function query(q: string) {
    const { json } = await perform('GET', 'query', { q, format: 'aos', rowNames: false });
    return json.error === undefined ? json : json.error;
  }

  async function explain(q: string): Promise<string> {
    return (await query(`EXPLAIN ${q}`))
      .map(({ operator }: { operator: string }) => operator)
      .join('\n');
  }

  test('values keep their meaning', async () => {
    const { json } = await perform('GET', 'query', {
      q: "SELECT * FROM kinds WHERE rowName() IN ('k1', 'k2')",
      format: 'full',
    });
    const cells = Object.fromEntries(
      json.map(({ rowName, columns }: { rowName: string; columns: unknown[][] }) => [
        rowName,
        Object.fromEntries(columns.map(([name, value, ts]) => [name, [value, ts]])),
      ]),
    );
    const values = (row: string) =>
      Object.fromEntries(
        Object.entries(cells[row]).map(([name, cell]) => [name, (cell as unknown[])[0]]),
      );
    expect(cells.k1.i).toEqual([1, 'NaD']);
    expect(values('k1')).toMatchObject({
      key: 'k1',
      f: 1.5,
      f4: 0.1,
      n: 12.34,
      b: 1,
      t: 'abc',
      v: 'x',
      ts: { ts: '2020-01-02T03:04:05.678Z' },
      tz: { ts: '2020-01-02T01:04:05Z' },
      d: { ts: '2020-01-02T00:00:00Z' },
      raw: { blob: [1, 2] },
      'j.a.b.0': 1,
      'j.a.b.1': null,
      'j.a.b.2': 'two',
      'a.0': 1,
      'a.1': null,
      'a.2': 3,
      'ta.0': 'a b',
      'ta.1': 'q"',
      'ta.2': 'NULL',
      u: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    });
    expect(values('k2')).toMatchObject({
      f: { num: 'NaN' },
      f4: { num: 'Inf' },
      n: { num: 'NaN' },
      b: 0,
      t: 'Äpfel',
      ts: { ts: 'Inf' },
      tz: { ts: '-Inf' },
    });
    expect(
      await query("SELECT big = 9007199254740993 AS same FROM kinds WHERE key = 'k1'"),
    ).toEqual([{ same: 1 }]);
    expect(
      await query(`SELECT a."0"."1" AS x, a."1"."0" AS y FROM kinds WHERE key = 'k4'`),
    ).toEqual([{ x: 2, y: 3 }]);
  });

  test('what the server is asked lets through whatever Rowan takes', async () => {
    await put('procedures/copy', {
      type: 'import.postgresql',
      params: {
        ...place,
        postgresqlQuery: 'SELECT * FROM kinds;',
        rowNameColumn: 'key',
        outputDataset: 'copy',
        runOnCreation: true,
      },
    });
    const conditions = [
      'i = 1',
      'i > -5.5',
      'i < 2.5',
      'i <= 1',
      'big > 2',
      'big = 9007199254740993',
      'f < 1',
      'f > 1',
      'f >= -0.25',
      'f4 = 0.1',
      'n = 12.34',
      'n > 5',
      'n < 5',
      'b = 1',
      'b < 1',
      "t = 'abc'",
      "t > 'a'",
      "t < 'b'",
      "t >= 'zz'",
      "t LIKE 'a%'",
      "t LIKE '_pfel'",
      "v = ''",
      "c = 'qq'",
      "c = 'qq '",
      "ts > TIMESTAMP '2020-01-01'",
      "ts = TIMESTAMP '2020-01-02T03:04:05.678Z'",
      "tz < TIMESTAMP '2020-01-01'",
      "tz <= TIMESTAMP '2020-01-02T01:04:05Z'",
      "d = TIMESTAMP '2020-01-02'",
      "d < TIMESTAMP '1900-01-01'",
      'i IS NULL',
      'i IS NOT NULL',
      'j IS NULL',
      'a IS NULL',
      'a IS NOT NULL',
      'i IN (1, 2147483647)',
      "t IN ('abc', NULL)",
      'i BETWEEN -10 AND 10',
      "i = 1 OR t = 'zz'",
      "i = 1 OR u = 'x'",
      "i > 'a'",
      't > 5',
      'f = 1.5 AND b = 1',
      "u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      'NOT i = 1',
      'i != 1',
    ];
    for (const condition of conditions) {
      const expected = await query(
        `SELECT rowName() AS name FROM copy WHERE ${condition} ORDER BY rowName()`,
      );
      const found = await query(
        `SELECT rowName() AS name FROM kinds WHERE ${condition} ORDER BY rowName()`,
      );
      expect([condition, found]).toEqual([condition, expected]);
    }
  });

  test('filters and columns go to the server', async () => {
    const text = await explain("SELECT t FROM kinds WHERE i > 5 AND t LIKE 'a%' AND f4 = 1");
    expect(text).toContain(
      `SELECT "key"::text, "i", "f4", "t" FROM "public"."kinds" WHERE ("i" > $1::bigint AND "t" LIKE $2::text) ($1 = '5', $2 = 'a%')`,
    );
    expect(text).not.toContain(PASSWORD);
  });

  test('large tables come in parts, and by row name', async () => {
    expect(await query('SELECT count(*) AS n, sum(x) AS s FROM numbered')).toEqual([
      { n: 25_000, s: 156_256_250 },
    ]);
    expect(await query("SELECT x FROM numbered WHERE rowName() = '777'")).toEqual([{ x: 388.5 }]);
    expect(await query('SELECT x FROM numbered LIMIT 3')).toHaveLength(3);
    expect(
      await query('SELECT count(*) AS n FROM numbered AS a JOIN copy AS b ON a.id = b.i'),
    ).toEqual([{ n: 1 }]);
  });

  test('the result of a query is imported', async () => {
    const made = await put('procedures/some', {
      type: 'postgresql.import',
      params: {
        ...place,
        postgresqlQuery: 'SELECT id, x, now() AS t FROM numbered ORDER BY id',
        fetchSize: 1000,
        where: 'id <= 2500',
        select: 'x',
        outputDataset: 'some',
        runOnCreation: true,
      },
    });
    expect(made.status.firstRun.status).toMatchObject({ rowCount: 2500, columnCount: 1 });
    expect(await query("SELECT x FROM some WHERE rowName() = 'row_2499'")).toEqual([{ x: 1250 }]);
    await put('procedures/timed', {
      type: 'postgresql.import',
      params: {
        ...place,
        postgresqlQuery: "SELECT 5 AS a, '2020-01-01'::date AS at",
        timestampColumn: 'at',
        named: "'r' + lineNumber()",
        outputDataset: 'timed',
        runOnCreation: true,
      },
    });
    const { json } = await perform('GET', 'query', { q: 'SELECT a FROM timed', format: 'full' });
    expect(json).toEqual([{ rowName: 'r1', columns: [['a', 5, '2020-01-01T00:00:00Z']] }]);
  });

  test('rows become rows of a table', async () => {
    const params = {
      ...place,
      tableName: 'Made "here"',
      createTable: true,
      dropTableIfExist: true,
      rowNameColumn: 'name',
      timestampColumn: 'at',
    };
    await put('datasets/made', { type: 'postgresql.recorder', params });
    const recorded = await perform('POST', 'datasets/made/multirows', [
      [
        'r1',
        [
          ['i', 9_007_199_254_740_000, 0],
          ['d', 1.5, 10],
          ['s', "it's", 0],
          ['t', { ts: '2020-01-01T00:00:00Z' }, 0],
        ],
      ],
      [
        'r2',
        [
          ['raw', { blob: [1, 255] }, 0],
          ['p', { interval: '1D 2H' }, 0],
          ['nothing', null, 0],
        ],
      ],
    ]);
    expect(recorded.json ?? recorded.status).toBe(200);
    const { rows } = await server.client.query(
      'SELECT *, p::text AS pt FROM "Made ""here""" ORDER BY name',
    );
    expect(rows[0]).toMatchObject({
      name: 'r1',
      i: '9007199254740000',
      d: 1.5,
      s: "it's",
      t: new Date('2020-01-01'),
      at: new Date(10_000),
    });
    expect(rows[1]).toMatchObject({
      name: 'r2',
      raw: Buffer.from([1, 255]),
      pt: '1 day 02:00:00',
      nothing: null,
    });
    const wrong = await perform('POST', 'datasets/made/multirows', [
      ['r3', [['i', 5, 0]]],
      ['r4', [['i', 'no number', 0]]],
    ]);
    expect(wrong).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('Could not insert data in PostgreSQL table') },
    });
    expect((await server.client.query('SELECT count(*) FROM "Made ""here"""')).rows).toEqual([
      { count: '2' },
    ]);
    expect((await perform('GET', 'query', { q: 'SELECT * FROM made' })).json.error).toBe(
      'PostgreSQL recorder dataset is record-only',
    );
  });

  test('a function gives the first row of a query', async () => {
    await put('functions/find_row', {
      type: 'postgresql.query',
      params: { ...place, query: 'SELECT x, $label::text AS l FROM numbered WHERE id = $id' },
    });
    const apply = async (input: object) =>
      (await perform('GET', 'functions/find_row/application', { input })).json;
    expect((await apply({ id: 10, label: '$id' })).output).toEqual({ x: 5, l: '$id' });
    expect((await apply({ id: -1 })).output).toEqual({});
    expect((await apply({ id: '1; DROP TABLE kinds' })).error).toContain(
      'Could not query PostgreSQL database',
    );
    expect(
      await query('SELECT find_row({i AS id, t AS label})[x] AS x FROM copy WHERE i = 1'),
    ).toEqual([{ x: 0.5 }]);
  });

  test('what goes wrong is said, and a password never', async () => {
    await put('datasets/gone', {
      type: 'postgresql.dataset',
      params: { ...place, tableName: 'gone' },
    });
    expect(await query('SELECT * FROM gone')).toContain('Could not query PostgreSQL database');
    await put('datasets/elsewhere', { type: 'postgresql.dataset', params: { ...place, port: 1 } });
    expect(await query('SELECT * FROM elsewhere')).toContain('No credentials found for postgresql');
    await perform('POST', 'credentials', {
      store: {
        resourceType: 'postgresql',
        resource: `postgresql://127.0.0.1:${server.port}/postgres2`,
        credential: { id: 'ann', secret: 'wrong-secret' },
      },
    });
    await put('datasets/refused', {
      type: 'postgresql.dataset',
      params: { ...place, databaseName: 'postgres2' },
    });
    const refused = await query('SELECT * FROM refused');
    expect(refused).toContain('Could not connect to Postgresql database');
    expect(refused).not.toContain('wrong-secret');
    const shown = await perform('GET', 'datasets/kinds');
    expect(JSON.stringify(shown.json)).not.toContain(PASSWORD);
    expect(
      (await perform('POST', 'datasets/kinds/rows', { rowName: 'x', columns: [] })).status,
    ).toBe(400);
  });

  test('a cancelled query ends at once, here and there', async () => {
    await server.client.query("CREATE VIEW slow AS SELECT 'k' AS key, pg_sleep(60)::text AS x");
    await put('datasets/slow', {
      type: 'postgresql.dataset',
      params: { ...place, tableName: 'slow' },
    });
    await put('procedures/wait', {
      type: 'transform',
      params: { inputData: 'SELECT x FROM slow', outputDataset: 'never', runOnCreation: false },
    });
    const running = perform('PUT', 'procedures/wait/runs/r', {});
    const sleeping = async () =>
      (
        await server.client.query(
          "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
        )
      ).rows[0].count;
    await expect.poll(sleeping, { timeout: 15_000 }).toBe('1');
    await perform('PUT', 'procedures/wait/runs/r/state', { state: 'cancelled' });
    expect(JSON.stringify((await running).json)).toMatch(/cancel/i);
    await expect.poll(sleeping, { timeout: 15_000 }).toBe('0');
  });
});
