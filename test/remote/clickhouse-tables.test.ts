// ClickHouse: what is read, written and refused.
import { describe, expect, test } from 'vitest';
import {
  type ClickhouseServer,
  findClickhouse,
  PASSWORD,
  startClickhouse,
} from '../support/clickhouse.ts';
import { useClickhouseTables } from '../support/clickhouse-tables.ts';
import { canTest } from '../support/services.ts';

describe.runIf(canTest('ClickHouse', findClickhouse()))('tables of ClickHouse', () => {
  const tables = useClickhouseTables();
  const { perform, put, query, explain, comparable } = tables;
  const run = (sql: string) => tables.server().run(sql);

  test('values keep their meaning', async () => {
    await run(`CREATE TABLE kinds (k String, n Nullable(UInt64), i8 Int8, f Float64, f4 Float32, s String, fs FixedString(3),
      e Enum8('x y' = 1, 'z' = 2), d Date, t DateTime, tz DateTime('Asia/Tokyo'), a Array(String), an Array(Nullable(Int32)),
      tp Tuple(Int8, String), u UUID, dec Decimal(10, 2)) ENGINE = Memory`);
    await run(`INSERT INTO kinds SELECT 'a.b', 18446744073709551615, -128, nan, 0.1, 'tab\\tnl\\n\\\\ü\\0', 'ab', 'x y', '2020-01-02',
      toDateTime(1577934245), toDateTime(1577934245, 'Asia/Tokyo'), ['x\\'y', 'c,d', ''], [1, NULL], (7, 'q)'),
      '61f0c404-5cb3-11e7-907b-a6006ad3dba0', 1.25`);
    await run(`INSERT INTO kinds (k, n, f) VALUES ('b', NULL, -0.)`);
    await put('datasets/kinds', {
      type: 'clickhouse',
      params: {
        url: tables.server().url,
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
        url: tables.server().url,
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
      url: tables.server().url,
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
      params: {
        url: tables.server().url,
        table,
        rowNameColumn: 'id',
        writable: true,
        createTable: true,
      },
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
    expect(await run('EXISTS TABLE half')).toBe('0\n');
  });

  test('rows go from table to table inside the server where it has all of them', async () => {
    const copy = async (id: string, inputData: string, params: object = {}) => {
      const outputDataset = {
        id,
        type: 'clickhouse',
        params: {
          url: tables.server().url,
          table: id,
          writable: true,
          createTable: true,
          ...params,
        },
      };
      const { status, json } = await perform('POST', 'procedures', {
        type: 'transform',
        params: { inputData, outputDataset, runOnCreation: true },
      });
      expect(json.error ?? status).toBe(201);
      const run = `procedures/${json.id}/runs/${json.status.firstRun.id}`;
      return (await perform('GET', `${run}/details`)).json?.copiedBy;
    };
    const named = { rowNameColumn: 'key' };
    const there = [
      ['copy_all', '* FROM T', named],
      ['copy_some', 'i * 2 AS y, x, s AS "a.b", t, f4, x > 1 AS p FROM T WHERE x > 0', named],
      ['copy_named', 'i, big NAMED s FROM T WHERE s IS NOT NULL AND i > 0', named],
      ['copy_times', 'x FROM timed', { ...named, timestampColumn: 'at' }],
      [
        'copy_groups',
        's, count(*) AS n, sum(x) AS x, avg(x) AS m, min(i) AS i FROM T GROUP BY s',
        {},
      ],
      ['copy_ordered', 'i, s FROM T WHERE i < 0 ORDER BY s', {}],
    ] as const;
    await put('datasets/timed', {
      type: 'clickhouse',
      params: {
        url: tables.server().url,
        table: 'whole',
        rowNameColumn: 'id',
        timestampColumn: 't',
      },
    });
    for (const [id, sql, params] of there) {
      for (const table of id === 'copy_all' ? ['whole', 'sharded'] : ['whole']) {
        const text = await copy(
          `${id}_${table}`,
          `SELECT ${sql.replaceAll(/\bT\b/g, table)}`,
          params,
        );
        if (id === 'copy_named') {
          expect(text).toBeUndefined();
          continue;
        }
        expect(text, id).toMatch(/^INSERT INTO .* SELECT .* FROM /);
        // The same by way of Rowan, which a condition that it alone has keeps in between.
        const way = sql.includes('WHERE')
          ? sql.replace('WHERE', "WHERE upper('a') != lower(id) AND")
          : sql.replace(/FROM (\w+)/, "FROM $1 WHERE upper('a') != lower(id)");
        const other = `${id}_${table}_by`;
        expect(
          await copy(other, `SELECT ${way.replaceAll(/\bT\b/g, table)}`, params),
        ).toBeUndefined();
        const rowsOf = async (dataset: string) =>
          comparable(
            (await query(`SELECT * FROM ${dataset}`)).map(
              ({ _rowName, ...row }: object & { _rowName: string }) =>
                'key' in row ? { _rowName, ...row } : row,
            ),
            false,
          );
        expect(await rowsOf(`${id}_${table}`), id).toEqual(await rowsOf(other));
      }
    }
    // Rowan makes names of rows that have none, and rows that the table cannot hold as they are.
    for (const [id, sql, params] of [
      ['copy_grouped', 's, count(*) AS n FROM whole GROUP BY s', named],
      ['copy_upper', 'upper(s) AS s FROM whole', named],
      ['copy_first', 'i FROM whole ORDER BY x LIMIT 3', {}],
      ['copy_into_text', 'i FROM whole', { createTable: false, table: 'texts' }],
    ] as const) {
      await run('CREATE TABLE IF NOT EXISTS texts (i String) ENGINE = Memory');
      expect(await copy(id, `SELECT ${sql}`, params), id).toBeUndefined();
    }
    const { json } = await perform('POST', 'procedures', {
      type: 'transform',
      params: {
        inputData: 'SELECT x / i AS y, n FROM failing',
        outputDataset: {
          id: 'failed',
          type: 'clickhouse',
          params: { url: tables.server().url, table: 'f', writable: true, createTable: true },
        },
      },
    });
    await put('datasets/failing', {
      type: 'clickhouse',
      params: {
        url: tables.server().url,
        query: 'SELECT 1. AS x, 2 AS i, throwIf(number = 3) AS n FROM system.numbers LIMIT 9',
      },
    });
    const failed = await perform('POST', `procedures/${json.id}/runs`, {});
    expect(JSON.stringify(failed.json)).toMatch(
      /Could not insert data in ClickHouse table.*throwIf/,
    );
  });

  test('a cancelled run ends at the server too, whoever moves its rows', async () => {
    const endless = 'SELECT number AS n FROM system.numbers';
    await put('datasets/endless_numbers', {
      type: 'clickhouse',
      params: { url: tables.server().url, query: endless, maxRows: 1e15 },
    });
    await run(
      'CREATE TABLE many_numbers ENGINE = MergeTree ORDER BY n AS SELECT toInt32(number) AS n FROM system.numbers LIMIT 3000000',
    );
    await put('datasets/many_numbers', {
      type: 'clickhouse',
      params: { url: tables.server().url, table: 'many_numbers' },
    });
    const url = tables.server().url;
    // Blocks of one row take their time.
    const settings = { max_block_size: 1, max_threads: 1 };
    const there = {
      type: 'clickhouse',
      params: { url, table: 'never', writable: true, createTable: true, settings },
    };
    const few = 'SELECT n % 7 AS n FROM endless_numbers WHERE n % 1000000 = 1';
    const carried = "SELECT n, upper('a') AS t FROM many_numbers";
    for (const [id, inputData, outputDataset] of [
      ['moved', 'SELECT n FROM many_numbers', { id: 'never', ...there }],
      ['carried', carried, { id: 'never', ...there }],
      ['fetched', few, { id: 'never_here', type: 'tabular' }],
    ] as const) {
      await put(`procedures/${id}`, { type: 'transform', params: { inputData, outputDataset } });
      const running = perform('PUT', `procedures/${id}/runs/long`, {});
      const busy = async () =>
        Number(
          await run(
            "SELECT count() FROM system.processes WHERE query LIKE '%numbers%' AND query NOT LIKE '%processes%'",
          ),
        );
      const isMade = () => run('EXISTS TABLE never');
      if (id !== 'carried') await expect.poll(busy, { timeout: 60_000 }).toBe(1);
      if (id !== 'fetched') await expect.poll(isMade, { timeout: 20_000 }).toBe('1\n');
      await perform('PUT', `procedures/${id}/runs/long/state`, { state: 'cancelled' });
      await running;
      await expect.poll(busy, { timeout: 60_000 }).toBe(0);
      expect((await perform('GET', 'datasets')).json).not.toContain(outputDataset.id);
      // What was made for the rows is removed, so that nothing is half-made.
      await expect.poll(isMade, { timeout: 60_000 }).toBe('0\n');
    }
  }, 120_000);

  test('what goes wrong is said, without the password', async () => {
    const params = { url: tables.server().url, table: 'whole' };
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
    expect(
      await answer('right', { url: ['http://127.0.0.1:1', tables.server().url] }),
    ).toHaveLength(1);
    await perform('POST', 'credentials', {
      store: {
        resourceType: 'clickhouse',
        resource: tables.servers()[1]?.url,
        credential: { id: 'ann', secret: 'wrong-secret' },
      },
    });
    const denied = await answer('wrong6', { url: tables.servers()[1]?.url });
    expect(denied).toMatch(/Wrong password|Authentication/);
    expect(denied).not.toContain('wrong-secret');
    expect(JSON.stringify((await perform('GET', 'datasets/wrong6')).json)).not.toContain(
      'wrong-secret',
    );
    expect(await explain('SELECT * FROM whole')).not.toContain(PASSWORD);
    // A failure behind rows that were sent, whose words the end of the connection may overtake.
    const failing = {
      table: undefined,
      query: 'SELECT throwIf(number = 150000) AS z, number AS n FROM system.numbers',
    };
    expect(
      await answer('late', failing, 'SELECT max(n + z) AS m FROM (SELECT * FROM late)'),
    ).toMatch(/throwIf|broke off/);
  });

  test('a server that dies in the middle of a query, and a column that goes', async () => {
    await run(
      'CREATE TABLE shrinking ENGINE = MergeTree ORDER BY n AS SELECT number AS n, number AS m FROM system.numbers LIMIT 10',
    );
    await put('datasets/shrinking', {
      type: 'clickhouse',
      params: { url: tables.server().url, table: 'shrinking' },
    });
    expect(await query('SELECT sum(m) AS s FROM shrinking')).toMatchObject([{ s: 45 }]);
    await run('ALTER TABLE shrinking DROP COLUMN m');
    expect(await query('SELECT n FROM shrinking WHERE n > 8')).toMatchObject([{ n: 9 }]);
    expect(await query('SELECT count(m) AS c FROM shrinking')).toMatchObject([{ c: 0 }]);
    const [dying] = await startClickhouse();
    tables.servers().push(dying as ClickhouseServer);
    await put('datasets/endless', {
      type: 'clickhouse',
      params: { url: dying?.url, query: 'SELECT number AS n FROM system.numbers', maxRows: 1e12 },
    });
    const running = query('SELECT n FROM endless WHERE n % 1000000000 = 1 AND upper(n) = 2');
    for (;;) {
      const busy = await dying?.run(
        "SELECT count() FROM system.processes WHERE query LIKE '%numbers%' AND query NOT LIKE '%processes%'",
      );
      if (Number(busy) > 0) break;
    }
    await dying?.kill();
    expect(await running).toMatch(/Could not (?:query|connect to) ClickHouse/);
  });
});
