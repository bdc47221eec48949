// Tables of ClickHouse for test files, and a service that reads them: `whole` on one server, `sharded`
// over two, and `local`, their copy.
import { afterAll, beforeAll, expect } from 'vitest';
import { type ClickhouseServer, PASSWORD, startClickhouse } from './clickhouse.ts';
import { openRowan, type TestService } from './rowan.ts';
import { serviceCalls } from './service-calls.ts';

/** For use in `describe`: all is there before its tests, and gone after them. */
export function useClickhouseTables() {
  let servers: ClickhouseServer[] = [];
  let server: ClickhouseServer;
  let rowan: TestService;
  const { perform, put } = serviceCalls(() => rowan);

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
  }, 120_000);

  afterAll(async () => {
    await rowan?.close();
    await Promise.all(servers.map((each) => each.stop()));
  });

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
    const [plan, own, ...others] = await Promise.all([
      explain(make('whole')),
      query(make('local')),
      ...tables.map((table) => query(make(table))),
    ]);
    const local = comparable(own, isOrdered);
    expect(Array.isArray(local), `${make('local')}: ${local}`).toBe(true);
    for (const [index, rows] of others.entries()) {
      expect(comparable(rows, isOrdered), make(tables[index] as string)).toEqual(local);
    }
    return plan;
  }

  return {
    perform,
    put,
    query,
    explain,
    comparable,
    expectSame,
    /** stopped with the others */
    servers: () => servers,
    server: () => server,
  };
}
